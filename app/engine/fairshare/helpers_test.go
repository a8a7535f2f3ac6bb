package fairshare

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var errGone = errors.New("gone")

func some(t testing.TB, n int) *Cores {
	c, err := New(n)
	require.NoError(t, err)
	return c
}

func join(t testing.TB, c *Cores, threads int) *Model {
	m, err := c.Join(threads)
	require.NoError(t, err)
	return m
}

// Acquire and Yield take the cores of a worker that does not have them, and of one that does.
func (m *Model) Acquire(ctx context.Context, oldest time.Time) error {
	return m.Take(ctx, oldest, false)
}
func (m *Model) Yield(ctx context.Context, oldest time.Time) error { return m.Take(ctx, oldest, true) }

// check wants the cores to be taken by those who have them, and those who wait to wait for
// one that needs more than are free.
func (c *Cores) check(t testing.TB, models ...*Model) {
	c.line.Lock()
	defer c.line.Unlock()
	taken, most := 0, 0
	for _, m := range models {
		assert.GreaterOrEqual(t, m.share.Uses, 0)
		taken += m.share.Uses * m.need
	}
	assert.Equal(t, c.count-taken, c.line.Free)
	assert.GreaterOrEqual(t, c.line.Free, 0, "more than there are")
	for _, w := range c.line.Waiting {
		most = max(most, w.Need)
	}
	if most > 0 {
		assert.Greater(t, most, c.line.Free, "all wait for what is free")
	}
}

// worker takes rounds on a model.
type worker struct {
	model   *Model
	round   time.Duration
	began   []time.Time // rounds
	longest time.Duration
}

// work takes n rounds for a sentence that came at a time, or until ctx is done.
func (w *worker) work(ctx context.Context, n int, came time.Time) error {
	take := w.model.Acquire
	for range n {
		asked := time.Now()
		if err := take(ctx, came); err != nil {
			return err
		}
		w.longest = max(w.longest, time.Since(asked))
		w.began = append(w.began, time.Now())
		time.Sleep(w.round)
		take = w.model.Yield
	}
	w.model.Release()
	return nil
}

// endless always has old work to do.
func (w *worker) endless(ctx context.Context) {
	for take := w.model.Acquire; ; take = w.model.Yield {
		asked := time.Now()
		err := take(ctx, asked.Add(-time.Minute))
		w.longest = max(w.longest, time.Since(asked))
		if err != nil {
			return
		}
		w.began = append(w.began, time.Now())
		time.Sleep(w.round)
	}
}

// during has workers work all the time.
func during(t testing.TB, d time.Duration, workers ...*worker) {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	var group sync.WaitGroup
	for _, w := range workers {
		group.Go(func() { w.endless(ctx) })
	}
	group.Wait()
}
