package fleet

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// hold is what a member wants Redis to have: it looks with each heartbeat, because Redis may have
// lost it, and gives it time again and again, because nobody else may need it.
type hold struct {
	broker *Broker
	given  time.Time // when the keys were last given time
}

// missing are those of some keys that Redis does not have.
func (h *hold) missing(ctx context.Context, keys []string) ([]string, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	there, err := h.broker.client.Exists(ctx, keys...).Result()
	now := time.Now()
	if err != nil || int(there) == len(keys) && now.Sub(h.given) < kept/24 {
		return nil, err
	}
	given := make([]*redis.BoolCmd, len(keys))
	if err := h.broker.do(ctx, func(p redis.Pipeliner) {
		for i, key := range keys {
			given[i] = p.Expire(ctx, key, kept)
		}
	}); err != nil {
		return nil, err
	}
	h.given = now
	var missing []string
	for i, key := range keys {
		if !given[i].Val() {
			missing = append(missing, key)
		}
	}
	return missing, nil
}

// restore puts what is missing into Redis, unless another member was faster.
func (h *hold) restore(ctx context.Context, content map[string]string) error {
	missing, err := h.missing(ctx, slices.Collect(maps.Keys(content)))
	if err != nil || len(missing) == 0 {
		return err
	}
	return h.broker.do(ctx, func(p redis.Pipeliner) {
		for _, key := range missing {
			p.SetNX(ctx, key, content[key], kept)
		}
	})
}
