package engine

import (
	"context"
	"sync"
)

// insiders are the admitted requests. Their remaining work determines how long another request would wait.
//
// Workers are shared fairly (queue.go), so a request does not wait for all admitted work: until its last sentence is decoded,
// another caller gets at most as much done as its own caller, and another request of its caller at most as much as the request
// itself, by their weights. Requests of its caller and its priority are done before it or after it.
type insiders struct {
	maxTokens int
	window    int // source tokens that a request may have waiting when it is alone

	mu        sync.Mutex // guards the rest
	admission Admission
	callers   map[string]*insider
	refused   uint64
}

// insider is a caller with admitted requests.
type insider struct {
	sessions map[*local]bool
	entered  [High - Low + 1]float64 // work of the requests admitted since, by priority
}

func newInsiders(cfg Config, workers int) *insiders {
	return &insiders{
		maxTokens: cfg.QueueTokens,
		window:    Window(cfg.PrefillTokens, workers),
		admission: Admission{Requests: cfg.QueueRequests, Wait: cfg.QueueWait},
		callers:   make(map[string]*insider),
	}
}

// enter admits a session, which must call leave; see [Admission.Enter]. It computes the work ahead of the session.
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

// insider returns the insider of a caller, which may be new. The caller must hold mu.
func (n *insiders) insider(name string) *insider {
	if caller := n.callers[name]; caller != nil {
		return caller
	}
	return &insider{sessions: make(map[*local]bool)}
}

// patience is the multiple of its own work that a request lets later, smaller requests of its caller and priority do before it.
// With a larger value small requests end sooner, and large ones later.
const patience = 4

// orderOf returns the order of a request with some work among the requests of its caller and priority; the smallest order is
// next. A smaller request that comes later has the lower order as long as the work that was admitted between both is less than
// patience × the difference.
func (c *insider) orderOf(p Priority, work float64) float64 {
	return c.entered[p-Low] + patience*work
}

// ahead returns the work that is done before, or beside, the work of a session that is not admitted yet. The caller must hold mu.
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

// leave removes a session that enter admitted.
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

// room returns the number of source tokens that a session may have waiting now. Requests share the limit of the engine; each may
// always have one sentence waiting.
func (n *insiders) room() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return min(n.window, n.maxTokens/max(1, n.admission.Inside))
}

// load returns the number of refused requests, and the number of source tokens that admitted requests have not handed over yet.
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
