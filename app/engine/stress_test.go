package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/fault"
	"dragoman/app/schedule"
	"dragoman/model"
	"dragoman/model/search"
)

// pool is a set of jobs of all kinds, and what each decodes to alone.
type pool struct {
	jobs []Job
	want []search.Result
}

func newPool(t testing.TB, n int) pool {
	p := pool{jobs: sentences(n, 1), want: make([]search.Result, n)}
	for i := range p.jobs {
		opts := &p.jobs[i].Search
		opts.Beams = []int{1, 1, 2, 3, 5}[i%5]
		opts.MaxLength -= i % 7 * 4
		opts.NoRepeatNgramSize = i % 4
		opts.EarlyStopping = []search.EarlyStopping{search.StopEarly, search.StopNever}[i%2]
		if i%6 == 0 {
			p.jobs[i].Prefix = append(p.jobs[i].Prefix, 11, 12)
		}
		p.want[i] = alone(t, p.jobs[i])
	}
	return p
}

// canceller cancels what it is given, by chance, from within the model's steps.
type canceller struct {
	mu   sync.Mutex // guards the rest
	rng  *rand.Rand
	live []context.CancelCauseFunc
}

func (c *canceller) context(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live = append(c.live, cancel)
	return ctx
}

func (c *canceller) strike() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.live); n > 0 && c.rng.IntN(4) == 0 {
		i := c.rng.IntN(n)
		c.live[i](errGone)
		c.live[i], c.live = c.live[n-1], c.live[:n-1]
	}
}

// Many clients, mixed requests and priorities, cancellations, refusals and a model
// that fails now and then: what is answered is right.
func TestUnderLoad(t *testing.T) {
	const clients, requests = 24, 40
	callers := []string{"", "a", "b"}
	jobs, m := newPool(t, 60), newToy()
	chaos := &canceller{rng: rand.New(rand.NewPCG(3, 4))}
	steps := 0
	m.onStep = func([]model.Feed) error {
		chaos.strike()
		switch steps++; steps % 400 {
		case 150:
			return errBoom
		case 350:
			panic("boom")
		}
		return nil
	}
	e := start(t, m, func(c *Config) {
		c.Rows, c.PrefillTokens, c.Memory = 12, 30, 6000
		c.QueueRequests, c.QueueTokens = 20, 600
	})
	var right atomic.Int32
	var failed [4]atomic.Int32 // by kind of error
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(client)))
			for range requests {
				req, send, want := Request{Priority: Priority(rng.IntN(3) - 1), Caller: callers[rng.IntN(3)]}, []Job(nil), []search.Result(nil)
				for range 1 + rng.IntN(5) {
					i := rng.IntN(len(jobs.jobs))
					send, want = append(send, jobs.jobs[i]), append(want, jobs.want[i])
				}
				ctx := t.Context()
				if rng.IntN(3) == 0 {
					ctx = chaos.context(ctx)
				}
				results, err := e.Translate(ctx, req, send...)
				_ = e.Stats()
				if err != nil {
					assert.Nil(t, results)
					failed[kind(t, err)].Add(1)
					continue
				}
				right.Add(1)
				for i, r := range results {
					assert.Equal(t, want[i], r.Result)
					clear(r.Tokens) // ours
				}
			}
		})
	}
	wg.Wait()
	e.Close()
	s := e.Stats()
	t.Logf("%d right, %d cancelled, %d refused, %d failed, %d panicked; %+v",
		right.Load(), failed[0].Load(), failed[1].Load(), failed[2].Load(), failed[3].Load(), s)
	assert.Positive(t, right.Load())
	for i := range failed {
		assert.NotZero(t, failed[i].Load(), "every kind of failure happens")
	}
	assert.LessOrEqual(t, m.mostRows.Load(), int32(schedule.RowsFor(12)))
	assert.LessOrEqual(t, m.mostBytes.Load(), int64(6000))
	assert.Zero(t, s.QueuedRequests+s.QueuedTokens)
}

// Engines with one worker or two, of one thread or of all, share two cores while models
// fail, requests are cancelled and one engine is closed: what is answered is right, and
// nobody keeps the cores.
func TestSharedCoresUnderLoad(t *testing.T) {
	const clients, requests = 3, 60
	c, jobs := machine(t), newPool(t, 30)
	chaos := &canceller{rng: rand.New(rand.NewPCG(3, 4))}
	var right atomic.Int32
	var wg sync.WaitGroup
	for number := range 5 {
		models := make([]model.Model, 1+number%2)
		for i := range models {
			m, steps := newToy(), 0
			m.onStep = func([]model.Feed) error {
				chaos.strike()
				if steps++; steps%100 == 50 {
					panic("boom")
				}
				return nil
			}
			models[i] = m
		}
		cfg := config()
		on(t, c, 2-number%2)(&cfg)
		cfg.Rows = 12
		e, err := Start(cfg, models...)
		require.NoError(t, err)
		defer func() { assert.NoError(t, e.Close()) }()
		for client := range clients {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(number), uint64(client)))
				for range requests {
					i := rng.IntN(len(jobs.jobs))
					results, err := e.Translate(chaos.context(t.Context()), Request{}, jobs.jobs[i])
					if err == nil {
						right.Add(1)
						assert.Equal(t, jobs.want[i], results[0].Result)
					} else if number == 4 && !errors.Is(err, ErrClosed) || number < 4 {
						kind(t, err)
					}
				}
				if number == 4 && client == 0 {
					assert.NoError(t, e.Close())
				}
			})
		}
	}
	wg.Wait()
	t.Log(right.Load(), "right")
	assert.Positive(t, right.Load())
	allFree(t, c)
}

// kind numbers the errors that may happen under load.
func kind(t *testing.T, err error) int {
	var p *fault.PanicError
	switch {
	case errors.Is(err, errGone):
		return 0
	case errors.Is(err, ErrBusy):
		return 1
	case errors.Is(err, errBoom):
		return 2
	case !errors.As(err, &p):
		t.Errorf("unexpected error: %v", err)
	}
	return 3
}
