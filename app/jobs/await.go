package jobs

import (
	"context"
	"errors"
	"time"

	"dragoman/app/fault"
	"dragoman/app/wait"
)

// A request that waits for its job runs the job itself, so that the request depends on no other process, and holds the job's
// claim from [Awaited] until the request has the results. A job whose request has ended is removed by the request or, if the
// process has ended too, by the store.

// Await creates a job, runs it, and calls use when it is done. Then Await removes the job, unless use returns keep because the
// job's id was given to a client. The error is of [Service.Submit], of the failed job, of ctx, or of use.
func (s *Service) Await(ctx context.Context, sub Submission, use func(job Job) (keep bool, err error)) error {
	t := s.translator.Load()
	if t == nil {
		return errNotReady
	}
	sub.Key = "" // another request would wait for this one's job
	job, _, err := s.create(ctx, sub, lease)
	if err != nil {
		return err
	}
	kept := false
	defer func() {
		if !kept { // also after a panic
			s.discard(ctx, job.ID)
		}
	}()
	c := Claim{Job: job, Queue: Awaited, Token: 1}
	err = holding{s.store, c}.during(ctx, func(held context.Context) error {
		done, err := s.execution(*t, c).untilDone(held)
		if err != nil {
			return err
		}
		keep, err := use(done)
		if keep && err == nil {
			err = s.store.note(s.store.Delivered(ctx, c))
			kept = err == nil
		}
		return err
	})
	if !errors.Is(err, ErrLost) {
		return err
	}
	if _, err := s.Get(ctx, job.ID); fault.Explain(err, fault.Situation{}).Kind == fault.NoJobs {
		return err
	}
	return errCancelled
}

// errCancelled is the error for a request whose job its owner cancels.
var errCancelled = fault.New(fault.NotDone, "", "the job was cancelled")

// untilDone runs the job until it is done. untilDone repeats after temporary errors until ctx is done, or the service ends.
func (x *execution) untilDone(ctx context.Context) (Job, error) {
	for {
		err := x.run(ctx)
		job, lost := x.store.Get(context.WithoutCancel(ctx), x.claim.Job.ID)
		if err == nil {
			err = x.store.note(lost)
		}
		switch {
		case err == nil && job.State == Done:
			return job, nil
		case err == nil && job.Problem != nil:
			return job, fault.Recall(job.Problem.Code, "", job.Problem.Message)
		case err == nil:
			return job, ErrLost
		case ctx.Err() != nil:
			return job, context.Cause(ctx)
		}
		f := fault.Explain(err, fault.Situation{ID: job.ID, Begun: true})
		if f.Wait == 0 || f.Kind == fault.Interrupted || x.store.ending.Err() != nil {
			return job, err
		}
		x.store.log.Debug("a job cannot continue now", "job", job.ID, "error", err)
		wait.Until(ctx, x.store.ending.Done(), min(time.Duration(f.Wait)*time.Second, longestPause))
		if lost == nil {
			x.claim.Job = job
		}
	}
}

// discard removes a job whose request has ended. If the removal fails, the store removes the job when its claim has ended.
func (s *Service) discard(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalSaveTimeout)
	defer cancel()
	if _, removed, err := s.Delete(ctx, id); err == nil && !removed {
		_, _, _ = s.Delete(ctx, id)
	}
}
