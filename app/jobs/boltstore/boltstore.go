// Package boltstore keeps jobs in one file, for one process at a time.
//
// The file has a bucket of records, one each of slices, of chunks of results and of parts of files, whose keys begin
// with the job's id, and some of keys alone, by which jobs are found: by owner and age, by
// idempotency key, and for each queue by the time when they can be claimed. What is removed makes
// room in the file for what comes; the file does not become smaller.
package boltstore

import (
	"context"
	"errors"
	"time"

	bolt "go.etcd.io/bbolt"

	"dragoman/app/boltfile"
	"dragoman/app/jobs"
)

// Store implements [jobs.Store].
type Store struct {
	cfg     jobs.StoreConfig
	db      *bolt.DB
	changes jobs.Changes
}

// Open opens the file at a path, and makes it and its folder where they are not there. It holds
// texts: nobody but its owner may read it. The caller closes the store.
func Open(path string, cfg jobs.StoreConfig) (*Store, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Store{cfg: cfg}
	var err error
	if s.db, err = boltfile.Open(path, "jobs", s.begin); err != nil {
		return nil, err
	}
	return s, nil
}

// Close closes the file.
func (s *Store) Close() error { return s.db.Close() }

// begin makes what is not there. No claim has outlived the process that had it.
func (s *Store) begin(tx *bolt.Tx) error {
	for _, name := range buckets {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	records, err := all(tx)
	if err != nil {
		return err
	}
	now := s.cfg.Now()
	for _, r := range records {
		if r.State == jobs.Running && r.Due.After(now) {
			if err := change(tx, r, func() error { r.Due = now; return nil }); err != nil {
				return err
			}
		}
	}
	return nil
}

// Create implements [jobs.Store].
func (s *Store) Create(_ context.Context, d jobs.Draft) (job jobs.Job, created bool, err error) {
	err = s.db.Update(func(tx *bolt.Tx) error {
		now := s.cfg.Now()
		switch known, err := keyed(tx, d.Owner, d.Key); {
		case errors.Is(err, jobs.ErrUnknown):
		case err != nil:
			return err
		case known.Expired(now):
			if err := remove(tx, known); err != nil {
				return err
			}
		default:
			job = known.Job
			return known.Matches(d.Fingerprint)
		}
		if err := s.admit(tx, d, now); err != nil {
			return err
		}
		r := jobs.NewRecord(d, s.cfg.TTL, now)
		job, created = r.Job, true
		if err := putParts(tx, inputBucket, d.ID, d.Input); err != nil {
			return err
		}
		if err := putParts(tx, fileBucket, d.ID, d.File); err != nil {
			return err
		}
		return insert(tx, r)
	})
	if err != nil {
		return jobs.Job{}, false, err
	}
	if created {
		s.changes.Tell(string(jobs.Work))
	}
	return job, created, nil
}

// Room implements [jobs.Store].
func (s *Store) Room(_ context.Context, d jobs.Draft) error {
	return s.db.View(func(tx *bolt.Tx) error {
		now := s.cfg.Now()
		if known, err := keyed(tx, d.Owner, d.Key); err == nil && !known.Expired(now) {
			return nil
		}
		return s.admit(tx, d, now)
	})
}

// Find implements [jobs.Store].
func (s *Store) Find(_ context.Context, owner, key, fingerprint string) (job jobs.Job, err error) {
	err = s.db.View(func(tx *bolt.Tx) error {
		r, err := keyed(tx, owner, key)
		switch {
		case err != nil:
			return err
		case r.Expired(s.cfg.Now()):
			return jobs.ErrUnknown
		}
		job = r.Job
		return r.Matches(fingerprint)
	})
	return job, err
}

// admit fails where there is no room for a job.
func (s *Store) admit(tx *bolt.Tx, d jobs.Draft, now time.Time) error {
	owned, err := ownedBy(tx, d.Owner, -1, now)
	if err != nil {
		return err
	}
	if len(owned) >= s.cfg.PerOwner {
		return &jobs.LimitError{Jobs: s.cfg.PerOwner}
	}
	if reserved(tx)+d.Bytes > s.cfg.MaxBytes {
		return &jobs.LimitError{Bytes: s.cfg.MaxBytes}
	}
	return nil
}

// Get implements [jobs.Store].
func (s *Store) Get(_ context.Context, id string) (job jobs.Job, err error) {
	err = s.view(id, func(_ *bolt.Tx, r *jobs.Record) error {
		job = r.Job
		return nil
	})
	return job, err
}

// List implements [jobs.Store].
func (s *Store) List(_ context.Context, owner string, most int) (list []jobs.Job, err error) {
	err = s.db.View(func(tx *bolt.Tx) error {
		list, err = ownedBy(tx, owner, most, s.cfg.Now())
		return err
	})
	return list, err
}

// Input implements [jobs.Store].
func (s *Store) Input(_ context.Context, id string, slice int) ([]byte, error) {
	return s.part(inputBucket, id, slice)
}

// Result implements [jobs.Store].
func (s *Store) Result(_ context.Context, id string, chunk int) ([]byte, error) {
	return s.part(resultBucket, id, chunk)
}

// File implements [jobs.Store].
func (s *Store) File(_ context.Context, id string, part int) ([]byte, error) {
	return s.part(fileBucket, id, part)
}

// part returns a part of a job's input, results or file.
func (s *Store) part(bucket []byte, id string, n int) (part []byte, err error) {
	err = s.view(id, func(tx *bolt.Tx, _ *jobs.Record) error {
		found := tx.Bucket(bucket).Get(partKey(id, n))
		if found == nil {
			return jobs.ErrUnknown
		}
		part = append([]byte{}, found...) // it is the file's until the transaction ends
		return nil
	})
	return part, err
}

// Renew implements [jobs.Store].
func (s *Store) Renew(_ context.Context, c jobs.Claim, lease time.Duration) error {
	return s.held(c, func(_ *bolt.Tx, r *jobs.Record) error { return r.Renew(c, s.cfg.Now(), lease) })
}

// Save implements [jobs.Store].
func (s *Store) Save(_ context.Context, c jobs.Claim, n int, chunk []byte, results jobs.Tally) error {
	return s.held(c, func(tx *bolt.Tx, r *jobs.Record) error {
		add, err := r.Save(c, n, results, s.cfg.Now())
		if !add || err != nil {
			return err
		}
		return tx.Bucket(resultBucket).Put(partKey(r.ID, n), chunk)
	})
}

// Try implements [jobs.Store].
func (s *Store) Try(_ context.Context, c jobs.Claim, record int, lease time.Duration) error {
	return s.held(c, func(_ *bolt.Tx, r *jobs.Record) error { return r.Try(c, record, s.cfg.Now(), lease) })
}

// End implements [jobs.Store].
func (s *Store) End(_ context.Context, c jobs.Claim, state jobs.State, problem *jobs.Problem) error {
	return s.held(c, func(_ *bolt.Tx, r *jobs.Record) error { return r.End(c, state, problem, s.cfg.Now()) })
}

// Release implements [jobs.Store].
func (s *Store) Release(_ context.Context, c jobs.Claim, after time.Duration) error {
	return s.held(c, func(_ *bolt.Tx, r *jobs.Record) error { return r.Release(c, s.cfg.Now(), after) })
}

// Delivered implements [jobs.Store].
func (s *Store) Delivered(_ context.Context, c jobs.Claim) error {
	return s.held(c, func(_ *bolt.Tx, r *jobs.Record) error { return r.Delivered(c) })
}

// Cancel implements [jobs.Store].
func (s *Store) Cancel(_ context.Context, id string) (job jobs.Job, err error) {
	err = s.update(id, func(_ *bolt.Tx, r *jobs.Record) error {
		err := r.Cancel(s.cfg.Now())
		job = r.Job
		return err
	})
	return job, err
}

// Remove implements [jobs.Store].
func (s *Store) Remove(_ context.Context, id string) error {
	err := s.db.Update(func(tx *bolt.Tx) error {
		r, err := s.known(tx, id)
		switch {
		case err != nil:
			return err
		case !r.State.Ended():
			return jobs.ErrActive
		}
		return remove(tx, r)
	})
	if err == nil {
		s.changes.Tell(id)
	}
	return err
}

// Sweep implements [jobs.Store].
func (s *Store) Sweep(context.Context) (counts map[jobs.State]int, err error) {
	now := s.cfg.Now()
	var expired []*jobs.Record
	err = s.db.View(func(tx *bolt.Tx) error {
		records, err := all(tx)
		counts = make(map[jobs.State]int)
		for _, r := range records {
			if r.Expired(now) {
				expired = append(expired, r)
			} else {
				counts[r.State]++
			}
		}
		return err
	})
	for _, r := range expired { // one at a time, so that nobody waits for long
		err = errors.Join(err, s.db.Update(func(tx *bolt.Tx) error {
			r, err := load(tx, r.ID)
			if err != nil {
				return ignoreUnknown(err)
			}
			return remove(tx, r)
		}))
	}
	return counts, err
}

// known is a job that is there and has not expired.
func (s *Store) known(tx *bolt.Tx, id string) (*jobs.Record, error) {
	r, err := load(tx, id)
	if err == nil && r.Expired(s.cfg.Now()) {
		return nil, jobs.ErrUnknown
	}
	return r, err
}

// view looks at a job.
func (s *Store) view(id string, look func(*bolt.Tx, *jobs.Record) error) error {
	return s.db.View(func(tx *bolt.Tx) error {
		r, err := s.known(tx, id)
		if err != nil {
			return err
		}
		return look(tx, r)
	})
}

// update changes a job.
func (s *Store) update(id string, alter func(*bolt.Tx, *jobs.Record) error) error {
	ready := jobs.Queue("") // that it is in now
	err := s.db.Update(func(tx *bolt.Tx) error {
		r, err := s.known(tx, id)
		if err != nil {
			return err
		}
		err = change(tx, r, func() error { return alter(tx, r) })
		ready = r.Queue
		return err
	})
	if err == nil {
		s.changes.Tell(id, string(ready))
	}
	return err
}

// held is update for somebody who has a claim: there is none on a job that is not there.
func (s *Store) held(c jobs.Claim, alter func(*bolt.Tx, *jobs.Record) error) error {
	err := s.update(c.Job.ID, alter)
	if errors.Is(err, jobs.ErrUnknown) {
		return jobs.ErrLost
	}
	return err
}

func ignoreUnknown(err error) error {
	if errors.Is(err, jobs.ErrUnknown) {
		return nil
	}
	return err
}
