package jobs

import (
	"context"
	"errors"
	"sync"
	"time"

	"dragoman/app/fault"
	"dragoman/app/wait"
)

const (
	// lease is the time that a job stays with a runner without a renewal.
	lease = 30 * time.Second
	// renewal is the interval of a runner's renewals.
	renewal = lease / 3
	// turn is the time that a job runs while others may wait.
	turn = time.Minute
	// stepsAhead is the number of steps of a job in progress at a time, so that engines stay busy while the last sentences of one
	// are decoded.
	stepsAhead = 2
	// mostTogether is the number of runners in a row that may end, or fail for an unknown reason, in the same slice of a job
	// before its records are translated one by one.
	mostTogether = 2
	// mostAlone is the number of runners that may do so in the same record before the job fails.
	mostAlone = 4
	// longestPause is the maximum pause of a job that cannot continue at present.
	longestPause = time.Minute
	// sweepEvery is the interval of sweeps for expired jobs.
	sweepEvery = 10 * time.Second
	// storePause is the pause while the store does not work.
	storePause = time.Second
	// finalSaveTimeout is the time limit of the store at the end of a runner.
	finalSaveTimeout = 5 * time.Second
	// deliverers is the number of concurrent deliveries to webhooks.
	deliverers = 4
)

// Run runs jobs until ctx is done. It returns when all runners have ended and their jobs can be claimed by others.
func (s *Service) Run(ctx context.Context) {
	defer context.AfterFunc(ctx, s.stop)()
	t := s.translator.Load()
	if s.cfg.Store == nil || t == nil {
		return
	}
	var running sync.WaitGroup
	defer running.Wait()
	for range s.cfg.Concurrency {
		running.Go(func() { s.serve(ctx, Work, func(ctx context.Context, c Claim) error { return s.run(ctx, *t, c) }) })
	}
	if s.cfg.Webhooks != nil {
		for range deliverers {
			running.Go(func() { s.serve(ctx, Delivery, s.deliver) })
		}
	}
	s.sweep(ctx)
}

// sweep removes expired jobs from the store, and counts all others, until ctx is done.
func (s *Service) sweep(ctx context.Context) {
	for {
		counts, err := s.cfg.Store.Sweep(ctx)
		if s.noteStore(err) == nil {
			s.metrics.count(counts)
			s.lookForLost(ctx)
		}
		if !wait.For(ctx, sweepEvery) {
			return
		}
	}
}

// serve takes jobs from a queue, one after the other, until ctx is done.
func (s *Service) serve(ctx context.Context, from Queue, handle func(context.Context, Claim) error) {
	for ctx.Err() == nil {
		c, err := s.cfg.Store.Claim(ctx, from, lease)
		if ctx.Err() == nil && s.noteStore(err) != nil {
			wait.For(ctx, storePause)
		}
		if err != nil {
			continue
		}
		s.remembered.remember(c.Job)
		if err := s.handleClaim(ctx, c, handle); err != nil && !errors.Is(err, ErrLost) && ctx.Err() == nil {
			s.cfg.Log.Error("a job stays claimed until its claim expires", "job", c.Job.ID, "attempt", c.Job.Attempts, "error", err)
		}
	}
}

// handleClaim handles a claimed job and renews its claim meanwhile; if that is lost, for example because a client cancels the
// job, the handler's context ends. A job whose handler fails is left as it is, and can be claimed again when the claim has ended;
// if ctx ends, at once.
func (s *Service) handleClaim(ctx context.Context, c Claim, handle func(context.Context, Claim) error) error {
	err := s.hold(ctx, c, func(held context.Context) error {
		err := fault.Protect(func() error { return handle(held, c) })
		if err != nil && ctx.Err() == nil && s.gone(ctx, c) {
			err = ErrLost // not yet noticed by the renewal
		}
		return err
	})
	if err != nil && ctx.Err() != nil && !errors.Is(err, ErrLost) {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalSaveTimeout)
		defer cancel()
		return s.cfg.Store.Release(last, c, 0)
	}
	return err
}

// hold renews a claim while do runs. If the claim is lost, do's context ends, and the error is ErrLost.
func (s *Service) hold(ctx context.Context, c Claim, do func(held context.Context) error) error {
	held, end := context.WithCancelCause(ctx)
	defer end(nil)
	renewals, stop := context.WithCancel(context.WithoutCancel(ctx)) // also while do ends after ctx
	var renewing sync.WaitGroup
	renewing.Go(func() { s.keepRenewing(renewals, c, end) })
	defer renewing.Wait()
	defer stop()
	err := do(held)
	if cause := context.Cause(held); errors.Is(cause, ErrLost) {
		err = cause
	}
	return err
}

// gone reports whether the job of a claim was cancelled or removed.
func (s *Service) gone(ctx context.Context, c Claim) bool {
	now, err := s.cfg.Store.Get(ctx, c.Job.ID)
	return errors.Is(err, ErrUnknown) || err == nil && (c.Queue == Work && now.State.Ended() || c.Queue == Awaited && now.State == Cancelled)
}

// keepRenewing renews a claim until ctx is done, and calls end with ErrLost if the claim is lost.
func (s *Service) keepRenewing(ctx context.Context, c Claim, end context.CancelCauseFunc) {
	changed := s.cfg.Store.Watch(ctx, c.Job.ID)
	until := time.Now().Add(lease)
	ticker := time.NewTicker(renewal)
	defer ticker.Stop()
	for {
		var err error
		select {
		case <-changed:
			if s.gone(ctx, c) {
				end(ErrLost)
				return
			}
			continue
		case <-ticker.C:
			err = s.cfg.Store.Renew(ctx, c, lease)
		case <-ctx.Done():
			return
		}
		switch now := time.Now(); {
		case err == nil:
			until = now.Add(lease)
		case errors.Is(err, ErrLost), now.After(until):
			end(ErrLost)
			return
		default:
			_ = s.noteStore(err) // it is tried again
		}
	}
}

// retryStore repeats an operation of the store while the store does not work: results that took long to make are not given up for
// a short outage. It ends with ctx, and so with the claim, and with the service.
func (s *Service) retryStore(ctx context.Context, do func() error) error {
	for {
		err := do()
		if _, broken := errors.AsType[*fault.Unavailable](s.noteStore(err)); !broken {
			return err
		}
		if !wait.Until(ctx, s.ending.Done(), storePause) || s.ending.Err() != nil {
			return err
		}
	}
}
