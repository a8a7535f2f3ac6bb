package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/jobs"
	"dragoman/app/jobs/jobstore"
	"dragoman/app/translate"
)

// process is a service that can be killed. After that, none of its calls reach the store.
type process struct {
	jobs.Store
	dead context.Context
	kill context.CancelFunc
	took atomic.Bool // by a poison

	began chan struct{} // receives an element per translation begun; nil: not used
}

// service returns the service of the process.
func (p *process) service(t *testing.T, concurrency int) *jobs.Service {
	p.dead, p.kill = context.WithCancel(t.Context())
	s := jobs.New(jobs.Config{Store: p, TTL: ttl, Concurrency: concurrency, Render: renderer{}, Log: slog.New(slog.DiscardHandler)})
	s.Ready(p)
	return s
}

// live runs jobs. ended returns after the killed process has ended.
func (p *process) live(t *testing.T, s *jobs.Service) (ended func()) {
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	return func() {
		stop()
		running.Wait()
	}
}

var errDead = errors.New("the process is dead")

func (p *process) Try(ctx context.Context, c jobs.Claim, record int, lease time.Duration) error {
	if p.dead.Err() != nil {
		return errDead
	}
	return p.Store.Try(ctx, c, record, lease)
}

func (p *process) Save(ctx context.Context, c jobs.Claim, n int, chunk []byte, results jobs.Tally) error {
	if p.dead.Err() != nil {
		return errDead
	}
	return p.Store.Save(ctx, c, n, chunk, results)
}

func (p *process) End(ctx context.Context, c jobs.Claim, state jobs.State, problem *jobs.Problem) error {
	if p.dead.Err() != nil {
		return errDead
	}
	return p.Store.End(ctx, c, state, problem)
}

func (p *process) Release(ctx context.Context, c jobs.Claim, after time.Duration) error {
	if p.dead.Err() != nil {
		return errDead
	}
	return p.Store.Release(ctx, c, after)
}

// Translate takes 50 ms per record. A record that is poison ends the process.
func (p *process) Translate(ctx context.Context, req translate.Request) (results []translate.Result, err error) {
	select {
	case p.began <- struct{}{}:
	default:
	}
	for _, r := range req.Records {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-p.dead.Done():
			return nil, errDead
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if strings.HasPrefix(r.Text, "poison") {
			p.took.Store(true)
			p.kill()
			return nil, errDead
		}
		results = append(results, translate.Result{Record: r, To: req.To[0]})
	}
	return results, nil
}

func (p *process) Check(context.Context, translate.Request) error { return nil }

// Processes are killed at random and by poison records. All other jobs succeed, and jobs with poison fail after few deaths. A
// process dies with all jobs that it runs.
func TestKills(t *testing.T) {
	for seed := range uint64(9) {
		random := rand.New(rand.NewPCG(seed, 35))
		path := filepath.Join(t.TempDir(), "jobs.db")
		synctest.Test(t, func(t *testing.T) {
			store, err := jobstore.OpenFile(path, jobs.StoreConfig{TTL: ttl, PerOwner: 100, MaxBytes: 1 << 30})
			require.NoError(t, err)
			defer func() { assert.NoError(t, store.Close()) }()
			service := (&process{Store: store}).service(t, 3)
			poisoned := map[string]string{} // jobs: the field
			var all []jobs.Job
			poisons := int(seed % 3)
			for n := range 6 {
				sub := jobs.Submission{Owner: "alice", Request: jobs.Request{Request: translate.Request{From: "en", To: []string{"fr"}}}}
				for i := range 1 + random.IntN(300) {
					sub.Records = append(sub.Records, translate.Record{ID: fmt.Sprint(i), Text: "x"})
				}
				bad := random.IntN(len(sub.Records))
				if n < poisons {
					sub.Records[bad].Text = "poison"
				}
				job, _, err := service.Submit(t.Context(), sub)
				require.NoError(t, err)
				all = append(all, job)
				if n < poisons {
					poisoned[job.ID] = fmt.Sprintf("payload.records[%d].text", bad)
				}
			}
			ended := func() bool {
				for _, job := range all {
					if now, err := store.Get(t.Context(), job.ID); err != nil || !now.State.Ended() {
						return false
					}
				}
				return true
			}
			deaths := 0 // by poison
			for life := 0; !ended() && life < 1000; life++ {
				p := &process{Store: store}
				ended := p.live(t, p.service(t, 3))
				if life < 60 { // from here on only poison kills
					time.AfterFunc(time.Duration(random.IntN(60_000))*time.Millisecond, p.kill)
				} else {
					time.AfterFunc(time.Hour, p.kill)
				}
				<-p.dead.Done()
				if p.took.Load() {
					deaths++
				}
				ended()
			}
			for _, job := range all {
				now, err := store.Get(t.Context(), job.ID)
				require.NoError(t, err)
				if field, ok := poisoned[job.ID]; ok {
					require.Equal(t, jobs.Failed, now.State, "seed %d", seed)
					assert.Equal(t, field, now.Problem.Field, "seed %d", seed)
				} else {
					require.Equal(t, jobs.Done, now.State, "seed %d: %+v", seed, now.Problem)
					assert.Equal(t, now.Progress.Records, now.Progress.Done)
				}
			}
			assert.LessOrEqual(t, deaths, 8*len(poisoned), "seed %d", seed)
		})
	}
}

// A slice is not blamed for random kills, however many: its records pass when they run alone.
func TestKillsInTheSameSlice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	synctest.Test(t, func(t *testing.T) {
		store, err := jobstore.OpenFile(path, jobs.StoreConfig{TTL: ttl, PerOwner: 100, MaxBytes: 1 << 30})
		require.NoError(t, err)
		defer func() { assert.NoError(t, store.Close()) }()
		first := &process{Store: store}
		sub := jobs.Submission{Owner: "alice", Request: jobs.Request{Request: translate.Request{From: "en", To: []string{"fr"}}}}
		sub.Records = make([]translate.Record, 250)
		job, _, err := first.service(t, 1).Submit(t.Context(), sub)
		require.NoError(t, err)
		for life := range 13 {
			p := &process{Store: store, began: make(chan struct{}, 1)}
			ended := p.live(t, p.service(t, 1))
			<-p.began
			if life == 12 {
				time.Sleep(time.Minute)
			} else {
				time.Sleep(5 * time.Second) // of 12.5
			}
			p.kill()
			ended()
		}
		now, err := store.Get(t.Context(), job.ID)
		require.NoError(t, err)
		assert.Equal(t, jobs.Done, now.State, "%+v", now.Problem)
	})
}
