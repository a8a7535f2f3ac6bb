package engine

import (
	"context"
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
		err := e.Stream(t.Context(), Request{Jobs: jobs}, func(job int, r Result) error {
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
		err := e.Stream(t.Context(), Request{Jobs: []Job{sentence(30, 1, 1), sentence(4, 2, 1)}}, func(int, Result) error {
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

// The rest of a request that was taken is not refused, however much waits.
func TestContinuedRequestsAreNotRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, stepping(), func(c *Config) { c.Rows, c.QueueRequests = 1, 1 })
		send(t.Context(), e, Normal, sentence(20, 1, 1))
		synctest.Wait()
		send(t.Context(), e, Normal, sentence(10, 2, 1))
		synctest.Wait()
		send(t.Context(), e, Normal, sentence(10, 3, 1)).fails(t, ErrBusy)
		rest := sentence(10, 4, 1)
		results, err := e.Translate(t.Context(), Request{Jobs: []Job{rest}, Continued: true})
		require.NoError(t, err)
		assert.Equal(t, alone(t, rest), results[0].Result)
		synctest.Wait()
		assert.Zero(t, e.Stats().QueuedRequests)
	})
}

// What cannot be done before its deadline is refused at once.
func TestDeadlineThatCannotBeMet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newToy()
		m.stepTime = 100 * time.Millisecond // a row, so 10 source tokens per second
		e := start(t, m, rows(1))
		warm := sentences(20, 1)
		send(t.Context(), e, Normal, warm...).want(t, warm...)
		send(t.Context(), e, Normal, sentence(20, 101, 1))
		send(t.Context(), e, Normal, sentence(20, 102, 1)) // 2 s of waiting for who comes next
		synctest.Wait()

		took := e.Stats().SentenceTime
		require.Greater(t, took, 500*time.Millisecond)
		for _, test := range []struct {
			left    time.Duration
			refused bool
		}{
			{time.Second, true},            // it cannot begin
			{2*time.Second + took/2, true}, // it can begin, not end
			{10 * time.Second, false},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), test.left)
			s := send(ctx, e, Normal, sentence(4, 103, 1))
			<-s.done
			cancel()
			if test.refused {
				var busy *BusyError
				require.ErrorAs(t, s.err, &busy)
				assert.Zero(t, s.took)
				assert.InDelta(t, 2, busy.Wait.Seconds(), 0.3)
				continue
			}
			assert.NoError(t, s.err)
		}
	})
}

func TestPoolStreams(t *testing.T) {
	p, _ := startPool(t, 3, nil)
	jobs := sentences(30, 1)
	seen := map[int]bool{} // not guarded: calls come one after the other
	err := p.Stream(t.Context(), Request{Jobs: jobs}, func(job int, r Result) error {
		assert.False(t, seen[job], "job %d twice", job)
		seen[job] = true
		assert.Equal(t, alone(t, jobs[job]), r.Result)
		return nil
	})
	require.NoError(t, err)
	assert.Len(t, seen, len(jobs))

	gone := errors.New("gone")
	err = p.Stream(t.Context(), Request{Jobs: jobs}, func(int, Result) error { return gone })
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
