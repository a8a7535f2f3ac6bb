package translate

import (
	"context"
	"time"
)

// work is a request in progress. Its state belongs to the goroutine of its caller.
type work struct {
	ctx       context.Context // the request's: everything that goes through its texts checks it
	service   *Service
	req       Request
	selection Selection
	from      string   // the code of the source language, or Auto
	to        []string // codes of the target languages
	yield     func(i int, r Result) error
	taken     int64 // bytes taken from the memory for requests

	routes  map[pair]*route
	streams map[Handle]*stream // to the engines of the routes' models
	release func()             // releases these models
	asked   map[modelName]bool // models and pipelines of the routes, even if not loaded

	open     int   // number of whole sentences without an outcome
	decoding bool  // the streams run
	failed   error // the error of the first record that cannot be answered
	failedAt int   // the number of that record
}

// begin validates a request, and returns its work.
func (s *Service) begin(ctx context.Context, req Request) (*work, error) {
	selection, err := s.cfg.Models.Select(req.Model)
	if err != nil {
		return nil, err
	}
	if selection.Detects() {
		req.From = Auto
	}
	from, to, err := languagesOf(selection, req)
	if err != nil {
		return nil, err
	}
	if err := s.validate(ctx, req); err != nil {
		return nil, err
	}
	return &work{ctx: ctx, service: s, req: req, selection: selection, from: from, to: to, release: func() {},
		routes: make(map[pair]*route), streams: make(map[Handle]*stream)}, nil
}

// run answers the records without sentences, decodes the sentences of all others, and retries where needed.
func (w *work) run(ctx context.Context) error {
	p, err := w.plan(ctx)
	if err != nil {
		return err
	}
	for _, rec := range p.records {
		if rec.open == 0 {
			if err := w.handOut(rec); err != nil {
				return err
			}
		}
	}
	if err := w.count(ctx, p.sentences); err != nil {
		return err
	}
	p = nil
	if w.open > 0 {
		if err := w.decode(ctx); err != nil {
			return err
		}
	}
	w.observe()
	return w.failed
}

// observe records the stages that are timed per request, not per sentence.
func (w *work) observe() {
	var spent Statistics
	for _, s := range w.streams {
		spent.add(s.spent)
	}
	stages := w.service.cfg.Metrics.Stages
	for stage, took := range map[string]time.Duration{stageTokenize: spent.Tokenized, stageDetokenize: spent.Detokenized} {
		if took > 0 {
			stages.Observe(stage, took)
		}
	}
}
