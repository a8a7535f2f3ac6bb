package jobs

import (
	"context"
	"errors"
	"sync"
	"time"

	"dragoman/app/fault"
	"dragoman/app/guard/admission"
	"dragoman/app/translate"
)

// execution runs a claimed job.
type execution struct {
	store      *storage
	translator Translator
	maker      Maker // nil: no documents are made
	render     Renderer
	memory     *admission.Memory // nil: no limit
	ttl        time.Duration     // see [Config]
	permits    permits
	claim      Claim
}

func (s *Service) execution(t Translator, c Claim) *execution {
	x := &execution{store: s.store, translator: t, render: s.cfg.Render, memory: s.cfg.Memory, ttl: s.cfg.TTL, permits: s.permits, claim: c}
	if maker := s.maker.Load(); maker != nil {
		x.maker = *maker
	}
	return x
}

// run continues the job until it has ended, its turn is over, or it cannot continue at present. run fails for errors that are not
// the request's fault.
func (x *execution) run(ctx context.Context) error {
	job, begun := x.claim.Job, time.Now()
	suspect, most := job.Attempts > mostTogether, chunksAhead
	if suspect {
		most = 1
	}
	ctx, cancel := context.WithCancel(ctx)
	var making sync.WaitGroup
	defer making.Wait()
	defer cancel()
	var ahead []<-chan chunk // chunks in progress, in order
	for n, next := job.Chunks, job.Chunks; n < job.ResultChunks(); n++ {
		for ; next < job.ResultChunks() && len(ahead) < most && (x.claim.Queue == Awaited || time.Since(begun) < turn); next++ {
			made, number := make(chan chunk, 1), next
			alone := suspect && number == x.claim.Job.Chunks
			making.Go(func() { made <- x.make(ctx, number, alone) })
			ahead = append(ahead, made)
		}
		if len(ahead) == 0 {
			return x.store.Release(ctx, x.claim, 0)
		}
		made := x.makeAlone(ctx, n, <-ahead[0])
		ahead = ahead[1:]
		if made.err != nil {
			return x.fail(ctx, job, made)
		}
		if err := x.save(ctx, n, made.stored, made.results); err != nil {
			return err
		}
		x.store.metrics.chunks.Inc(chunkSaved)
		job.Progress.Done += made.results.Results
		job.Saved = time.Now()
		most = chunksAhead
	}
	if made := x.makeDocument(ctx, job); made.err != nil {
		return x.fail(ctx, job, made)
	}
	return x.end(ctx, job, Done, nil)
}

// chunk is a chunk of results, or the error in its place.
type chunk struct {
	stored     []byte
	results    Tally
	err        error
	translated bool // err is the error of the translation
	alone      bool // the chunk's records were translated one by one
	blamed     bool // a record, or the document, was tried as often as is allowed
}

// make makes a chunk by its number: a slice in one of the target languages.
func (x *execution) make(ctx context.Context, n int, alone bool) (made chunk) {
	err := fault.Protect(func() error { // the recovery of the runner is on another goroutine
		made = x.translate(ctx, n, alone)
		return nil
	})
	if err != nil {
		made = chunk{err: err}
	}
	made.alone = alone
	return made
}

func (x *execution) translate(ctx context.Context, n int, alone bool) (made chunk) {
	job := x.claim.Job
	request := job.Request.Request
	language := n / job.Slices
	if job.Request.Glossary {
		stored, err := x.input(ctx, job.Slices)
		if err == nil {
			request.Terms, err = parseTerms(stored, language)
		}
		if err != nil {
			return chunk{err: err}
		}
	}
	var part slice
	stored, err := x.input(ctx, n%job.Slices)
	if err == nil {
		part, err = parseSlice(stored)
	}
	if err != nil {
		return chunk{err: err}
	}
	ctx, release := x.admit(ctx)
	defer release()
	request.To, request.Records, request.Sliced, request.First = request.To[language:language+1], part.Records, true, part.First
	var results []translate.Result
	if alone {
		results, made.blamed, made.err = x.oneByOne(ctx, request)
	} else {
		results, made.err = x.together(ctx, request)
	}
	if made.err != nil {
		made.translated = true
		return made
	}
	made.results = tallyOf(results)
	if job.Document != nil {
		made.stored, made.err = marshalTexts(results)
	} else {
		made.stored, made.err = x.render.Results(job.Request, results)
	}
	return made
}

// input returns a slice of the job, or the part of the input after the slices.
func (x *execution) input(ctx context.Context, n int) (stored []byte, err error) {
	err = x.store.retry(ctx, func() (err error) {
		stored, err = x.store.Input(ctx, x.claim.Job.ID, n)
		return err
	})
	return stored, err
}

// admit returns ctx with a lease of memory for the job's caller.
func (x *execution) admit(ctx context.Context) (_ context.Context, release func()) {
	if x.memory == nil {
		return ctx, func() {}
	}
	lease := x.memory.Lease(x.claim.Job.Request.Caller)
	return admission.With(ctx, lease), lease.Close
}

func (x *execution) save(ctx context.Context, n int, stored []byte, results Tally) error {
	return x.store.retry(ctx, func() error { return x.store.Save(ctx, x.claim, n, stored, results) })
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

// fail handles a chunk with an error: a temporary error is tried again after a pause, and an error of the request fails the job.
func (x *execution) fail(ctx context.Context, job Job, made chunk) error {
	if ctx.Err() != nil || errors.Is(made.err, ErrLost) {
		return made.err
	}
	count, awaited := x.store.metrics.chunks, x.claim.Queue == Awaited
	f := fault.Explain(made.err, fault.Situation{ID: job.ID, Begun: true})
	if again := !made.translated && !made.alone || made.translated && f.Kind == fault.Internal && !made.blamed; again {
		count.Inc(chunkFailed)
		return made.err
	}
	if f.Wait > 0 && (awaited || min(time.Since(job.Created), time.Since(job.Saved)) < x.ttl) {
		count.Inc(chunkPostponed)
		if awaited {
			return made.err
		}
		wait := min(time.Duration(f.Wait)*time.Second, longestPause)
		x.store.log.Debug("a job cannot continue now", "job", job.ID, "wait", wait, "error", made.err)
		return x.store.Release(ctx, x.claim, wait)
	}
	count.Inc(chunkFailed)
	return x.end(ctx, job, Failed, &Problem{Code: f.Code(), Field: f.Field, Message: f.Message})
}

func (x *execution) end(ctx context.Context, job Job, state State, problem *Problem) error {
	err := x.store.retry(ctx, func() error { return x.store.End(ctx, x.claim, state, problem) })
	if err != nil {
		return err
	}
	job.State, job.Problem, job.Finished = state, problem, time.Now()
	x.store.ended(job)
	return nil
}
