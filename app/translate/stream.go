package translate

import (
	"context"
	"math"
	"time"

	"dragoman/app/engine"
	"dragoman/app/measure"
	"dragoman/app/wait"
	"dragoman/model/search"
)

// stream is the work of one of a request's models, and the stream to the model's engine.
type stream struct {
	work   *work
	model  *Model
	search search.Options

	todo     []*sentence       // not tried yet
	again    []*sentence       // for another strategy, or parts of others
	decoding map[int]*sentence // by job number
	jobs     int               // jobs handed out so far
	tokens   int               // known source tokens of the remaining work
	decoded  int               // tokens × beams decoded so far
	more     wait.Signal       // wakes the stream; nil if no other stream adds work to it
	spent    Statistics        // statistics of this request, without figures of the request as a whole
}

// add queues a sentence that has not been tried yet.
func (s *stream) add(x *sentence) {
	s.todo = append(s.todo, x)
	s.more.Give()
}

// run decodes all queued sentences and their follow-ups, within the caller's ceiling. Jobs for the engine and their results are
// handled one at a time with those of the request's other streams.
func (s *stream) run(ctx context.Context, inTurn func(do func() error) error) error {
	w := s.work
	end, err := w.service.cfg.Ceiling.Decode(w.req.Caller, s.tokens*s.search.Beams)
	if err != nil {
		return err
	}
	defer func() { end(s.decoded) }()
	start, waited := time.Now(), time.Duration(math.MaxInt64) // waited: until the first sentence joined the batch
	req := engine.Request{Caller: w.req.Caller, Priority: w.req.Priority, Tokens: s.tokens, Beams: s.search.Beams, More: s.more}
	err = s.model.Engine.Stream(ctx, req, func() (job engine.Job, ok bool, err error) {
		err = inTurn(func() (err error) {
			job, ok, err = s.next()
			return err
		})
		return job, ok, err
	}, func(job int, r engine.Result) error {
		waited = min(waited, r.Queued)
		return inTurn(func() error { return w.receive(s.arrived(job, r), r) })
	})
	for _, x := range s.decoding { // counted as decoded in full, because their progress is unknown
		s.decoded += s.cost(x, w.searchFor(x).MaxLength)
	}
	if err == nil && s.jobs > 0 {
		measure.Span(ctx, stageQueue, start, start.Add(waited))
		measure.Span(ctx, stageDecode, start.Add(waited), time.Now())
	}
	return err
}

// next returns the jobs one by one: first of retried sentences and parts, the last added first, then of sentences not tried yet.
// The number of pending parts thereby stays small, however long a sentence is.
func (s *stream) next() (job engine.Job, ok bool, err error) {
	for !ok && err == nil {
		if err := s.work.ctx.Err(); err != nil {
			return job, false, err
		}
		var x *sentence
		switch last := len(s.again) - 1; {
		case last >= 0:
			x, s.again[last] = s.again[last], nil
			s.again = s.again[:last]
		case len(s.todo) > 0:
			x, s.todo[0] = s.todo[0], nil
			s.todo = s.todo[1:]
		default:
			return job, false, nil
		}
		if job, ok, err = s.work.job(x); ok {
			s.decoding[s.jobs] = x
			s.jobs++
		}
	}
	return job, ok, err
}

// arrived counts the result of a job and returns its sentence.
func (s *stream) arrived(job int, r engine.Result) *sentence {
	x := s.decoding[job]
	delete(s.decoding, job)
	s.decoded += s.cost(x, len(r.Tokens))
	stages := s.work.service.cfg.Metrics.Stages
	stages.Observe(stageQueue, r.Queued)
	stages.Observe(stageDecode, r.Computed)
	s.spent.Sentences++
	s.spent.Queued += r.Queued
	s.spent.Decoded += r.Computed
	if r.First {
		s.spent.Joins++
	}
	return x
}

// cost returns the cost of decoding a sentence to target tokens: tokens × beams.
func (s *stream) cost(x *sentence, target int) int {
	return (len(x.source) + target) * s.work.searchFor(x).Beams
}

// expect announces a sentence with the given number of tokens to the streams of the step and of all following ones: translations
// have about as many tokens as their sources.
func (s *step) expect(tokens int) {
	tokens = max(1, tokens)
	for ; s != nil; s = s.next {
		s.tokens += tokens
		if s.work.widens(s) { // the second, wider search counts by its rows
			s.tokens += tokens * s.work.req.Alternatives / s.search.Beams
		}
	}
}
