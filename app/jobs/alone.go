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

// errBlamed means that a record was tried often enough.
var errBlamed = fault.New(fault.Internal, "payload.records[0].text",
	"the service ended or failed each time that it translated this record by itself, and its log says how, by the job's id: leave the record out")

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

// oneByOne translates each record of a part of a request by itself, with no other step running. If that fails, part becomes the
// record.
func (s *Service) oneByOne(ctx context.Context, t Translator, c Claim, request translate.Request, part *slice) ([]translate.Result, error) {
	whole := *part
	results := make([]translate.Result, len(whole.Records))
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
		*part = slice{First: whole.First + n, Records: whole.Records[n : n+1]}
		if i == 0 && c.Job.Alone > 0 && c.Job.Tries >= mostAlone {
			return nil, errBlamed
		}
		if !since.IsZero() && time.Since(since) > turn { // other steps take their turns, in which this record has not begun
			if err := s.mark(ctx, c, 0); err != nil {
				return nil, err
			}
			s.steps.Release(s.most)
			since = time.Time{}
		}
		if since.IsZero() {
			if err := s.steps.Acquire(ctx, s.most); err != nil {
				return nil, err
			}
			since = time.Now()
		}
		if err := s.mark(ctx, c, n+1); err != nil {
			return nil, err
		}
		request.Records = part.Records
		one, err := t.Translate(ctx, request)
		if err != nil {
			return nil, err
		}
		results[n] = one[0]
	}
	*part = whole
	return results, nil
}

// mark notes in the store which record is translated by itself.
func (s *Service) mark(ctx context.Context, c Claim, record int) error {
	return s.retryStore(ctx, func() error { return s.cfg.Store.Try(ctx, c, record, lease) })
}
