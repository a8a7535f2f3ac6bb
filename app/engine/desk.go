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
// by their weights. Requests of its caller and its priority are done before it or after it.
type desk struct {
	maxRequests, maxTokens int
	maxWait                time.Duration // 0: no bound
	window                 int           // source tokens that a request may have waiting where it is alone

	mu       sync.Mutex // guards the rest
	callers  map[string]*insider
	requests int
	refused  uint64
}

// insider is a caller with requests inside.
type insider struct {
	sessions map[*session]bool
	entered  [High - Low + 1]float64 // work of the requests that were let in since, by priority
}

func newDesk(cfg Config, workers int) *desk {
	return &desk{
		maxRequests: cfg.QueueRequests, maxTokens: cfg.QueueTokens, maxWait: cfg.QueueWait,
		// What an idle round takes from the queue.
		window:  idleRoom * cfg.PrefillTokens * max(1, workers),
		callers: make(map[string]*insider),
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
	own, caller := s.left(), d.insider(s.request.Caller)
	s.order = caller.orderOf(s.request.Priority, own)
	wait := v.time(d.ahead(s, own))
	alone := v.time(own) + v.sentence
	left := time.Duration(math.MaxInt64)
	if deadline, ok := ctx.Deadline(); ok && v.work > 0 {
		left = time.Until(deadline)
	}
	free, mine := d.maxRequests-d.requests, len(caller.sessions)
	switch {
	case alone > left:
		d.refused++
		return &TooLargeError{Needs: alone, Left: left}
	case free <= 0, mine >= largestShare*free, d.maxWait > 0 && wait > d.maxWait, wait > left-alone:
		d.refused++
		return &BusyError{Requests: d.requests, Wait: min(max(time.Second, wait), longestWait)}
	}
	d.callers[s.request.Caller] = caller
	caller.sessions[s] = true
	caller.entered[s.request.Priority-Low] += own
	d.requests++
	return nil
}

// longestWait is the longest time that a client is told to wait.
const longestWait = 10 * time.Minute

// insider is a caller, which may be new; mu is held.
func (d *desk) insider(name string) *insider {
	if caller := d.callers[name]; caller != nil {
		return caller
	}
	return &insider{sessions: make(map[*session]bool)}
}

// patience is how many times its own work may be done for smaller requests of its caller and
// its priority that came after a request, before it. More has small ones end sooner, and
// large ones later.
const patience = 4

// orderOf tells a request with so much work when it is its turn among those of its caller
// and priority; the least is next. A smaller one that comes later has the lower order as
// long as what came between both is less than patience × the difference.
func (c *insider) orderOf(p Priority, work float64) float64 {
	return c.entered[p-Low] + patience*work
}

// ahead is the work that is done before, or beside, that of a session that is not in
// yet; mu is held.
func (d *desk) ahead(s *session, own float64) float64 {
	var levels [High - Low + 1]float64
	for other := range d.insider(s.request.Caller).sessions {
		if other.request.Priority != s.request.Priority || other.order <= s.order {
			levels[other.request.Priority-Low] += other.left()
		}
	}
	ofLevel := levels[s.request.Priority-Low] + own
	byCaller := ofLevel
	for p := Low; p <= High; p++ {
		if p != s.request.Priority {
			byCaller += min(levels[p-Low], ofLevel*weightOf(p)/weightOf(s.request.Priority))
		}
	}
	total := byCaller
	for name, caller := range d.callers {
		if name == s.request.Caller {
			continue
		}
		others, charge := 0.0, chargeOf(Low)
		for other := range caller.sessions {
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
	caller := d.callers[s.request.Caller]
	delete(caller.sessions, s)
	if len(caller.sessions) == 0 {
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
	for _, caller := range d.callers {
		for s := range caller.sessions {
			tokens += s.unposted()
		}
	}
	return d.refused, tokens
}
