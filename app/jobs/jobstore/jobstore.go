// Package jobstore keeps jobs: in one file for one process, or in Redis for many.
//
// [jobs.Record] has the transitions of a job. A change reads the record, and writes the record and all consequences in one
// transaction.
//
//	jobstore.go  the store, its layout, and reading jobs
//	create.go    creating jobs
//	change.go    changing and removing them
//	claim.go     claiming them
package jobstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/semaphore"

	"dragoman/app/jobs"
	"dragoman/app/store"
)

// keeper implements [jobs.Store].
type keeper struct{ creator }

func newKeeper(s store.Store, cfg jobs.StoreConfig) *keeper {
	return &keeper{creator{table{s}, cfg, semaphore.NewWeighted(1)}}
}

// table has the records of jobs, and reads, changes and removes one at a time.
type table struct{ store.Store }

// InRedis returns a store whose keys begin with a prefix; see [store.NewRedis].
func InRedis(client redis.UniversalClient, prefix string, cfg jobs.StoreConfig) jobs.Store {
	return newKeeper(store.NewRedis(client, prefix+":{jobs}:", cfg.Now), cfg)
}

// OpenFile opens the file at a path, or creates it; see [store.OpenFile].
func OpenFile(path string, cfg jobs.StoreConfig) (jobs.Store, error) {
	file, err := store.OpenFile(path, "jobs", buckets, cfg.Now)
	if err != nil {
		return nil, err
	}
	if err := begin(file); err != nil {
		return nil, errors.Join(fmt.Errorf("read the file of jobs %s: %w", path, err), file.Close())
	}
	s := newKeeper(file, cfg)
	if err := s.forgetAbandoned(context.Background()); err != nil {
		return nil, errors.Join(fmt.Errorf("read the file of jobs %s: %w", path, err), file.Close())
	}
	return s, nil
}

// begin ends the claims of the process that had the file before.
func begin(file *store.File) error {
	records, err := file.Values("jobs")
	if err != nil {
		return err
	}
	return file.Update(context.Background(), func(tx store.Writer) error {
		for _, raw := range records {
			r, err := jobs.ParseRecord(raw)
			if err != nil {
				return err
			}
			if before := *r; (r.State == jobs.Running || r.Queue == jobs.Awaited) && r.Due.After(tx.Now()) {
				r.Due = tx.Now()
				if err := put(tx, &before, r); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// buckets are the buckets of the file. In Redis all data with texts expires if no remaining store sweeps: input and files that
// did not become a job's, and files and results of expired jobs. The rest of a job is small and stays, so that the next sweep can
// subtract it from the counts.
var buckets = []string{"jobs", "input", "results", "files", "owners", "keys", "states", "work", "delivery", "awaited", "total"}

// A record is a value in JSON, and a trace a value that marks a removed job. The slices of the input, the chunks of results and
// the parts of the file are parts by number.
func recordOf(id string) store.Key  { return store.Key{Bucket: "jobs", File: id, Redis: "job:" + id} }
func traceOf(id string) store.Key   { return store.Key{Redis: "removed:" + id} } // if jobs may be lost
func inputOf(id string) store.Key   { return store.Under("input", "input:", id) }
func resultsOf(id string) store.Key { return store.Under("results", "results:", id) }
func fileOf(id string) store.Key    { return store.Under("files", "file:", id) }

// keyOf is the key of the id of the job for which an idempotency key was used.
func keyOf(owner, key string) store.Key { return store.Under("keys", "keys:", owner).Part(key, key) }

// Lists have jobs by creation, by expiry, and by the time from which they can be claimed.
func ofOwner(owner string) store.Key     { return store.Under("owners", "owner:", owner) }
func inState(state jobs.State) store.Key { return store.Under("states", "state:", string(state)) }
func inQueue(queue jobs.Queue) store.Key {
	return store.Key{Bucket: string(queue), Redis: "queue:" + string(queue)}
}
func creation(r *jobs.Record) store.Entry { return store.Entry{ID: r.ID, At: r.Created} }
func expiry(r *jobs.Record) store.Entry   { return store.Entry{ID: r.ID, At: r.Expires} }
func due(r *jobs.Record) store.Entry      { return store.Entry{ID: r.ID, At: r.Due} }

// reserved counts the bytes reserved by all jobs.
var reserved = store.Key{Bucket: "total", File: "bytes", Redis: "bytes"}

func (s *keeper) Get(ctx context.Context, id string) (jobs.Job, error) {
	return store.View(ctx, s, func(tx store.Reader) (jobs.Job, error) {
		r, err := s.known(tx, id)
		return jobOf(r), err
	})
}

func (s *keeper) Find(ctx context.Context, owner, key, fingerprint string) (jobs.Job, error) {
	return store.View(ctx, s, func(tx store.Reader) (jobs.Job, error) {
		r, err := keyed(tx, owner, key)
		if err == nil && (r == nil || r.Expired(tx.Now())) {
			err = jobs.ErrUnknown
		}
		if err != nil {
			return jobs.Job{}, err
		}
		return r.Job, r.Matches(fingerprint)
	})
}

func (s *keeper) List(ctx context.Context, owner string, most int) ([]jobs.Job, error) {
	return store.View(ctx, s, func(tx store.Reader) ([]jobs.Job, error) { return owned(tx, owner, most) })
}

func (s *keeper) Input(ctx context.Context, id string, slice int) ([]byte, error) {
	return s.part(ctx, id, inputOf(id).Number(slice))
}

func (s *keeper) Result(ctx context.Context, id string, chunk int) ([]byte, error) {
	return s.part(ctx, id, resultsOf(id).Number(chunk))
}

func (s *keeper) File(ctx context.Context, id string, part int) ([]byte, error) {
	return s.part(ctx, id, fileOf(id).Number(part))
}

// part returns a part of a job's input, results or file.
func (t table) part(ctx context.Context, id string, k store.Key) ([]byte, error) {
	return store.View(ctx, t, func(tx store.Reader) ([]byte, error) {
		if _, err := t.known(tx, id); err != nil {
			return nil, err
		}
		found, err := tx.Get(k)
		if len(found) == 0 {
			return nil, cmp.Or(err, jobs.ErrUnknown)
		}
		return []byte(found[k]), nil
	})
}

// jobOf returns the job of a record, the zero Job for nil.
func jobOf(r *jobs.Record) (job jobs.Job) {
	if r != nil {
		job = r.Job
	}
	return job
}

// load reads a job, which may have expired; nil if there is none.
func load(tx store.Reader, id string) (*jobs.Record, error) {
	list, err := store.Load(tx, jobs.ParseRecord, recordOf(id))
	if len(list) == 0 {
		return nil, err
	}
	return list[0], nil
}

// known reads a job that exists and has not expired.
func (t table) known(tx store.Reader, id string) (*jobs.Record, error) {
	r, err := load(tx, id)
	switch {
	case err != nil:
		return nil, err
	case r == nil && t.Lossy():
		trace, err := tx.Get(traceOf(id))
		if len(trace) == 0 && err == nil {
			err = jobs.ErrForgotten
		}
		return nil, cmp.Or(err, jobs.ErrUnknown)
	case r == nil || r.Expired(tx.Now()):
		return nil, jobs.ErrUnknown
	}
	return r, nil
}

// keyed reads the job of an idempotency key, which may have expired; nil if there is none.
func keyed(tx store.Reader, owner, key string) (*jobs.Record, error) {
	if key == "" {
		return nil, nil
	}
	found, err := tx.Get(keyOf(owner, key))
	if len(found) == 0 {
		return nil, err
	}
	return load(tx, found[keyOf(owner, key)])
}

// owned returns the heads of an owner's jobs that exist and have not expired, the newest first, at most most of them.
func owned(tx store.Reader, owner string, most int) (list []jobs.Job, err error) {
	for first, all := 0, false; len(list) < most && !all; first += most {
		entries, err := tx.List(ofOwner(owner), store.Range{Newest: true, Skip: first, Most: most})
		if err != nil {
			return nil, err
		}
		all = len(entries) < most
		keys := make([]store.Key, len(entries))
		for i, e := range entries {
			keys[i] = recordOf(e.ID)
		}
		records, err := store.Load(tx, jobs.ParseHead, keys...)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			if !r.Expired(tx.Now()) && len(list) < most {
				list = append(list, r.Job)
			}
		}
	}
	return list, nil
}

// Sweep removes one job at a time, so that other callers do not wait for long.
func (s *keeper) Sweep(ctx context.Context) (map[jobs.State]int, error) {
	if err := s.forgetAbandoned(ctx); err != nil {
		return nil, err
	}
	counts := make(map[jobs.State]int)
	for _, state := range jobs.States() {
		expired, err := store.View(ctx, s, func(tx store.Reader) (expired []store.Entry, err error) {
			if counts[state], err = tx.Len(inState(state)); err == nil && state.Ended() {
				expired, err = tx.List(inState(state), store.Range{Until: tx.Now()})
			}
			return expired, err
		})
		if err != nil {
			return nil, err
		}
		for _, e := range expired {
			if err := s.forget(ctx, e); err != nil {
				return nil, err
			}
		}
		if counts[state] -= len(expired); counts[state] <= 0 {
			delete(counts, state)
		}
	}
	return counts, nil
}

// forgetAbandoned removes the jobs whose requests have ended with their processes.
func (t table) forgetAbandoned(ctx context.Context) error {
	list, err := store.View(ctx, t, func(tx store.Reader) ([]store.Entry, error) {
		return tx.List(inQueue(jobs.Awaited), store.Range{Until: tx.Now()})
	})
	for _, e := range list {
		err = errors.Join(err, t.forget(ctx, e))
	}
	return err
}
