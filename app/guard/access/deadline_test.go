package access

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/fault"
)

func TestDeadline(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const ours = "Request-Timeout"
	for _, test := range []struct {
		name    string
		headers []string
		want    time.Duration // 0 for none
	}{
		{"none", nil, 0},
		{"seconds", []string{ours, "30"}, 30 * time.Second},
		{"parts of a second", []string{ours, "2.5"}, 2500 * time.Millisecond},
		{"with a unit", []string{ours, "800ms"}, 800 * time.Millisecond},
		{"with two units", []string{ours, "1m30s"}, 90 * time.Second},
		{"spaces around", []string{ours, " 3 "}, 3 * time.Second},
		{"another case", []string{"request-timeout", "3"}, 3 * time.Second},
		{"the shortest", []string{ours, "0.001"}, time.Millisecond},
		{"the longest", []string{ours, "86400"}, 24 * time.Hour},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := http.Header{}
			for i := 0; i < len(test.headers); i += 2 {
				h.Add(test.headers[i], test.headers[i+1])
			}
			deadline, ok, err := Deadline(h, now)
			require.NoError(t, err)
			assert.Equal(t, test.want > 0, ok)
			if ok {
				assert.Equal(t, now.Add(test.want), deadline)
			} else {
				assert.Zero(t, deadline)
			}
		})
	}

	for _, value := range []string{
		"", "   ", "soon", "-1", "0", "0s", "0.0009", "999us",
		"86400.1", "25h", "1e3", "0x10", "1,5", "1 s", "NaN", "Inf",
		"５", "99999999999999999999", "1\x00", "Fri, 02 Jan 2026 03:04:06 GMT",
		strings.Repeat("9", 60_000),
	} {
		deadline, ok, err := Deadline(http.Header{ours: {value}}, now)
		var wrong *fault.Failure
		require.ErrorAs(t, err, &wrong, "%q", value)
		assert.Equal(t, fault.InvalidHeader, wrong.Kind)
		assert.True(t, strings.HasPrefix(wrong.Message, ours+" is "), wrong.Message)
		assert.Less(t, len(err.Error()), 400)
		assert.False(t, ok)
		assert.Zero(t, deadline)
	}

	_, _, err := Deadline(http.Header{ours: {"1", "2"}}, now)
	assert.EqualError(t, err, `Request-Timeout is "1, 2": send seconds such as 2.5, or a time with its unit such as 800ms, from 1ms to 24h`)
}

func FuzzDeadline(f *testing.F) {
	f.Add("1")
	f.Add("2.5s")
	f.Add("-1")
	f.Add("9999999999999999999999")
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f.Fuzz(func(t *testing.T, ours string) {
		deadline, ok, err := Deadline(http.Header{TimeoutHeader: {ours}}, now)
		if !ok {
			assert.Zero(t, deadline)
			return
		}
		assert.NoError(t, err)
		assert.GreaterOrEqual(t, deadline.Sub(now), minTimeout)
		assert.LessOrEqual(t, deadline.Sub(now), maxTimeout)
	})
}
