package boltstore

import (
	"context"
	"encoding/binary"
	"time"

	bolt "go.etcd.io/bbolt"

	"dragoman/app/jobs"
)

// Claim implements [jobs.Store].
func (s *Store) Claim(ctx context.Context, from jobs.Queue, lease time.Duration) (jobs.Claim, error) {
	c, err := s.changes.Claim(ctx, from, func() (jobs.Claim, time.Duration, error) { return s.tryClaim(from, lease) })
	if err == nil {
		s.changes.Tell(c.Job.ID)
	}
	return c, err
}

// longestWait is how long Claim waits before it looks again, where nothing happens.
const longestWait = time.Minute

// tryClaim claims the first job of a queue, or says how long to wait for one.
func (s *Store) tryClaim(from jobs.Queue, lease time.Duration) (c jobs.Claim, wait time.Duration, err error) {
	if wait, err = s.untilDue(from); wait > 0 || err != nil {
		return c, wait, err // nothing is written
	}
	err = s.db.Update(func(tx *bolt.Tx) error {
		now := s.cfg.Now()
		for {
			key, _ := tx.Bucket(queueBuckets[from]).Cursor().First()
			if wait = due(key, now); wait > 0 {
				return nil
			}
			r, err := load(tx, string(key[timeBytes:]))
			if err != nil {
				return err
			}
			if r.Expired(now) {
				if err := remove(tx, r); err != nil {
					return err
				}
				continue
			}
			return change(tx, r, func() error { c = r.Claim(now, lease); return nil })
		}
	})
	return c, wait, err
}

// untilDue is how long it is until the first job of a queue can be claimed.
func (s *Store) untilDue(from jobs.Queue) (wait time.Duration, err error) {
	err = s.db.View(func(tx *bolt.Tx) error {
		key, _ := tx.Bucket(queueBuckets[from]).Cursor().First()
		wait = due(key, s.cfg.Now())
		return nil
	})
	return wait, err
}

// due is how long it is until the job of a key of a queue can be claimed; nil is no job.
func due(key []byte, now time.Time) time.Duration {
	if key == nil {
		return longestWait
	}
	at := time.UnixMilli(int64(binary.BigEndian.Uint64(key)))
	return min(at.Sub(now), longestWait)
}

// Watch implements [jobs.Store].
func (s *Store) Watch(ctx context.Context, id string) <-chan struct{} {
	return s.changes.Watch(ctx, id)
}
