package jobs

import (
	"context"
	"time"

	"dragoman/app/fault"
	"dragoman/app/translate"
)

// A process that ends, for whatever cause, takes all slices with it that it is translating. So a slice in which several processes
// have ended is only a suspect. Its records are translated one by one, while the process runs no other step, and the store knows
// the current record at any time. The record with which a process ends is the first one of the next try, after a growing delay: a
// job fails for a record that ends every process.

// blame returns the error of a record that was tried often enough.
func blame(record int) error {
	return fault.New(fault.Internal, fault.TextField(record),
		"the service ended or failed each time that it translated this record by itself, and its log says how, by the job's id: leave the record out")
}

// makeAlone repeats, record by record, a step that has ended processes of workers. It returns other steps unchanged.
func (s *Service) makeAlone(ctx context.Context, t Translator, c Claim, n int, made step) step {
	if !made.translated || made.alone || fault.Explain(made.err, fault.Situation{}).Kind != fault.Crashed {
		return made
	}
	c.Job.Alone = 0
	return s.make(ctx, t, c, n, true)
}

// together translates records concurrently with other steps.
func (s *Service) together(ctx context.Context, t Translator, request translate.Request) ([]translate.Result, error) {
	if err := s.steps.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer s.steps.Release(1)
	return t.Translate(ctx, request)
}

// oneByOne translates each record of a slice by itself, with no other step running. blamed reports whether a record was tried
// often enough.
func (s *Service) oneByOne(ctx context.Context, t Translator, c Claim, whole translate.Request) (results []translate.Result, blamed bool, err error) {
	results = make([]translate.Result, len(whole.Records))
	first := max(0, c.Job.Alone-1)
	var since time.Time // start of the current turn without other steps
	defer func() {
		if !since.IsZero() {
			s.steps.Release(s.most)
		}
	}()
	for i := range whole.Records {
		n := i // first, and then the others in order
		switch {
		case i == 0:
			n = first
		case i <= first:
			n = i - 1
		}
		if i == 0 && c.Job.Alone > 0 && c.Job.Tries >= mostAlone {
			return nil, true, blame(whole.First + n)
		}
		if !since.IsZero() && time.Since(since) > turn { // other steps take their turns, in which this record has not begun
			if err := s.mark(ctx, c, 0); err != nil {
				return nil, false, err
			}
			s.steps.Release(s.most)
			since = time.Time{}
		}
		if since.IsZero() {
			if err := s.steps.Acquire(ctx, s.most); err != nil {
				return nil, false, err
			}
			since = time.Now()
		}
		if err := s.mark(ctx, c, n+1); err != nil {
			return nil, false, err
		}
		request := whole
		request.Records, request.First = whole.Records[n:n+1], whole.First+n
		one, err := t.Translate(ctx, request)
		if err != nil {
			if f := fault.Explain(err, fault.Situation{}); f.Kind == fault.Crashed {
				f.Field, err = fault.TextField(request.First), f
			}
			return nil, false, err
		}
		results[n] = one[0]
	}
	return results, false, nil
}

// mark notes in the store which record is translated by itself.
func (s *Service) mark(ctx context.Context, c Claim, record int) error {
	return s.retryStore(ctx, func() error { return s.cfg.Store.Try(ctx, c, record, lease) })
}
