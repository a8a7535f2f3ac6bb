package fleet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"dragoman/app/wait"
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
		t.renewedAt(now)
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

// renewedAt notes when the claims were kept alive.
func (t *consumer) renewedAt(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.steady.IsZero() || t.isLate(now) {
		t.steady = now
	}
	t.renewed = now
	t.renewal++
}

// isLate says whether others may soon take the claims over, or have; mu is held.
func (t *consumer) isLate(now time.Time) bool {
	return !t.renewed.IsZero() && now.Sub(t.renewed) > t.broker.timing.Lease/2
}

// giveUp ends what others have taken over, if the worker was silent for long.
func (t *consumer) giveUp(ctx context.Context) error {
	t.mu.Lock()
	late, most := t.isLate(time.Now()), int64(2*len(t.claims)+1000)
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
	if now.Before(t.blocked) || t.rows >= 2*rows || t.isLate(now) || t.renewed.IsZero() {
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
	if list = t.outlasted(lane, list, time.Now()); len(list) == 0 {
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
			t.began(entry{lane, m}, list[i].RetryCount)
		}
	}
	return err
}

// watched are how many claims that are not kept alive are looked at, at least.
const watched = 100

// silence is when a claim was first seen that was not kept alive for a lease.
type silence struct {
	at      time.Time
	renewal int // of the worker's own claims, the last one before
}

// outlasted are those of pending claims of a lane that may be taken over. A worker that could keep its own
// alive all the time sees which ones have an owner that could not: nobody keeps those alive. After a
// disturbance, of Redis, of the network or of itself, others may have been as unable as itself, and are
// given as many chances as it has: two renewals and half a lease.
func (t *consumer) outlasted(lane string, list []redis.XPendingExt, now time.Time) (left []redis.XPendingExt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	lease, silent := t.broker.timing.Lease, make(map[string]silence)
	for _, p := range list {
		s, known := t.silent[lane][p.ID]
		if !known || p.Idle < now.Sub(s.at) { // it was kept alive meanwhile
			s = silence{now, t.renewal}
		}
		silent[p.ID] = s
		if now.Sub(t.steady) >= lease || now.Sub(s.at) >= lease/2 && t.renewal >= s.renewal+2 {
			left = append(left, p)
		}
	}
	t.silent[lane] = silent
	return left
}

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

// began decodes an entry that was taken over, or makes a dead letter of it.
func (t *consumer) began(e entry, taken int64) {
	if taken <= deaths+1 {
		t.begin(e, fromOther, taken)
		return
	}
	w, _ := read[work](t.broker, e.stream, e.Values) // what cannot be read has no gateway that is told
	c := &claim{consumer: t, lane: e.stream, entry: e.ID, work: w, taken: taken, cancel: func(error) {}}
	t.hold(c)
	t.deadLetter(c, e.Values, fmt.Sprintf("%d workers ended while they had it, the last one with no other like it", taken-1))
}
