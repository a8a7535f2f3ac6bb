package jobs

import (
	"context"
	"errors"
	"sync"
	"time"

	"dragoman/app/fault"
	"dragoman/app/translate"
)

// run continues a job until it has ended, its turn is over, or it cannot continue at present. It fails for errors that are not
// the request's.
func (s *Service) run(ctx context.Context, t Translator, c Claim) error {
	job, begun := c.Job, time.Now()
	suspect, most := job.Attempts > mostTogether, stepsAhead
	if suspect {
		most = 1
	}
	ctx, cancel := context.WithCancel(ctx)
	var making sync.WaitGroup
	defer making.Wait()
	defer cancel()
	var ahead []<-chan step // steps in progress, in order
	for n, next := job.Chunks, job.Chunks; n < job.Steps(); n++ {
		for ; next < job.Steps() && len(ahead) < most && (c.Queue == Awaited || time.Since(begun) < turn); next++ {
			made, number := make(chan step, 1), next
			alone := suspect && number == c.Job.Chunks
			making.Go(func() { made <- s.make(ctx, t, c, number, alone) })
			ahead = append(ahead, made)
		}
		if len(ahead) == 0 {
			return s.cfg.Store.Release(ctx, c, 0)
		}
		made := s.makeAlone(ctx, t, c, n, <-ahead[0])
		ahead = ahead[1:]
		if made.err != nil {
			return s.fail(ctx, c, job, made)
		}
		if err := s.retryStore(ctx, func() error { return s.cfg.Store.Save(ctx, c, n, made.chunk, made.results) }); err != nil {
			return err
		}
		s.metrics.steps.Inc(stepSaved)
		job.Progress.Done += made.results.Results
		job.Saved = time.Now()
		most = stepsAhead
	}
	if made := s.makeDocument(ctx, c, job); made.err != nil {
		return s.fail(ctx, c, job, made)
	}
	return s.end(ctx, c, job, Done, nil)
}

// step is a chunk of results, or the error in its place.
type step struct {
	chunk      []byte
	results    Tally // in the chunk
	err        error
	translated bool // err is the error of the translation
	alone      bool // its records were translated one by one
	blamed     bool // its record or document was tried often enough
}

// make makes chunk number n of a job: a slice in one of the target languages.
func (s *Service) make(ctx context.Context, t Translator, c Claim, n int, alone bool) (made step) {
	err := fault.Protect(func() error { // the recovery of the runner is on another goroutine
		made = s.translate(ctx, t, c, n, alone)
		return nil
	})
	if err != nil {
		made = step{err: err}
	}
	made.alone = alone
	return made
}

func (s *Service) translate(ctx context.Context, t Translator, c Claim, n int, alone bool) (made step) {
	job := c.Job
	request := job.Request.Request
	language := n / job.Slices
	if job.Request.Glossary {
		stored, err := s.input(ctx, job.ID, job.Slices)
		if err == nil {
			request.Terms, err = parseTerms(stored, language)
		}
		if err != nil {
			return step{err: err}
		}
	}
	var part slice
	stored, err := s.input(ctx, job.ID, n%job.Slices)
	if err == nil {
		part, err = parseSlice(stored)
	}
	if err != nil {
		return step{err: err}
	}
	ctx, release := s.admit(ctx, job)
	defer release()
	request.To, request.Records, request.Sliced, request.First = request.To[language:language+1], part.Records, true, part.First
	var results []translate.Result
	if alone {
		results, made.blamed, made.err = s.oneByOne(ctx, t, c, request)
	} else {
		results, made.err = s.together(ctx, t, request)
	}
	if made.err != nil {
		made.translated = true
		return made
	}
	made.results = tallyOf(results)
	if job.Document != nil {
		made.chunk, made.err = marshalTexts(results)
	} else {
		made.chunk, made.err = s.cfg.Render.Results(job.Request, results)
	}
	return made
}

// input returns a slice of a job, or the part of the input behind the slices.
func (s *Service) input(ctx context.Context, id string, n int) (stored []byte, err error) {
	err = s.retryStore(ctx, func() (err error) {
		stored, err = s.cfg.Store.Input(ctx, id, n)
		return err
	})
	return stored, err
}

// tallyOf counts results.
func tallyOf(results []translate.Result) Tally {
	t := Tally{Results: len(results)}
	for _, r := range results {
		if r.Flags != 0 {
			t.Flagged++
		}
	}
	return t
}

// fail handles a step with an error: a temporary error is tried again after a pause, and an error of the request fails the job.
func (s *Service) fail(ctx context.Context, c Claim, job Job, made step) error {
	if ctx.Err() != nil || errors.Is(made.err, ErrLost) {
		return made.err
	}
	f := fault.Explain(made.err, fault.Situation{ID: job.ID, Begun: true})
	if again := !made.translated && !made.alone || made.translated && f.Kind == fault.Internal && !made.blamed; again {
		s.metrics.steps.Inc(stepFailed)
		return made.err
	}
	if f.Wait > 0 && (c.Queue == Awaited || min(time.Since(job.Created), time.Since(job.Saved)) < s.cfg.TTL) {
		s.metrics.steps.Inc(stepPostponed)
		if c.Queue == Awaited {
			return made.err
		}
		wait := min(time.Duration(f.Wait)*time.Second, longestPause)
		s.cfg.Log.Debug("a job cannot go on now", "job", job.ID, "wait", wait, "error", made.err)
		return s.cfg.Store.Release(ctx, c, wait)
	}
	s.metrics.steps.Inc(stepFailed)
	return s.end(ctx, c, job, Failed, &Problem{Code: f.Code(), Field: f.Field, Message: f.Message})
}

func (s *Service) end(ctx context.Context, c Claim, job Job, state State, problem *Problem) error {
	err := s.retryStore(ctx, func() error { return s.cfg.Store.End(ctx, c, state, problem) })
	if err != nil {
		return err
	}
	job.State, job.Problem, job.Finished = state, problem, time.Now()
	s.ended(job)
	return nil
}
