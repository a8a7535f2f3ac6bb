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
	const ours, envoy = "Request-Timeout", "X-Envoy-Expected-Rq-Timeout-Ms"
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
		{"Envoy's", []string{envoy, "1500"}, 1500 * time.Millisecond},
		{"both, ours earlier", []string{ours, "1", envoy, "1500"}, time.Second},
		{"both, Envoy's earlier", []string{ours, "2", envoy, "1500"}, 1500 * time.Millisecond},
		{"Envoy's is off", []string{envoy, "0"}, 0},
		{"Envoy's is off, ours is not", []string{ours, "2", envoy, "0"}, 2 * time.Second},
		{"Envoy's is longer than any request", []string{envoy, "9223372036854775807"}, 0},
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

	for _, test := range []struct{ header, value string }{
		{ours, ""}, {ours, "   "}, {ours, "soon"}, {ours, "-1"}, {ours, "0"}, {ours, "0s"}, {ours, "0.0009"}, {ours, "999us"},
		{ours, "86400.1"}, {ours, "25h"}, {ours, "1e3"}, {ours, "0x10"}, {ours, "1,5"}, {ours, "1 s"}, {ours, "NaN"}, {ours, "Inf"},
		{ours, "５"}, {ours, "99999999999999999999"}, {ours, "1\x00"}, {ours, "Fri, 02 Jan 2026 03:04:06 GMT"},
		{ours, strings.Repeat("9", 60_000)},
		{envoy, ""}, {envoy, "1.5"}, {envoy, "-1"}, {envoy, "+1"}, {envoy, "1s"}, {envoy, "9223372036854775808"},
	} {
		deadline, ok, err := Deadline(http.Header{http.CanonicalHeaderKey(test.header): {test.value}}, now)
		var wrong *fault.Failure
		require.ErrorAs(t, err, &wrong, "%q", test.value)
		assert.Equal(t, fault.InvalidHeader, wrong.Kind)
		assert.True(t, strings.HasPrefix(wrong.Message, test.header+" is "), wrong.Message)
		assert.Less(t, len(err.Error()), 400)
		assert.False(t, ok)
		assert.Zero(t, deadline)
	}

	_, _, err := Deadline(http.Header{ours: {"1", "2"}}, now)
	assert.EqualError(t, err, `Request-Timeout is "1, 2": send seconds such as 2.5, or a time with its unit such as 800ms, from 1ms to 24h`)
}

func FuzzDeadline(f *testing.F) {
	f.Add("1", "1500")
	f.Add("2.5s", "")
	f.Add("-1", "0")
	f.Add("9999999999999999999999", "18446744073709551615")
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f.Fuzz(func(t *testing.T, ours, envoy string) {
		deadline, ok, err := Deadline(http.Header{TimeoutHeader: {ours}, EnvoyTimeoutHeader: {envoy}}, now)
		if !ok {
			assert.Zero(t, deadline)
			return
		}
		assert.NoError(t, err)
		assert.GreaterOrEqual(t, deadline.Sub(now), minTimeout)
		assert.LessOrEqual(t, deadline.Sub(now), maxTimeout)
	})
}
