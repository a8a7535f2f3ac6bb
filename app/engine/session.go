package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"dragoman/model"
)

// session is a request that was let in. Its caller's goroutine hands its sentences to
// workers, as many as may wait at a time, and their results out.
type session struct {
	engine  *Engine
	request Request
	only    *worker // of WarmUp: the one that all jobs go to

	out      *outbox
	calls    map[*worker]*call
	inFlight map[int]*placed
	count    int     // jobs that next handed out
	short    int     // source tokens of a request that is short
	order    float64 // when it is its turn, see [insider]; the desk sets it

	// Source tokens, for the desk. The loops of workers count those that left the
	// queue.
	posted, admitted atomic.Int64
}

// placed is a job that a worker has.
type placed struct {
	job   Job
	key   key
	at    *worker
	moved bool // its first worker was lost
}

func newSession(e *Engine, req Request) *session {
	return &session{engine: e, request: req, out: newOutbox(), calls: make(map[*worker]*call), inFlight: make(map[int]*placed), short: math.MaxInt}
}

// left is the work that is not admitted to a batch yet.
func (s *session) left() float64 {
	return s.request.work(int(max(0, max(int64(s.request.Tokens), s.posted.Load())-s.admitted.Load())))
}

// unposted are the source tokens that workers do not know of yet.
func (s *session) unposted() int { return int(max(0, int64(s.request.Tokens)-s.posted.Load())) }

// long says whether the request is more than a round takes in: who sent it does not wait
// for each of its steps.
func (s *session) long() bool { return max(int64(s.request.Tokens), s.posted.Load()) > int64(s.short) }

// admit counts source tokens that do not wait any more, and has the session see to what
// may wait in their place. It may be called from any goroutine.
func (s *session) admit(tokens int) {
	s.admitted.Add(int64(tokens))
	s.out.ring()
}

// run works through the request; see [Engine.Stream].
func (s *session) run(ctx context.Context, next func() (Job, bool, error), each func(int, Result) error) error {
	more := s.request.More
	for {
		if err := s.feed(ctx, next); err != nil {
			return err
		}
		if len(s.inFlight) == 0 && more == nil {
			return nil
		}
		select {
		case <-s.out.wake:
		case _, open := <-more:
			if !open {
				more = nil // next is asked once more: what it has now is the rest
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.engine.closing.Done():
			return ErrClosed
		}
		results, failures := s.out.take()
		for _, r := range results {
			s.done(r.job)
			if err := each(r.job, r.result); err != nil {
				return err
			}
		}
		for _, f := range failures {
			if err := s.fail(f); err != nil {
				return err
			}
		}
	}
}

// all decodes jobs and collects their results.
func (s *session) all(ctx context.Context, jobs []Job) ([]Result, error) {
	results, at := make([]Result, len(jobs)), 0
	err := s.run(ctx, func() (job Job, ok bool, err error) {
		if at == len(jobs) {
			return job, false, nil
		}
		at++
		return jobs[at-1], true, nil
	}, func(job int, r Result) error {
		results[job] = r
		return nil
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// feed hands jobs to workers while there is room for more that wait.
func (s *session) feed(ctx context.Context, next func() (Job, bool, error)) (err error) {
	batches := make(map[*worker][]posted)
	defer func() {
		if err == nil { // or the request ends
			s.post(batches)
		}
	}()
	for room := s.engine.desk.room(); s.posted.Load()-s.admitted.Load() < int64(max(1, room)); {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		job, ok, err := next()
		if err != nil || !ok {
			return err
		}
		if err := s.engine.validateJob(job); err != nil {
			return fmt.Errorf("%w %d: %w", ErrInvalid, s.count, err)
		}
		p := &placed{job: job, key: keyOf(job)}
		p.at = s.engine.places.add(p, s.only, s.engine.workers)
		s.posted.Add(int64(len(job.Source)))
		one := s.engine.newPosted(s.count, p)
		p.job = one.sequence.job // with ids of its own
		s.inFlight[s.count] = p
		batches[p.at] = append(batches[p.at], one)
		s.count++
	}
	return nil
}

// post leaves jobs for the workers that have them.
func (s *session) post(batches map[*worker][]posted) {
	for w, list := range batches {
		if s.calls[w] == nil {
			s.calls[w] = newCall(s)
		}
		w.mailbox.post(s.calls[w], list)
	}
}

// done forgets a job that has its result.
func (s *session) done(job int) {
	s.engine.places.remove(s.inFlight[job])
	delete(s.inFlight, job)
}

// fail ends the request with a worker's failure, but for a loss that another worker can
// make up for. That one is the last: a sentence that is to blame must not go through
// all of them.
func (s *session) fail(f givenUp) error {
	if !errors.Is(f.err, model.ErrLost) || s.engine.Err() != nil {
		return f.err
	}
	delete(s.calls, f.at)
	again := make(map[*worker][]posted)
	for number, p := range s.inFlight {
		if p.at != f.at {
			continue
		}
		if p.moved {
			return f.err
		}
		s.engine.places.remove(p)
		p.moved, p.at = true, s.engine.places.add(p, nil, s.engine.workers)
		again[p.at] = append(again[p.at], s.engine.newPosted(number, p))
	}
	s.post(again)
	return nil
}

// close ends the session: what is left of it leaves the workers.
func (s *session) close() {
	for number := range s.inFlight {
		s.done(number)
	}
	for w, c := range s.calls {
		w.mailbox.cancel(c)
	}
	s.engine.desk.leave(s)
}
