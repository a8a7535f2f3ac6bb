package engine

import "sync"

// places knows which worker has which sentences: identical ones belong on the same,
// where they are decoded once, and others where there is the least to do.
type places struct {
	mu   sync.Mutex // guards the rest
	load []int      // source tokens of each worker's jobs
	of   map[key]*place
}

// place is where a sentence is, and for how many jobs.
type place struct {
	at   *worker
	jobs int
}

func newPlaces(workers int) *places {
	return &places{load: make([]int, workers), of: make(map[key]*place)}
}

// add chooses the worker for a job with a key: only, unless it is nil.
func (p *places) add(k key, only *worker, workers []*worker) *worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, known := p.of[k]
	switch {
	case known && (only == nil && at.at.board.err() == nil || at.at == only):
		at.jobs++
		only = at.at
	case only == nil:
		only = p.idlest(workers)
		fallthrough
	default:
		p.of[k] = &place{only, 1}
	}
	p.load[only.number] += k.source
	return only
}

// remove takes a job from its worker.
func (p *places) remove(k key, from *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.load[from.number] -= k.source
	if at := p.of[k]; at != nil && at.at == from {
		if at.jobs--; at.jobs == 0 {
			delete(p.of, k)
		}
	}
}

// idlest is the worker with the least to do; of those that are lost only where all are.
func (p *places) idlest(workers []*worker) *worker {
	var best *worker
	for _, w := range workers {
		if w.board.err() == nil && (best == nil || p.load[w.number] < p.load[best.number]) {
			best = w
		}
	}
	if best == nil {
		return workers[0]
	}
	return best
}
