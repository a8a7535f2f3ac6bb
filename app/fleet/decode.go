package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"dragoman/app/catalog"
	"dragoman/app/engine"
	"dragoman/app/fault"
	"dragoman/app/schedule"
	"dragoman/app/translate"
	"dragoman/model"
)

// begin decodes the sentence of an entry, or makes it a dead letter. taken is the number of workers that have had it.
func (t *consumer) begin(e entry, from string, taken int64) {
	w, err := read[work](t.broker, e.stream, e.Values)
	ctx, cancel := context.WithCancelCause(t.hurry)
	c := &claim{consumer: t, place: position{e.stream, e.ID}, work: w, taken: taken, cancel: cancel}
	t.mu.Lock()
	t.claims.add(c)
	t.mu.Unlock()
	if taken > deaths+1 { // if the sentence cannot be read, no gateway hears of it
		t.deadLetter(c, e.Values, fmt.Sprintf("%d workers ended while they had it, the last one with no other like it", taken-1))
		return
	}
	t.worker.cfg.Metrics.taken.WithLabelValues(from).Inc()
	switch {
	case err == errForged: // no gateway is told, not even the one that the message names
		t.settle(c, settled{outcome: forgedOutcome})
	case err != nil:
		t.deadLetter(c, e.Values, "it cannot be read: "+err.Error())
	default:
		t.running.Go(func() { t.settle(c, t.decode(ctx, c)) })
	}
}

// settle passes the outcome of a claim on to [Worker.report].
func (t *consumer) settle(c *claim, o settled) {
	if o.claim = c; o.reply != nil {
		o.reply.ID = c.work.ID
	}
	t.worker.outcomes <- o
}

// release ends a claim whose outcome was reported.
func (t *consumer) release(c *claim) {
	c.cancel(nil)
	t.mu.Lock()
	t.claims.remove(c)
	t.mu.Unlock()
	t.freed.Give()
}

// deadLetter makes the sentence of a claim a dead letter. values are those of its entry.
func (t *consumer) deadLetter(c *claim, values map[string]any, reason string) {
	t.broker.log.Error("a sentence is a dead letter", "model", t.name.model, "version", t.name.version, "reason", reason)
	t.settle(c, settled{outcome: deadLetter, reply: &reply{Fault: dead, Reason: reason}, values: values})
}

// decode decodes the sentence of a claim.
func (t *consumer) decode(ctx context.Context, c *claim) settled {
	if t.worker.gone.has(c) {
		return settled{outcome: cancelled}
	}
	if c.work.Deadline > 0 {
		left := time.UnixMilli(c.work.Deadline).Sub(t.broker.now())
		if left <= 0 {
			return settled{outcome: expired}
		}
		timer := time.AfterFunc(left, func() { c.cancel(errExpired) }) // instead of a deadline, because the engine could refuse the sentence for that
		defer timer.Stop()
	}
	var result engine.Result
	err := fault.Protect(func() error {
		m, release, err := t.acquire(ctx)
		if err != nil {
			return err
		}
		defer release()
		req := engine.Request{
			Caller: c.work.Caller, Priority: schedule.Priority(c.work.Priority), Tokens: len(c.work.Source), Beams: c.work.rows(),
		}
		return m.Engine.Stream(ctx, req, engine.List(c.work.job()), func(_ int, r engine.Result) error {
			result = r
			return nil
		})
	})
	if err == nil {
		return settled{outcome: decoded, reply: newReply(result)}
	}
	o := failure(context.Cause(ctx), err)
	if o.pause {
		t.block()
	}
	if o.outcome == failedOutcome {
		t.broker.outages.decoding.Note(err, "model", t.name.model, "version", t.name.version, "tries", c.work.Tries+1)
	}
	return o
}

// acquire returns the model. It stays loaded until release is called.
func (t *consumer) acquire(ctx context.Context) (m *translate.Model, release func(), err error) {
	t.mu.Lock()
	handle := t.handle
	t.mu.Unlock()
	models, release, err := t.worker.cfg.Models.Acquire(ctx, []translate.Handle{handle})
	if err != nil {
		return nil, nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.model = models[0]
	return t.model, release, nil
}

// The causes that end the decoding of a sentence.
var (
	errCancelled = errors.New("no gateway waits for the sentence any more")
	errExpired   = errors.New("the deadline of the sentence has passed")
	errTaken     = errors.New("another worker has taken the sentence over")
)

// failure returns the outcome of a sentence after an error. why is the cause with which its decoding was cancelled, nil if it was
// not cancelled. The gateway decides whether another worker tries.
func failure(why, err error) settled {
	noModel, isBroken := errors.AsType[*catalog.BrokenError](err)
	noMemory, isFull := errors.AsType[*catalog.MemoryError](err)
	_, isLoading := errors.AsType[*catalog.LoadingError](err)
	fails := func(c cause, reason string, pause bool) settled {
		return settled{outcome: failedOutcome, reply: &reply{Fault: c, Reason: reason}, pause: pause}
	}
	switch {
	case why == errCancelled:
		return settled{outcome: cancelled, left: true}
	case why == errExpired:
		return settled{outcome: expired}
	case why == errTaken:
		return settled{outcome: lostOutcome, left: true}
	case why != nil, errors.Is(err, engine.ErrClosed), errors.Is(err, catalog.ErrClosed): // the worker ends
		return settled{outcome: returned, reply: &reply{Fault: again}}
	case isLoading, errors.Is(err, engine.ErrBusy):
		return settled{outcome: returned, reply: &reply{Fault: again}, pause: true}
	case errors.Is(err, engine.ErrInvalid): // the number in the error is the sentence's place in this stream
		return fails(invalid, strings.TrimPrefix(err.Error(), engine.ErrInvalid.Error()+" 0: "), false)
	case isBroken:
		return fails(broken, noModel.Model, true)
	case isFull:
		return fails(broken, noMemory.Model, true)
	case errors.Is(err, model.ErrLost):
		return fails(lost, err.Error(), true)
	}
	return fails(failed, err.Error(), false)
}
