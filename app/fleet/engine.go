package fleet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"dragoman/app/engine"
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
// fails with an [*UnavailableError] while Redis is away, and with a [*DeadError] on a sentence that
// its workers did not survive.
func (e *Engine) Stream(ctx context.Context, req engine.Request,
	next func() (job engine.Job, ok bool, err error), each func(job int, r engine.Result) error) error {
	s, err := e.open(ctx, req)
	if err != nil {
		return err
	}
	defer s.close()
	return s.run(ctx, next, each)
}

// WarmUp does nothing: workers warm up themselves.
func (e *Engine) WarmUp(context.Context, engine.Job) error { return nil }

// InRound is 0: a worker that hangs is replaced by others.
func (e *Engine) InRound() time.Duration { return 0 }

// Err is nil: Redis and workers come back.
func (e *Engine) Err() error { return nil }

// lane is where sentences of a priority wait, the most urgent first.
func lane(p engine.Priority) int { return int(engine.High - p) }

// open lets a request in, if it can be done in time.
func (e *Engine) open(ctx context.Context, req engine.Request) (*session, error) {
	if req.Priority < engine.Low || req.Priority > engine.High {
		return nil, fmt.Errorf("%w: priority %d is none of low, normal and high", engine.ErrInvalid, req.Priority)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	g := e.gateway
	if g.closing.Err() != nil {
		return nil, ErrClosed
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.away != nil {
		return nil, &UnavailableError{Err: g.away}
	}
	if err := g.admit(ctx, e.queue, req); err != nil {
		g.cfg.Metrics.refused.Inc()
		return nil, err
	}
	g.requests++
	g.callers[req.Caller]++
	s := &session{
		engine: e, gateway: g, request: req, caller: anonymous(req.Caller), wake: make(chan struct{}, 1),
		inFlight: make(map[int]*sentence),
	}
	if deadline, ok := ctx.Deadline(); ok {
		s.deadline = deadline
	}
	return s, nil
}

// largestShare is how many times what is free for others a caller may have of a gateway's places.
const largestShare = 3

// longestWait is the longest time that a client is told to wait.
const longestWait = 10 * time.Minute

// admit refuses a request that would wait too long, or could not end in time, at the speed that the
// workers have had; mu is held.
func (g *Gateway) admit(ctx context.Context, queue string, req engine.Request) error {
	own := float64(req.Tokens) * float64(max(1, req.Beams))
	speed, sentenceTime, _ := g.speed(queue)
	at := lane(req.Priority)
	if req.Tokens > g.cfg.Short {
		at = min(at+1, len(laneNames)-1)
	}
	work := g.waiting(queue)
	ahead := 0.0
	for other, w := range work {
		if other <= at {
			ahead += float64(w)
		} else { // what is less urgent gets its share beside it
			ahead += min(float64(w), (own+ahead)*shares[other]/shares[at])
		}
	}
	wait, alone, left := time.Duration(0), time.Duration(0), time.Duration(math.MaxInt64)
	if speed > 0 {
		wait, alone = seconds(ahead/speed), seconds(own/speed)+sentenceTime
		if deadline, ok := ctx.Deadline(); ok {
			left = time.Until(deadline)
		}
	}
	free, mine := g.cfg.Requests-g.requests, g.callers[req.Caller]
	switch {
	case alone > left:
		return &engine.TooLargeError{Needs: alone, Left: left}
	case free <= 0, mine >= largestShare*free, work[0]+work[1]+work[2] >= g.bound(queue),
		g.cfg.Wait > 0 && wait > g.cfg.Wait, wait > left-alone:
		return &engine.BusyError{Requests: g.requests, Wait: min(max(time.Second, wait), longestWait)}
	}
	return nil
}

// seconds is a time that may be very long.
func seconds(s float64) time.Duration {
	return time.Duration(min(s, math.MaxInt32) * float64(time.Second))
}

// shares are what lanes get of the workers where all have something.
var shares = [3]float64{16, 4, 1}

// speed is how fast workers are with a queue, in work per second, how long a sentence takes, and how
// many copies of the model decode; mu is held.
func (g *Gateway) speed(queue string) (perSecond float64, sentence time.Duration, copies int) {
	for _, w := range g.fleet.workers {
		if q, ok := w.Queues[queue]; ok {
			perSecond += q.WorkPerSecond
			sentence = max(sentence, seconds(q.SentenceTime))
			copies += max(1, q.Copies)
		}
	}
	return perSecond, sentence, copies
}

// waiting is the work that all gateways have submitted to a queue and wait for, by lane; mu is held.
func (g *Gateway) waiting(queue string) [3]int64 {
	work := g.fleet.others[queue]
	if own := g.work[queue]; own != nil {
		for lane := range work {
			work[lane] += own[lane]
		}
	}
	return work
}

// bound is the most work that may wait in a queue; mu is held.
func (g *Gateway) bound(queue string) int64 {
	_, _, copies := g.speed(queue)
	return int64(g.cfg.Tokens) * int64(max(1, copies))
}

// window is the work that one request may have in a queue; mu is held.
func (g *Gateway) window(queue string) int64 {
	_, _, copies := g.speed(queue)
	return max(windowOf*int64(g.cfg.Short)*int64(max(1, copies)), rowWork*int64(g.rows(queue)))
}

// rows are those that all workers decode together; mu is held.
func (g *Gateway) rows(queue string) (n int) {
	for _, w := range g.fleet.workers {
		n += w.Queues[queue].Rows
	}
	return n
}

const (
	windowOf = 4  // rounds of an idle worker
	rowWork  = 64 // source tokens for each row: twice what a sentence has, so that some wait
)

// UnavailableError means that Redis is away.
type UnavailableError struct{ Err error }

func (e *UnavailableError) Error() string { return "the broker is away: " + e.Err.Error() }

// Unwrap returns the reason.
func (e *UnavailableError) Unwrap() error { return e.Err }

// DeadError means that workers ended while they decoded a sentence. It is kept as a dead letter.
type DeadError struct{ Reason string }

func (e *DeadError) Error() string { return "workers ended while they decoded a sentence: " + e.Reason }

// remote is an error that happened elsewhere.
func remote(reason string) error { return errors.New("a worker: " + reason) }
