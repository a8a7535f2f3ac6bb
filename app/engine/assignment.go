package engine

import "sync"

// assignment assigns sentences to workers. Identical sentences go to the same worker, which decodes them once; others go to the
// worker with the smallest load.
type assignment struct {
	mu   sync.Mutex // guards the rest
	load []int      // source tokens of each worker's jobs
	of   map[key]*holder
}

// holder is the worker that has a sentence, and the number of jobs that share it.
type holder struct {
	at   *worker
	jobs int
}

func newAssignment(workers int) *assignment {
	return &assignment{load: make([]int, workers), of: make(map[key]*holder)}
}

// add returns the worker for a job with key k, and counts its load. If only is not nil, the job goes to that worker.
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

// remove removes a job from the load of its worker.
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

// idlest returns the working worker with the smallest load, or the first worker if all are lost.
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
