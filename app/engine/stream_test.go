package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

// Results come as sentences end, not in the order of the jobs.
func TestStreamHandsOutResultsAsTheyCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, stepping(), nil)
		jobs := []Job{sentence(20, 1, 1), sentence(4, 2, 1), sentence(9, 3, 1)}
		jobs = append(jobs, jobs[1]) // decoded once, handed out twice
		begin := time.Now()
		var order []int
		var at []time.Duration
		err := e.Stream(t.Context(), Request{}, List(jobs...), func(job int, r Result) error {
			assert.Equal(t, alone(t, jobs[job]), r.Result, "job %d", job)
			order, at = append(order, job), append(at, time.Since(begin))
			return nil
		})
		require.NoError(t, err)
		assert.ElementsMatch(t, []int{1, 3}, order[:2])
		assert.Equal(t, []int{2, 0}, order[2:])
		assert.Less(t, at[1], at[2])
		assert.Less(t, at[2], at[3])
	})
}

// feeder is a request that gets jobs while it is open.
type feeder struct {
	more  chan struct{}
	jobs  chan Job // that next hands out
	asked atomic.Int32
	ended chan struct{}
	err   error // once it has ended

	mu   sync.Mutex // guards done
	done []int      // jobs that have their results
}

// order is the order of the results.
func (f *feeder) order() []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.done)
}

func feed(ctx context.Context, e tested) *feeder {
	f := &feeder{more: make(chan struct{}), jobs: make(chan Job, 10), ended: make(chan struct{})}
	go func() {
		defer close(f.ended)
		f.err = e.Stream(ctx, Request{More: f.more}, func() (job Job, ok bool, err error) {
			f.asked.Add(1)
			select {
			case job = <-f.jobs:
				return job, true, nil
			default:
				return job, false, nil
			}
		}, func(job int, _ Result) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.done = append(f.done, job)
			return nil
		})
	}()
	return f
}

// A request with More waits while it has nothing to decode, and takes what comes when it
// is told to, also while it decodes.
func TestStreamGetsMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, stepping(), nil)
		f := feed(t.Context(), e)
		time.Sleep(time.Minute)
		assert.EqualValues(t, 1, f.asked.Load(), "nothing asks while nothing happens")

		f.jobs <- sentence(20, 1, 1)
		f.more <- struct{}{}
		time.Sleep(4500 * time.Microsecond)
		f.jobs <- sentence(5, 2, 1)
		f.more <- struct{}{}
		time.Sleep(6 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, []int{1}, f.order(), "it joins the first at once, and ends after five steps")
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, []int{1, 0}, f.order())

		f.more <- struct{}{} // for nothing
		f.jobs <- sentence(6, 3, 1)
		close(f.more)
		<-f.ended
		require.NoError(t, f.err)
		assert.Equal(t, []int{1, 0, 2}, f.order(), "closing asks a last time")
		assert.Empty(t, e.insiders.requests)
	})
}

// Closing More ends a request that has nothing to decode at once, and another after its
// results.
func TestStreamEndsWhenMoreIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, stepping(), nil)
		idle, busy := feed(t.Context(), e), feed(t.Context(), e)
		busy.jobs <- sentence(20, 1, 1)
		busy.more <- struct{}{}
		synctest.Wait()
		close(idle.more)
		close(busy.more)
		<-idle.ended
		require.NoError(t, idle.err)
		assert.Empty(t, idle.order())
		asked := busy.asked.Load()
		<-busy.ended
		require.NoError(t, busy.err)
		assert.Equal(t, []int{0}, busy.order())
		assert.LessOrEqual(t, busy.asked.Load()-asked, int32(3), "a closed channel is no reason to go round and round")
	})
}

// A request that waits for more ends with its context and with the engine.
func TestStreamThatWaitsForMoreEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, stepping(), nil)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancelled, closed := feed(ctx, e), feed(t.Context(), e)
		synctest.Wait()
		cancel(errGone)
		<-cancelled.ended
		require.ErrorIs(t, cancelled.err, errGone)
		e.Close()
		<-closed.ended
		assert.ErrorIs(t, closed.err, ErrClosed)
	})
}

// An error of the receiver ends the request; what is left of it leaves the batch.
func TestStreamEndsWithTheReceiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, stepping(), nil)
		gone, calls := errors.New("gone"), 0
		err := e.Stream(t.Context(), Request{}, List(sentence(30, 1, 1), sentence(4, 2, 1)), func(int, Result) error {
			calls++
			return gone
		})
		assert.ErrorIs(t, err, gone)
		assert.Equal(t, 1, calls)
		time.Sleep(2 * time.Millisecond) // a step later
		s := e.Stats()
		assert.Zero(t, s.RunningSentences)
		assert.EqualValues(t, 1, s.SentencesCancelled)
	})
}

func TestPoolStreams(t *testing.T) {
	p, _ := startPool(t, 3, nil)
	jobs := sentences(30, 1)
	seen := map[int]bool{} // not guarded: calls come one after the other
	err := p.Stream(t.Context(), Request{}, List(jobs...), func(job int, r Result) error {
		assert.False(t, seen[job], "job %d twice", job)
		seen[job] = true
		assert.Equal(t, alone(t, jobs[job]), r.Result)
		return nil
	})
	require.NoError(t, err)
	assert.Len(t, seen, len(jobs))

	gone := errors.New("gone")
	err = p.Stream(t.Context(), Request{}, List(jobs...), func(int, Result) error { return gone })
	assert.ErrorIs(t, err, gone)
}

// A model that does not return shows.
func TestErrOfAModelThatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newToy()
		release := make(chan struct{})
		m.onStep = func([]model.Feed) error {
			<-release
			return nil
		}
		e := start(t, m, nil)
		s := send(t.Context(), e, Normal, sentence(3, 1, 1))
		synctest.Wait()
		time.Sleep(time.Minute)
		assert.NoError(t, e.Err())
		time.Sleep(time.Second)
		assert.EqualError(t, e.Err(), "the model has not finished a step for 1m1s")
		close(release)
		<-s.done
		synctest.Wait()
		assert.NoError(t, e.Err())
	})
}
