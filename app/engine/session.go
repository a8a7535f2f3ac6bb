package engine

import (
	"context"
	"fmt"

	"dragoman/app/wait"
)

// Session is a request that was let in, wherever its sentences are decoded. Its caller's goroutine
// submits them to a [Decoder], as many as may wait at a time, and hands their results out.
type Session struct {
	Request Request
	closing context.Context // done when nothing is decoded any more

	count   int // jobs that next handed out
	running int // of these, the ones without an outcome

	outcomes inbox[Outcome] // bounded by the jobs that run; wakes also when there is room for more
}

// Outcome is what became of a job.
type Outcome struct {
	Job    int // its number, in the order of next
	Result Result
	Err    error // why there is no result; nil: there is
}

// Decoder decodes the jobs of one [Session], here or elsewhere. It is used on the session's goroutine.
type Decoder interface {
	// Room is how much may be submitted now; above 0 where nothing waits.
	Room() int
	// Submit takes a job in, which has a number, and says how much of the room it takes. The job's slices
	// are the caller's again. The error says what is wrong with the job.
	Submit(number int, job Job) (size int, err error)
	// Flush has what was submitted decoded.
	Flush()
	// Results are what has become of jobs since the last time. A job that failed at one worker, and
	// that another one is to decode, is not among them.
	Results() []Outcome
	// Cancel ends the session: what is left of it is not decoded.
	Cancel()
}

// NewSession begins a session, unless ctx is done, or closing: there is nothing then that decodes.
func NewSession(ctx, closing context.Context, req Request) (*Session, error) {
	switch {
	case req.Priority < Low || req.Priority > High:
		return nil, fmt.Errorf("%w: priority %d is none of low, normal and high", ErrInvalid, req.Priority)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case closing.Err() != nil:
		return nil, ErrClosed
	}
	return &Session{Request: req, closing: closing, outcomes: inbox[Outcome]{wake: wait.NewSignal()}}, nil
}

// Run works through the request, and cancels what is left of it; see [Engine.Stream].
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
				more = nil // next is asked once more: what it has now is the rest
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

// Put leaves what became of a job. It never blocks, and may be called from any goroutine.
func (s *Session) Put(o Outcome) { s.outcomes.put(o) }

// Results takes what was left with Put, for a [Decoder] in which all of it counts.
func (s *Session) Results() []Outcome { return s.outcomes.take(nil) }

// List hands out jobs, as [Engine.Stream] takes them.
func List(jobs ...Job) (next func() (job Job, ok bool, err error)) {
	return func() (job Job, ok bool, err error) {
		if len(jobs) == 0 {
			return job, false, nil
		}
		job, jobs = jobs[0], jobs[1:]
		return job, true, nil
	}
}
