package translate

import (
	"context"
	"math"
	"time"

	"dragoman/app/engine"
	"dragoman/app/measure"
	"dragoman/model/search"
)

// lane is what one of a request's models has to do, in a stream of its own to the model's
// engine.
type lane struct {
	work   *work
	model  *Model
	search search.Options

	todo     []*sentence       // not tried yet
	again    []*sentence       // to be tried in another way, or parts of others
	decoding map[int]*sentence // by the number of the job
	jobs     int               // that were handed out
	tokens   int               // source tokens of what is to do, as far as it is known
	decoded  int               // tokens × beams of what came back
	more     chan struct{}     // wakes the stream; nil where no other lane makes it work
	spent    Statistics        // of this request, without what is of the request as a whole
}

// add has a sentence decoded that was not tried yet.
func (l *lane) add(x *sentence) {
	l.todo = append(l.todo, x)
	if l.more == nil {
		return
	}
	select {
	case l.more <- struct{}{}:
	default: // it is awake, or will be
	}
}

// run has everything decoded that is to do, and what comes of it, as far as the caller's ceiling goes.
func (l *lane) run(ctx context.Context) error {
	end, err := l.work.service.cfg.Ceiling.Decode(l.work.req.Caller, l.tokens*l.search.Beams)
	if err != nil {
		return err
	}
	defer func() { end(l.decoded) }()
	return l.stream(ctx)
}

func (l *lane) stream(ctx context.Context) error {
	w, stages, start := l.work, l.work.service.cfg.Metrics.Stages, time.Now()
	waited := time.Duration(math.MaxInt64) // until the first sentence joined the batch
	req := engine.Request{Caller: w.req.Caller, Priority: w.req.Priority, Tokens: l.tokens, Beams: l.search.Beams, More: l.more}
	err := l.model.Engine.Stream(ctx, req, func() (engine.Job, bool, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		return l.next()
	}, func(job int, r engine.Result) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		stages.Observe(stageQueue, r.Queued)
		stages.Observe(stageDecode, r.Computed)
		waited = min(waited, r.Queued)
		l.spend(r)
		x := l.decoding[job]
		delete(l.decoding, job)
		l.decoded += l.tokensOf(x, len(r.Tokens))
		return w.receive(x, r)
	})
	for _, x := range l.decoding { // nobody knows how far they were
		l.decoded += l.tokensOf(x, l.work.searchFor(x).MaxLength)
	}
	if err == nil && l.jobs > 0 {
		measure.Span(ctx, stageQueue, start, start.Add(waited))
		measure.Span(ctx, stageDecode, start.Add(waited), time.Now())
	}
	return err
}

// tokensOf are the tokens of a sentence that was decoded, once for each beam.
func (l *lane) tokensOf(x *sentence, target int) int {
	_, options := x.placed(l.work.searchFor(x))
	return (len(x.source) + target) * options.Beams
}

// spend counts a sentence that was decoded.
func (l *lane) spend(r engine.Result) {
	l.spent.Sentences++
	l.spent.Queued += r.Queued
	l.spent.Decoded += r.Computed
	if r.First {
		l.spent.Joins++
	}
}

// next hands the jobs out, one by one: of sentences that are tried again, or in parts,
// before those that were not tried yet, and of these the last that came first. So there
// are never many parts at a time, however long a sentence is.
func (l *lane) next() (job engine.Job, ok bool, err error) {
	for !ok && err == nil {
		var x *sentence
		switch last := len(l.again) - 1; {
		case last >= 0:
			x, l.again[last] = l.again[last], nil
			l.again = l.again[:last]
		case len(l.todo) > 0:
			x, l.todo[0] = l.todo[0], nil
			l.todo = l.todo[1:]
		default:
			return job, false, nil
		}
		job, ok, err = l.work.job(x)
		if ok {
			l.decoding[l.jobs] = x
			l.jobs++
		}
	}
	return job, ok, err
}
