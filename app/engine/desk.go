package engine

import (
	"context"
	"math"
	"sync"
	"time"
)

// desk lets requests in. It knows who is inside and what each still has to do, so a
// request that would wait too long, or cannot end in time, is refused before anything
// is done for it.
//
// Workers are shared fairly (queue.go), so a request does not wait for all that is
// inside: until its last sentence is decoded, another caller gets at most as much done
// as its own caller does, and another request of its caller as much as it does itself,
// by their weights.
type desk struct {
	maxRequests, maxTokens int
	maxWait                time.Duration // 0: no bound
	window                 int           // source tokens that a request may have waiting where it is alone

	mu       sync.Mutex // guards the rest
	callers  map[string]map[*session]bool
	requests int
	refused  uint64
}

func newDesk(cfg Config, workers int) *desk {
	return &desk{
		maxRequests: cfg.QueueRequests, maxTokens: cfg.QueueTokens, maxWait: cfg.QueueWait,
		// What an idle round takes from the queue.
		window:  idleRoom * cfg.PrefillTokens * max(1, workers),
		callers: make(map[string]map[*session]bool),
	}
}

// speed is how fast the workers are. The zero speed is not known.
type speed struct {
	work     float64       // source tokens × beams per second, while something waits
	sentence time.Duration // that a sentence is in the batch
}

// time is how long some work takes.
func (s speed) time(work float64) time.Duration {
	if s.work <= 0 {
		return 0
	}
	return time.Duration(min(work/s.work, math.MaxInt32) * float64(time.Second))
}

// largestShare is how many times what is free for others a caller may have of the
// places at the desk: whoever takes all that it can get leaves a quarter of them.
const largestShare = 3

// enter lets a session in, which must leave. The error is a [*BusyError] or a
// [*TooLargeError].
func (d *desk) enter(ctx context.Context, s *session, v speed) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	own := s.left()
	wait := v.time(d.ahead(s, own))
	alone := v.time(own) + v.sentence
	left := time.Duration(math.MaxInt64)
	if deadline, ok := ctx.Deadline(); ok && v.work > 0 {
		left = time.Until(deadline)
	}
	free, mine := d.maxRequests-d.requests, len(d.callers[s.request.Caller])
	switch {
	case alone > left:
		d.refused++
		return &TooLargeError{Needs: alone, Left: left}
	case free <= 0, mine >= largestShare*free, d.maxWait > 0 && wait > d.maxWait, wait > left-alone:
		d.refused++
		return &BusyError{Requests: d.requests, Wait: min(max(time.Second, wait), longestWait)}
	}
	if d.callers[s.request.Caller] == nil {
		d.callers[s.request.Caller] = make(map[*session]bool)
	}
	d.callers[s.request.Caller][s] = true
	d.requests++
	return nil
}

// longestWait is the longest time that a client is told to wait.
const longestWait = 10 * time.Minute

// ahead is the work that is done before, or beside, that of a session that is not in
// yet; mu is held.
func (d *desk) ahead(s *session, own float64) float64 {
	byCaller := own
	for other := range d.callers[s.request.Caller] {
		byCaller += min(other.left(), own*weightOf(other.request.Priority)/weightOf(s.request.Priority))
	}
	total := byCaller
	for caller, sessions := range d.callers {
		if caller == s.request.Caller {
			continue
		}
		others, charge := 0.0, chargeOf(Low)
		for other := range sessions {
			others += other.left()
			charge = min(charge, chargeOf(other.request.Priority))
		}
		total += min(others, byCaller*chargeOf(s.request.Priority)/charge)
	}
	return total - own
}

// leave ends what enter began.
func (d *desk) leave(s *session) {
	d.mu.Lock()
	defer d.mu.Unlock()
	sessions := d.callers[s.request.Caller]
	delete(sessions, s)
	if len(sessions) == 0 {
		delete(d.callers, s.request.Caller)
	}
	d.requests--
}

// room is how many source tokens a session may have waiting now. Requests share what
// may wait in all; each may have a sentence in any case.
func (d *desk) room() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return min(d.window, d.maxTokens/max(1, d.requests))
}

// load is how many requests were refused, and how many source tokens those inside have
// not handed over yet.
func (d *desk) load() (refused uint64, tokens int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, sessions := range d.callers {
		for s := range sessions {
			tokens += s.unposted()
		}
	}
	return d.refused, tokens
}
