package engine

import (
	"time"

	"dragoman/model"
)

// call is a request on its way. Stream makes it and waits for results; everything
// else belongs to the loop from post on.
type call struct {
	priority  Priority
	tokens    int         // source tokens of all jobs
	submitted time.Time   // set by post
	sequences []*sequence // of each job; identical jobs have the same, the loop sees to it

	queued   int  // jobs whose sequence waits in the queue
	pending  int  // jobs without a result
	finished bool // the loop is done with it

	results []Result   // of each job; the caller's once its number came through ready
	ready   chan int   // numbers of the jobs with a result; has room for all
	failed  chan error // receives a value where the call fails; has room for it
}

// newCall makes a call of a valid request. It copies what it needs of it.
func newCall(req Request, footprint model.Footprint) *call {
	n := len(req.Jobs)
	c := &call{
		priority:  req.Priority,
		sequences: make([]*sequence, n),
		pending:   n,
		results:   make([]Result, n),
		ready:     make(chan int, n),
		failed:    make(chan error, 1),
	}
	for i, job := range req.Jobs {
		c.sequences[i] = newSequence(job, footprint)
		c.tokens += len(job.Source)
	}
	return c
}
