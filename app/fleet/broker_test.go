package fleet

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2/server"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/fleet/connect"
)

func TestURLs(t *testing.T) {
	for address, want := range map[string]string{
		"redis://localhost:6379":                                                   "",
		"rediss://user:secret@redis.example:6380/2?dial_timeout=1s":                "",
		"unix:///run/redis.sock":                                                   "",
		"redis://:secret@a:26379?master_name=m&addr=b:26379":                       "",
		"redis://:secret@a:6379?addr=b:6379&addr=c:6379":                           "",
		"localhost:6379":                                                           "invalid URL scheme",
		"http://localhost":                                                         "invalid URL scheme",
		"redis://:secret@localhost:6379/x":                                         "invalid database number",
		"redis://:secret@localhost:6379?colour=red":                                "unexpected option",
		"redis://:secret@local host:6379":                                          "it is no URL",
		"redis://:secret@a:6379?addr=b:6379&colour=red":                            "unexpected option",
		"redis://:secret@a:26379?master_name=m&addr=b:26379&dial_timeout=tomorrow": "invalid",
	} {
		b, err := NewBroker(BrokerConfig{URL: address, Prefix: "test", Log: slog.New(slog.DiscardHandler)})
		if want == "" {
			if assert.NoError(t, err, address) {
				assert.NoError(t, b.Close(), address)
			}
			continue
		}
		require.ErrorContains(t, err, want, address)
		assert.NotContains(t, err.Error(), "secret", address)
	}
}

// A command may fail behind another one that found nothing.
func TestErrorsOfSeveralCommands(t *testing.T) {
	b := newTestBroker(t, newServer(t).Addr(), calm)
	for name, test := range map[string]struct {
		commands func(ctx context.Context, p redis.Pipeliner)
		want     string
	}{
		"all fine":      {func(ctx context.Context, p redis.Pipeliner) { p.Set(ctx, "a", 1, 0); p.Get(ctx, "a") }, ""},
		"nothing there": {func(ctx context.Context, p redis.Pipeliner) { p.Get(ctx, "none"); p.Get(ctx, "a") }, ""},
		"one fails":     {func(ctx context.Context, p redis.Pipeliner) { p.Get(ctx, "a"); p.HGet(ctx, "a", "b") }, "WRONGTYPE"},
		"behind one":    {func(ctx context.Context, p redis.Pipeliner) { p.Get(ctx, "none"); p.HGet(ctx, "a", "b") }, "WRONGTYPE"},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, b.client.Set(t.Context(), "a", 1, 0).Err())
			err := b.do(t.Context(), func(p redis.Pipeliner) { test.commands(t.Context(), p) })
			if test.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, test.want)
		})
	}
}

// A broker refuses a server that is too old, warns of one that evicts keys, and accepts one that does not tell.
func TestCheck(t *testing.T) {
	for name, test := range map[string]struct {
		server, memory string // answers to INFO; "": an error
		err, log       string
	}{
		"Redis 7":            {"redis_version:7.0.15\r\n", "maxmemory_policy:noeviction\r\n", "", ""},
		"Redis 8":            {"# Server\r\nredis_version:8.2.1\r\n", "maxmemory_policy:noeviction\r\n", "", ""},
		"Valkey":             {"redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:9.0.0\r\n", "", "", ""},
		"too old":            {"redis_version:6.2.14\r\n", "", "it is Redis 6.2.14: use Redis 7 or later, or Valkey", ""},
		"far too old":        {"redis_version:255.1\r\n", "", "", ""},
		"drops keys":         {"redis_version:7.0.15\r\n", "maxmemory_policy:allkeys-lru\r\n", "", "maxmemory-policy is allkeys-lru"},
		"does not tell":      {"", "", "", ""},
		"tells other things": {"hello", "redis_version:1.0.0\r\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.Server().SetPreHook(func(c *server.Peer, cmd string, args ...string) bool {
				if cmd != "INFO" {
					return false
				}
				text := map[string]string{"server": test.server, "memory": test.memory}[args[0]]
				if text == "" {
					c.WriteError("NOPERM this user has no permissions to run the 'info' command")
				} else {
					c.WriteBulk(text)
				}
				return true
			})
			var log bytes.Buffer
			b, err := NewBroker(BrokerConfig{URL: "redis://" + s.Addr(), Prefix: "test", Secrets: []string{"secret"}, Timing: calm, Log: slog.New(slog.NewTextHandler(&log, nil))})
			require.NoError(t, err)
			defer b.Close()
			err = b.check(t.Context())
			if test.err == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, test.err)
			}
			assert.Contains(t, log.String(), test.log)
			assert.Equal(t, test.log == "", log.Len() == 0)
		})
	}
}

// A gateway and a worker report a server that is too old.
func TestServerTooOld(t *testing.T) {
	s := newServer(t)
	s.Server().SetPreHook(func(c *server.Peer, cmd string, _ ...string) bool {
		if cmd == "INFO" {
			c.WriteBulk("redis_version:5.0.7\r\n")
		}
		return cmd == "INFO"
	})
	g := StartGateway(GatewayConfig{Broker: newTestBroker(t, s.Addr(), calm), Requests: 1})
	defer g.Close()
	w := newTestWorker(t, newTestBroker(t, s.Addr(), calm), newModels(&decoder{}, identity))
	for _, failed := range []func() error{g.Err, w.Err} {
		eventually(t, func() bool { return strings.Contains(failed().Error(), "it is Redis 5.0.7") })
	}
}

// An outage of Redis and its end are logged once each. An outage that comes and goes is not logged each time.
func TestNote(t *testing.T) {
	var log bytes.Buffer
	b := &Broker{client: new(connect.Client), outages: newOutages(slog.New(slog.NewTextHandler(&log, nil))), away: errStarting}
	up := prometheus.NewGauge(prometheus.GaugeOpts{Name: "up"})
	oops := errors.New("oops")
	for i, step := range []struct {
		err   error
		lines int
	}{{oops, 1}, {oops, 1}, {nil, 2}, {nil, 2}, {oops, 2}, {errors.New("another"), 2}, {nil, 2}} {
		b.note(t.Context(), step.err, up)
		assert.Equal(t, step.lines, strings.Count(log.String(), "\n"), "step %d", i)
		assert.Equal(t, step.err == nil, b.Err() == nil)
	}
}
