// Package redisstore keeps jobs in Redis, for any number of processes.
//
// What happens to a job is what [jobs.Record] says. A change reads the record, and writes it with
// all that follows from it in one transaction, which Redis makes only where nobody has changed the
// record since (WATCH); else it is tried again. So the rules are in one place, in Go, for every
// store, and there are no scripts, which would have them again in Lua.
//
//	redisstore.go  the store, and reading jobs
//	create.go      making jobs
//	change.go      changing and removing them
//	claim.go       claiming them, and seeing what others change
//
// # Keys
//
// All begin with the prefix, P. The braces have Redis Cluster keep them on one server.
//
//	P:{jobs}:job:ID       the record, JSON
//	P:{jobs}:input:ID     hash: the slices, by number
//	P:{jobs}:results:ID   hash: the chunks of results, by number
//	P:{jobs}:file:ID      hash: the parts of its document, by number
//	P:{jobs}:removed:ID   that the job was removed, for an hour: one that is not there without was lost
//	P:{jobs}:owner:OWNER  sorted set: ids, by time of creation
//	P:{jobs}:keys:OWNER   hash: ids, by idempotency key
//	P:{jobs}:state:STATE  sorted set: ids, by when they expire
//	P:{jobs}:queue:QUEUE  sorted set: ids, by when they can be claimed
//	P:{jobs}:bytes        what all jobs have reserved
//	P:{jobs}:changes      channel: ids of jobs that have changed, and names of queues
//
// All that texts are in goes by itself where no store is left that sweeps: input and files that did not
// become a job's, and files and results of jobs that have expired. The rest of a job is small and stays, so that
// the next sweep can count it out. Redis must not evict keys: maxmemory-policy noeviction.
package redisstore

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/semaphore"

	"dragoman/app/jobs"
)

// Store implements [jobs.Store].
type Store struct {
	cfg      jobs.StoreConfig
	client   redis.UniversalClient
	prefix   string // of all keys
	creating *semaphore.Weighted
	changes  jobs.Changes

	stop      context.CancelFunc
	listening sync.WaitGroup
}

// New makes a store whose keys begin with prefix. The server may be away. Without a clock in
// cfg times are Redis's, so that all processes agree on them. The caller closes the store, and the client
// after it.
func New(client redis.UniversalClient, prefix string, cfg jobs.StoreConfig) *Store {
	ctx, stop := context.WithCancel(context.Background())
	s := &Store{cfg: cfg, client: client, prefix: prefix + ":{jobs}:", creating: semaphore.NewWeighted(1), stop: stop}
	s.listening.Go(func() { s.listen(ctx) })
	return s
}

// Close ends what the store does by itself.
func (s *Store) Close() error {
	s.stop()
	s.listening.Wait()
	return nil
}

// The keys.
func (s *Store) jobKey(id string) string          { return s.prefix + "job:" + id }
func (s *Store) inputKey(id string) string        { return s.prefix + "input:" + id }
func (s *Store) resultsKey(id string) string      { return s.prefix + "results:" + id }
func (s *Store) fileKey(id string) string         { return s.prefix + "file:" + id }
func (s *Store) removedKey(id string) string      { return s.prefix + "removed:" + id }
func (s *Store) ownerKey(owner string) string     { return s.prefix + "owner:" + owner }
func (s *Store) keysKey(owner string) string      { return s.prefix + "keys:" + owner }
func (s *Store) stateKey(state jobs.State) string { return s.prefix + "state:" + string(state) }
func (s *Store) queueKey(queue jobs.Queue) string { return s.prefix + "queue:" + string(queue) }
func (s *Store) bytesKey() string                 { return s.prefix + "bytes" }
func (s *Store) changesChannel() string           { return s.prefix + "changes" }

// scored is a job's place in a sorted set.
func scored(id string, t time.Time) redis.Z {
	return redis.Z{Score: float64(t.UnixMilli()), Member: id}
}

// now is the time: what the server's clock shows, unless there is another.
func (s *Store) now(clock *redis.TimeCmd) (time.Time, error) {
	if s.cfg.Now != nil {
		return s.cfg.Now(), nil
	}
	return clock.Result()
}

// Get implements [jobs.Store].
func (s *Store) Get(ctx context.Context, id string) (jobs.Job, error) {
	r, _, err := s.known(ctx, s.client, id)
	return jobOf(r), err
}

// Find implements [jobs.Store].
func (s *Store) Find(ctx context.Context, owner, key, fingerprint string) (jobs.Job, error) {
	r, err := s.keyed(ctx, s.client, owner, key)
	if err == nil {
		err = r.Matches(fingerprint)
	}
	return jobOf(r), err
}

// List implements [jobs.Store].
func (s *Store) List(ctx context.Context, owner string, most int) ([]jobs.Job, error) {
	return s.owned(ctx, s.client, owner, most)
}

// Input implements [jobs.Store].
func (s *Store) Input(ctx context.Context, id string, slice int) ([]byte, error) {
	return s.part(ctx, id, s.inputKey(id), slice)
}

// Result implements [jobs.Store].
func (s *Store) Result(ctx context.Context, id string, chunk int) ([]byte, error) {
	return s.part(ctx, id, s.resultsKey(id), chunk)
}

// File implements [jobs.Store].
func (s *Store) File(ctx context.Context, id string, part int) ([]byte, error) {
	return s.part(ctx, id, s.fileKey(id), part)
}

// part returns a part of a job's input, results or file.
func (s *Store) part(ctx context.Context, id, key string, n int) ([]byte, error) {
	if _, _, err := s.known(ctx, s.client, id); err != nil {
		return nil, err
	}
	part, err := s.client.HGet(ctx, key, strconv.Itoa(n)).Bytes()
	if errors.Is(err, redis.Nil) {
		err = jobs.ErrUnknown
	}
	return part, err
}

// jobOf is a record's job; of nil it is none.
func jobOf(r *jobs.Record) (job jobs.Job) {
	if r != nil {
		job = r.Job
	}
	return job
}

// load reads a job, nil where it is not there, and the clock.
func (s *Store) load(ctx context.Context, c redis.Cmdable, id string) (r *jobs.Record, now time.Time, err error) {
	var clock *redis.TimeCmd
	var stored *redis.StringCmd
	_, _ = c.Pipelined(ctx, func(p redis.Pipeliner) error { // each command has its error
		clock, stored = p.Time(ctx), p.Get(ctx, s.jobKey(id))
		return nil
	})
	raw, err := stored.Bytes()
	switch {
	case errors.Is(err, redis.Nil):
	case err != nil:
		return nil, now, err
	default:
		if r, err = jobs.ParseRecord(raw); err != nil {
			return nil, now, err
		}
	}
	now, err = s.now(clock)
	return r, now, err
}

// known is a job that is there and has not expired.
func (s *Store) known(ctx context.Context, c redis.Cmdable, id string) (*jobs.Record, time.Time, error) {
	r, now, err := s.load(ctx, c, id)
	switch {
	case err != nil:
		return nil, now, err
	case r == nil:
		removed, err := c.Exists(ctx, s.removedKey(id)).Result()
		if err == nil && removed == 0 {
			err = jobs.ErrForgotten
		}
		return nil, now, cmp.Or(err, jobs.ErrUnknown)
	case r.Expired(now):
		return nil, now, jobs.ErrUnknown
	}
	return r, now, nil
}

// keyed is the job of an idempotency key. One that has expired is forgotten.
func (s *Store) keyed(ctx context.Context, c redis.Cmdable, owner, key string) (*jobs.Record, error) {
	if key == "" {
		return nil, jobs.ErrUnknown
	}
	id, err := c.HGet(ctx, s.keysKey(owner), key).Result()
	if errors.Is(err, redis.Nil) {
		return nil, jobs.ErrUnknown
	}
	if err != nil {
		return nil, err
	}
	r, _, err := s.known(ctx, c, id)
	if errors.Is(err, jobs.ErrUnknown) {
		if err := s.forget(ctx, id); err != nil {
			return nil, err
		}
	}
	return r, err
}

// owned are the jobs of an owner, the newest first, at most so many.
func (s *Store) owned(ctx context.Context, c redis.Cmdable, owner string, most int) (list []jobs.Job, err error) {
	for first := 0; len(list) < most; first += most {
		ids, err := c.ZRangeArgs(ctx, redis.ZRangeArgs{Key: s.ownerKey(owner), Start: first, Stop: first + most - 1, Rev: true}).Result()
		if err != nil || len(ids) == 0 {
			return list, err
		}
		found, err := s.loadAll(ctx, c, ids)
		if err != nil {
			return nil, err
		}
		list = append(list, found[:min(len(found), most-len(list))]...)
	}
	return list, nil
}

// loadAll reads those of some jobs that are there and have not expired.
func (s *Store) loadAll(ctx context.Context, c redis.Cmdable, ids []string) (list []jobs.Job, err error) {
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = s.jobKey(id)
	}
	var clock *redis.TimeCmd
	var stored *redis.SliceCmd
	_, err = c.Pipelined(ctx, func(p redis.Pipeliner) error {
		clock, stored = p.Time(ctx), p.MGet(ctx, keys...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	now, err := s.now(clock)
	if err != nil {
		return nil, err
	}
	for _, value := range stored.Val() {
		raw, ok := value.(string)
		if !ok {
			continue
		}
		r, err := jobs.ParseRecord([]byte(raw))
		if err != nil {
			return nil, err
		}
		if !r.Expired(now) {
			list = append(list, r.Job)
		}
	}
	return list, nil
}

// Sweep implements [jobs.Store].
func (s *Store) Sweep(ctx context.Context) (map[jobs.State]int, error) {
	now, err := s.now(s.client.Time(ctx))
	if err != nil {
		return nil, err
	}
	counts := make(map[jobs.State]int)
	for _, state := range jobs.States() {
		if state.Ended() {
			expired, err := s.client.ZRangeArgs(ctx, redis.ZRangeArgs{Key: s.stateKey(state), ByScore: true, Start: "-inf", Stop: now.UnixMilli()}).Result()
			if err != nil {
				return nil, err
			}
			for _, id := range expired {
				if err := s.forget(ctx, id); err != nil {
					return nil, err
				}
			}
		}
		n, err := s.client.ZCard(ctx, s.stateKey(state)).Result()
		if err != nil {
			return nil, err
		}
		if n > 0 {
			counts[state] = int(n)
		}
	}
	return counts, nil
}
