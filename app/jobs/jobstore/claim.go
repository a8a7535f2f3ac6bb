package jobstore

import (
	"context"
	"errors"
	"time"

	"dragoman/app/jobs"
	"dragoman/app/store"
)

const (
	// longestWait is the time after which Claim looks again without a notification.
	longestWait = time.Second
	// contention is the time that Claim waits after another runner has claimed the job.
	contention = 10 * time.Millisecond
)

func (s *keeper) Claim(ctx context.Context, from jobs.Queue, lease time.Duration) (jobs.Claim, error) {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	changed := s.Watch(watching, string(from))
	for {
		c, wait, err := s.tryClaim(context.WithoutCancel(ctx), from, lease)
		switch {
		case err != nil && ctx.Err() != nil:
			return jobs.Claim{}, ctx.Err()
		case err != nil || c.Token > 0:
			return c, err
		}
		select {
		case <-changed:
		case <-time.After(wait):
		case <-ctx.Done():
			return jobs.Claim{}, ctx.Err()
		}
	}
}

// errTaken means that another runner has claimed a job.
var errTaken = errors.New("the job is another's")

// tryClaim claims the first job of a queue, or returns the time to wait for a job.
func (s *keeper) tryClaim(ctx context.Context, from jobs.Queue, lease time.Duration) (c jobs.Claim, wait time.Duration, err error) {
	wait = longestWait
	first, err := store.View(ctx, s, func(tx store.Reader) (first store.Entry, err error) {
		list, err := tx.List(inQueue(from), store.Range{Most: 1})
		if len(list) > 0 {
			first = list[0]
			wait = min(wait, first.At.Sub(tx.Now()))
		}
		return first, err
	})
	if wait > 0 || err != nil {
		return c, wait, err
	}
	err = s.update(ctx, first.ID, func(tx store.Writer, r *jobs.Record) error {
		if r.Queue != from || r.Due.After(tx.Now()) {
			return errTaken
		}
		c = r.Claim(tx.Now(), lease)
		return nil
	})
	switch {
	case errors.Is(err, errTaken):
		return jobs.Claim{}, contention, nil
	case errors.Is(err, jobs.ErrUnknown):
		return jobs.Claim{}, 0, s.forget(ctx, first)
	}
	return c, 0, err
}
