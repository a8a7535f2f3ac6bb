package access

import (
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseRate(t *testing.T) {
	for text, want := range map[string]Rate{
		"10/s": {10, time.Second}, "1/s": {1, time.Second}, "600/m": {600, time.Minute},
		"1000/h": {1000, time.Hour}, "1000000000000/d": {1e12, 24 * time.Hour}, "unlimited": {},
	} {
		got, err := ParseRate(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
		assert.Equal(t, text, got.String())

		var r Rate
		require.NoError(t, r.UnmarshalText([]byte(" "+text+"\n")), text)
		assert.Equal(t, want, r, text)
	}
	for _, text := range []string{
		"", " ", "10", "/s", "10/", "0/s", "-1/s", "+1/s", "1.5/s", "1e3/s", "1_000/s", "10/S", "10/sec", "10/s/s", "10 /s",
		" 10/s", "10/ms", "1000000000001/s", "9223372036854775808/s", "99999999999999999999999/s", "١٠/s", "Unlimited", "0",
		strings.Repeat("9", 5000) + "/s",
	} {
		_, err := ParseRate(text)
		require.ErrorContains(t, err, "is not a rate", text)
		assert.Less(t, len(err.Error()), 300)
	}
}

func FuzzParseRate(f *testing.F) {
	for _, s := range []string{"10/s", "600/m", "unlimited", "0/s", "10", "1/1", "9223372036854775807/d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRate(s)
		if err != nil {
			assert.Zero(t, r)
			return
		}
		again, err := ParseRate(r.String())
		require.NoError(t, err)
		assert.Equal(t, r, again)
		l := Limits{Requests: r, Characters: r, Tokens: r}
		require.NoError(t, l.Validate())
		for _, q := range l.quotas() {
			if q != nil {
				assert.Positive(t, q.size)
				assert.NotContains(t, q.policy, "-")
			}
		}
	})
}

// What the fields of the policies say.
func TestPolicies(t *testing.T) {
	for _, test := range []struct {
		limits               Limits
		requests, characters string
	}{
		{Limits{}, "", ""},
		{Limits{Requests: Rate{10, time.Second}}, `"requests";q=10;w=1`, ""},
		{Limits{Requests: Rate{10, time.Second}, Burst: 25}, `"requests";q=25;w=3`, ""},
		{Limits{Requests: Rate{600, time.Minute}}, `"requests";q=10;w=1`, ""},
		{Limits{Requests: Rate{1, time.Minute}}, `"requests";q=1;w=60`, ""},
		{Limits{Requests: Rate{7, time.Hour}, Burst: 2}, `"requests";q=2;w=1029`, ""},
		{Limits{Requests: Rate{1e12, time.Second}}, `"requests";q=1000000000000;w=1`, ""},
		{Limits{Characters: Rate{100_000, time.Minute}}, "", `"characters";q=100000;qu="characters";w=60`},
		{Limits{Characters: Rate{1e12, 24 * time.Hour}}, "", `"characters";q=1000000000000;qu="characters";w=86400`},
	} {
		policy := func(q *quota) string {
			if q == nil {
				return ""
			}
			return q.policy
		}
		assert.Equal(t, test.requests, policy(test.limits.quotas()[requests]), "%+v", test.limits)
		assert.Equal(t, test.characters, policy(test.limits.quotas()[characters]), "%+v", test.limits)
	}
}

func TestLimitOfRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := newGate(t, Config{Limits: Limits{Requests: Rate{2, time.Second}, Burst: 3}})
		h := server(t, g)
		next := func(status int, left, retry string) {
			t.Helper()
			w := send(h, "/")
			require.Equal(t, status, w.Code, w.Body)
			assert.Equal(t, `"requests";q=3;w=2`, w.Header().Get("RateLimit-Policy"))
			assert.Equal(t, left, w.Header().Get("RateLimit"))
			assert.Equal(t, retry, w.Header().Get("Retry-After"))
			if status == 429 {
				assert.Equal(t, "the limit of 2 requests per second is used up: try again in "+retry+" s", w.Body.String())
			}
		}
		next(200, `"requests";r=2;t=1`, "")
		next(200, `"requests";r=1;t=1`, "")
		next(200, `"requests";r=0;t=1`, "")
		next(429, `"requests";r=0;t=1`, "1")
		next(429, `"requests";r=0;t=1`, "1")

		time.Sleep(499 * time.Millisecond)
		next(429, `"requests";r=0;t=1`, "1")
		time.Sleep(time.Millisecond) // those that were refused have cost nothing
		next(200, `"requests";r=0;t=1`, "")
		next(429, `"requests";r=0;t=1`, "1")

		time.Sleep(time.Hour) // no more than the burst comes together
		next(200, `"requests";r=2;t=1`, "")
		next(200, `"requests";r=1;t=1`, "")
		next(200, `"requests";r=0;t=1`, "")
		next(429, `"requests";r=0;t=1`, "1")
		assert.EqualValues(t, 5, testutil.ToFloat64(g.metrics.refusals[requestsLimit]))
		assert.Equal(t, 1, g.clients.len())
	})
}

func TestLimitOfCharacters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		alice, bob := NewKey(), NewKey()
		g, _ := newGate(t, Config{
			Limits:   Limits{Requests: Rate{10, time.Second}, Characters: Rate{600, time.Minute}},
			KeysFile: writeKeys(t, "", keyLine(t, "alice", alice), keyLine(t, "bob", bob, "chars=1200/m")),
		})
		h := server(t, g)
		next := func(key string, chars, status int, left, retry string) {
			t.Helper()
			w := send(h, "/?chars="+strconv.Itoa(chars), "X-API-Key", key)
			require.Equal(t, status, w.Code, w.Body)
			assert.Equal(t, left, w.Header().Get("RateLimit"))
			assert.Equal(t, retry, w.Header().Get("Retry-After"))
		}
		next(alice, 400, 200, `"requests";r=9;t=1, "characters";r=200;t=20`, "")
		next(alice, 300, 429, `"characters";r=0;t=10`, "10")
		next(alice, 200, 200, `"requests";r=7;t=1, "characters";r=0;t=1`, "") // what was refused cost nothing
		next(alice, 0, 200, `"requests";r=6;t=1, "characters";r=0;t=1`, "")   // blank texts are free
		next(alice, -5, 200, `"requests";r=5;t=1, "characters";r=0;t=1`, "")
		next(bob, 600, 200, `"requests";r=9;t=1, "characters";r=600;t=30`, "") // has limits of his own

		time.Sleep(10*time.Second - time.Millisecond)
		next(alice, 100, 429, `"characters";r=0;t=1`, "1")
		time.Sleep(time.Millisecond)
		next(alice, 100, 200, `"requests";r=8;t=1, "characters";r=0;t=1`, "")

		// More than there can ever be: waiting does not help.
		time.Sleep(time.Hour)
		w := send(h, "/?chars=601", "X-API-Key", alice)
		assert.Equal(t, 413, w.Code)
		assert.Equal(t, "the request has 601 characters and your limit allows 600 at once: send several requests", w.Body.String())
		assert.Empty(t, w.Header().Get("Retry-After"))
		assert.Equal(t, `"requests";q=10;w=1, "characters";q=600;qu="characters";w=60`, w.Header().Get("RateLimit-Policy"))
		next(alice, 600, 200, `"requests";r=8;t=1, "characters";r=0;t=1`, "")
		assert.EqualValues(t, 3, testutil.ToFloat64(g.metrics.refusals[charactersLimit]))
		assert.Zero(t, testutil.ToFloat64(g.metrics.refusals[requestsLimit]))
	})
}

// Of requests that come at once, as many are let in as the burst allows.
func TestLimitHoldsForConcurrentRequests(t *testing.T) {
	const burst = 100
	g, _ := newGate(t, Config{Limits: Limits{Requests: Rate{1, time.Hour}, Burst: burst}})
	h := server(t, g)
	var admitted, refused atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range burst {
				if send(h, "/").Code == 200 {
					admitted.Add(1)
				} else {
					refused.Add(1)
				}
			}
		})
	}
	group.Wait()
	assert.EqualValues(t, burst, admitted.Load())
	assert.EqualValues(t, 7*burst, refused.Load())
}

func TestRetryAfterIsRoundedUp(t *testing.T) {
	for wait, want := range map[time.Duration]int{
		0: 1, 1: 1, time.Second: 1, time.Second + 1: 2, 90 * time.Second: 90, math.MaxInt64: 9223372037,
	} {
		assert.Equal(t, want, (&LimitError{Wait: wait}).RetryAfter(), wait)
	}
}

// Rates are read from the environment by the library that the configuration uses.
func TestRateInTheEnvironment(t *testing.T) {
	type config struct {
		Requests   Rate `env:"RATE_LIMIT" envDefault:"unlimited"`
		Characters Rate `env:"CHAR_LIMIT" envDefault:"unlimited"`
	}
	got, err := env.ParseAsWithOptions[config](env.Options{Environment: map[string]string{"RATE_LIMIT": "10/s"}})
	require.NoError(t, err)
	assert.Equal(t, config{Requests: Rate{10, time.Second}}, got)
	_, err = env.ParseAsWithOptions[config](env.Options{Environment: map[string]string{"CHAR_LIMIT": "10"}})
	assert.ErrorContains(t, err, `"10" is not a rate`)
}
