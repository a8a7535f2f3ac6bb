package fleet

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// renew keeps the claims of consumers alive: others take over what has been silent for a lease. What is
// not there any more was cancelled.
func (w *Worker) renew(ctx context.Context, consumers []*consumer) error {
	type renewal struct {
		consumer *consumer
		at       heldAt
		entries  []string
		kept     *redis.Cmd
	}
	now := time.Now()
	var renewals []renewal
	_ = w.broker.do(ctx, func(p redis.Pipeliner) { // the errors are the commands'
		for _, t := range consumers {
			for at, entries := range t.held() {
				kept := p.Do(ctx, append(t.xclaim(at.lane, 0, at.taken, entries...), "justid")...)
				renewals = append(renewals, renewal{t, at, entries, kept})
			}
		}
	})
	for _, r := range renewals {
		kept, err := r.kept.StringSlice()
		if err != nil && !isNoGroup(err) { // Redis may have lost everything: what is decoded then may still be wanted
			return err
		}
		if err == nil && len(kept) < len(r.entries) {
			r.consumer.cancel(errCancelled, r.at.lane, r.entries, kept)
		}
	}
	for _, t := range consumers {
		t.mu.Lock()
		t.vigil.renew(now)
		t.mu.Unlock()
	}
	return nil
}

// isNoGroup says whether the stream of a lane, or its consumer group, is not there.
func isNoGroup(err error) bool { return err != nil && strings.HasPrefix(err.Error(), "NOGROUP") }

// xclaim is the command that makes entries the worker's own which nobody has kept alive for a while.
// They count as taken so many times.
func (t *consumer) xclaim(lane string, idle time.Duration, taken int64, entries ...string) []any {
	args := []any{"xclaim", lane, group, t.worker.id, idle.Milliseconds()}
	for _, id := range entries {
		args = append(args, id)
	}
	return append(args, "retrycount", taken)
}

// heldAt is where claims are kept alive together.
type heldAt struct {
	lane  string
	taken int64
}

func (t *consumer) held() map[heldAt][]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	held := make(map[heldAt][]string)
	for _, c := range t.claims {
		at := heldAt{c.lane, c.taken}
		held[at] = append(held[at], c.entry)
	}
	return held
}

// giveUp ends what others have taken over, if the worker was silent for long.
func (t *consumer) giveUp(ctx context.Context) error {
	t.mu.Lock()
	late, most := t.vigil.isLate(time.Now()), int64(2*len(t.claims)+1000)
	t.mu.Unlock()
	if !late {
		return nil
	}
	for at, entries := range t.held() {
		list, err := t.broker.client.XPendingExt(ctx, &redis.XPendingExtArgs{
			Stream: at.lane, Group: group, Start: "-", End: "+", Count: most, Consumer: t.worker.id,
		}).Result()
		if isNoGroup(err) {
			continue
		}
		if err != nil {
			return err
		}
		var kept []string
		for _, p := range list {
			kept = append(kept, p.ID)
		}
		t.cancel(errTaken, at.lane, entries, kept)
	}
	return nil
}

// cancel has claims of a lane not decoded, but for some.
func (t *consumer) cancel(cause error, lane string, entries, kept []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range entries {
		if c := t.claims[lane+" "+id]; c != nil && !slices.Contains(kept, id) {
			c.cancel(cause)
		}
	}
}
