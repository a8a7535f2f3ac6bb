package engine

import (
	"errors"
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
		err := e.Stream(t.Context(), Request{}, list(jobs...), func(job int, r Result) error {
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

// An error of the receiver ends the request; what is left of it leaves the batch.
func TestStreamEndsWithTheReceiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, stepping(), nil)
		gone, calls := errors.New("gone"), 0
		err := e.Stream(t.Context(), Request{}, list(sentence(30, 1, 1), sentence(4, 2, 1)), func(int, Result) error {
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
	err := p.Stream(t.Context(), Request{}, list(jobs...), func(job int, r Result) error {
		assert.False(t, seen[job], "job %d twice", job)
		seen[job] = true
		assert.Equal(t, alone(t, jobs[job]), r.Result)
		return nil
	})
	require.NoError(t, err)
	assert.Len(t, seen, len(jobs))

	gone := errors.New("gone")
	err = p.Stream(t.Context(), Request{}, list(jobs...), func(int, Result) error { return gone })
	assert.ErrorIs(t, err, gone)
}

// A model that does not return shows.
func TestInRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newToy()
		release := make(chan struct{})
		m.onStep = func([]model.Feed) error {
			<-release
			return nil
		}
		e := start(t, m, nil)
		assert.Zero(t, e.InRound())
		s := send(t.Context(), e, Normal, sentence(3, 1, 1))
		synctest.Wait()
		time.Sleep(time.Minute)
		assert.Equal(t, time.Minute, e.InRound())
		close(release)
		<-s.done
		synctest.Wait()
		assert.Zero(t, e.InRound())
	})
}
