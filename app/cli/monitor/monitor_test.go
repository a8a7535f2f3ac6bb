package monitor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// watch runs a monitor of servers in a network and returns the rows of its intervals. It calls then after each interval.
func watch(t *testing.T, ctx context.Context, n network, count uint, then func() error, servers ...string) (rounds [][]Row, err error) {
	m, err := New(Config{Servers: servers, Port: 9527, Interval: time.Second, Count: count, Transport: n})
	require.NoError(t, err)
	err = m.Run(ctx, func(rows []Row) error {
		rounds = append(rounds, rows)
		return then()
	})
	return rounds, err
}

// For a server that is away for two intervals, the third has all changes since its last poll. After a restart, counters begin at
// the start. A slow server does not delay the others.
func TestIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService().load()
		n := network{"a:9527": s, "b:9527": http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })}
		begin, interval := time.Now(), 0
		rounds, err := watch(t, t.Context(), n, 6, func() error {
			interval++
			switch interval {
			case 1:
				delete(n, "a:9527")
			case 3:
				n["a:9527"] = s
			case 5:
				s.restart()
			}
			s.work()
			return nil
		}, "a", "b")
		require.NoError(t, err)
		assert.Equal(t, 6800*time.Millisecond, time.Since(begin), "the last poll ends before its interval does")
		type seen struct {
			state            string
			seconds, decoded float64
		}
		var all []seen
		for _, rows := range rounds {
			require.Len(t, rows, 2)
			assert.Equal(t, "context deadline exceeded", rows[1].Reason)
			all = append(all, seen{rows[0].State, rows[0].Seconds, 0})
			if rows[0].State != "down" {
				all[len(all)-1].decoded = rows[0].number("decoded")
			}
		}
		assert.Equal(t, []seen{{"ready", 1, 0}, {"down", 0, 0}, {"down", 0, 0}, {"ready", 3, 24}, {"ready", 1, 8}, {"restarted", 1, 8}}, all)
		assert.Equal(t, "connection refused", rounds[1][0].Reason)
	})
}

// All servers are polled at once. Their rows have the order of the arguments.
func TestServersSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text, n := newService().load().text(), network{}
		var servers []string
		for i := range 20 {
			servers = append(servers, fmt.Sprintf("s%d", i))
			n[servers[i]+":9527"] = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				time.Sleep(700 * time.Millisecond)
				fmt.Fprint(w, text)
			})
		}
		rounds, err := watch(t, t.Context(), n, 1, func() error { return nil }, servers...)
		require.NoError(t, err)
		require.Len(t, rounds, 1)
		require.Len(t, rounds[0], 20)
		for i, row := range rounds[0] {
			assert.Equal(t, servers[i]+":9527", row.Server)
			assert.Equal(t, "ready", row.State)
		}
	})
}

func TestEnds(t *testing.T) {
	full := errors.New("disk full")
	for _, test := range []struct {
		name       string
		answers    bool // the server does
		count      uint
		then       func(cancel func()) error
		wantErr    string
		wantRounds int
	}{
		{"told to", true, 0, func(cancel func()) error { cancel(); return nil }, "", 1},
		{"nobody can be told", true, 0, func(func()) error { return full }, "disk full", 1},
		{"nobody ever answers", false, 2, func(func()) error { return nil }, "", 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				n := network{}
				if test.answers {
					n["a:9527"] = newService().load()
				}
				rounds, err := watch(t, ctx, n, test.count, func() error { return test.then(cancel) }, "a")
				if test.wantErr == "" {
					assert.NoError(t, err)
				} else {
					assert.EqualError(t, err, test.wantErr)
				}
				assert.Len(t, rounds, test.wantRounds)
			})
		})
	}
}

// An interrupted poll prints nothing about the servers.
func TestEndWithinAPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := network{"a:9527": newService().load()}
		ctx, cancel := context.WithTimeout(t.Context(), 1100*time.Millisecond)
		defer cancel()
		rounds, err := watch(t, ctx, n, 5, func() error {
			n["a:9527"] = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
			cancel()
			return nil
		}, "a")
		assert.NoError(t, err)
		assert.Len(t, rounds, 1)
	})
}

func TestServers(t *testing.T) {
	for _, test := range []struct{ text, wantName, wantURL string }{
		{"localhost", "localhost:9527", "http://localhost:9527/metrics"},
		{"localhost:80", "localhost:80", "http://localhost:80/metrics"},
		{"[::1]:80", "[::1]:80", "http://[::1]:80/metrics"},
		{"http://example.com", "example.com", "http://example.com/metrics"},
		{"https://example.com/", "example.com", "https://example.com/metrics"},
		{"https://example.com/mt/metrics", "example.com/mt", "https://example.com/mt/metrics"},
		{"http://user:pass@example.com", "example.com", "http://user:pass@example.com/metrics"},
	} {
		got, err := parseServer(test.text, 9527)
		require.NoError(t, err, test.text)
		assert.Equal(t, test.wantName, got.name)
		assert.Equal(t, test.wantURL, got.url.String())
	}
	for _, text := range []string{"", ":9527", "ftp://example.com", "http://", "http:///metrics", "a b", "localhost:http", "localhost:0", "http://user:secret@["} {
		_, err := parseServer(text, 9527)
		require.ErrorContains(t, err, "is not a server: use one such as http://localhost:9527 or localhost:9527", text)
		assert.NotContains(t, err.Error(), "secret")
	}
}

func FuzzServer(f *testing.F) {
	for _, text := range []string{"localhost", "::1", "https://a/b?c#d", "http://u:p@h", "\x00", "[", "a%zz", "//a", "é:1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseServer(text, 9527)
		if err != nil {
			return
		}
		assert.Equal(t, printable(got.name), got.name)
		_, err = http.NewRequest("GET", got.url.String(), nil)
		assert.NoError(t, err)
	})
}
