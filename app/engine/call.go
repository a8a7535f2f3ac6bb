package engine

import (
	"time"

	"dragoman/app/schedule"
)

// call is the part of a session at one worker. It belongs to the worker's loop.
type call struct {
	session *local
	line    schedule.Line[*sequence] // its sentences in the queue

	waits  map[*sequence]*waiter // by sequence that the call waits for
	queued int                   // number of the sequences in waits that are still in the queue
	ended  error                 // the reason why the call has ended; nil while the call waits
}

func newCall(s *local) *call {
	return &call{session: s, line: schedule.Line[*sequence]{Request: &s.place}, waits: make(map[*sequence]*waiter)}
}

// posted is a job on its way to the loop of a worker.
type posted struct {
	job      int // number of the job
	sequence *sequence
	at       time.Time
}

// waiter is a call that waits for a sequence, with the jobs that receive its result.
type waiter struct {
	call  *call
	jobs  []posted
	index int // place among the sequence's waiters
}

// fail reports to the session that the sequence has no result.
func (w *waiter) fail(err error) {
	for _, p := range w.jobs {
		w.call.session.Put(Outcome{Job: p.job, Err: err})
	}
}
