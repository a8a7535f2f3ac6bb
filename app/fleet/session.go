package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"dragoman/app/catalog"
	"dragoman/app/engine"
	"dragoman/app/translate"
	"dragoman/model"
)

// session is a request that was let in. Its caller's goroutine submits its sentences, as many as may
// wait at a time, and hands their results out.
type session struct {
	engine   *Engine
	gateway  *Gateway
	request  engine.Request
	caller   string
	deadline time.Time // zero: there is none

	inFlight map[int]*sentence // by the numbers of their jobs
	count    int               // jobs that next handed out
	tokens   int               // source tokens in flight
	cost     int64             // work in flight
	accepted bool              // Redis has taken a sentence; guarded by the gateway's mu

	wake    chan struct{} // has a value after something was delivered
	mu      sync.Mutex    // guards the rest
	results []delivered
}

// delivered is what has become of a job.
type delivered struct {
	sentence *sentence
	reply    *reply
	took     time.Duration
}

// deliver hands a reply over. It may be called from any goroutine.
func (s *session) deliver(to *sentence, r *reply) {
	s.mu.Lock()
	s.results = append(s.results, delivered{to, r, time.Since(to.since)})
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default: // it is awake, or will be
	}
}

// take returns what was delivered since the last time.
func (s *session) take() (list []delivered) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, s.results = s.results, nil
	return list
}

// run works through the request; see [Engine.Stream].
func (s *session) run(ctx context.Context, next func() (engine.Job, bool, error), each func(int, engine.Result) error) error {
	more := s.request.More
	for {
		if err := s.feed(ctx, next); err != nil {
			return err
		}
		if len(s.inFlight) == 0 && more == nil {
			return nil
		}
		select {
		case <-s.wake:
		case _, open := <-more:
			if !open {
				more = nil // next is asked once more: what it has now is the rest
			}
		case <-ctx.Done():
			return s.expired(context.Cause(ctx))
		case <-s.gateway.closing.Done():
			return ErrClosed
		}
		for _, d := range s.take() {
			if s.retry(d.sentence, d.reply) {
				continue
			}
			s.done(d.sentence)
			if err := s.fault(d.sentence, d.reply); err != nil {
				return err
			}
			if err := each(d.sentence.job, d.reply.result(d.took)); err != nil {
				return err
			}
		}
	}
}

// errNobody is why a request has not ended in its time that no worker could decode.
var errNobody = errors.New("no worker has the model at the moment")

// expired is why a request has ended too early. That nobody was there to decode it is not its sender's
// doing.
func (s *session) expired(cause error) error {
	g := s.gateway
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, _, copies := g.speed(s.engine.queue); copies == 0 && errors.Is(cause, context.DeadlineExceeded) {
		return &UnavailableError{Err: errNobody}
	}
	return cause
}

// feed submits jobs while there is room for more.
func (s *session) feed(ctx context.Context, next func() (engine.Job, bool, error)) error {
	for s.room() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		job, ok, err := next()
		if err != nil || !ok {
			return err
		}
		if err := job.Search.Validate(); err != nil {
			return fmt.Errorf("%w %d: %w", engine.ErrInvalid, s.count, err)
		}
		x := s.newSentence(job)
		s.count++
		s.tokens += len(job.Source)
		s.cost += x.cost
		s.submit(x)
	}
	return nil
}

// submit has a sentence decoded.
func (s *session) submit(x *sentence) {
	s.inFlight[x.job] = x
	s.gateway.mu.Lock()
	defer s.gateway.mu.Unlock()
	s.gateway.add(x)
}

// room says whether the request may have another sentence submitted. One may be in any case.
func (s *session) room() bool {
	if len(s.inFlight) == 0 {
		return true
	}
	s.gateway.mu.Lock()
	defer s.gateway.mu.Unlock()
	return s.cost < s.gateway.window(s.engine.queue)
}

// newSentence makes a sentence of a job. Sentences of a request that has much in flight are less
// urgent than others.
func (s *session) newSentence(job engine.Job) *sentence {
	at := lane(s.request.Priority)
	if s.tokens > s.gateway.cfg.Short {
		at = min(at+1, len(laneNames)-1)
	}
	x := &sentence{
		session: s, job: s.count, queue: s.engine.queue, lane: at, since: time.Now(),
		work: work{
			Caller: s.caller, Priority: int8(s.request.Priority), Source: slices.Clone(job.Source), Prefix: slices.Clone(job.Prefix),
			Options: newOptions(job.Search), Phrases: newPhrases(job.Phrases),
		},
	}
	x.cost = int64(len(job.Source)) * int64(x.work.rows())
	if !s.deadline.IsZero() {
		x.work.Deadline = s.gateway.broker.now().Add(time.Until(s.deadline)).UnixMilli()
	}
	return x
}

// done forgets a job that has its result.
func (s *session) done(x *sentence) {
	delete(s.inFlight, x.job)
	s.tokens -= len(x.work.Source)
	s.cost -= x.cost
}

// maxTries is how many workers may fail to decode a sentence before its request fails.
const maxTries = 3

// retry submits a sentence again that another worker may decode.
func (s *session) retry(x *sentence, r *reply) bool {
	tries := x.work.Tries
	switch r.Fault {
	case again:
	case failed, lost, broken:
		if tries++; tries == maxTries {
			return false
		}
	default:
		return false
	}
	next := &sentence{session: s, job: x.job, queue: x.queue, lane: x.lane, since: x.since, work: x.work, cost: x.cost, losses: x.losses}
	next.work.Tries = tries
	s.gateway.cfg.Metrics.resubmitted.Inc()
	s.submit(next)
	return true
}

// fault is the error that a reply stands for.
func (s *session) fault(x *sentence, r *reply) error {
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

// close ends the session: what is left of it leaves the queue and the workers.
func (s *session) close() {
	g := s.gateway
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, x := range s.inFlight {
		g.cancel(x)
	}
	g.requests--
	if g.callers[s.request.Caller]--; g.callers[s.request.Caller] == 0 {
		delete(g.callers, s.request.Caller)
	}
}
