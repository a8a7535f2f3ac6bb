package engine

import (
	"context"
	"fmt"

	"dragoman/app/schedule"
	"dragoman/app/wait"
)

// Session is an admitted request, independent of where its sentences are decoded. The caller's goroutine submits the sentences to
// a [Decoder], as many as may wait at a time, and hands out the results.
type Session struct {
	Request Request
	closing context.Context // done when the engine closes

	count   int // jobs that next returned
	running int // jobs that next returned and that have no outcome yet

	outcomes inbox[Outcome] // bounded by the running jobs; also wakes the session when there is room for more
}

// Outcome is the result or the error of a job.
type Outcome struct {
	Job    int // number of the job, in the order of next
	Result Result
	Err    error // why there is no result; nil: there is a result
}

// Decoder decodes the jobs of one [Session], on local workers or remotely. It is used on the session's goroutine.
type Decoder interface {
	// Room returns how much may be submitted now; above 0 while nothing waits.
	Room() int
	// Submit takes a job and its number, and returns the room that it takes. The caller may reuse the slices of the job. The
	// error describes an invalid job.
	Submit(number int, job Job) (size int, err error)
	// Flush starts the decoding of the submitted jobs.
	Flush()
	// Results returns the outcomes since the last call. A job that failed at one worker and moves to another is not among them.
	Results() []Outcome
	// Cancel ends the session: its remaining jobs are not decoded.
	Cancel()
}

// NewSession returns a session. It fails if ctx is done, or if closing is done: then the engine is closed.
func NewSession(ctx, closing context.Context, req Request) (*Session, error) {
	switch {
	case req.Priority < schedule.Low || req.Priority > schedule.High:
		return nil, fmt.Errorf("%w: priority %d is none of low, normal and high", ErrInvalid, req.Priority)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case closing.Err() != nil:
		return nil, ErrClosed
	}
	return &Session{Request: req, closing: closing, outcomes: inbox[Outcome]{wake: wait.NewSignal()}}, nil
}

// Run decodes the jobs of the request, and cancels the remaining ones at its end; see [Engine.Stream].
func (s *Session) Run(ctx context.Context, d Decoder, next func() (Job, bool, error), each func(int, Result) error) error {
	defer d.Cancel()
	more := s.Request.More
	for {
		if err := s.feed(ctx, d, next); err != nil {
			return err
		}
		if s.running == 0 && more == nil {
			return nil
		}
		select {
		case <-s.outcomes.wake:
		case _, open := <-more:
			if !open {
				more = nil // next is called once more, for the last jobs
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.closing.Done():
			return ErrClosed
		}
		for _, o := range d.Results() {
			if o.Err != nil {
				return o.Err
			}
			s.running--
			if err := each(o.Job, o.Result); err != nil {
				return err
			}
		}
	}
}

// feed submits jobs while there is room for more.
func (s *Session) feed(ctx context.Context, d Decoder, next func() (Job, bool, error)) error {
	for room := d.Room(); room > 0; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		job, ok, err := next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		size, err := d.Submit(s.count, job)
		if err != nil {
			return fmt.Errorf("%w %d: %w", ErrInvalid, s.count, err)
		}
		room -= size
		s.count++
		s.running++
	}
	d.Flush()
	return nil
}

// Put leaves the outcome of a job. It never blocks, and may be called from any goroutine.
func (s *Session) Put(o Outcome) { s.outcomes.put(o) }

// Results takes the outcomes left by Put, for a [Decoder] that drops none of them.
func (s *Session) Results() []Outcome { return s.outcomes.take(nil) }

// List returns a next function for [Engine.Stream] that returns the jobs in order.
func List(jobs ...Job) (next func() (job Job, ok bool, err error)) {
	return func() (job Job, ok bool, err error) {
		if len(jobs) == 0 {
			return job, false, nil
		}
		job, jobs = jobs[0], jobs[1:]
		return job, true, nil
	}
}
