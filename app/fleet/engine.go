package fleet

import (
	"context"
	"errors"

	"dragoman/app/engine"
	"dragoman/app/fault"
	"dragoman/app/translate"
)

// Engine decodes on the workers of a model, as [engine.Engine] does in this process. It is safe for concurrent use.
type Engine struct {
	gateway *Gateway
	queue   string
}

// Engine returns the engine of the model with an identity.
func (g *Gateway) Engine(identity string) *Engine { return &Engine{g, queueOf(identity)} }

// Stream decodes the sentences of a request; see [engine.Engine.Stream]. Stream also returns an [*UnavailableError] while Redis
// is away, a [*DeadError] for a dead letter, and [translate.ErrGone] if no worker has the model any more while there are workers
// of other models.
func (e *Engine) Stream(ctx context.Context, req engine.Request,
	next func() (job engine.Job, ok bool, err error), each func(job int, r engine.Result) error) error {
	s, err := e.open(ctx, req)
	if err != nil {
		return err
	}
	err = s.Run(ctx, s, next, each)
	if ctx.Err() != nil && errors.Is(err, context.DeadlineExceeded) && e.gateway.isIdle(e.queue) {
		return &UnavailableError{Err: errNobody} // the sender has not asked for too much
	}
	return err
}

// errNobody is why a request did not end in its time if no worker could decode it.
var errNobody = errors.New("no worker has the model at the moment")

// Err returns nil: Redis and workers return, and other workers take the sentences of one that hangs.
func (e *Engine) Err() error { return nil }

// open admits a request if it can end in time.
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

// UnavailableError means that Redis or all workers of a model are away.
type UnavailableError struct{ Err error }

func (e *UnavailableError) Error() string {
	return "the broker or the workers are away: " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *UnavailableError) Unwrap() error { return e.Err }

// Explain returns the failure that the sender of a request is told.
func (e *UnavailableError) Explain(fault.Situation) *fault.Failure {
	return fault.New(fault.NoBroker, "", "the workers cannot be reached at the moment: try again in a moment")
}

// DeadError means that a sentence is a dead letter: workers ended while they decoded it.
type DeadError struct{ Reason string }

func (e *DeadError) Error() string { return "workers ended while they decoded a sentence: " + e.Reason }

// Explain returns the failure that the sender of a request is told.
func (e *DeadError) Explain(fault.Situation) *fault.Failure {
	return fault.New(fault.Crashed, "", "the model ended its process, again and again, with one of the texts, which is set aside: send the texts one by one to find it, and leave it out")
}

// remote returns an error of a worker.
func remote(reason string) error { return errors.New("a worker: " + reason) }
