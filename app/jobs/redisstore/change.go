package redisstore

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"dragoman/app/jobs"
	"dragoman/app/transaction"
)

// grace is how long results and files stay that should have been removed, where nobody sweeps.
const grace = time.Hour

// Renew implements [jobs.Store].
func (s *Store) Renew(ctx context.Context, c jobs.Claim, lease time.Duration) error {
	return s.held(ctx, c, func(_ redis.Pipeliner, r *jobs.Record, now time.Time) error { return r.Renew(c, now, lease) })
}

// Save implements [jobs.Store].
func (s *Store) Save(ctx context.Context, c jobs.Claim, n int, chunk []byte, results jobs.Tally) error {
	return s.held(ctx, c, func(p redis.Pipeliner, r *jobs.Record, now time.Time) error {
		add, err := r.Save(c, n, results, now)
		if add {
			p.HSet(ctx, s.resultsKey(r.ID), strconv.Itoa(n), chunk)
		}
		return err
	})
}

// Try implements [jobs.Store].
func (s *Store) Try(ctx context.Context, c jobs.Claim, record int, lease time.Duration) error {
	return s.held(ctx, c, func(_ redis.Pipeliner, r *jobs.Record, now time.Time) error { return r.Try(c, record, now, lease) })
}

// End implements [jobs.Store].
func (s *Store) End(ctx context.Context, c jobs.Claim, state jobs.State, problem *jobs.Problem) error {
	return s.held(ctx, c, func(_ redis.Pipeliner, r *jobs.Record, now time.Time) error {
		return r.End(c, state, problem, now)
	})
}

// Release implements [jobs.Store].
func (s *Store) Release(ctx context.Context, c jobs.Claim, after time.Duration) error {
	return s.held(ctx, c, func(_ redis.Pipeliner, r *jobs.Record, now time.Time) error { return r.Release(c, now, after) })
}

// Delivered implements [jobs.Store].
func (s *Store) Delivered(ctx context.Context, c jobs.Claim) error {
	return s.held(ctx, c, func(_ redis.Pipeliner, r *jobs.Record, _ time.Time) error { return r.Delivered(c) })
}

// Cancel implements [jobs.Store].
func (s *Store) Cancel(ctx context.Context, id string) (job jobs.Job, err error) {
	err = s.update(ctx, id, func(_ redis.Pipeliner, r *jobs.Record, now time.Time) error {
		err := r.Cancel(now)
		job = r.Job
		return err
	})
	return job, err
}

// Remove implements [jobs.Store].
func (s *Store) Remove(ctx context.Context, id string) error {
	return s.remove(ctx, id, func(r *jobs.Record, now time.Time) error {
		switch {
		case r == nil || r.Expired(now):
			return jobs.ErrUnknown
		case !r.State.Ended():
			return jobs.ErrActive
		}
		return nil
	})
}

// removeAny removes a job, however it is.
func (s *Store) removeAny(ctx context.Context, id string) error {
	return s.remove(ctx, id, func(*jobs.Record, time.Time) error { return nil })
}

// forget removes what is left of a job that has expired, or is not there.
func (s *Store) forget(ctx context.Context, id string) error {
	errKeep := errors.New("it has not expired")
	err := s.remove(ctx, id, func(r *jobs.Record, now time.Time) error {
		if r != nil && !r.Expired(now) {
			return errKeep
		}
		return nil
	})
	if errors.Is(err, errKeep) {
		return nil
	}
	return err
}

// change is what happens to a job. It may add commands to the transaction.
type change func(p redis.Pipeliner, r *jobs.Record, now time.Time) error

// held is update for somebody who has a claim: there is none on a job that is not there.
func (s *Store) held(ctx context.Context, c jobs.Claim, alter change) error {
	err := s.update(ctx, c.Job.ID, alter)
	if errors.Is(err, jobs.ErrUnknown) {
		return jobs.ErrLost
	}
	return err
}

// update changes a job. alter may be called again where somebody else has changed it meanwhile.
func (s *Store) update(ctx context.Context, id string, alter change) error {
	return s.atomically(ctx, func(ctx context.Context, tx *redis.Tx) error {
		r, now, err := s.known(ctx, tx, id)
		if err != nil {
			return err
		}
		before := *r
		return transaction.Do(ctx, tx, func(p redis.Pipeliner) error {
			if err := alter(p, r, now); err != nil {
				return err
			}
			return s.put(ctx, p, &before, r, now)
		})
	}, s.jobKey(id))
}

// atomically is [transaction.Atomically] on the store's server.
func (s *Store) atomically(ctx context.Context, do func(context.Context, *redis.Tx) error, keys ...string) error {
	return transaction.Atomically(ctx, s.client, do, keys...)
}

// put writes a job and where it is found, and removes what it does not need any more.
func (s *Store) put(ctx context.Context, p redis.Pipeliner, before, r *jobs.Record, now time.Time) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	p.Set(ctx, s.jobKey(r.ID), raw, 0)
	if before.State != r.State {
		p.ZRem(ctx, s.stateKey(before.State), r.ID)
		p.ZAdd(ctx, s.stateKey(r.State), scored(r.ID, r.Expires))
	}
	if before.Queue != r.Queue {
		p.ZRem(ctx, s.queueKey(before.Queue), r.ID)
	}
	p.Publish(ctx, s.changesChannel(), r.ID)
	if r.Queue != "" {
		p.ZAdd(ctx, s.queueKey(r.Queue), scored(r.ID, r.Due))
		if !r.Due.After(now) {
			p.Publish(ctx, s.changesChannel(), string(r.Queue))
		}
	}
	if r.State.Ended() && !before.State.Ended() {
		p.Unlink(ctx, s.inputKey(r.ID))
		for _, key := range []string{s.resultsKey(r.ID), s.fileKey(r.ID)} {
			p.Expire(ctx, key, r.TTL+grace)
			if !r.HasResults() {
				p.Unlink(ctx, key)
			}
		}
	}
	return nil
}

// remove forgets a job, nil where it is not there, unless check fails.
func (s *Store) remove(ctx context.Context, id string, check func(r *jobs.Record, now time.Time) error) error {
	return s.atomically(ctx, func(ctx context.Context, tx *redis.Tx) error {
		r, now, err := s.load(ctx, tx, id)
		if err == nil {
			err = check(r, now)
		}
		if err != nil {
			return err
		}
		// A server whose memory is full refuses the transaction, but not this, which makes room.
		if err := tx.Unlink(ctx, s.inputKey(id), s.resultsKey(id), s.fileKey(id)).Err(); err != nil {
			return err
		}
		return transaction.Do(ctx, tx, func(p redis.Pipeliner) error {
			p.Del(ctx, s.jobKey(id))
			s.unlist(ctx, p, id)
			if r != nil {
				p.Set(ctx, s.removedKey(id), "", grace)
				p.ZRem(ctx, s.ownerKey(r.Owner), id)
				p.HDel(ctx, s.keysKey(r.Owner), r.Key)
				p.DecrBy(ctx, s.bytesKey(), r.Bytes)
			}
			p.Publish(ctx, s.changesChannel(), id)
			return nil
		})
	}, s.jobKey(id))
}

// unlist takes a job out of where jobs of all owners are listed.
func (s *Store) unlist(ctx context.Context, p redis.Pipeliner, id string) {
	for _, state := range jobs.States() {
		p.ZRem(ctx, s.stateKey(state), id)
	}
	for _, queue := range []jobs.Queue{jobs.Work, jobs.Delivery} {
		p.ZRem(ctx, s.queueKey(queue), id)
	}
}
