package engine

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

// startPool makes a pool of n engines, each with a toy of its own.
func startPool(t *testing.T, n int, change func(*Config)) (*Pool, []*toy) {
	var toys []*toy
	cfg := config(newToy())
	if change != nil {
		change(&cfg)
	}
	p, err := StartPool(n, cfg, func() (model.Model, error) {
		toys = append(toys, newToy())
		return toys[len(toys)-1], nil
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, p.Close())
		assert.Equal(t, make([]int, n), p.load, "what is left of the load")
		for i, m := range toys {
			m.check(t)
			s := p.engines[i].Stats()
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
		results, err := p.Translate(t.Context(), Request{Jobs: jobs})
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
	results, err := p.Translate(t.Context(), Request{Jobs: sentences(6, 1)})
	assert.ErrorIs(t, err, boom)
	assert.Nil(t, results, "a partial result")

	_, err = p.Translate(t.Context(), Request{Jobs: []Job{sentence(3, 1, 1), {}}})
	assert.ErrorIs(t, err, ErrInvalid)
	results, err = p.Translate(t.Context(), Request{})
	assert.NoError(t, err)
	assert.Empty(t, results)
}

func TestClosedPool(t *testing.T) {
	p, _ := startPool(t, 2, nil)
	require.NoError(t, p.Close())
	_, err := p.Translate(t.Context(), Request{Jobs: sentences(6, 1)})
	assert.ErrorIs(t, err, ErrClosed)
}

func TestStartPoolClosesWhatItOpened(t *testing.T) {
	boom := errors.New("boom")
	m, opened := newToy(), 0
	_, err := StartPool(3, config(m), func() (model.Model, error) {
		if opened++; opened == 3 {
			return nil, boom
		}
		return m, nil
	})
	assert.ErrorIs(t, err, boom)
	m.check(t)
}
