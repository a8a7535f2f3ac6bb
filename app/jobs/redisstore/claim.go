package redisstore

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"dragoman/app/jobs"
)

const (
	// longestWait is how long Claim waits before it looks again, where nobody tells it anything.
	longestWait = time.Second
	// contention is how long it waits where somebody else has just claimed the job.
	contention = 10 * time.Millisecond
	// reminder is how often those who watch jobs look again, for what a server did not pass on.
	reminder = 5 * time.Second
)

// Claim implements [jobs.Store].
func (s *Store) Claim(ctx context.Context, from jobs.Queue, lease time.Duration) (jobs.Claim, error) {
	return s.changes.Claim(ctx, from, func() (jobs.Claim, time.Duration, error) {
		return s.tryClaim(context.WithoutCancel(ctx), from, lease)
	})
}

// errTaken means that somebody else has claimed a job.
var errTaken = errors.New("the job is another's")

// tryClaim claims the first job of a queue, or says how long to wait for one.
func (s *Store) tryClaim(ctx context.Context, from jobs.Queue, lease time.Duration) (c jobs.Claim, wait time.Duration, err error) {
	id, wait, err := s.first(ctx, from)
	if wait > 0 || err != nil {
		return c, wait, err
	}
	err = s.update(ctx, id, func(_ redis.Pipeliner, r *jobs.Record, now time.Time) error {
		if r.Queue != from || r.Due.After(now) {
			return errTaken
		}
		c = r.Claim(now, lease)
		return nil
	})
	switch {
	case errors.Is(err, errTaken):
		return jobs.Claim{}, contention, nil
	case errors.Is(err, jobs.ErrUnknown):
		return jobs.Claim{}, 0, s.forget(ctx, id)
	}
	return c, 0, err
}

// first is the first job of a queue, and how long it is until it can be claimed.
func (s *Store) first(ctx context.Context, from jobs.Queue) (id string, wait time.Duration, err error) {
	var clock *redis.TimeCmd
	var found *redis.ZSliceCmd
	_, err = s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		clock, found = p.Time(ctx), p.ZRangeWithScores(ctx, s.queueKey(from), 0, 0)
		return nil
	})
	if err != nil {
		return "", 0, err
	}
	now, err := s.now(clock)
	if len(found.Val()) == 0 || err != nil {
		return "", longestWait, err
	}
	at := found.Val()[0]
	return at.Member.(string), min(time.UnixMilli(int64(at.Score)).Sub(now), longestWait), nil
}

// Watch implements [jobs.Store].
func (s *Store) Watch(ctx context.Context, id string) <-chan struct{} {
	return s.changes.Watch(ctx, id)
}

// listen tells of what anybody changes until ctx is done. Where the connection was broken, anything
// may have changed.
func (s *Store) listen(ctx context.Context) {
	subscription := s.client.Subscribe(ctx, s.changesChannel())
	defer func() { _ = subscription.Close() }()
	messages := subscription.ChannelWithSubscriptions()
	ticker := time.NewTicker(reminder)
	defer ticker.Stop()
	for {
		select {
		case message, open := <-messages:
			switch m := message.(type) {
			case *redis.Message:
				s.changes.Tell(m.Payload)
			case *redis.Subscription: // by a new connection
				s.changes.TellAll()
			}
			if !open {
				return
			}
		case <-ticker.C:
			s.changes.TellAll()
		case <-ctx.Done():
			return
		}
	}
}
