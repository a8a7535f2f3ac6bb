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
	// chunksAhead is the number of chunks of a job in progress at a time, so that engines stay busy while the last sentences of a
	// chunk are decoded.
	chunksAhead = 2
	// mostTogether is the number of runners in a row that may end, or fail for an unknown reason, in the same slice of a job
	// before its records are translated one by one.
	mostTogether = 2
	// mostAlone is the number of runners that may end, or fail for an unknown reason, in the same record before the job fails.
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
		running.Go(func() {
			s.store.serve(ctx, Work, func(ctx context.Context, c Claim) error { return s.execution(*t, c).run(ctx) })
		})
	}
	if s.cfg.Webhooks != nil {
		for range deliverers {
			running.Go(func() { s.store.serve(ctx, Delivery, delivery{s.store, s.cfg.Webhooks, s.cfg.Render}.deliver) })
		}
	}
	s.store.sweep(ctx)
}

// serve takes jobs from a queue, one after the other, until ctx is done.
func (s *storage) serve(ctx context.Context, from Queue, handle func(context.Context, Claim) error) {
	for ctx.Err() == nil {
		c, err := s.Claim(ctx, from, lease)
		if ctx.Err() == nil && s.note(err) != nil {
			wait.For(ctx, storePause)
		}
		if err != nil {
			continue
		}
		s.remembered.remember(c.Job)
		if err := (holding{s, c}).handle(ctx, handle); err != nil && !errors.Is(err, ErrLost) && ctx.Err() == nil {
			s.log.Error("a job stays claimed until its claim expires", "job", c.Job.ID, "attempt", c.Job.Attempts, "error", err)
		}
	}
}

// holding is a claim that is renewed while its job is in progress.
type holding struct {
	store *storage
	claim Claim
}

// handle handles a claimed job and renews its claim meanwhile; if the claim is lost, for example because a client cancels the
// job, the handler's context ends. A job whose handler fails is left as it is, and can be claimed again when the claim has ended,
// or at once if ctx has ended.
func (h holding) handle(ctx context.Context, handle func(context.Context, Claim) error) error {
	err := h.during(ctx, func(held context.Context) error {
		err := fault.Protect(func() error { return handle(held, h.claim) })
		if err != nil && ctx.Err() == nil && h.gone(ctx) {
			err = ErrLost // the loss, which the renewal has not noticed yet
		}
		return err
	})
	if err != nil && ctx.Err() != nil && !errors.Is(err, ErrLost) {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalSaveTimeout)
		defer cancel()
		return h.store.Release(last, h.claim, 0)
	}
	return err
}

// during renews the claim while do runs. If the claim is lost, do's context ends, and the error is ErrLost.
func (h holding) during(ctx context.Context, do func(held context.Context) error) error {
	held, end := context.WithCancelCause(ctx)
	defer end(nil)
	renewals, stop := context.WithCancel(context.WithoutCancel(ctx)) // renewals go on while do ends after ctx
	var renewing sync.WaitGroup
	renewing.Go(func() { h.renew(renewals, end) })
	defer renewing.Wait()
	defer stop()
	err := do(held)
	if cause := context.Cause(held); errors.Is(cause, ErrLost) {
		err = cause
	}
	return err
}

// gone reports whether the job was cancelled or removed.
func (h holding) gone(ctx context.Context) bool {
	now, err := h.store.Get(ctx, h.claim.Job.ID)
	queue := h.claim.Queue
	return errors.Is(err, ErrUnknown) || err == nil && (queue == Work && now.State.Ended() || queue == Awaited && now.State == Cancelled)
}

// renew renews the claim until ctx is done, and calls end with ErrLost if the claim is lost.
func (h holding) renew(ctx context.Context, end context.CancelCauseFunc) {
	changed := h.store.Watch(ctx, h.claim.Job.ID)
	until := time.Now().Add(lease)
	ticker := time.NewTicker(renewal)
	defer ticker.Stop()
	for {
		var err error
		select {
		case <-changed:
			if h.gone(ctx) {
				end(ErrLost)
				return
			}
			continue
		case <-ticker.C:
			err = h.store.Renew(ctx, h.claim, lease)
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
			_ = h.store.note(err) // the next renewal tries again
		}
	}
}
