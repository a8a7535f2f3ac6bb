package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"dragoman/app/jobs"
	"dragoman/app/transaction"
)

const (
	// batchBytes are sent in one transaction, and one slice or part at least.
	batchBytes = 1 << 20
	// staging is how long input and files stay that are not a job's yet, after the last batch of each.
	staging = 10 * time.Minute
)

// errStaged means that input has gone before there was a job for it.
var errStaged = errors.New("the input of a job was not kept until it was complete") // or its file

// errNotCopied means that a job could be lost with its server.
var errNotCopied = errors.New("too few replicas have a job")

// undoing is how long it may take to remove a job that too few replicas have.
const undoing = 10 * time.Second

// Create implements [jobs.Store]. The input and the file are sent first: nobody sees them before there
// is a job.
func (s *Store) Create(ctx context.Context, d jobs.Draft) (job jobs.Job, created bool, err error) {
	known, err := s.admit(ctx, s.client, d)
	if known != nil || err != nil {
		return jobOf(known), false, err
	}
	inputKey, fileKey := s.inputKey(d.ID), s.fileKey(d.ID)
	if err := s.stage(ctx, inputKey, d.Input); err != nil {
		return job, false, err
	}
	if err := s.stage(ctx, fileKey, d.File); err != nil {
		return job, false, err
	}
	// All that make jobs are in each other's way: in one process they wait rather than try again.
	if err := s.creating.Acquire(ctx, 1); err != nil {
		return job, false, err
	}
	defer s.creating.Release(1)
	refused := false
	err = s.atomically(ctx, func(ctx context.Context, tx *redis.Tx) error {
		known, err := s.admit(ctx, tx, d)
		if known != nil || err != nil {
			job, refused = jobOf(known), true
			return err
		}
		job, err = s.insert(ctx, tx, d)
		return err
	}, s.jobKey(d.ID), s.ownerKey(d.Owner), s.keysKey(d.Owner), s.bytesKey(), inputKey, fileKey)
	if errors.Is(err, errNotCopied) {
		err = errors.Join(err, s.removeAny(ctx, d.ID))
	}
	if refused {
		s.client.Unlink(ctx, inputKey, fileKey) // else they go by themselves
	}
	if err != nil {
		return jobs.Job{}, false, err
	}
	if s.cfg.Replicas > 0 && !refused && d.Problem == nil {
		// Where this fails, the job is run a little later.
		_ = s.update(ctx, d.ID, func(_ redis.Pipeliner, r *jobs.Record, now time.Time) error {
			if r.State == jobs.Queued {
				r.Due = now
			}
			return nil
		})
	}
	return job, !refused, nil
}

// Room implements [jobs.Store].
func (s *Store) Room(ctx context.Context, d jobs.Draft) error {
	known, err := s.admit(ctx, s.client, d)
	if known != nil {
		return nil
	}
	return err
}

// admit returns the job that is there already, if any, and fails where there is no room for another.
func (s *Store) admit(ctx context.Context, c redis.Cmdable, d jobs.Draft) (*jobs.Record, error) {
	if d.Problem != nil { // another process may have made it
		r, _, err := s.load(ctx, c, d.ID)
		return r, err
	}
	known, err := s.keyed(ctx, c, d.Owner, d.Key)
	switch {
	case err == nil:
		return known, known.Matches(d.Fingerprint)
	case !errors.Is(err, jobs.ErrUnknown):
		return nil, err
	}
	n, err := c.ZCard(ctx, s.ownerKey(d.Owner)).Result()
	if err != nil {
		return nil, err
	}
	if int(n) >= s.cfg.PerOwner { // unless some have expired
		owned, err := s.owned(ctx, c, d.Owner, s.cfg.PerOwner)
		if err != nil {
			return nil, err
		}
		if len(owned) >= s.cfg.PerOwner {
			return nil, &jobs.LimitError{Jobs: s.cfg.PerOwner}
		}
	}
	reserved, err := c.Get(ctx, s.bytesKey()).Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	if reserved+d.Bytes > s.cfg.MaxBytes {
		return nil, &jobs.LimitError{Bytes: s.cfg.MaxBytes}
	}
	return nil, nil
}

// stage sends a job's slices or the parts of its file, which go by themselves unless they become a job's.
func (s *Store) stage(ctx context.Context, key string, parts [][]byte) error {
	for n := 0; n < len(parts); {
		err := transaction.Do(ctx, s.client, func(p redis.Pipeliner) error {
			for bytes := 0; n < len(parts) && (bytes == 0 || bytes+len(parts[n]) <= batchBytes); n++ {
				p.HSet(ctx, key, strconv.Itoa(n), parts[n])
				bytes += len(parts[n])
			}
			p.Expire(ctx, key, staging)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// insert adds a job whose input and file are there.
func (s *Store) insert(ctx context.Context, tx *redis.Tx, d jobs.Draft) (jobs.Job, error) {
	for key, parts := range map[string][][]byte{s.inputKey(d.ID): d.Input, s.fileKey(d.ID): d.File} {
		if d.Problem != nil { // what is left of it goes
			break
		}
		staged, err := tx.HLen(ctx, key).Result()
		if err != nil {
			return jobs.Job{}, err
		}
		if int(staged) != len(parts) {
			return jobs.Job{}, errStaged
		}
	}
	now, err := s.now(tx.Time(ctx))
	if err != nil {
		return jobs.Job{}, err
	}
	r := jobs.NewRecord(d, s.cfg.TTL, now)
	sure := s.cfg.Replicas > 0 && d.Problem == nil
	if sure { // nobody runs it before it is sure to stay
		r.Due = r.Due.Add(s.cfg.ReplicaWait + undoing)
	}
	err = transaction.Do(ctx, tx, func(p redis.Pipeliner) error {
		p.Persist(ctx, s.inputKey(r.ID))
		p.Persist(ctx, s.fileKey(r.ID))
		if d.Problem == nil {
			p.ZAdd(ctx, s.ownerKey(r.Owner), scored(r.ID, r.Created))
		} else {
			s.unlist(ctx, p, r.ID)
		}
		if r.Key != "" {
			p.HSet(ctx, s.keysKey(r.Owner), r.Key, r.ID)
		}
		p.IncrBy(ctx, s.bytesKey(), r.Bytes)
		return s.put(ctx, p, &jobs.Record{}, r, now)
	})
	if err == nil && sure {
		err = s.copied(ctx, tx)
	}
	return r.Job, err
}

// copied fails where too few replicas have what a connection has written.
func (s *Store) copied(ctx context.Context, tx *redis.Tx) error {
	have, err := tx.Wait(ctx, s.cfg.Replicas, s.cfg.ReplicaWait).Result()
	if err != nil {
		return fmt.Errorf("%w: %w", errNotCopied, err)
	}
	if int(have) < s.cfg.Replicas {
		return fmt.Errorf("%w: %d of %d have it after %s", errNotCopied, have, s.cfg.Replicas, s.cfg.ReplicaWait)
	}
	return nil
}
