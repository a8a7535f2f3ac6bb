package jobstore

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	fake "github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/jobs"
	"dragoman/app/store"
	"dragoman/app/store/porttest"
	"dragoman/app/translate"
)

// server is a Redis in memory with a clock that only Advance moves.
type server struct {
	*miniredis.Miniredis
	clock   *clock
	address string // also while the server is unreachable
}

func newServer(t *testing.T) *server {
	s := &server{Miniredis: miniredis.NewMiniRedis(), clock: newClock()}
	require.NoError(t, s.StartAddr(porttest.Hold(t)))
	t.Cleanup(s.Close)
	s.SetTime(s.clock.Now())
	s.address = s.Addr()
	return s
}

// Advance moves the clock and expires keys.
func (s *server) Advance(d time.Duration) {
	s.clock.Advance(d)
	s.SetTime(s.clock.Now())
	s.FastForward(d)
}

// open returns a process's store.
func (s *server) open(t *testing.T, cfg jobs.StoreConfig) *keeper {
	return open(t, redis.NewClient(&redis.Options{Addr: s.address, MaxRetries: -1}), cfg)
}

func open(t *testing.T, client redis.UniversalClient, cfg jobs.StoreConfig) *keeper {
	s := InRedis(client, "test", cfg).(*keeper)
	t.Cleanup(func() {
		assert.NoError(t, s.Close())
		assert.NoError(t, client.Close())
	})
	return s
}

// nameOf returns the name of a key in Redis.
func nameOf(k store.Key) string { return "test:{jobs}:" + k.Redis }

func TestInRedis(t *testing.T) {
	runSuite(t, func(t *testing.T, cfg jobs.StoreConfig) fixture {
		server := newServer(t)
		return fixture{
			Store: server.open(t, cfg), Advance: server.Advance, Again: func() jobs.Store { return server.open(t, cfg) },
		}
	})
}

var config = jobs.StoreConfig{TTL: time.Hour, PerOwner: 10, MaxBytes: 1 << 30}

// draft returns a job to be made, with slices of n bytes.
func draft(id string, slices ...int) jobs.Draft {
	d := jobs.Draft{ID: id, Owner: "alice", Bytes: 100}
	d.Request.To = []string{"fr"}
	for _, size := range slices {
		d.Input = append(d.Input, make([]byte, size))
	}
	return d
}

// texts lists the keys that may hold texts of a job.
func texts(s *server) (keys []string) {
	for _, key := range s.Keys() {
		if s.Type(key) == "hash" {
			keys = append(keys, key)
		}
	}
	return keys
}

// Input is sent in parts, and is complete when a job becomes visible.
func TestLargeInput(t *testing.T) {
	server := newServer(t)
	s := server.open(t, config)
	d := draft("a", 0, 3<<20, 1, 1<<20-1, 1, 1, 5)
	for range 1000 {
		d.Input = append(d.Input, make([]byte, 10_000))
	}
	_, created, err := s.Create(t.Context(), d)
	require.NoError(t, err)
	assert.True(t, created)
	assert.Zero(t, server.TTL("test:{jobs}:input:a"), "it does not go by itself any more")
	for i, slice := range d.Input {
		got, err := s.Input(t.Context(), "a", i)
		require.NoError(t, err)
		assert.Len(t, got, len(slice))
	}
}

// Input without a job belongs to no owner, takes no room and expires.
func TestHalfMade(t *testing.T) {
	server := newServer(t)
	s := server.open(t, config)
	require.NoError(t, s.Stage(t.Context(), inputOf("a"), draft("a", 10, 10).Input))
	require.NoError(t, s.Stage(t.Context(), fileOf("a"), [][]byte{[]byte("file")}))
	assert.Equal(t, []string{"test:{jobs}:file:a", "test:{jobs}:input:a"}, server.Keys())
	_, err := s.Get(t.Context(), "a")
	assert.ErrorIs(t, err, jobs.ErrUnknown)
	_, err = s.Input(t.Context(), "a", 0)
	assert.ErrorIs(t, err, jobs.ErrUnknown)
	_, err = s.File(t.Context(), "a", 0)
	assert.ErrorIs(t, err, jobs.ErrUnknown)
	server.Advance(10 * time.Minute)
	assert.Empty(t, server.Keys())
}

// A job is not made without all its input and its file.
func TestInputGoneMeanwhile(t *testing.T) {
	for _, gone := range []string{"input", "file"} {
		server := newServer(t)
		s := server.open(t, config)
		d := draft("a", 10, 10)
		d.File = [][]byte{[]byte("begin"), []byte("end")}
		require.NoError(t, s.Stage(t.Context(), inputOf("a"), d.Input))
		require.NoError(t, s.Stage(t.Context(), fileOf("a"), d.File))
		server.HDel("test:{jobs}:"+gone+":a", "1")
		err := s.Update(t.Context(), func(tx store.Writer) error {
			_, err := s.insert(tx, d)
			return err
		}, inputOf("a"))
		assert.ErrorIs(t, err, store.ErrStaged, gone)
		_, err = s.Get(t.Context(), "a")
		assert.ErrorIs(t, err, jobs.ErrUnknown, gone)
	}
}

// A refused job sends nothing.
func TestRefused(t *testing.T) {
	server := newServer(t)
	s := server.open(t, jobs.StoreConfig{TTL: time.Hour, PerOwner: 1, MaxBytes: 100})
	_, _, err := s.Create(t.Context(), draft("a", 10))
	require.NoError(t, err)
	_, _, err = s.Create(t.Context(), draft("b", 10))
	assert.Error(t, err)
	assert.Equal(t, []string{"test:{jobs}:input:a"}, texts(server))
}

// Without sweeps, texts expire.
func TestTextsExpire(t *testing.T) {
	server := newServer(t)
	s := server.open(t, config)
	for _, id := range []string{"done", "cancelled"} {
		d := draft(id, 10)
		d.File = [][]byte{[]byte("file")}
		_, _, err := s.Create(t.Context(), d)
		require.NoError(t, err)
	}
	_, err := s.Cancel(t.Context(), "cancelled")
	require.NoError(t, err)
	c, err := s.Claim(t.Context(), jobs.Work, time.Minute)
	require.NoError(t, err)
	require.NoError(t, s.Save(t.Context(), c, 0, []byte("chunk"), jobs.Tally{Results: 1}))
	require.NoError(t, s.End(t.Context(), c, jobs.Done, nil))
	server.Advance(config.TTL)
	assert.Equal(t, []string{"test:{jobs}:file:done", "test:{jobs}:results:done"}, texts(server))
	server.Advance(grace)
	assert.Empty(t, texts(server))

	// The next sweep removes all the rest.
	counts, err := s.Sweep(t.Context())
	require.NoError(t, err)
	assert.Empty(t, counts)
	server.Advance(grace)
	assert.Equal(t, []string{"test:{jobs}:bytes"}, server.Keys())
	server.CheckGet(t, "test:{jobs}:bytes", "0")
}

// Errors of the server are returned. Changes are made completely or not at all, and the store works afterwards.
func TestServerFails(t *testing.T) {
	server := newServer(t)
	s := server.open(t, config)
	_, _, err := s.Create(t.Context(), draft("a", 10))
	require.NoError(t, err)
	c, err := s.Claim(t.Context(), jobs.Work, time.Minute)
	require.NoError(t, err)
	before := server.Dump()
	ctx := t.Context()
	for name, do := range map[string]func() error{
		"Create":    func() error { _, _, err := s.Create(ctx, draft("b", 10)); return err },
		"Find":      func() error { _, err := s.Find(ctx, "alice", "key", ""); return err },
		"Get":       func() error { _, err := s.Get(ctx, "a"); return err },
		"List":      func() error { _, err := s.List(ctx, "alice", 10); return err },
		"Input":     func() error { _, err := s.Input(ctx, "a", 0); return err },
		"Result":    func() error { _, err := s.Result(ctx, "a", 0); return err },
		"Claim":     func() error { _, err := s.Claim(ctx, jobs.Work, time.Minute); return err },
		"Renew":     func() error { return s.Renew(ctx, c, time.Minute) },
		"Save":      func() error { return s.Save(ctx, c, 0, nil, jobs.Tally{Results: 1}) },
		"End":       func() error { return s.End(ctx, c, jobs.Done, nil) },
		"Release":   func() error { return s.Release(ctx, c, 0) },
		"Delivered": func() error { return s.Delivered(ctx, c) },
		"Cancel":    func() error { _, err := s.Cancel(ctx, "a"); return err },
		"Remove":    func() error { return s.Remove(ctx, "a") },
		"Sweep":     func() error { _, err := s.Sweep(ctx); return err },
	} {
		t.Run(name, func(t *testing.T) {
			for _, message := range []string{"OOM command not allowed when used memory > 'maxmemory'", "READONLY You can't write against a read only replica."} {
				server.SetError(message)
				err := do()
				server.SetError("")
				assert.ErrorContains(t, err, message)
				assert.Equal(t, before, server.Dump())
			}
		})
	}
	require.NoError(t, s.Save(ctx, c, 0, nil, jobs.Tally{Results: 1}))
}

// A change is atomic, wherever the server fails during it.
func TestServerFailsInTheMiddle(t *testing.T) {
	for name, do := range map[string]func(ctx context.Context, s *keeper, c jobs.Claim) error{
		"Create": func(ctx context.Context, s *keeper, _ jobs.Claim) error {
			d := draft("new", 1<<20, 1<<20, 1)
			d.File = [][]byte{[]byte("file")}
			_, _, err := s.Create(ctx, d)
			return err
		},
		"Claim": func(ctx context.Context, s *keeper, _ jobs.Claim) error {
			_, err := s.Claim(ctx, jobs.Work, time.Minute)
			return err
		},
		"Save": func(ctx context.Context, s *keeper, c jobs.Claim) error {
			return s.Save(ctx, c, 0, []byte("chunk"), jobs.Tally{Results: 1})
		},
		"Release": func(ctx context.Context, s *keeper, c jobs.Claim) error { return s.Release(ctx, c, 0) },
		"End":     func(ctx context.Context, s *keeper, c jobs.Claim) error { return s.End(ctx, c, jobs.Done, nil) },
		"Cancel": func(ctx context.Context, s *keeper, c jobs.Claim) error {
			_, err := s.Cancel(ctx, c.Job.ID)
			return err
		},
		"Remove": func(ctx context.Context, s *keeper, _ jobs.Claim) error { return s.Remove(ctx, "ended") },
	} {
		t.Run(name, func(t *testing.T) {
			server := newServer(t)
			s := server.open(t, config)
			for _, id := range []string{"expired", "ended"} {
				_, _, err := s.Create(t.Context(), draft(id, 10))
				require.NoError(t, err)
				_, err = s.Cancel(t.Context(), id)
				require.NoError(t, err)
				server.Advance(config.TTL / 2)
			}
			for _, id := range []string{"running", "waiting"} {
				_, _, err := s.Create(t.Context(), draft(id, 10))
				require.NoError(t, err)
			}
			c, err := s.Claim(t.Context(), jobs.Work, time.Minute)
			require.NoError(t, err)
			before := server.Dump()
			for works := int64(0); ; works++ {
				var commands atomic.Int64
				server.Server().SetPreHook(func(p *fake.Peer, command string, _ ...string) bool {
					if strings.EqualFold(command, "MULTI") || commands.Add(1) <= works { // no server refuses MULTI itself
						return false
					}
					p.WriteError("READONLY You can't write against a read only replica.")
					return true
				})
				err := do(t.Context(), s, c)
				server.SetError("")
				if err == nil {
					assert.NotEqual(t, before, server.Dump())
					assert.Greater(t, works, int64(4))
					break
				}
				require.ErrorContains(t, err, "READONLY")
				server.Del(nameOf(inputOf("new"))) // invisible without a job
				server.Del(nameOf(fileOf("new")))
				require.Equal(t, before, server.Dump(), works)
			}
		})
	}
}

// A cancelled context does not interrupt a change, and prevents the next.
func TestCallerLeaves(t *testing.T) {
	server := newServer(t)
	s := server.open(t, config)
	_, _, err := s.Create(t.Context(), draft("a", 10))
	require.NoError(t, err)
	ctx, leave := context.WithCancel(t.Context())
	err = s.update(ctx, "a", func(tx store.Writer, r *jobs.Record) error {
		leave()
		return r.Cancel(tx.Now())
	})
	require.NoError(t, err)
	job, err := s.Get(t.Context(), "a")
	require.NoError(t, err)
	assert.Equal(t, jobs.Cancelled, job.State)
	_, err = s.Claim(ctx, jobs.Work, time.Minute)
	assert.ErrorIs(t, err, context.Canceled)
	_, err = s.Cancel(ctx, "a")
	assert.ErrorIs(t, err, context.Canceled)
}

// A queued id without a record does not stop the jobs after it.
func TestLostRecord(t *testing.T) {
	server := newServer(t)
	s := server.open(t, config)
	for _, id := range []string{"a", "b"} {
		d := draft(id, 10)
		d.Key = "key of " + id
		_, _, err := s.Create(t.Context(), d)
		require.NoError(t, err)
		server.Advance(time.Second)
	}
	server.Del(nameOf(recordOf("a")))
	list, err := s.List(t.Context(), "alice", 10)
	require.NoError(t, err)
	assert.Len(t, list, 1)
	c, err := s.Claim(t.Context(), jobs.Work, time.Minute)
	require.NoError(t, err)
	assert.Equal(t, "b", c.Job.ID)
	again := draft("c", 10)
	again.Key = "key of a"
	_, created, err := s.Create(t.Context(), again)
	require.NoError(t, err)
	assert.True(t, created)

	require.NoError(t, server.Set(nameOf(recordOf("c")), "this is no JSON"))
	_, err = s.Get(t.Context(), "c")
	assert.ErrorContains(t, err, "cannot be read")
}

// Jobs are found without a notification.
func TestNotTold(t *testing.T) {
	s := newServer(t).open(t, config)
	require.NoError(t, s.Close()) // ends listening
	claimed := make(chan jobs.Claim)
	go func() {
		c, err := s.Claim(t.Context(), jobs.Work, time.Minute)
		assert.NoError(t, err)
		claimed <- c
	}()
	_, _, err := s.Create(t.Context(), draft("a", 10))
	require.NoError(t, err)
	assert.Equal(t, "a", (<-claimed).Job.ID)
}

// The server may be unreachable when the store is opened.
func TestServerComesBack(t *testing.T) {
	server := newServer(t)
	server.Close()
	s := server.open(t, config)
	_, err := s.Claim(t.Context(), jobs.Work, time.Minute)
	require.Error(t, err)
	require.NoError(t, server.Restart())
	claimed := make(chan jobs.Claim)
	go func() {
		c, err := s.Claim(t.Context(), jobs.Work, time.Minute)
		assert.NoError(t, err)
		claimed <- c
	}()
	_, _, err = s.Create(t.Context(), draft("a", 10))
	require.NoError(t, err)
	assert.Equal(t, "a", (<-claimed).Job.ID)
	watch := s.Watch(t.Context(), "a")
	_, err = s.Cancel(t.Context(), "a")
	require.NoError(t, err)
	<-watch
}

// A removed or expired job is not lost. Every other missing job is lost, while its id is known.
func TestForgotten(t *testing.T) {
	server := newServer(t)
	s := server.open(t, config)
	for _, id := range []string{"removed", "expired", "lost"} {
		_, _, err := s.Create(t.Context(), draft(id, 10))
		require.NoError(t, err)
		if id == "lost" {
			break
		}
		_, err = s.Cancel(t.Context(), id)
		require.NoError(t, err)
	}
	require.NoError(t, s.Remove(t.Context(), "removed"))
	server.Del(nameOf(recordOf("lost")))
	forgotten := func(id string) bool {
		_, err := s.Get(t.Context(), id)
		require.ErrorIs(t, err, jobs.ErrUnknown)
		return errors.Is(err, jobs.ErrForgotten)
	}
	server.Advance(config.TTL - time.Second) // most of an hour, and of the job's time
	assert.Equal(t, []bool{false, true}, []bool{forgotten("removed"), forgotten("lost")})
	server.Advance(time.Second)
	assert.False(t, forgotten("expired"))
	_, err := s.Sweep(t.Context())
	require.NoError(t, err)
	assert.False(t, forgotten("expired"))
	assert.True(t, forgotten("lost"))
}

// A failed job replaces a lost one, once, whatever is left of it: no process runs it, its webhook is called, and its owner has
// room for another job.
func TestFailedDraft(t *testing.T) {
	server := newServer(t)
	cfg := config
	cfg.PerOwner = 1
	s := server.open(t, cfg)
	lost := draft("lost", 10)
	lost.Request.Webhook = "https://example.com"
	_, _, err := s.Create(t.Context(), lost)
	require.NoError(t, err)
	server.Del(nameOf(recordOf("lost")))
	failed := jobs.Draft{ID: "lost", Owner: lost.Owner, Request: jobs.Request{Webhook: "https://example.com"}, Problem: &jobs.Problem{Code: "job_lost"}}
	for i := range 2 {
		job, created, err := s.Create(t.Context(), failed)
		require.NoError(t, err)
		assert.Equal(t, i == 0, created)
		assert.Equal(t, jobs.Failed, job.State)
	}
	c, err := s.Claim(t.Context(), jobs.Delivery, time.Minute)
	require.NoError(t, err)
	assert.Equal(t, "job_lost", c.Job.Problem.Code)
	require.NoError(t, s.Delivered(t.Context(), c))
	counts, err := s.Sweep(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[jobs.State]int{jobs.Failed: 1}, counts)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err = s.Claim(ctx, jobs.Work, time.Minute)
	assert.ErrorIs(t, err, context.DeadlineExceeded)

	server.FlushAll()
	_, _, err = s.Create(t.Context(), failed)
	require.NoError(t, err)
	_, created, err := s.Create(t.Context(), draft("another", 10))
	require.NoError(t, err)
	assert.True(t, created)
}

// After random submissions, ends, deletions and losses at two gateways, a job is reported as lost exactly if it was lost: by the
// gateway that accepted it, then by both.
func TestLostIsWhatWasLost(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 0))
		server := newServer(t)
		s := server.open(t, jobs.StoreConfig{TTL: 24 * time.Hour, PerOwner: 1000, MaxBytes: 1 << 40})
		var gateways [2]*jobs.Service
		for i := range gateways {
			gateways[i] = jobs.New(jobs.Config{Store: server.open(t, s.cfg), Log: slog.New(slog.DiscardHandler)})
		}
		want, by := make(map[string]error), make(map[string]int) // nil: the job exists
		for range 60 {
			at := r.IntN(2)
			ids := slices.Sorted(maps.Keys(want))
			switch r.IntN(6) {
			case 0:
				if r.IntN(4) > 0 {
					break
				}
				server.FlushAll()
				for _, id := range ids {
					if want[id] == nil {
						want[id] = jobs.ErrVanished
					}
				}
			case 1, 2: // the first ends it, the second removes it
				for _, id := range ids[:min(len(ids), 2)] {
					if want[id] != nil {
						continue
					}
					_, removed, err := gateways[at].Delete(t.Context(), id)
					require.NoError(t, err)
					if removed {
						want[id] = jobs.ErrUnknown
					}
				}
			case 3: // with all its keys, as a failover would
				if len(ids) > 0 && want[ids[0]] == nil {
					server.Del(nameOf(recordOf(ids[0])))
					want[ids[0]] = jobs.ErrVanished
				}
			default:
				job, _, err := gateways[at].Submit(t.Context(), jobs.Submission{Owner: "alice", Records: []translate.Record{{ID: "1", Text: "a"}}, Request: jobs.Request{Request: translate.Request{To: []string{"fr"}}}})
				require.NoError(t, err)
				want[job.ID], by[job.ID] = nil, at
			}
			for id, err := range want {
				for _, g := range []int{by[id], 1 - by[id]} {
					_, got := gateways[g].Get(t.Context(), id)
					require.Equal(t, errors.Is(err, jobs.ErrVanished), errors.Is(got, jobs.ErrVanished), "seed %d: %v, %v", seed, err, got)
					require.Equal(t, err == nil, got == nil, "seed %d: %v, %v", seed, err, got)
				}
			}
		}
	}
}
