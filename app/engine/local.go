package engine

import (
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"dragoman/app/schedule"
	"dragoman/model"
)

// local is a session whose sentences are decoded by the engine's workers.
type local struct {
	*Session
	engine *Engine
	only   *worker // for WarmUp: the worker for all jobs

	portions []portion // by worker
	inFlight map[int]assigned
	short    int // maximum source tokens of a short request
	place    schedule.Request

	// Source tokens, for admission. Loops of workers count tokens that have left the queue in admitted.
	posted, admitted atomic.Int64
}

// portion is the part of a session at one worker.
type portion struct {
	call  *call    // nil before the first job
	ready []posted // submitted, not flushed
}

// assigned is a job at a worker.
type assigned struct {
	sequence *sequence // its key and job do not change
	at       *worker
	moved    bool // its first worker was lost
}

func newLocal(e *Engine, s *Session) *local {
	l := &local{Session: s, engine: e, portions: make([]portion, len(e.workers)), inFlight: make(map[int]assigned), short: e.cfg.PrefillTokens}
	l.place = schedule.Request{Caller: s.Request.Caller, Priority: s.Request.Priority, Left: l.left}
	return l
}

// left returns the work that is not admitted to a batch yet.
func (s *local) left() float64 {
	return s.Request.Work(int(max(0, max(int64(s.Request.Tokens), s.posted.Load())-s.admitted.Load())))
}

// unposted returns the number of source tokens that workers do not know of yet.
func (s *local) unposted() int { return int(max(0, int64(s.Request.Tokens)-s.posted.Load())) }

// long reports whether the request has more source tokens than a round takes in, so that its sender does not notice single steps.
func (s *local) long() bool { return max(int64(s.Request.Tokens), s.posted.Load()) > int64(s.short) }

// admit counts source tokens that do not wait any more, and wakes the session, which may submit more in their place. admit may be
// called from any goroutine.
func (s *local) admit(tokens int) {
	s.admitted.Add(int64(tokens))
	s.outcomes.wake.Give()
}

// Room implements [Decoder]. The unit is source tokens.
func (s *local) Room() int {
	return max(1, s.engine.insiders.room()) - int(s.posted.Load()-s.admitted.Load())
}

// Submit implements [Decoder].
func (s *local) Submit(number int, job Job) (size int, err error) {
	if err := s.engine.validateJob(job); err != nil {
		return 0, err
	}
	s.assign(number, job, keyOf(job), false)
	return len(job.Source), nil
}

// assign chooses a worker for a job. A moved job may go to any worker.
func (s *local) assign(number int, job Job, k key, moved bool) {
	only := s.only
	if moved {
		only = nil
	}
	at := s.engine.assignment.add(k, only, s.engine.workers)
	x := newSequence(job, k, s.engine.models[at.number])
	s.inFlight[number] = assigned{x, at, moved}
	s.posted.Add(int64(len(job.Source)))
	to := &s.portions[at.number]
	to.ready = append(to.ready, posted{number, x, time.Now()})
}

// Flush implements [Decoder]: it posts the jobs to their workers.
func (s *local) Flush() {
	for i := range s.portions {
		to := &s.portions[i]
		if len(to.ready) == 0 {
			continue
		}
		if to.call == nil {
			to.call = newCall(s)
		}
		s.engine.workers[i].mailbox.post(to.call, to.ready)
		to.ready = nil
	}
}

// Results implements [Decoder].
func (s *local) Results() []Outcome {
	return slices.DeleteFunc(s.Session.Results(), func(o Outcome) bool {
		if o.Err != nil && s.move(o) {
			return true
		}
		s.done(o.Job)
		return false
	})
}

// move reassigns a job whose worker was lost, and reports whether it does. A job moves only once: a sentence that causes the loss
// must not go through all workers.
func (s *local) move(o Outcome) bool {
	p := s.inFlight[o.Job]
	if p.moved || !errors.Is(o.Err, model.ErrLost) || s.engine.lost() != nil {
		return false
	}
	s.engine.assignment.remove(p.sequence.key, p.at)
	s.assign(o.Job, p.sequence.job, p.sequence.key, true)
	return true
}

// done removes a job that has its outcome.
func (s *local) done(job int) {
	p := s.inFlight[job]
	s.engine.assignment.remove(p.sequence.key, p.at)
	delete(s.inFlight, job)
}

// Cancel implements [Decoder]: the remaining sentences leave the workers.
func (s *local) Cancel() {
	for number := range s.inFlight {
		s.done(number)
	}
	for i, to := range s.portions {
		if to.call != nil {
			s.engine.workers[i].mailbox.cancel(to.call)
		}
	}
	s.engine.insiders.leave(s)
}
