package client

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEvents(t *testing.T) {
	inBubble(t, Config{}, newDesk(3).handler(), func(t *testing.T, c *Client) {
		var done []int
		var last JobStatus
		for status, err := range c.Job("job 0").Events(t.Context()) {
			require.NoError(t, err)
			done, last = append(done, status.Progress.Done), status
		}
		assert.Equal(t, []int{0, 1, 2, 3}, done)
		assert.Equal(t, JobDone, last.State)
	})
}

func TestLeavingEvents(t *testing.T) {
	d, left := newDesk(1000), atomic.Bool{}
	service := func(w http.ResponseWriter, r *http.Request) {
		d.handler()(w, r)
		left.Store(true)
	}
	inBubble(t, Config{}, service, func(t *testing.T, c *Client) {
		for _, err := range c.Job("job 0").Events(t.Context()) {
			require.NoError(t, err)
			break
		}
		time.Sleep(2 * time.Second)
		assert.True(t, left.Load(), "the service sees it")
	})
	assert.Len(t, d.trips, 1)
}

// cut is a stream of events that ends or breaks before the job does.
func cut(events string, end http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", eventsType)
		_, _ = io.WriteString(w, events)
		_ = http.NewResponseController(w).Flush()
		if end != nil {
			end(w, r)
		}
	}
}

func panics(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// Wait returns the results of a job through all failures of the service.
func TestWaitSurvives(t *testing.T) {
	const running = "event: job\ndata: {\"job\":{\"id\":\"job 0\",\"state\":\"running\"}}\n\n"
	d := func() http.HandlerFunc { return newDesk(1).handler() }
	many := func(n int, first ...http.HandlerFunc) (all []http.HandlerFunc) {
		for range n {
			all = append(all, first...)
		}
		return all
	}
	for name, test := range map[string]struct {
		first []http.HandlerFunc // answers to the first requests
		most  time.Duration
	}{
		"restart":                  {[]http.HandlerFunc{problem(503, CodeShuttingDown, "Retry-After", "2"), problem(502, ""), problem(503, CodeNotReady)}, time.Minute},
		"a long pause":             {[]http.HandlerFunc{problem(429, CodeRateLimited, "Retry-After", "600")}, 11 * time.Minute},
		"more often than Retries":  {many(50, problem(503, CodeBusy)), 50 * time.Minute},
		"no connection":            {many(10, broken("")), 5 * time.Minute},
		"half an answer":           {[]http.HandlerFunc{broken("HTTP/1.1 200 OK\r\nContent-Ty")}, time.Minute},
		"a stream that ends":       {many(20, cut(running, nil)), 10 * time.Minute},
		"a stream that breaks":     {many(20, cut(running, panics)), 10 * time.Minute},
		"a stream that falls mute": {many(2, cut(running, silent)), 3 * time.Minute},
		"half an event":            {[]http.HandlerFunc{cut(running+"event: job\ndata: {\"jo", panics)}, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				c := dialed(t, Config{Retries: -1}, inTurn(&requests, append(test.first, d())...))
				results, err := c.Job("job 0").Wait(t.Context())
				require.NoError(t, err)
				assert.Equal(t, []Result{{ID: "0", Text: "HELLO"}}, results)
				assert.LessOrEqual(t, time.Since(start), test.most)
			})
			assert.GreaterOrEqual(t, requests.Load(), int32(len(test.first)+2))
		})
	}
}

// Wait retries the request for the results, too.
func TestResultsSurvive(t *testing.T) {
	d := newDesk(0)
	var requests atomic.Int32
	inBubble(t, Config{Retries: -1}, inTurn(&requests, d.handler(), broken(""), problem(503, CodeNotReady), d.handler()), func(t *testing.T, c *Client) {
		results, err := c.Job("job 0").Wait(t.Context())
		require.NoError(t, err)
		assert.Empty(t, results)
	})
	assert.EqualValues(t, 4, requests.Load())
}

// If streams of events do not work, the client polls.
func TestPolling(t *testing.T) {
	for name, events := range map[string]http.HandlerFunc{
		"another type":           answer(200, "<html>", "Content-Type", "text/html"),
		"no type":                answer(200, "", "Content-Type", ""),
		"held back":              cut("", silent),
		"held back with headers": silent,
		"nothing":                cut("", nil),
		"nothing, and breaks":    cut("", panics),
		"comments only":          cut(": hello\n\n", nil),
		"events without an end":  cut("data: "+strings.Repeat("a", maxEventBytes), silent),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(300)
				c := dialed(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
					if strings.HasSuffix(r.URL.Path, "/events") {
						events(w, r)
						return
					}
					d.handler()(w, r)
				})
				start, seen := time.Now(), -1
				for status, err := range c.Job("job 0").Events(t.Context()) {
					require.NoError(t, err)
					assert.Greater(t, status.Progress.Done, seen, "news only")
					seen = status.Progress.Done
				}
				assert.Equal(t, 300, seen)
				assert.LessOrEqual(t, time.Since(start), 300*time.Second+silence+defaultMaxBackoff)
				assert.Less(t, len(d.trips), 3000)
			})
		})
	}
}

// A stream that repeats the last event is no news, and is requested less and less often.
func TestStreamsWithoutNews(t *testing.T) {
	var requests atomic.Int32
	same := cut("event: job\ndata: {\"job\":{\"id\":\"job 0\",\"state\":\"running\"}}\n\n", nil)
	inBubble(t, Config{}, inTurn(&requests, same), func(t *testing.T, c *Client) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var statuses []JobStatus
		var last error
		for status, err := range c.Job("job 0").Events(ctx) {
			statuses, last = append(statuses, status), err
		}
		assert.Equal(t, []JobStatus{{ID: "job 0", State: JobRunning}, {}}, statuses)
		assert.ErrorIs(t, last, context.DeadlineExceeded)
	})
	assert.Less(t, requests.Load(), int32(600), "in an hour, with pauses of 15 s on average")
}
