package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// renew keeps the claims alive: others take over what has been silent for a lease. A worker that was
// silent itself for as long asks first what it still has.
func (t *taker) renew(ctx context.Context) error {
	now := time.Now()
	byLane, late := t.held(now)
	if late {
		if err := t.drop(ctx, byLane); err != nil {
			return err
		}
		byLane, _ = t.held(now)
	}
	err := t.broker.do(ctx, func(p redis.Pipeliner) {
		for lane, entries := range byLane {
			p.XClaimJustID(ctx, &redis.XClaimArgs{Stream: lane, Group: group, Consumer: t.worker.id, Messages: entries})
		}
	})
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.renewed = now; late || t.steady.IsZero() {
		t.steady = now
	}
	return nil
}

// held are the entries that are claimed, by lane, and whether they may have been taken over.
func (t *taker) held(now time.Time) (byLane map[string][]string, late bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	byLane = make(map[string][]string)
	for _, c := range t.claims {
		byLane[c.lane] = append(byLane[c.lane], c.entry)
	}
	return byLane, !t.renewed.IsZero() && now.Sub(t.renewed) > t.broker.timing.Lease/2
}

// drop gives up the claims that others have taken over.
func (t *taker) drop(ctx context.Context, byLane map[string][]string) error {
	for lane, entries := range byLane {
		list, err := t.broker.client.XPendingExt(ctx, &redis.XPendingExtArgs{
			Stream: lane, Group: group, Start: "-", End: "+", Count: int64(2*len(entries) + 1000), Consumer: t.worker.id,
		}).Result()
		if err != nil {
			return err
		}
		mine := make(map[string]bool)
		for _, p := range list {
			mine[p.ID] = true
		}
		t.mu.Lock()
		for _, c := range t.claims {
			if c.lane == lane && !mine[c.entry] {
				c.cancel(errTaken)
			}
		}
		t.mu.Unlock()
	}
	return nil
}

// takeOver takes the claims of workers that have ended, until ctx is done.
func (t *taker) takeOver(ctx context.Context) {
	tick := time.NewTicker(t.broker.timing.Lease / 4)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		room := t.room()
		if room <= 0 || !t.isSteady() {
			continue
		}
		for _, lane := range t.lanes {
			if err := t.claimFrom(ctx, lane, room); err != nil {
				break // Redis is away, or the lane is not there
			}
		}
	}
}

// isSteady says whether Redis was there for a lease. Before that, others may have been unable to keep
// their claims alive.
func (t *taker) isSteady() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.steady.IsZero() && time.Since(t.steady) > t.broker.timing.Lease && time.Since(t.renewed) < t.broker.timing.Lease/2
}

// deaths is how many workers may end while they have a sentence, before it is tried alone: it may
// have been in their company by chance. After one more it is a dead letter.
const deaths = 2

// claimFrom takes over up to n claims of a lane.
func (t *taker) claimFrom(ctx context.Context, lane string, n int) error {
	idle := t.broker.timing.Lease
	list, err := t.broker.client.XPendingExt(ctx, &redis.XPendingExtArgs{
		Stream: lane, Group: group, Idle: idle, Start: "-", End: "+", Count: int64(n),
	}).Result()
	if err != nil {
		return err
	}
	for _, p := range list {
		switch {
		case t.has(lane, p.ID): // it was held up, and keeps it
		case p.RetryCount > deaths:
			err = t.bury(ctx, lane, p)
		case p.RetryCount == deaths && t.suspects():
			// one at a time
		default:
			err = t.claim(ctx, lane, p.ID, p.RetryCount == deaths)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// has says whether the taker has an entry itself.
func (t *taker) has(lane, id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.claims[(&claim{lane: lane, entry: id}).key()] != nil
}

// suspects says whether a sentence is being decoded that two workers have not survived.
func (t *taker) suspects() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.claims {
		if c.suspect {
			return true
		}
	}
	return false
}

// claim takes an entry over, unless another worker was faster.
func (t *taker) claim(ctx context.Context, lane, id string, suspect bool) error {
	got, err := t.broker.client.XClaim(ctx, &redis.XClaimArgs{
		Stream: lane, Group: group, Consumer: t.worker.id, MinIdle: t.broker.timing.Lease, Messages: []string{id},
	}).Result()
	if err != nil {
		return err
	}
	for _, m := range got {
		if m.Values != nil { // or it was cancelled
			t.begin([]entry{{lane, m}}, fromOther, suspect)
		}
	}
	return nil
}

// bury makes a dead letter of an entry.
func (t *taker) bury(ctx context.Context, lane string, p redis.XPendingExt) error {
	got, err := t.broker.client.XClaim(ctx, &redis.XClaimArgs{
		Stream: lane, Group: group, Consumer: t.worker.id, MinIdle: t.broker.timing.Lease, Messages: []string{p.ID},
	}).Result()
	if err != nil || len(got) == 0 || got[0].Values == nil {
		return err
	}
	c := &claim{taker: t, lane: lane, entry: p.ID, at: t.broker.now(), cancel: func(error) {}}
	if c.work, err = decode[work](got[0].Values); err != nil {
		c.work = work{}
	}
	t.mu.Lock()
	t.claims[c.key()] = c
	t.rows += c.work.rows()
	t.mu.Unlock()
	reason := fmt.Sprintf("%d workers ended while they had it, the last one with no other like it", p.RetryCount)
	t.broker.log.Error("a sentence is a dead letter", "model", t.name.model, "version", t.name.version, "reason", reason)
	t.settle(c, settled{outcome: deadLetter, reply: &reply{ID: c.work.ID, Fault: dead, Reason: reason}})
	return nil
}
