package fleet

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"

	"dragoman/app/wait"
)

// takeOver takes the claims of workers that have ended, until ctx is done.
func (t *consumer) takeOver(ctx context.Context) {
	var tidied time.Time
	for {
		often := t.broker.timing.Lease / 4
		if !wait.For(ctx, often/2+rand.N(often)) { // not all at the same time
			return
		}
		for _, lane := range t.lanes {
			n := t.spare()
			if n == 0 {
				break
			}
			if err := t.claimFrom(ctx, lane, n); err != nil {
				break // Redis is away, or the lane is not there
			}
		}
		if time.Since(tidied) > abandoned {
			tidied = time.Now()
			t.tidy(ctx, abandoned)
		}
	}
}

// abandoned is when a worker that says nothing and has no claims leaves the consumer groups: so
// late that none is only held up, because what it would take in that moment is nobody's.
const abandoned = time.Hour

// tidy removes workers from the groups that have been silent for so long and have no claims. It keeps
// the lanes for a while: those of a model that no worker has any more expire.
func (t *consumer) tidy(ctx context.Context, idle time.Duration) {
	for _, lane := range t.lanes {
		t.broker.client.Expire(ctx, lane, kept) // what fails here is done another time
		consumers, err := t.broker.client.XInfoConsumers(ctx, lane, group).Result()
		if err != nil {
			return
		}
		for _, c := range consumers {
			if c.Pending == 0 && c.Idle > idle && c.Name != t.worker.id {
				t.broker.client.XGroupDelConsumer(ctx, lane, group, c.Name)
			}
		}
	}
}

// spare is how many claims may be taken over at a time: some also where the worker is busy, because
// they have waited for longer than what it has, but not all, because other workers take some too.
func (t *consumer) spare() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	rows, _ := t.capacity()
	if now.Before(t.blocked) || t.rows >= 2*rows || !t.vigil.isSteady(now) {
		return 0
	}
	return max(1, rows/4, rows-t.rows)
}

// deaths is how many workers may end while they have a sentence, before it is tried alone: it may
// have been in their company by chance. After one more it is a dead letter.
const deaths = 2

// claimFrom takes over up to n claims of a lane.
func (t *consumer) claimFrom(ctx context.Context, lane string, n int) error {
	list, err := t.broker.client.XPendingExt(ctx, &redis.XPendingExtArgs{
		Stream: lane, Group: group, Idle: t.broker.timing.Lease, Start: "-", End: "+", Count: int64(max(n, watched)),
	}).Result()
	if err != nil {
		return err
	}
	t.mu.Lock()
	list = t.vigil.outlasted(lane, list, time.Now())
	t.mu.Unlock()
	if len(list) == 0 {
		return nil
	}
	list = list[:min(n, len(list))]
	claims := make([]*redis.XMessageSliceCmd, len(list))
	err = t.broker.do(ctx, func(p redis.Pipeliner) {
		for i, pending := range t.choose(lane, list) {
			claims[i] = redis.NewXMessageSliceCmd(ctx, t.xclaim(lane, t.broker.timing.Lease, pending.RetryCount, pending.ID)...)
			_ = p.Process(ctx, claims[i]) // with the others
		}
	})
	for i, cmd := range claims {
		if cmd == nil {
			continue
		}
		for _, m := range cmd.Val() { // none where another worker was faster, or it was cancelled
			t.begin(entry{lane, m}, fromOther, list[i].RetryCount)
		}
	}
	return err
}

// watched are how many claims that are not kept alive are looked at, at least.
const watched = 100

// choose are those of pending claims, by their place in the list, that the worker takes over, with
// the number of those who have had them then.
func (t *consumer) choose(lane string, list []redis.XPendingExt) map[int]*redis.XPendingExt {
	t.mu.Lock()
	defer t.mu.Unlock()
	suspects := false
	for _, c := range t.claims {
		suspects = suspects || c.suspect()
	}
	chosen := make(map[int]*redis.XPendingExt)
	for i := range list {
		p := &list[i]
		if t.claims[lane+" "+p.ID] != nil {
			continue // it was held up, and keeps it
		}
		if p.Consumer != t.worker.id { // or it was given to this one, which did not hear of it
			p.RetryCount++
		}
		if p.RetryCount == deaths+1 {
			if suspects {
				continue // one at a time
			}
			suspects = true
		}
		chosen[i] = p
	}
	return chosen
}
