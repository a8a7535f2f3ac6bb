package engine

import (
	"context"
	"math"
	"sync"
	"time"

	"dragoman/app/schedule"
)

// Admission admits requests, or refuses them before any work is done for them. It is not safe for concurrent use: the caller must
// hold a lock.
type Admission struct {
	schedule.Account
	wait time.Duration
}

// NewAdmission returns an admission of at most requests requests. Others may delay a request for at most wait; 0: its deadline is
// the only limit.
func NewAdmission(requests int, wait time.Duration) Admission {
	return Admission{schedule.Account{Limit: int64(requests), Part: schedule.MostPlaces}, wait}
}

// longestWait is the longest wait that a refused client is told.
const longestWait = 10 * time.Minute

// Enter admits a request of a caller, which must call Leave. own is the request's work. The error is a [*BusyError] or a
// [*TooLargeError].
func (a *Admission) Enter(ctx context.Context, caller string, own float64, b schedule.Backlog) error {
	wait, alone, left := b.Time(b.Ahead), b.Time(own)+b.Sentence, time.Duration(math.MaxInt64)
	if deadline, ok := ctx.Deadline(); ok && b.Speed > 0 {
		left = time.Until(deadline)
	}
	switch {
	case alone > left:
		return &TooLargeError{Needs: alone, Left: left}
	case a.Room(caller, 1) != schedule.Fits, b.Full, a.wait > 0 && wait > a.wait, wait > left-alone:
		return &BusyError{Requests: int(a.Held), Wait: min(max(time.Second, wait), longestWait)}
	}
	a.Hold(caller, 1)
	return nil
}

// Leave removes a request that Enter admitted.
func (a *Admission) Leave(caller string) { a.Hold(caller, -1) }

// insiders are the admitted requests of an engine.
type insiders struct {
	maxTokens int
	window    int // source tokens that a request may have waiting when it is alone

	mu        sync.Mutex // guards the rest
	admission Admission
	requests  schedule.Inside
	sessions  map[*local]bool
	refused   uint64
}

func newInsiders(cfg Config, workers int) *insiders {
	return &insiders{
		maxTokens: cfg.QueueTokens,
		window:    schedule.Window(cfg.PrefillTokens, workers),
		admission: NewAdmission(cfg.QueueRequests, cfg.QueueWait),
		requests:  make(schedule.Inside),
		sessions:  make(map[*local]bool),
	}
}

// enter admits a session, which must call leave; see [Admission.Enter]. It computes the work ahead of the session.
func (n *insiders) enter(ctx context.Context, s *local, b schedule.Backlog) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	b.Ahead = n.requests.Ask(&s.place)
	if err := n.admission.Enter(ctx, s.place.Caller, s.left(), b); err != nil {
		n.refused++
		return err
	}
	n.requests.Enter(&s.place)
	n.sessions[s] = true
	return nil
}

// leave removes a session that enter admitted.
func (n *insiders) leave(s *local) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.sessions, s)
	n.requests.Leave(&s.place)
	n.admission.Leave(s.place.Caller)
}

// room returns the number of source tokens that a session may have waiting now. Requests share the limit of the engine; each may
// always have one sentence waiting.
func (n *insiders) room() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return min(n.window, n.maxTokens/max(1, int(n.admission.Held)))
}

// load returns the number of refused requests, and the number of source tokens that admitted requests have not handed over yet.
func (n *insiders) load() (refused uint64, tokens int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for s := range n.sessions {
		tokens += s.unposted()
	}
	return n.refused, tokens
}
