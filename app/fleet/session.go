package fleet

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"dragoman/app/catalog"
	"dragoman/app/engine"
	"dragoman/app/translate"
	"dragoman/model"
)

// session is an admitted request whose sentences workers decode. It implements [engine.Decoder].
type session struct {
	*engine.Session
	gateway  *Gateway
	queue    string
	caller   string    // anonymous
	deadline time.Time // zero if there is none
	ready    []*sentence

	// Guarded by the gateway's mu.
	inFlight map[int]*sentence // by the numbers of their jobs
	tokens   int               // source tokens in flight
	cost     int64             // work in flight
	accepted bool              // whether Redis has taken a sentence
}

// Room implements [engine.Decoder]. The unit is work: source tokens × beams.
func (s *session) Room() int {
	g := s.gateway
	g.mu.Lock()
	defer g.mu.Unlock()
	return int(max(1, g.load(s.queue).window(g.cfg.Short, int(g.admission.Held))) - s.cost)
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
	g := s.gateway
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, x := range s.ready {
		x.lane = laneOf(s.Request.Priority, s.tokens, g.cfg.Short)
		x.stream = g.broker.keys.lanes(x.queue)[x.lane]
		s.inFlight[x.job] = x
		s.tokens += len(x.work.Source)
		s.cost += x.cost
		g.ledger.add(x)
	}
	s.ready = nil
}

// deliver gives the request the outcome of a sentence. The caller must hold mu.
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

// fault returns the error that a reply to the sentence stands for.
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

// Cancel implements [engine.Decoder]: the remaining sentences leave their lanes and the workers' batches.
func (s *session) Cancel() {
	g := s.gateway
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, x := range s.inFlight {
		g.ledger.tell(x, event{kind: withdrawn})
	}
	g.admission.Leave(s.Request.Caller)
}

// anonymous returns a name for a caller that does not reveal the caller.
func anonymous(caller string) string {
	h := fnv.New64a()
	h.Write([]byte(caller))
	return strconv.FormatUint(h.Sum64(), 36)
}
