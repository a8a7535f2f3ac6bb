package engine

import "time"

// call is the part of a session that a worker has. It belongs to the worker's loop.
type call struct {
	session *local
	queue   *requestQueue // its place in the queue, nil before a sentence of it waited

	waits  map[*sequence]*waiter // what it waits for
	queued int                   // of these, the sequences in the queue
	ended  error                 // why nobody waits for it any more; nil: somebody does
}

func newCall(s *local) *call { return &call{session: s, waits: make(map[*sequence]*waiter)} }

// posted is a job on its way to a worker's loop.
type posted struct {
	job      int // its number
	sequence *sequence
	at       time.Time
}

// waiter is a call that waits for a sequence, with the jobs that get its result.
type waiter struct {
	call  *call
	jobs  []posted
	index int // among the sequence's waiters
}

// fail tells that the sequence has no result.
func (w *waiter) fail(err error) {
	for _, p := range w.jobs {
		w.call.session.Put(Outcome{Job: p.job, Err: err})
	}
}
