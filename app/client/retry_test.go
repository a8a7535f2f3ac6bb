package client

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// visits records the times and headers of requests before a service answers.
type visits struct {
	at      []time.Time
	headers []http.Header
}

func (v *visits) note(service http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v.at, v.headers = append(v.at, time.Now()), append(v.headers, r.Header)
		service(w, r)
	}
}

// gaps returns the times between the requests.
func (v *visits) gaps() []time.Duration {
	var gaps []time.Duration
	for i := 1; i < len(v.at); i++ {
		gaps = append(gaps, v.at[i].Sub(v.at[i-1]))
	}
	return gaps
}

// Requests without a complete answer are retried.
func TestRetriesUntilAnAnswer(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"
	for name, failure := range map[string]http.HandlerFunc{
		"busy": problem(503, "busy"), "proxy": answer(502, ""), "share": problem(429, "rate_limited"),
		"no answer": broken(""), "half a header": broken("HTTP/1.1 200 O"), "no body": broken(head),
		"half a body":               broken(head + `{"result":[{"id":"1","text":"HE`),
		"whole JSON in half a body": broken(head + `{"result":[{"id":"1","text":"NO!"}]}`),
		"half a chunk":              broken("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n{\"result"),
		"not HTTP":                  broken("SSH-2.0-OpenSSH\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			inBubble(t, Config{}, inTurn(&requests, failure, failure, capitals), func(t *testing.T, c *Client) {
				results, err := c.Translate(t.Context(), hello)
				require.NoError(t, err)
				assert.Equal(t, hellos, results)
			})
			assert.EqualValues(t, 3, requests.Load())

			requests.Store(0)
			inBubble(t, Config{Retries: -1}, inTurn(&requests, failure, capitals), func(t *testing.T, c *Client) {
				results, err := c.Translate(t.Context(), hello)
				assert.Error(t, err)
				assert.Nil(t, results)
				assert.NotErrorIs(t, err, ErrInvalidAnswer)
				assert.NotContains(t, err.Error(), "tries")
			})
			assert.EqualValues(t, 1, requests.Load(), "no retries")
		})
	}
}

// Pauses are between 0 and a limit that doubles up to MaxBackoff.
func TestPauses(t *testing.T) {
	limits := []time.Duration{500, 1000, 2000, 3000, 3000, 3000, 3000, 3000}
	longest := make([]time.Duration, len(limits))
	shortest := slices.Repeat([]time.Duration{time.Hour}, len(limits))
	var v visits
	for range 100 {
		v = visits{}
		inBubble(t, Config{Retries: len(limits), MaxBackoff: 3 * time.Second}, v.note(problem(503, "busy")), func(t *testing.T, c *Client) {
			_, err := c.Translate(t.Context(), hello)
			assert.True(t, IsCode(err, CodeBusy))
		})
		require.Len(t, v.gaps(), len(limits))
		for i, gap := range v.gaps() {
			assert.LessOrEqual(t, gap, limits[i]*time.Millisecond)
			longest[i], shortest[i] = max(longest[i], gap), min(shortest[i], gap)
		}
	}
	for i, limit := range limits {
		// Of 100 random pauses at least one is in the last fifth of the range and one in the first, except once in five billion
		// runs.
		assert.Greater(t, longest[i], limit*time.Millisecond*4/5, "pause %d", i)
		assert.Less(t, shortest[i], limit*time.Millisecond/5, "pause %d", i)
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	inFiveSeconds := func(w http.ResponseWriter, r *http.Request) {
		problem(503, "busy", "Retry-After", time.Now().Add(5*time.Second).UTC().Format(http.TimeFormat))(w, r)
	}
	for name, failure := range map[string]http.HandlerFunc{"seconds": problem(429, "rate_limited", "Retry-After", "5"), "date": inFiveSeconds} {
		t.Run(name, func(t *testing.T) {
			var v visits
			var requests atomic.Int32
			inBubble(t, Config{}, v.note(inTurn(&requests, failure, failure, capitals)), func(t *testing.T, c *Client) {
				results, err := c.Translate(t.Context(), hello)
				require.NoError(t, err)
				assert.Equal(t, hellos, results)
			})
			require.Len(t, v.at, 3)
			assert.Greater(t, v.gaps()[0], 5*time.Second, "not all come back together")
			assert.InDelta(t, 5.25, v.gaps()[0].Seconds(), 0.25)
			assert.InDelta(t, 5.5, v.gaps()[1].Seconds(), 0.5)
		})
	}
}

// A client that may not wait as long as the service asks does not retry earlier.
func TestRetryAfterBeyondMaxBackoff(t *testing.T) {
	for after, tries := range map[string]int32{"11": 1, "99999999999999999999999": 1, "10": 3} {
		var requests atomic.Int32
		inBubble(t, Config{Retries: 2, MaxBackoff: 10 * time.Second}, inTurn(&requests, problem(503, "busy", "Retry-After", after)), func(t *testing.T, c *Client) {
			start := time.Now()
			_, err := c.Translate(t.Context(), hello)
			assert.GreaterOrEqual(t, requireError(t, err).RetryAfter, 10*time.Second)
			if tries == 1 {
				assert.Zero(t, time.Since(start))
				assert.ErrorContains(t, err, "MaxBackoff is 10s")
				return
			}
			assert.Equal(t, 20*time.Second, time.Since(start), "no pause is longer than MaxBackoff")
		})
		assert.Equal(t, tries, requests.Load(), after)
	}
}

// A try that could not begin in time is not waited for.
func TestPauseBeyondTheDeadline(t *testing.T) {
	for after, tries := range map[string]int32{"3": 1, "2": 1, "1": 2} { // the second pause would end after the deadline
		var requests atomic.Int32
		inBubble(t, Config{}, inTurn(&requests, problem(503, "busy", "Retry-After", after)), func(t *testing.T, c *Client) {
			start := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			_, err := c.Translate(ctx, hello)
			assert.Equal(t, "busy", requireError(t, err).Code, "the last error")
			assert.NotErrorIs(t, err, context.DeadlineExceeded)
			assert.ErrorContains(t, err, "the deadline is sooner than a pause of")
			assert.Less(t, time.Since(start), 2*time.Second)
			assert.NoError(t, ctx.Err())
		})
		assert.Equal(t, tries, requests.Load(), after)
	}
}

func TestCancelledPause(t *testing.T) {
	var requests atomic.Int32
	inBubble(t, Config{}, inTurn(&requests, problem(503, "busy", "Retry-After", "20")), func(t *testing.T, c *Client) {
		start := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		_, err := c.Translate(ctx, hello)
		assert.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, "busy", requireError(t, err).Code)
		assert.ErrorContains(t, err, "context canceled before try 2, after: dragoman: 503 busy")
		assert.Equal(t, 3*time.Second, time.Since(start))
	})
	assert.EqualValues(t, 1, requests.Load())
}

// Every try has the remaining time and the same id.
func TestHeadersOfTries(t *testing.T) {
	var v visits
	inBubble(t, Config{}, v.note(problem(503, "busy", "Retry-After", "2")), func(t *testing.T, c *Client) {
		deadline := time.Now().Add(time.Minute)
		ctx, cancel := context.WithDeadline(t.Context(), deadline)
		defer cancel()
		_, err := c.Translate(ctx, hello)
		require.Error(t, err)
		require.Len(t, v.headers, 4)
		for i, h := range v.headers {
			left, err := strconv.ParseFloat(h.Get(timeoutHeader), 64)
			require.NoError(t, err)
			assert.InDelta(t, deadline.Sub(v.at[i]).Seconds(), left, 0.0011)
			assert.Equal(t, v.headers[0].Get(requestIDHeader), h.Get(requestIDHeader))
		}
	})
}

func TestTimeoutHeader(t *testing.T) {
	for left, want := range map[time.Duration]string{
		time.Second: "1.000", 2500 * time.Millisecond: "2.500", 1999999 * time.Nanosecond: "0.001", time.Millisecond: "0.001",
		24 * time.Hour: "86400.000", 24*time.Hour + 1: "", 1<<63 - 1: "",
	} {
		inBubble(t, Config{}, capitals, func(t *testing.T, _ *Client) {
			ctx, cancel := context.WithTimeout(t.Context(), left)
			defer cancel()
			got, err := timeoutOf(ctx)
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
	for _, left := range []time.Duration{-time.Second, 0, time.Millisecond - 1} {
		ctx, cancel := context.WithTimeout(t.Context(), left)
		_, err := timeoutOf(ctx)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		cancel()
	}
}

func TestRetriesAreLogged(t *testing.T) {
	var log bytes.Buffer
	cfg := Config{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	var requests atomic.Int32
	inBubble(t, cfg, inTurn(&requests, problem(503, "busy"), capitals), func(t *testing.T, c *Client) {
		_, err := c.Translate(t.Context(), the("confidential"))
		require.NoError(t, err)
	})
	assert.Contains(t, log.String(), `msg="retrying a translation"`)
	assert.Contains(t, log.String(), "try=2 of=4")
	assert.Contains(t, log.String(), "503 busy")
	assert.NotContains(t, log.String(), "confidential")
}
