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

// begin decodes an entry, which so many workers have taken, or makes a dead letter of it.
func (t *consumer) begin(e entry, from string, taken int64) {
	w, err := read[work](t.broker, e.stream, e.Values)
	ctx, cancel := context.WithCancelCause(t.hurry)
	c := &claim{consumer: t, lane: e.stream, entry: e.ID, work: w, taken: taken, cancel: cancel}
	t.hold(c)
	if taken > deaths+1 { // where it cannot be read, no gateway is told
		t.deadLetter(c, e.Values, fmt.Sprintf("%d workers ended while they had it, the last one with no other like it", taken-1))
		return
	}
	t.worker.cfg.Metrics.taken.WithLabelValues(from).Inc()
	switch {
	case err == errForged: // nobody is told, least of all whom it names
		t.settle(c, settled{outcome: forgedOutcome})
	case err != nil:
		t.deadLetter(c, e.Values, "it cannot be read: "+err.Error())
	default:
		t.running.Go(func() { t.settle(c, t.decode(ctx, c)) })
	}
}

func (t *consumer) hold(c *claim) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.claims[c.key()] = c
	t.rows += c.work.rows()
	t.size += (float64(c.work.rows()) - t.size) / 16
	t.count()
}

// release ends a claim that was reported.
func (t *consumer) release(c *claim) {
	c.cancel(nil)
	t.mu.Lock()
	delete(t.claims, c.key())
	t.rows -= c.work.rows()
	t.count()
	t.mu.Unlock()
	t.freed.Give()
}

// count measures the claims; mu is held.
func (t *consumer) count() {
	t.worker.cfg.Metrics.claimed.WithLabelValues(t.name.model, t.name.version).Set(float64(len(t.claims)))
}

// settle reports what became of a claim.
func (t *consumer) settle(c *claim, o settled) {
	if o.claim = c; o.reply != nil {
		o.reply.ID = c.work.ID
	}
	t.worker.outcomes <- o
}

// deadLetter makes a dead letter of a claim. Its entry has the values.
func (t *consumer) deadLetter(c *claim, values map[string]any, reason string) {
	t.broker.log.Error("a sentence is a dead letter", "model", t.name.model, "version", t.name.version, "reason", reason)
	t.settle(c, settled{outcome: deadLetter, reply: &reply{Fault: dead, Reason: reason}, values: values})
}

func (t *consumer) decode(ctx context.Context, c *claim) settled {
	if t.worker.gone.has(c) {
		return settled{outcome: cancelled}
	}
	if c.work.Deadline > 0 {
		left := time.UnixMilli(c.work.Deadline).Sub(t.broker.now())
		if left <= 0 {
			return settled{outcome: expired}
		}
		timer := time.AfterFunc(left, func() { c.cancel(errExpired) })
		defer timer.Stop()
	}
	var result engine.Result
	err := fault.Protect(func() error {
		m, release, err := t.acquire(ctx)
		if err != nil {
			return err
		}
		defer release()
		return m.Engine.Stream(ctx, engine.Request{
			Caller: c.work.Caller, Priority: schedule.Priority(c.work.Priority), Tokens: len(c.work.Source), Beams: c.work.rows(),
		}, engine.List(c.work.job()), func(_ int, r engine.Result) error {
			result = r
			return nil
		})
	})
	if err == nil {
		r := newReply(c.work.ID, result)
		return settled{outcome: decoded, reply: &r}
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

// acquire is the model. It is loaded until it is released.
func (t *consumer) acquire(ctx context.Context) (*translate.Model, func(), error) {
	t.mu.Lock()
	handle := t.handle
	t.mu.Unlock()
	models, release, err := t.worker.cfg.Models.Acquire(ctx, []translate.Handle{handle})
	if err != nil {
		return nil, nil, err
	}
	t.mu.Lock()
	t.model = models[0]
	t.mu.Unlock()
	return models[0], release, nil
}

// The causes why a sentence is not decoded to its end.
var (
	errCancelled = errors.New("nobody waits for the sentence any more")
	errExpired   = errors.New("its time is up")
	errTaken     = errors.New("another worker has taken the sentence over")
)

// failure is what becomes of a sentence after an error, and the cause for which decoding was ended, nil where it was not. The gateway
// decides whether another worker is to try.
func failure(cause, err error) settled {
	noModel, isBroken := errors.AsType[*catalog.BrokenError](err)
	noMemory, isFull := errors.AsType[*catalog.MemoryError](err)
	_, isLoading := errors.AsType[*catalog.LoadingError](err)
	reason := err.Error()
	switch {
	case cause == errCancelled:
		return settled{outcome: cancelled, left: true}
	case cause == errExpired:
		return settled{outcome: expired}
	case cause == errTaken:
		return settled{outcome: lostOutcome, left: true}
	case cause != nil, errors.Is(err, engine.ErrClosed), errors.Is(err, catalog.ErrClosed): // the worker ends
		return settled{outcome: returned, reply: &reply{Fault: again}}
	case isLoading, errors.Is(err, engine.ErrBusy):
		return settled{outcome: returned, reply: &reply{Fault: again}, pause: true}
	case errors.Is(err, engine.ErrInvalid):
		reason = strings.TrimPrefix(reason, engine.ErrInvalid.Error()+" 0: ") // the number is of this stream
		return settled{outcome: failedOutcome, reply: &reply{Fault: invalid, Reason: reason}}
	case isBroken:
		return settled{outcome: failedOutcome, reply: &reply{Fault: broken, Reason: noModel.Model}, pause: true}
	case isFull:
		return settled{outcome: failedOutcome, reply: &reply{Fault: broken, Reason: noMemory.Model}, pause: true}
	case errors.Is(err, model.ErrLost):
		return settled{outcome: failedOutcome, reply: &reply{Fault: lost, Reason: reason}, pause: true}
	}
	return settled{outcome: failedOutcome, reply: &reply{Fault: failed, Reason: reason}}
}
