package jobs

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"dragoman/app/fault"
	"dragoman/app/outage"
	"dragoman/app/wait"
)

// storage is the store with the process's own knowledge of it: whether the store works, and which jobs it must have. The methods
// of storage itself return errors for clients.
type storage struct {
	Store
	log        *slog.Logger
	metrics    *metrics
	outage     *outage.Log // outages of the store
	lost       *outage.Log // losses of jobs
	remembered rememberedJobs
	ending     context.Context // done when the service ends
}

func newStorage(cfg Config, ending context.Context) *storage {
	return &storage{Store: cfg.Store, log: cfg.Log, metrics: newMetrics(cfg.Registry), ending: ending,
		outage: &outage.Log{Log: cfg.Log, Level: slog.LevelError, Failing: "the store of jobs does not work", Over: "the store of jobs works again"},
		lost:   &outage.Log{Log: cfg.Log, Level: slog.LevelError, Failing: "an accepted job is lost"},
	}
}

// note converts an error of the store to an error for clients, which has fewer details, and logs whether the store works.
func (s *storage) note(err error) error {
	if !errors.Is(err, ErrLost) && !errors.Is(err, ErrEnded) && !errors.Is(err, ErrActive) {
		err = fault.OfStore(fault.NoJobs, "jobs", err)
	}
	if broken, ok := errors.AsType[*fault.Unavailable](err); !ok {
		s.outage.Note(nil)
	} else if !errors.Is(err, context.Canceled) { // the client has left
		s.outage.Note(broken.Err)
	}
	return err
}

// retry repeats an operation of the store while the store does not work: results that took long to make are not given up for a
// short outage. retry ends with ctx, and so with the claim, and with the service.
func (s *storage) retry(ctx context.Context, do func() error) error {
	for {
		err := do()
		if _, broken := errors.AsType[*fault.Unavailable](s.note(err)); !broken {
			return err
		}
		if !wait.Until(ctx, s.ending.Done(), storePause) || s.ending.Err() != nil {
			return err
		}
	}
}

// get returns a job. The error is as of [Service.Get].
func (s *storage) get(ctx context.Context, id string) (Job, error) {
	job, err := s.Get(ctx, id)
	return s.noteLoss(ctx, id, job, err)
}

// result returns a stored chunk of a job.
func (s *storage) result(ctx context.Context, id string, chunk int) ([]byte, error) {
	stored, err := s.Result(ctx, id, chunk)
	return stored, s.note(err)
}

// noteLoss notes the answer of the store about a job. If the store has lost the job, noteLoss creates a failed one in its place,
// so that every process knows, and the job's webhook is told.
func (s *storage) noteLoss(ctx context.Context, id string, job Job, err error) (Job, error) {
	switch {
	case errors.Is(err, ErrForgotten):
		known, was := s.remembered.get(id)
		if !was || known.State.Ended() && !time.Now().Before(known.Expires) {
			return job, err
		}
		failed, created, err := s.Create(ctx, Draft{
			ID: id, Owner: known.Owner, Request: known.Request, Progress: known.Progress, Document: known.Document,
			Problem: &Problem{Code: lostCode, Message: ErrVanished.Error()},
		})
		if s.note(err) == nil { // otherwise the next look at the job tries again
			s.remembered.remember(failed)
		}
		if created { // false if another process has created it
			s.lost.Note(ErrForgotten, "job", id, "owner", known.Owner)
			s.metrics.finished.Inc(string(Failed))
		}
		return known, ErrVanished
	case errors.Is(err, ErrUnknown):
		s.remembered.forget(id)
	case err == nil:
		if _, known := s.remembered.get(id); known {
			s.remembered.remember(job)
		}
		if job.Problem != nil && job.Problem.Code == lostCode {
			err = ErrVanished
		}
	}
	return job, s.note(err)
}

// lookForLost looks up remembered jobs, and stops when the store does not work.
func (s *storage) lookForLost(ctx context.Context) {
	for _, id := range s.remembered.some(lookedFor) {
		_, err := s.get(ctx, id)
		if _, broken := errors.AsType[*fault.Unavailable](err); broken {
			return
		}
	}
}

// sweep removes expired jobs from the store, and counts all others, until ctx is done.
func (s *storage) sweep(ctx context.Context) {
	for {
		counts, err := s.Sweep(ctx)
		if s.note(err) == nil {
			s.metrics.count(counts)
			s.lookForLost(ctx)
		}
		if !wait.For(ctx, sweepEvery) {
			return
		}
	}
}

// ended logs and counts an ended job.
func (s *storage) ended(job Job) {
	s.metrics.finished.Inc(string(job.State))
	attrs := []any{"job", job.ID, "owner", job.Owner, "state", job.State, "records", job.Progress.Records, "done", job.Progress.Done,
		"characters", job.Progress.Characters, "took", job.Finished.Sub(job.Created)}
	if job.Problem != nil {
		attrs = append(attrs, "code", job.Problem.Code, "error", job.Problem.Message)
	}
	s.log.Info("job ended", attrs...)
}
