package jobstore

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"dragoman/app/jobs"
	"dragoman/app/store"
)

// grace is the time that results and files stay after their expiry if no process sweeps, and the time that the trace of a removed
// job stays.
const grace = time.Hour

func (s *keeper) Renew(ctx context.Context, c jobs.Claim, lease time.Duration) error {
	return s.held(ctx, c, func(tx store.Writer, r *jobs.Record) error { return r.Renew(c, tx.Now(), lease) })
}

func (s *keeper) Save(ctx context.Context, c jobs.Claim, n int, chunk []byte, results jobs.Tally) error {
	return s.held(ctx, c, func(tx store.Writer, r *jobs.Record) error {
		add, err := r.Save(c, n, results, tx.Now())
		if add {
			tx.Set(resultsOf(r.ID).Number(n), chunk)
		}
		return err
	})
}

func (s *keeper) Try(ctx context.Context, c jobs.Claim, record int, lease time.Duration) error {
	return s.held(ctx, c, func(tx store.Writer, r *jobs.Record) error { return r.Try(c, record, tx.Now(), lease) })
}

func (s *keeper) End(ctx context.Context, c jobs.Claim, state jobs.State, problem *jobs.Problem) error {
	return s.held(ctx, c, func(tx store.Writer, r *jobs.Record) error { return r.End(c, state, problem, tx.Now()) })
}

func (s *keeper) Release(ctx context.Context, c jobs.Claim, after time.Duration) error {
	return s.held(ctx, c, func(tx store.Writer, r *jobs.Record) error { return r.Release(c, tx.Now(), after) })
}

func (s *keeper) Delivered(ctx context.Context, c jobs.Claim) error {
	return s.held(ctx, c, func(_ store.Writer, r *jobs.Record) error { return r.Delivered(c) })
}

func (s *keeper) Cancel(ctx context.Context, id string) (job jobs.Job, err error) {
	err = s.update(ctx, id, func(tx store.Writer, r *jobs.Record) error {
		err := r.Cancel(tx.Now())
		job = r.Job
		return err
	})
	return job, err
}

// held is update for the holder of a claim: the claim of a job that does not exist is lost.
func (t table) held(ctx context.Context, c jobs.Claim, alter func(store.Writer, *jobs.Record) error) error {
	err := t.update(ctx, c.Job.ID, alter)
	if errors.Is(err, jobs.ErrUnknown) {
		return jobs.ErrLost
	}
	return err
}

// update changes a job. alter may be called again if another process has changed it meanwhile.
func (t table) update(ctx context.Context, id string, alter func(store.Writer, *jobs.Record) error) error {
	return t.Update(ctx, func(tx store.Writer) error {
		r, err := t.known(tx, id)
		if err != nil {
			return err
		}
		before := *r
		if err := alter(tx, r); err != nil {
			return err
		}
		return put(tx, &before, r)
	}, recordOf(id))
}

// put writes a job, lists it, and removes data of the job that is not needed any more. before is the job's previous record, if
// any.
func put(tx store.Writer, before, r *jobs.Record) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	tx.Set(recordOf(r.ID), raw)
	tx.Tell(r.ID)
	if before.State != r.State {
		tx.Unlist(inState(before.State), expiry(before))
		tx.Enlist(inState(r.State), expiry(r))
	}
	if before.Queue != "" {
		tx.Unlist(inQueue(before.Queue), due(before))
	}
	if r.Queue != "" {
		tx.Enlist(inQueue(r.Queue), due(r))
		if !r.Due.After(tx.Now()) {
			tx.Tell(string(r.Queue))
		}
	}
	if before.HasInput() && !r.HasInput() {
		tx.Clear(inputOf(r.ID))
	}
	switch {
	case !r.State.Ended() || before.State.Ended():
	case r.HasResults():
		tx.Expire(resultsOf(r.ID), r.TTL+grace)
		tx.Expire(fileOf(r.ID), r.TTL+grace)
	default:
		tx.Clear(resultsOf(r.ID), fileOf(r.ID))
	}
	return nil
}

func (s *keeper) Remove(ctx context.Context, id string) error {
	return s.remove(ctx, store.Entry{ID: id}, func(r *jobs.Record, now time.Time) error {
		switch {
		case r == nil || r.Expired(now):
			return jobs.ErrUnknown
		case !r.State.Ended():
			return jobs.ErrActive
		}
		return nil
	})
}

// forget removes the rest of a listed job that has expired, was abandoned or does not exist.
func (t table) forget(ctx context.Context, e store.Entry) error {
	errKeep := errors.New("it has not expired")
	err := t.remove(ctx, e, func(r *jobs.Record, now time.Time) error {
		if r != nil && !r.Expired(now) && !r.Abandoned(now) {
			return errKeep
		}
		return nil
	})
	if errors.Is(err, errKeep) {
		return nil
	}
	return err
}

// remove removes the data of a job, unless check fails. check gets nil for a missing record.
func (t table) remove(ctx context.Context, e store.Entry, check func(r *jobs.Record, now time.Time) error) error {
	return t.Update(ctx, func(tx store.Writer) error {
		r, err := load(tx, e.ID)
		if err != nil {
			return err
		}
		if err := check(r, tx.Now()); err != nil {
			return err
		}
		// A server whose memory is full refuses the transaction, but not this call, which makes room.
		if err := tx.Free(inputOf(e.ID), resultsOf(e.ID), fileOf(e.ID)); err != nil {
			return err
		}
		if tx.Tell(e.ID); r == nil {
			unlist(tx, e)
		} else {
			t.drop(tx, r)
		}
		return nil
	}, recordOf(e.ID))
}

// drop removes a record and its entries in lists.
func (t table) drop(tx store.Writer, r *jobs.Record) {
	tx.Delete(recordOf(r.ID))
	tx.Unlist(inState(r.State), expiry(r))
	tx.Unlist(ofOwner(r.Owner), creation(r))
	if r.Queue != "" {
		tx.Unlist(inQueue(r.Queue), due(r))
	}
	if r.Key != "" {
		tx.Delete(keyOf(r.Owner, r.Key))
	}
	tx.Add(reserved, -r.Bytes)
	if t.Lossy() {
		tx.Set(traceOf(r.ID), nil)
		tx.Expire(traceOf(r.ID), grace)
	}
}

// unlist removes a job whose record is lost from the lists common to all owners.
func unlist(tx store.Writer, e store.Entry) {
	for _, state := range jobs.States() {
		tx.Unlist(inState(state), e)
	}
	for _, queue := range []jobs.Queue{jobs.Work, jobs.Delivery, jobs.Awaited} {
		tx.Unlist(inQueue(queue), e)
	}
}
