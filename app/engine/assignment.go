package engine

import "sync"

// assignment knows which worker has which sentences: identical ones belong on the same,
// where they are decoded once, and others where there is the least to do.
type assignment struct {
	mu   sync.Mutex // guards the rest
	load []int      // source tokens of each worker's jobs
	of   map[key]*holder
}

// holder is where a sentence is, and for how many jobs.
type holder struct {
	at   *worker
	jobs int
}

func newAssignment(workers int) *assignment {
	return &assignment{load: make([]int, workers), of: make(map[key]*holder)}
}

// add chooses the worker for a job with a key: only, unless it is nil.
func (a *assignment) add(k key, only *worker, workers []*worker) *worker {
	a.mu.Lock()
	defer a.mu.Unlock()
	h, known := a.of[k]
	switch {
	case known && (only == nil && h.at.lost() == nil || h.at == only):
		h.jobs++
		only = h.at
	case only == nil:
		only = a.idlest(workers)
		fallthrough
	default:
		a.of[k] = &holder{only, 1}
	}
	a.load[only.number] += k.source
	return only
}

// remove takes a job from its worker.
func (a *assignment) remove(k key, from *worker) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.load[from.number] -= k.source
	if h := a.of[k]; h != nil && h.at == from {
		if h.jobs--; h.jobs == 0 {
			delete(a.of, k)
		}
	}
}

// idlest is the worker with the least to do; of those that are lost only where all are.
func (a *assignment) idlest(workers []*worker) *worker {
	var best *worker
	for _, w := range workers {
		if w.lost() == nil && (best == nil || a.load[w.number] < a.load[best.number]) {
			best = w
		}
	}
	if best == nil {
		return workers[0]
	}
	return best
}
