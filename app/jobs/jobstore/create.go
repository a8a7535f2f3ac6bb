package jobstore

import (
	"context"

	"golang.org/x/sync/semaphore"

	"dragoman/app/jobs"
	"dragoman/app/store"
)

// creator creates jobs within the limits of a configuration.
type creator struct {
	table
	cfg      jobs.StoreConfig
	creating *semaphore.Weighted
}

// Create writes the input and the file first: they are invisible before the job exists.
func (s *creator) Create(ctx context.Context, d jobs.Draft) (job jobs.Job, created bool, err error) {
	known, err := s.admitted(ctx, d)
	if known != nil || err != nil {
		return jobOf(known), false, err
	}
	input, file := inputOf(d.ID), fileOf(d.ID)
	if err := s.Stage(ctx, input, d.Input); err != nil {
		return job, false, err
	}
	if err := s.Stage(ctx, file, d.File); err != nil {
		return job, false, err
	}
	// All creations conflict with each other: those of one process wait for each other rather than try again.
	if err := s.creating.Acquire(ctx, 1); err != nil {
		return job, false, err
	}
	defer s.creating.Release(1)
	err = s.Update(ctx, func(tx store.Writer) error {
		known, expired, err := s.admit(tx, d)
		if created = known == nil && err == nil; !created {
			if job = jobOf(known); d.Problem == nil {
				_ = tx.Free(input, file) // if this fails, they expire
			}
			return err
		}
		if expired != nil {
			s.drop(tx, expired)
			tx.Clear(resultsOf(expired.ID), fileOf(expired.ID))
		}
		job, err = s.insert(tx, d)
		return err
	}, recordOf(d.ID), ofOwner(d.Owner), keyOf(d.Owner, ""), reserved, input, file)
	if err != nil {
		return jobs.Job{}, false, err
	}
	return job, created, nil
}

func (s *creator) Room(ctx context.Context, d jobs.Draft) error {
	known, err := s.admitted(ctx, d)
	if known != nil {
		return nil
	}
	return err
}

func (s *creator) admitted(ctx context.Context, d jobs.Draft) (*jobs.Record, error) {
	return store.View(ctx, s, func(tx store.Reader) (*jobs.Record, error) {
		known, _, err := s.admit(tx, d)
		return known, err
	})
}

// admit returns the job that exists already, if any, and fails if there is no room for another. A job that has expired does not
// exist, but has the key.
func (s *creator) admit(tx store.Reader, d jobs.Draft) (known, expired *jobs.Record, err error) {
	if d.Problem != nil { // another process may have created the failed job
		known, err = load(tx, d.ID)
		return known, nil, err
	}
	known, err = keyed(tx, d.Owner, d.Key)
	switch {
	case err != nil:
		return nil, nil, err
	case known == nil:
	case known.Expired(tx.Now()):
		expired = known
	default:
		return known, nil, known.Matches(d.Fingerprint)
	}
	n, err := tx.Len(ofOwner(d.Owner))
	if err != nil {
		return nil, nil, err
	}
	if n >= s.cfg.PerOwner { // some may have expired
		list, err := owned(tx, d.Owner, s.cfg.PerOwner)
		if err != nil {
			return nil, nil, err
		}
		if len(list) >= s.cfg.PerOwner {
			return nil, nil, jobs.TooMany(s.cfg.PerOwner)
		}
	}
	bytes, err := tx.Count(reserved)
	if err != nil {
		return nil, nil, err
	}
	if expired != nil {
		bytes -= expired.Bytes
	}
	if bytes+d.Bytes > s.cfg.MaxBytes {
		return nil, nil, jobs.NoSpace(s.cfg.MaxBytes)
	}
	return nil, expired, nil
}

func (s *creator) insert(tx store.Writer, d jobs.Draft) (jobs.Job, error) {
	r := jobs.NewRecord(d, s.cfg.TTL, tx.Now())
	if d.Problem == nil {
		if err := tx.Adopt(inputOf(r.ID), d.Input); err != nil {
			return jobs.Job{}, err
		}
		if err := tx.Adopt(fileOf(r.ID), d.File); err != nil {
			return jobs.Job{}, err
		}
		tx.Enlist(ofOwner(r.Owner), creation(r))
	} else { // replaces a lost job
		unlist(tx, store.Entry{ID: r.ID})
	}
	if r.Key != "" {
		tx.Set(keyOf(r.Owner, r.Key), []byte(r.ID))
	}
	tx.Add(reserved, r.Bytes)
	return r.Job, put(tx, &jobs.Record{}, r)
}
