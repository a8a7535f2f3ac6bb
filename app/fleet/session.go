package fleet

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"dragoman/app/catalog"
	"dragoman/app/engine"
	"dragoman/app/translate"
	"dragoman/model"
)

// session is a request that was let in, whose sentences the fleet's workers decode: it implements
// [engine.Decoder].
type session struct {
	*engine.Session
	gateway  *Gateway
	queue    string
	caller   string    // as others may see it
	deadline time.Time // zero: there is none
	ready    []*sentence

	// Guarded by the gateway's mu.
	inFlight map[int]*sentence // by the numbers of their jobs
	tokens   int               // source tokens in flight
	cost     int64             // work in flight
	accepted bool              // Redis has taken a sentence
}

// Room implements [engine.Decoder], in work.
func (s *session) Room() int {
	s.gateway.mu.Lock()
	defer s.gateway.mu.Unlock()
	return int(max(1, s.gateway.window(s.queue)) - s.cost)
}

// Submit implements [engine.Decoder].
func (s *session) Submit(number int, job engine.Job) (size int, err error) {
	if err := job.Search.Validate(); err != nil {
		return 0, err
	}
	x := &sentence{
		session: s, job: number, queue: s.queue, since: time.Now(),
		work: work{
			Caller: s.caller, Priority: int8(s.Request.Priority), Source: slices.Clone(job.Source), Prefix: slices.Clone(job.Prefix),
			Options: options{Options: job.Search}, Phrases: newPhrases(job.Phrases),
		},
	}
	x.cost = int64(len(job.Source)) * int64(x.work.rows())
	if !s.deadline.IsZero() {
		x.work.Deadline = s.gateway.broker.now().Add(time.Until(s.deadline)).UnixMilli()
	}
	s.ready = append(s.ready, x)
	return int(x.cost), nil
}

// Flush implements [engine.Decoder].
func (s *session) Flush() {
	s.gateway.mu.Lock()
	defer s.gateway.mu.Unlock()
	for _, x := range s.ready {
		// Sentences of a request that has much in flight are less urgent than others.
		x.lane = s.gateway.laneOf(s.Request.Priority, s.tokens)
		s.inFlight[x.job] = x
		s.tokens += len(x.work.Source)
		s.cost += x.cost
		s.gateway.add(x)
	}
	s.ready = nil
}

// deliver gives the request what became of a sentence; mu is held.
func (s *session) deliver(x *sentence, r *reply) {
	delete(s.inFlight, x.job)
	s.tokens -= len(x.work.Source)
	s.cost -= x.cost
	o := engine.Outcome{Job: x.job, Err: x.fault(r)}
	if o.Err == nil {
		o.Result = r.result(time.Since(x.since))
	}
	s.Put(o)
}

// fault is the error that a reply to a sentence stands for.
func (x *sentence) fault(r *reply) error {
	switch r.Fault {
	case "":
		return nil
	case invalid:
		return fmt.Errorf("%w %d: %w", engine.ErrInvalid, x.job, remote(r.Reason))
	case gone:
		return translate.ErrGone
	case vanished, unavailable:
		return &UnavailableError{Err: errors.New(r.Reason)}
	case dead:
		return &DeadError{Reason: r.Reason}
	case broken:
		return &catalog.BrokenError{Model: r.Reason, Err: remote("it cannot be loaded")}
	case lost:
		return fmt.Errorf("%w: %w", model.ErrLost, remote(r.Reason))
	}
	return remote(r.Reason)
}

// Cancel implements [engine.Decoder]: what is left leaves the queue and the workers.
func (s *session) Cancel() {
	g := s.gateway
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, x := range s.inFlight {
		g.tell(x, event{kind: withdrawn})
	}
	g.admission.Leave(s.Request.Caller)
}
