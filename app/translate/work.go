package translate

import "context"

// work is a request in progress. Its state belongs to the goroutine of its caller.
type work struct {
	codec
	yield func(i int, r Result) error
	taken int64 // bytes taken from the memory for requests

	open     int   // number of whole sentences without an outcome
	all      int   // number of whole sentences
	decoding bool  // the streams run
	failed   error // the error of the first record that cannot be answered
	failedAt int   // the number of that record
}

// codec makes jobs of sentences, and outcomes of results, by the options of a request.
type codec struct {
	ctx context.Context // of the request: all code that goes through texts checks ctx
	*routing
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
	sentences, known, err := w.recallMemory(ctx, p.sentences)
	if err != nil {
		return err
	}
	if err := w.count(ctx, sentences, known); err != nil {
		return err
	}
	p, sentences = nil, nil
	if w.open > 0 {
		if err := w.decode(ctx); err != nil {
			return err
		}
	}
	w.observe()
	return w.failed
}
