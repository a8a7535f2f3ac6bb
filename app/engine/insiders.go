package engine

import (
	"context"
	"sync"
)

// insiders are the requests that are inside. What each still has to do says how long another one
// would wait.
//
// Workers are shared fairly (queue.go), so a request does not wait for all that is
// inside: until its last sentence is decoded, another caller gets at most as much done
// as its own caller does, and another request of its caller as much as it does itself,
// by their weights. Requests of its caller and its priority are done before it or after it.
type insiders struct {
	maxTokens int
	window    int // source tokens that a request may have waiting where it is alone

	mu        sync.Mutex // guards the rest
	admission Admission
	callers   map[string]*insider
	refused   uint64
}

// insider is a caller with requests inside.
type insider struct {
	sessions map[*local]bool
	entered  [High - Low + 1]float64 // work of the requests that were let in since, by priority
}

func newInsiders(cfg Config, workers int) *insiders {
	return &insiders{
		maxTokens: cfg.QueueTokens,
		window:    Window(cfg.PrefillTokens, workers),
		admission: Admission{Requests: cfg.QueueRequests, Wait: cfg.QueueWait},
		callers:   make(map[string]*insider),
	}
}

// enter lets a session in, which must leave; see [Admission.Enter]. What is ahead of it is found out here.
func (n *insiders) enter(ctx context.Context, s *local, b Backlog) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	own, caller := s.left(), n.insider(s.Request.Caller)
	s.order = caller.orderOf(s.Request.Priority, own)
	b.Ahead = n.ahead(s, own)
	if err := n.admission.Enter(ctx, s.Request.Caller, own, b); err != nil {
		n.refused++
		return err
	}
	n.callers[s.Request.Caller] = caller
	caller.sessions[s] = true
	caller.entered[s.Request.Priority-Low] += own
	return nil
}

// insider is a caller, which may be new; mu is held.
func (n *insiders) insider(name string) *insider {
	if caller := n.callers[name]; caller != nil {
		return caller
	}
	return &insider{sessions: make(map[*local]bool)}
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
func (n *insiders) ahead(s *local, own float64) float64 {
	var levels [High - Low + 1]float64
	for other := range n.insider(s.Request.Caller).sessions {
		if other.Request.Priority != s.Request.Priority || other.order <= s.order {
			levels[other.Request.Priority-Low] += other.left()
		}
	}
	ofLevel := levels[s.Request.Priority-Low] + own
	byCaller := ofLevel
	for p := Low; p <= High; p++ {
		if p != s.Request.Priority {
			byCaller += min(levels[p-Low], ofLevel*p.Weight()/s.Request.Priority.Weight())
		}
	}
	total := byCaller
	for name, caller := range n.callers {
		if name == s.Request.Caller {
			continue
		}
		others, charge := 0.0, chargeOf(Low)
		for other := range caller.sessions {
			others += other.left()
			charge = min(charge, chargeOf(other.Request.Priority))
		}
		total += min(others, byCaller*chargeOf(s.Request.Priority)/charge)
	}
	return total - own
}

// leave ends what enter began.
func (n *insiders) leave(s *local) {
	n.mu.Lock()
	defer n.mu.Unlock()
	caller := n.callers[s.Request.Caller]
	delete(caller.sessions, s)
	if len(caller.sessions) == 0 {
		delete(n.callers, s.Request.Caller)
	}
	n.admission.Leave(s.Request.Caller)
}

// room is how many source tokens a session may have waiting now. Requests share what
// may wait in all; each may have a sentence in any case.
func (n *insiders) room() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return min(n.window, n.maxTokens/max(1, n.admission.Inside))
}

// load is how many requests were refused, and how many source tokens those inside have
// not handed over yet.
func (n *insiders) load() (refused uint64, tokens int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, caller := range n.callers {
		for s := range caller.sessions {
			tokens += s.unposted()
		}
	}
	return n.refused, tokens
}
