package remote

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"dragoman/model/prompt"
)

var errTest = errors.New("test")

// A call is repeated if the server has not begun, and otherwise only if it costs nothing.
func TestRetry(t *testing.T) {
	for name, test := range map[string]struct {
		err          CallError
		free, priced int // tries
		pause        time.Duration
	}{
		"no connection":        {CallError{Err: errTest}, 3, 3, 100 * time.Millisecond},
		"hangs up":             {CallError{Sent: true, Err: errTest}, 2, 1, 100 * time.Millisecond},
		"fails":                {CallError{Sent: true, Status: 500, Err: errTest}, 2, 1, 100 * time.Millisecond},
		"too many":             {CallError{Sent: true, Status: 429, Err: errTest}, 6, 6, 500 * time.Millisecond},
		"full":                 {CallError{Sent: true, Status: 503, RetryAfter: 7 * time.Second, Err: errTest}, 6, 6, 7 * time.Second},
		"full for long":        {CallError{Sent: true, Status: 503, RetryAfter: time.Minute, Err: errTest}, 1, 1, 0},
		"wrong key":            {CallError{Sent: true, Status: 401, Err: errTest}, 1, 1, 0},
		"invalid":              {CallError{Sent: true, Status: 400, Err: errTest}, 1, 1, 0},
		"no answer in time":    {CallError{Sent: true, Err: context.DeadlineExceeded}, 1, 1, 0},
		"no connection so far": {CallError{Err: context.DeadlineExceeded}, 1, 1, 0},
	} {
		for charged, want := range map[bool]int{false: test.free, true: test.priced} {
			tries := 1
			for _, ok := test.err.retry(tries, charged); ok; _, ok = test.err.retry(tries, charged) {
				tries++
			}
			assert.Equal(t, want, tries, "%s, charged %t", name, charged)
		}
		if pause, ok := test.err.retry(1, false); ok {
			assert.Equal(t, test.pause, pause, name)
		}
	}
}

func TestRefuses(t *testing.T) {
	for text, want := range map[string]struct {
		status  int
		fault   prompt.Fault
		tooLong bool
		ok      bool
	}{
		"the prompt exceeds the context size":      {400, "", true, true},
		"This model's maximum context length is 9": {400, "", true, true},
		"content policy":                           {400, prompt.Refused, false, true},
		"legal reasons":                            {451, prompt.Refused, false, true},
		"no such key":                              {401, "", false, false},
		"internal":                                 {500, "", false, false},
	} {
		fault, tooLong, ok := (&CallError{Status: want.status, Err: errors.New(text)}).refuses()
		assert.Equal(t, want.fault, fault, text)
		assert.Equal(t, []bool{want.tooLong, want.ok}, []bool{tooLong, ok}, text)
	}
}

func TestRetryAfter(t *testing.T) {
	for header, want := range map[string]time.Duration{
		"": 0, "soon": 0, "-1": 0, "1e9": 0, "0": time.Second, "0.5": time.Second, "7": 7 * time.Second, "Mon, 02 Jan 2006 15:04:05 GMT": time.Second,
	} {
		assert.Equal(t, want, retryAfter(header), "%q", header)
	}
}

// Pauses double up to a minute, failures during a pause count once, and a success closes the circuit.
func TestCircuit(t *testing.T) {
	var s state
	now := time.Unix(1000, 0)
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		wait, cause := s.away(now)
		assert.Zero(t, wait)
		assert.NoError(t, cause)
		s.fail(now, errTest, 0)
		s.fail(now, errTest, 0) // of another call
		wait, cause = s.away(now)
		assert.Equal(t, want*time.Second, wait)
		assert.Equal(t, errTest, cause)
		now = now.Add(wait)
	}
	s.fail(now, errTest, time.Hour)
	wait, _ := s.away(now)
	assert.Equal(t, time.Hour, wait, "as the server asks")
	now = now.Add(wait)
	s.probe = now.Add(probeTime)
	_, cause := s.away(now)
	assert.Equal(t, errProbed, cause)
	_, cause = s.away(now.Add(probeTime))
	assert.NoError(t, cause, "the request that tried has not ended")

	c := NewCircuit("m")
	assert.NoError(t, c.enter())
	first, err := c.failed(errTest, time.Minute)
	assert.True(t, first)
	assert.ErrorIs(t, err, errTest)
	assert.ErrorContains(t, c.enter(), "the server of the model m is away")
	assert.True(t, c.succeeded())
	assert.False(t, c.succeeded())
	assert.NoError(t, c.Err())
}
