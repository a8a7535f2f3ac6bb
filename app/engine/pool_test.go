package engine

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

// startPool makes a pool of n engines, each with a toy of its own.
func startPool(t *testing.T, n int, change func(*Config)) (*Engine, []*toy) {
	var toys []*toy
	var models []model.Model
	for range n {
		toys = append(toys, newToy())
		models = append(models, toys[len(toys)-1])
	}
	cfg := config()
	if change != nil {
		change(&cfg)
	}
	p, err := Start(cfg, models...)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, p.Close())
		assert.Equal(t, make([]int, n), p.assignment.load, "what is left of the load")
		assert.Empty(t, p.assignment.of)
		assert.Empty(t, p.insiders.requests)
		for i, m := range toys {
			m.check(t)
			s := p.Stats()[i]
			assert.Zero(t, s.RunningSentences+s.RunningRows+s.QueuedSentences+s.ReservedRows+int(s.ReservedBytes), "%+v", s)
		}
	})
	return p, toys
}

func TestPoolSharesARequestOut(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		p, toys := startPool(t, n, nil)
		jobs := sentences(30, 2)
		jobs = append(jobs, jobs...) // identical ones go to the same engine
		results, err := p.Translate(t.Context(), Request{}, jobs...)
		require.NoError(t, err)
		require.Len(t, results, len(jobs))
		for i, job := range jobs {
			assert.Equal(t, alone(t, job), results[i].Result, "job %d", i)
		}
		joined := 0
		for i, m := range toys {
			joined += int(m.joined.Load())
			assert.GreaterOrEqual(t, int(m.joined.Load()), 30/n-5, "engine %d of %d", i, n)
		}
		assert.Equal(t, 30, joined)
		assert.Len(t, p.Stats(), n)
	}
}

func TestPoolFailsAsAWhole(t *testing.T) {
	boom := errors.New("boom")
	p, toys := startPool(t, 2, nil)
	toys[1].onStep = func([]model.Feed) error { return boom }
	results, err := p.Translate(t.Context(), Request{}, sentences(6, 1)...)
	assert.ErrorIs(t, err, boom)
	assert.Nil(t, results, "a partial result")

	_, err = p.Translate(t.Context(), Request{}, sentence(3, 1, 1), Job{})
	assert.ErrorIs(t, err, ErrInvalid)
	results, err = p.Translate(t.Context(), Request{})
	assert.NoError(t, err)
	assert.Empty(t, results)
}

func TestClosedPool(t *testing.T) {
	p, _ := startPool(t, 2, nil)
	require.NoError(t, p.Close())
	_, err := p.Translate(t.Context(), Request{}, sentences(6, 1)...)
	assert.ErrorIs(t, err, ErrClosed)
}

func TestStartPoolRefuses(t *testing.T) {
	_, err := Start(config())
	assert.ErrorContains(t, err, "at least one model")

	good, small := &closable{toy: newToy()}, &closable{toy: newToy()}
	small.spec.MaxPositions = 1
	_, err = Start(config(), good, small)
	assert.ErrorContains(t, err, "the model has 1 positions")
	for _, m := range []*closable{good, small} {
		assert.True(t, m.closed)
		m.check(t)
	}
}

func TestOpenModels(t *testing.T) {
	var opened []*closable
	open := func() (*closable, error) {
		if len(opened) == 2 {
			return nil, errBoom
		}
		opened = append(opened, &closable{toy: newToy()})
		return opened[len(opened)-1], nil
	}
	models, err := OpenModels(2, open)
	require.NoError(t, err)
	assert.Equal(t, opened, models)
	assert.False(t, models[0].closed || models[1].closed)

	opened = nil
	models, err = OpenModels(3, open)
	assert.ErrorIs(t, err, errBoom)
	assert.Nil(t, models)
	require.Len(t, opened, 2)
	assert.True(t, opened[0].closed && opened[1].closed)
}

// closable is a toy that knows whether it was closed.
type closable struct {
	*toy
	closed bool
}

func (m *closable) Close() error {
	m.closed = true
	return m.toy.Close()
}

func TestPoolWarmsUpEveryEngine(t *testing.T) {
	p, toys := startPool(t, 3, nil)
	job := sentence(5, 1, 1)
	require.NoError(t, p.WarmUp(t.Context(), job))
	for _, m := range toys {
		assert.EqualValues(t, 1, m.joined.Load())
	}
	toys[1].onJoin = func([][]int64) error { return errBoom }
	assert.ErrorIs(t, p.WarmUp(t.Context(), job), errBoom)
}

// errOffBus is the error of a GPU that fell off the bus.
var errOffBus = fmt.Errorf("step: %w: code 700", model.ErrLost)

// A lost model costs nobody a translation while there is another: whatever had no result
// yet is decoded there, what waited included, and nothing twice for the caller.
func TestPoolGoesOnWithoutALostModel(t *testing.T) {
	for name, lose := range map[string]func(m *toy){
		"in a step":       func(m *toy) { hook := gone(12); m.onStep = func([]model.Feed) error { return hook() } },
		"in a join":       func(m *toy) { hook := gone(2); m.onJoin = func([][]int64) error { return hook() } },
		"before anything": func(m *toy) { m.onNew = gone(1) },
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			p, toys := startPool(t, 3, func(c *Config) {
				c.Rows, c.Log = 4, slog.New(slog.NewTextHandler(&log, nil)) // most of the jobs wait
			})
			lose(toys[1])
			jobs := sentences(60, 1)
			seen := make(map[int]int)
			var results [60]Result
			err := p.Stream(t.Context(), Request{}, List(jobs...), func(i int, r Result) error {
				seen[i]++
				results[i] = r
				return nil
			})
			require.NoError(t, err)
			require.Len(t, seen, len(jobs))
			for i, job := range jobs {
				assert.Equal(t, 1, seen[i], "job %d", i)
				assert.Equal(t, alone(t, job), results[i].Result, "job %d", i)
			}
			stats := p.Stats()
			assert.Equal(t, []bool{false, true, false}, []bool{stats[0].Lost, stats[1].Lost, stats[2].Lost})
			assert.NoError(t, p.Err(), "two are left")
			assert.Contains(t, log.String(), "the model is lost")

			before := toys[1].joined.Load()
			_, err = p.Translate(t.Context(), Request{}, sentences(9, 2)...)
			assert.NoError(t, err)
			assert.Equal(t, before, toys[1].joined.Load(), "nobody tries it again")
		})
	}
}

// gone is a hook that fails from its call of that number on.
func gone(call int) func() error {
	calls := 0
	return func() error {
		if calls++; calls < call {
			return nil
		}
		return errOffBus
	}
}

func TestPoolWithoutAModelLeft(t *testing.T) {
	for _, n := range []int{1, 2} {
		p, toys := startPool(t, n, nil)
		for _, m := range toys {
			m.onStep = func([]model.Feed) error { return errOffBus }
		}
		for range 3 {
			_, err := p.Translate(t.Context(), Request{}, sentences(6, 1)...)
			assert.ErrorIs(t, err, model.ErrLost)
		}
		assert.ErrorIs(t, p.Err(), model.ErrLost)
		assert.LessOrEqual(t, int(toys[0].batches.Load()), 1)
	}
}

// A sentence that faults a GPU, and would fault any, takes two at most with it.
func TestPoolKeepsSomeFromABadSentence(t *testing.T) {
	p, toys := startPool(t, 4, nil)
	bad := sentence(7, 3, 1)
	for _, m := range toys {
		m.onJoin = func(sources [][]int64) error {
			if slices.ContainsFunc(sources, func(s []int64) bool { return slices.Equal(s, bad.Source) }) {
				return errOffBus
			}
			return nil
		}
	}
	_, err := p.Translate(t.Context(), Request{}, bad)
	assert.ErrorIs(t, err, model.ErrLost)
	lost := 0
	for _, s := range p.Stats() {
		if s.Lost {
			lost++
		}
	}
	assert.Equal(t, 2, lost)
	_, err = p.Translate(t.Context(), Request{}, sentences(4, 1)...)
	assert.NoError(t, err)
}
