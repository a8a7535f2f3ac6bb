package fleet

import (
	"context"
	"errors"

	"dragoman/app/engine"
	"dragoman/app/fault"
	"dragoman/app/translate"
)

// Engine decodes with a model of the fleet's workers, as [engine.Engine] does with its own. It is
// safe for concurrent use.
type Engine struct {
	gateway *Gateway
	queue   string
}

// Engine is the one of the model that has an identity.
func (g *Gateway) Engine(identity string) *Engine { return &Engine{g, queueOf(identity)} }

// Stream decodes the sentences of a request; see [engine.Engine.Stream]. Beside the errors there it
// fails with an [*UnavailableError] while Redis is away, with a [*DeadError] on a sentence that
// its workers did not survive, and with [translate.ErrGone] where no worker has the model any more but
// others are there.
func (e *Engine) Stream(ctx context.Context, req engine.Request,
	next func() (job engine.Job, ok bool, err error), each func(job int, r engine.Result) error) error {
	s, err := e.open(ctx, req)
	if err != nil {
		return err
	}
	err = s.Run(ctx, s, next, each)
	if ctx.Err() != nil && errors.Is(err, context.DeadlineExceeded) && e.gateway.isIdle(e.queue) {
		return &UnavailableError{Err: errNobody} // not the fault of its sender
	}
	return err
}

// errNobody is why a request has not ended in its time that no worker could decode.
var errNobody = errors.New("no worker has the model at the moment")

// Err is nil: Redis and workers come back, and a worker that hangs is replaced by others.
func (e *Engine) Err() error { return nil }

// open lets a request in, if it can be done in time.
func (e *Engine) open(ctx context.Context, req engine.Request) (*session, error) {
	g := e.gateway
	s, err := engine.NewSession(ctx, g.closing, req)
	if err != nil {
		return nil, err
	}
	if err := g.broker.Err(); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.fleet.deserted(e.queue, g.broker.timing.Lease) {
		return nil, translate.ErrGone
	}
	own, lane := req.Work(req.Tokens), laneOf(req.Priority, req.Tokens, g.cfg.Short)
	if err := g.admission.Enter(ctx, req.Caller, own, g.load(e.queue).backlog(lane, own)); err != nil {
		g.cfg.Metrics.refused.Inc()
		return nil, err
	}
	deadline, _ := ctx.Deadline()
	return &session{
		Session: s, gateway: g, queue: e.queue, caller: anonymous(req.Caller), deadline: deadline, inFlight: make(map[int]*sentence),
	}, nil
}

// UnavailableError means that Redis is away, or all workers of a model.
type UnavailableError struct{ Err error }

func (e *UnavailableError) Error() string {
	return "the broker or the workers are away: " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *UnavailableError) Unwrap() error { return e.Err }

// Explain says what is told to the sender of a request.
func (e *UnavailableError) Explain(fault.Situation) *fault.Failure {
	return fault.New(fault.NoBroker, "", "the workers cannot be reached at the moment: try again in a moment")
}

// DeadError means that workers ended while they decoded a sentence. It is kept as a dead letter.
type DeadError struct{ Reason string }

func (e *DeadError) Error() string { return "workers ended while they decoded a sentence: " + e.Reason }

// Explain says what is told to the sender of a request.
func (e *DeadError) Explain(fault.Situation) *fault.Failure {
	return fault.New(fault.Crashed, "", "the model ended its process, again and again, with one of the texts, which is set aside: send the texts one by one to find it, and leave it out")
}

// remote is an error that happened elsewhere.
func remote(reason string) error { return errors.New("a worker: " + reason) }
