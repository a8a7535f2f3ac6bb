package engine

import "sync"

// outbox is where workers leave results for a session. Nobody who leaves something
// waits; what is in it is bounded by the jobs that the session has in flight.
type outbox struct {
	// wake has a value when there is something to take, or room for more jobs.
	wake chan struct{}

	mu       sync.Mutex // guards the rest
	results  []numbered
	failures []givenUp
}

// numbered is the result of a job.
type numbered struct {
	job    int
	result Result
}

// givenUp is why a worker gives up what the session has there.
type givenUp struct {
	at  *worker
	err error
}

func newOutbox() *outbox { return &outbox{wake: make(chan struct{}, 1)} }

func (o *outbox) put(r numbered) {
	o.mu.Lock()
	o.results = append(o.results, r)
	o.mu.Unlock()
	o.ring()
}

func (o *outbox) fail(f givenUp) {
	o.mu.Lock()
	o.failures = append(o.failures, f)
	o.mu.Unlock()
	o.ring()
}

func (o *outbox) ring() {
	select {
	case o.wake <- struct{}{}:
	default: // it is awake, or will be
	}
}

// take empties the outbox.
func (o *outbox) take() ([]numbered, []givenUp) {
	o.mu.Lock()
	defer o.mu.Unlock()
	results, failures := o.results, o.failures
	o.results, o.failures = nil, nil
	return results, failures
}
