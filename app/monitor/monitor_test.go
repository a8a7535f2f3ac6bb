package monitor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// watching makes a monitor of servers in a network.
func watching(t *testing.T, n network, count int, servers ...string) *Monitor {
	m, err := New(Config{
		Targets: Targets{Servers: servers, Port: 9527}, Interval: time.Second, Count: count,
		Client: &http.Client{Transport: n},
	})
	require.NoError(t, err)
	return m
}

func TestIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService().load()
		begin := time.Now()
		got := recording{then: func(Round) error { s.work(); return nil }}
		require.NoError(t, watching(t, network{"a:9527": s}, 3, "a").Run(t.Context(), &got))
		assert.Equal(t, 3*time.Second, time.Since(begin))
		require.Len(t, got.rounds, 4)
		for i, round := range got.rounds {
			assert.Equal(t, i == 0, round.Base)
			assert.Equal(t, begin.Add(time.Duration(i)*time.Second), round.Time)
			require.Len(t, round.Rows, 1)
			row := round.Rows[0]
			require.NoError(t, row.Err)
			assert.Equal(t, "a:9527", row.Server)
			if round.Base {
				assert.True(t, math.IsNaN(row.numbers[answered]))
				continue
			}
			assert.Equal(t, 1.0, row.Seconds)
			assert.Equal(t, 4.0, row.numbers[answered])
		}
	})
}

// A server that is away for two intervals, and back in the third, did in it what it did
// since it was last seen.
func TestServerThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, other := newService().load(), newService().load()
		n := network{"a:9527": s, "b:9527": other}
		var got recording
		got.then = func(Round) error {
			s.work()
			switch len(got.rounds) {
			case 2:
				delete(n, "a:9527")
			case 4:
				n["a:9527"] = s
			case 5:
				s.restart()
			}
			return nil
		}
		require.NoError(t, watching(t, n, 6, "a", "b").Run(t.Context(), &got))
		type seen struct {
			up, restarted bool
			seconds       float64
			records       float64
		}
		var all []seen
		for _, round := range got.rounds[1:] {
			require.Len(t, round.Rows, 2)
			assert.NoError(t, round.Rows[1].Err)
			row := round.Rows[0]
			if row.Err != nil {
				assert.EqualError(t, row.Err, "connection refused")
				all = append(all, seen{})
				continue
			}
			all = append(all, seen{true, row.Restarted, row.Seconds, row.numbers[records]})
		}
		assert.Equal(t, []seen{
			{true, false, 1, 8}, {}, {}, {true, false, 3, 24}, {true, true, 1, 0}, {true, false, 1, 8},
		}, all)
	})
}

func TestSlowServersHoldNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService().load()
		n := network{"a:9527": s, "b:9527": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		})}
		begin := time.Now()
		got := recording{then: func(Round) error { s.work(); return nil }}
		require.NoError(t, watching(t, n, 3, "a", "b").Run(t.Context(), &got))
		assert.Equal(t, 3800*time.Millisecond, time.Since(begin), "the last poll ends before its interval does")
		for _, round := range got.rounds {
			assert.NoError(t, round.Rows[0].Err)
			assert.EqualError(t, round.Rows[1].Err, "no complete answer within 800ms")
		}
	})
}

// All servers are asked at once.
func TestServersSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, n := newService().load(), network{}
		var servers []string
		for i := range 20 {
			text := s.text()
			servers = append(servers, fmt.Sprintf("s%d", i))
			n[servers[i]+":9527"] = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				time.Sleep(700 * time.Millisecond)
				fmt.Fprint(w, text)
			})
		}
		var got recording
		require.NoError(t, watching(t, n, 1, servers...).Run(t.Context(), &got))
		for _, round := range got.rounds {
			require.Len(t, round.Rows, 20)
			for i, row := range round.Rows {
				assert.NoError(t, row.Err)
				assert.Equal(t, servers[i]+":9527", row.Server)
			}
		}
	})
}

func TestEnds(t *testing.T) {
	full := errors.New("disk full")
	for _, test := range []struct {
		name       string
		answers    bool // the server does
		count      int
		then       func(cancel func()) error
		wantErr    string
		wantRounds int
	}{
		{"told to", true, 0, func(cancel func()) error { cancel(); return nil }, "", 1},
		{"a sink fails", true, 0, func(func()) error { return full }, "disk full", 1},
		{"nobody ever answers", false, 2, nil, "no server answered in 3 polls: a:9527: connection refused", 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				got := recording{then: func(Round) error {
					if test.then == nil {
						return nil
					}
					return test.then(cancel)
				}}
				n := network{}
				if test.answers {
					n["a:9527"] = newService().load()
				}
				err := watching(t, n, test.count, "a").Run(ctx, &got)
				if test.wantErr == "" {
					assert.NoError(t, err)
				} else {
					assert.EqualError(t, err, test.wantErr)
				}
				assert.Len(t, got.rounds, test.wantRounds)
			})
		})
	}
}

// A poll that is cut short says nothing of the servers, so that it is no round.
func TestEndWithinAPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := network{"a:9527": http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		var got recording
		assert.NoError(t, watching(t, n, 5, "a").Run(ctx, &got))
		assert.Empty(t, got.rounds)
	})
}

func TestConfigurationsThatDoNotWork(t *testing.T) {
	servers := Targets{Servers: []string{"a:1"}}
	for _, test := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"no interval", Config{Targets: servers}, "an interval of 0s: use 100ms or more"},
		{"too short an interval", Config{Targets: servers, Interval: 99 * time.Millisecond}, "an interval of 99ms: use 100ms or more"},
		{"a negative count", Config{Targets: servers, Interval: time.Second, Count: -1}, "-1 intervals: use 0 for no end, or more"},
		{"no servers", Config{Interval: time.Second}, "nothing to poll: name a server, a file of servers or a DNS name"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := New(test.cfg)
			assert.EqualError(t, err, test.want)
		})
	}
}
