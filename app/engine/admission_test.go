package engine

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/schedule"
)

// slow is a toy that takes ten source tokens a second, one row at a time.
func slow(t *testing.T, change func(*Config)) tested {
	m := newToy()
	m.stepTime = 100 * time.Millisecond
	e := start(t, m, func(c *Config) {
		c.Rows = 1
		if change != nil {
			change(c)
		}
	})
	warm := sentences(20, 1) // taken whatever it costs: no speed is known yet
	send(t.Context(), e, Normal, warm...).want(t, warm...)
	require.InDelta(t, 10, e.Stats().SourceTokensPerSecond, 0.6)
	return e
}

// inside lets a request in that never ends.
func inside(t *testing.T, e tested, req Request) *local {
	s, err := e.open(t.Context(), req)
	require.NoError(t, err)
	t.Cleanup(s.Cancel)
	return s
}

// The warm-up takes a second for each of its few tokens. The engine may be much faster, so that a request that would take too long
// at this speed is let in.
func TestWarmUpIsNoMeasureOfSpeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newToy()
		m.stepTime = 2 * time.Second
		e := start(t, m, rows(6))
		require.NoError(t, e.WarmUp(t.Context(), sentence(2, 1, 1)))
		assert.Zero(t, e.Stats().SourceTokensPerSecond)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		s, err := e.open(ctx, Request{Tokens: 1000})
		require.NoError(t, err)
		s.Cancel()
	})
}

// There are so many places, and a caller has three quarters of those that others leave.
func TestAdmissionPlaces(t *testing.T) {
	e := start(t, newToy(), func(c *Config) { c.QueueRequests = 16 })
	enter := func(caller string) (n int) {
		for {
			s, err := e.open(t.Context(), Request{Caller: caller})
			if err != nil {
				var busy *BusyError
				require.ErrorAs(t, err, &busy)
				assert.Equal(t, time.Second, busy.Wait)
				assert.ErrorIs(t, err, ErrBusy)
				return n
			}
			t.Cleanup(s.Cancel)
			n++
		}
	}
	assert.Equal(t, 12, enter("a"))
	assert.Equal(t, 3, enter("b"))
	assert.Equal(t, 1, enter("c"))
	assert.Equal(t, 0, enter("d"))
	assert.EqualValues(t, 4, e.Stats().RequestsRefused)
}

func TestAdmissionWithOnePlace(t *testing.T) {
	e := start(t, newToy(), func(c *Config) { c.QueueRequests = 1 })
	s, err := e.open(t.Context(), Request{})
	require.NoError(t, err)
	_, err = e.open(t.Context(), Request{Caller: "other"})
	assert.EqualError(t, err, "too many requests are waiting: 1 requests, try again in 1s")
	s.Cancel()
	_, err = e.Translate(t.Context(), Request{}, sentence(3, 1, 1))
	assert.NoError(t, err)
}

// A request waits for its share of what others want, not for all of it.
func TestAdmissionEstimatesTheWait(t *testing.T) {
	for name, test := range map[string]struct {
		inside []Request
		req    Request
		wait   float64 // seconds
	}{
		"nobody":                     {nil, Request{Tokens: 100}, 0},
		"a small one":                {[]Request{{Tokens: 10}}, Request{Tokens: 100}, 1},
		"a large one":                {[]Request{{Tokens: 1000}}, Request{Tokens: 100}, 0},
		"large ones":                 {[]Request{{Tokens: 1000}, {Tokens: 1000}}, Request{Tokens: 100}, 0},
		"a large one that waited":    {[]Request{{Tokens: 1000}, {Tokens: 3600}}, Request{Tokens: 100}, 100},
		"equal ones":                 {[]Request{{Tokens: 100}, {Tokens: 100}}, Request{Tokens: 100}, 20},
		"large ones of another":      {[]Request{{Caller: "a", Tokens: 1000}, {Caller: "a", Tokens: 1000}}, Request{Tokens: 100}, 10},
		"large ones of others":       {[]Request{{Caller: "a", Tokens: 1000}, {Caller: "b", Tokens: 1000}}, Request{Tokens: 100}, 20},
		"beams":                      {[]Request{{Caller: "a", Tokens: 10, Beams: 5}}, Request{Tokens: 100}, 5},
		"a lower one":                {[]Request{{Tokens: 1000, Priority: Low}}, Request{Tokens: 100}, 2.5},
		"a higher one":               {[]Request{{Tokens: 300, Priority: High}}, Request{Tokens: 100}, 30},
		"a low one of another":       {[]Request{{Caller: "a", Tokens: 1000, Priority: Low}}, Request{Tokens: 100}, 2.5},
		"low itself":                 {[]Request{{Caller: "a", Tokens: 300}}, Request{Tokens: 100, Priority: Low}, 30},
		"high does not count beyond": {[]Request{{Caller: "a", Tokens: 1000, Priority: High}}, Request{Tokens: 100}, 10},
	} {
		t.Run(name, func(t *testing.T) {
			d := newInsiders(config(), 1)
			for _, req := range test.inside {
				require.NoError(t, d.enter(t.Context(), newTestSession(req), schedule.Backlog{}))
			}
			ahead := d.requests.Ask(&newTestSession(test.req).place)
			assert.InDelta(t, test.wait, schedule.Backlog{Speed: 10}.Time(ahead).Seconds(), 1e-6)
		})
	}
}

// What would wait too long is refused, and told for how long.
func TestQueueWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := slow(t, func(c *Config) { c.QueueWait = 5 * time.Second })
		inside(t, e, Request{Tokens: 1000})
		inside(t, e, Request{Tokens: 20})
		inside(t, e, Request{Tokens: 40})
		_, err := e.Translate(t.Context(), Request{Tokens: 30}, sentence(5, 1, 1))
		var busy *BusyError
		require.ErrorAs(t, err, &busy)
		assert.Equal(t, 3, busy.Requests)
		assert.InDelta(t, 6, busy.Wait.Seconds(), 0.5)
		_, err = e.Translate(t.Context(), Request{Tokens: 20}, sentence(5, 1, 1))
		assert.NoError(t, err, "it waits for four seconds at most")
		_, err = e.Translate(t.Context(), Request{}, sentence(5, 1, 1))
		assert.NoError(t, err, "of what is not known nothing is said")
	})
}

// What cannot be done before its deadline is refused at once: because of others, or for
// what it is.
func TestDeadlineThatCannotBeMet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := slow(t, nil)
		took := e.Stats().SentenceTime
		require.Greater(t, took, 500*time.Millisecond)
		inside(t, e, Request{Tokens: 20})
		for _, test := range []struct {
			left time.Duration
			want any
		}{
			{time.Second, new(*TooLargeError)},
			{3*time.Second + took/2, new(*TooLargeError)}, // it can be decoded, but for its last sentence
			{4*time.Second + took/2, new(*BusyError)},
			{10 * time.Second, nil},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), test.left)
			begin := time.Now()
			_, err := e.Translate(ctx, Request{Tokens: 30}, sentence(4, 103, 1))
			cancel()
			if test.want == nil {
				assert.NoError(t, err)
				continue
			}
			assert.ErrorAs(t, err, test.want, "%s", test.left)
			assert.Zero(t, time.Since(begin))
		}
		var large *TooLargeError
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
		defer cancel()
		_, err := e.Translate(ctx, Request{Tokens: 2000}, sentence(4, 103, 1))
		require.ErrorAs(t, err, &large)
		assert.InDelta(t, 200, large.Needs.Seconds(), 15)
		assert.Equal(t, 100*time.Second, large.Left)
	})
}

// However many sentences a request has, no more of them wait than a window.
func TestWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := stepping()
		e := start(t, m, func(c *Config) { c.Rows, c.PrefillTokens, c.QueueTokens = 2, 10, 60 })
		jobs := sentences(300, 1)
		var handed atomic.Int32
		tokens := 0
		for _, job := range jobs {
			tokens += len(job.Source)
		}
		done := make(chan error)
		next := List(jobs...)
		go func() {
			done <- e.Stream(t.Context(), Request{Tokens: tokens}, func() (Job, bool, error) {
				job, ok, err := next()
				if ok {
					handed.Add(1)
				}
				return job, ok, err
			}, func(int, Result) error { return nil })
		}()
		most := 0
		for range 200 {
			time.Sleep(time.Millisecond)
			synctest.Wait()
			most = max(most, int(e.workers[0].mailbox.tokens.Load()))
			assert.Less(t, int(handed.Load()), int(e.Stats().SentencesDone)+2+60/3)
		}
		assert.Greater(t, most, 10)
		assert.Less(t, most, 40+20, "the window, and the sentence that goes beyond it")
		s := e.Stats()
		assert.Greater(t, s.QueuedTokens, tokens/2, "what is not handed over yet waits too")
		require.NoError(t, <-done)
		assert.EqualValues(t, len(jobs), handed.Load())
		assert.Zero(t, e.Stats().QueuedTokens)
	})
}

// Requests share what may wait.
func TestWindowsOfManyRequests(t *testing.T) {
	e := start(t, newToy(), func(c *Config) { c.PrefillTokens, c.QueueTokens = 100, 1000 })
	for i, want := range []int{400, 400, 400, 333, 250} {
		assert.Equal(t, want, e.insiders.room(), "with %d requests", i)
		inside(t, e, Request{Caller: fmt.Sprint(i)})
	}
}

// Results may cause more jobs.
func TestJobsThatResultsCause(t *testing.T) {
	e := start(t, newToy(), nil)
	todo, done := []Job{sentence(5, 0, 1)}, 0
	err := e.Stream(t.Context(), Request{}, func() (job Job, ok bool, err error) {
		if len(todo) == 0 {
			return job, false, nil
		}
		job, todo = todo[0], todo[1:]
		return job, true, nil
	}, func(job int, _ Result) error {
		assert.Equal(t, done, job)
		if done++; done < 5 {
			todo = append(todo, sentence(5, done, 1))
		}
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, 5, done)
}

// An error where jobs come from is the request's.
func TestErrorOfNext(t *testing.T) {
	e := start(t, newToy(), nil)
	first := List(sentence(5, 0, 1))
	err := e.Stream(t.Context(), Request{}, func() (Job, bool, error) {
		job, ok, _ := first()
		if !ok {
			return job, false, errBoom
		}
		return job, ok, nil
	}, func(int, Result) error { return nil })
	assert.ErrorIs(t, err, errBoom)
}

// A request of one client beside a large one of another takes about twice as long as
// alone, however large that is.
func TestSmallRequestsBesideALargeOne(t *testing.T) {
	for _, caller := range []string{"", "another"} {
		synctest.Test(t, func(t *testing.T) {
			e := start(t, stepping(), rows(4))
			alone := send(t.Context(), e, Normal, sentence(10, 1000, 1))
			<-alone.done
			ctx, cancel := context.WithCancel(t.Context())
			bulk := sendAs(ctx, e, Request{Caller: "bulk"}, sentences(3000, 1)...)
			synctest.Wait()
			for i := range 20 {
				job := sentence(10, 1001+i, 1)
				small := sendAs(t.Context(), e, Request{Caller: caller, Tokens: 10}, job)
				small.want(t, job)
				assert.LessOrEqual(t, small.took, 3*alone.took, "request %d", i)
			}
			cancel()
			<-bulk.done
		})
	}
}

// In a burst of equal requests of a caller most end long before the last one: they are not decoded
// side by side. Of requests that differ the small ones end first, but no more of them than some
// times the work of a large one before that.
func TestRequestsOfACallerGoOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, costly(false), func(c *Config) { c.Rows = 80 })
		var all []*sent
		begin := time.Now()
		for i := range 60 {
			jobs := make([]Job, 16)
			for j := range jobs {
				jobs[j] = sentence(5+(i+j)%15, 16*i+j, 5)
			}
			all = append(all, sendAs(t.Context(), e, Request{Caller: "a", Tokens: 16 * 12, Beams: 5}, jobs...))
			time.Sleep(10 * time.Millisecond)
		}
		sum := time.Duration(0)
		for _, s := range all {
			<-s.done
			require.NoError(t, s.err)
			sum += s.took
		}
		last := time.Since(begin)
		assert.Less(t, sum/60, last*6/10, "side by side it is nine tenths")
	})
	synctest.Test(t, func(t *testing.T) {
		e := start(t, stepping(), rows(1))
		running := send(t.Context(), e, Normal, sentence(5, 9999, 1))
		synctest.Wait()
		large := sendAs(t.Context(), e, Request{Tokens: 40}, sentences(5, 1)...)
		synctest.Wait()
		for i := range 100 { // more than can be decoded
			small := sendAs(t.Context(), e, Request{Tokens: 10}, sentence(10, 1000+i, 1))
			time.Sleep(5 * time.Millisecond)
			defer func() { <-small.done }()
		}
		<-large.done
		require.NoError(t, large.err)
		assert.LessOrEqual(t, large.results[0].Queued, (schedule.Patience*40+20)*time.Millisecond)
		<-running.done
	})
}
