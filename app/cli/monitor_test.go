package cli

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/httpapi"
	"dragoman/app/telemetry"
)

// monitored runs the subcommand to its end.
func monitored(ctx context.Context, environ []string, args ...string) (stdout string, err error) {
	var out bytes.Buffer
	p := &Program{Environ: environ, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &bytes.Buffer{}}
	err = p.execute(ctx, append([]string{"monitor"}, args...))
	return out.String(), err
}

// metricsServer has the metrics of a service that loads.
func metricsServer(t *testing.T) (host string) {
	log := slog.New(slog.DiscardHandler)
	api := httpapi.New(httpapi.Config{Log: log, Metrics: telemetry.New(log)})
	server := httptest.NewServer(api.Handler())
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func TestMonitorWritesCSV(t *testing.T) {
	host := metricsServer(t)
	_, port, _ := strings.Cut(host, ":")
	for _, test := range []struct {
		name    string
		environ []string
		args    []string
		want    []string // servers
	}{
		{"a URL", nil, []string{"http://" + host}, []string{host}},
		{"the server on this machine", []string{"APP_PORT=" + port}, nil, []string{"localhost:" + port}},
		{"two, one of which is down", nil, []string{host, "127.0.0.1:1"}, []string{host, "127.0.0.1:1"}},
		{"a file of servers", nil, []string{"--targets", file(t, "# one\n"+host+"\n")}, []string{host}},
		{"a name", nil, []string{"--resolve", "127.0.0.1:" + port}, []string{host}},
		{"standard output, in words", nil, []string{"--csv", "-", "--plain", host}, []string{host}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			stdout, err := monitored(t.Context(), test.environ, append(test.args, "--interval", "2s", "--count", "1")...)
			require.NoError(t, err)
			lines, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
			require.NoError(t, err)
			require.Len(t, lines, 1+len(test.want))
			up, ready := indexOf(t, lines[0], "up"), indexOf(t, lines[0], "ready")
			for i, server := range test.want {
				line := lines[1+i]
				assert.Equal(t, server, line[1])
				if server == "127.0.0.1:1" {
					assert.Equal(t, "0", line[up])
					assert.Contains(t, line[indexOf(t, lines[0], "error")], "connection refused")
					continue
				}
				assert.Equal(t, "1", line[up], line)
				assert.Equal(t, "0", line[ready], "it loads")
			}
		})
	}
}

func indexOf(t *testing.T, names []string, name string) int {
	for i := range names {
		if names[i] == name {
			return i
		}
	}
	require.Fail(t, "no column "+name)
	return 0
}

func TestMonitorWritesFileAndLines(t *testing.T) {
	t.Parallel()
	host := metricsServer(t)
	name := filepath.Join(t.TempDir(), "out.csv")
	stdout, err := monitored(t.Context(), nil, host, "--csv", name, "--interval", "1s", "--duration", "2500ms")
	require.NoError(t, err)
	raw, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, 3, strings.Count(string(raw), "\n"), "a header and two whole intervals")
	assert.Equal(t, 2, strings.Count(stdout, host+"  not ready  "))

	stdout, err = monitored(t.Context(), nil, host, "--plain", "--interval", "1s", "--count", "1", "--duration", "1h")
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(stdout, host))
}

func TestMonitorSendsTheKey(t *testing.T) {
	t.Parallel()
	var got atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.Store(r.Header.Get("Authorization"))
		fmt.Fprintln(w, "dragoman_ready 1")
	}))
	defer server.Close()
	_, err := monitored(t.Context(), nil, server.URL, "--key", "abc", "--interval", "1s", "--count", "1")
	require.NoError(t, err)
	assert.Equal(t, "Bearer abc", got.Load())
}

func TestMonitorErrors(t *testing.T) {
	for _, test := range []struct {
		name    string
		environ []string
		args    []string
		usage   bool
		want    string
	}{
		{"no such flag", nil, []string{"--often"}, true, "monitor: unknown flag: --often"},
		{"too often", nil, []string{"--interval", "1ms"}, true, "monitor: --interval 1ms: use 100ms or more"},
		{"a negative count", nil, []string{"--count", "-1"}, true, "monitor: --count -1: use 0 for no bound, or more"},
		{"less than an interval", nil, []string{"--duration", "500ms"}, true, "monitor: --duration 500ms: use 0 for no bound, or 1s, an interval, or more"},
		{"no server", nil, []string{"ftp://x"}, true, `monitor: "ftp://x" is not a server`},
		{"no port", []string{"APP_PORT=0"}, nil, true, `monitor: "localhost" has no port: use one such as localhost:9527`},
		{"no name", nil, []string{"--resolve", "a:b:c"}, true, `monitor: "a:b:c" is not a DNS name`},
		{"no file of servers", nil, []string{"--targets", "/nowhere/servers"}, true, "no such file"},
		{"a bad environment", []string{"APP_PORT=x"}, nil, true, `APP_PORT="x"`},
		{"no folder for the CSV", nil, []string{"--csv", "/nowhere/out.csv"}, false, "no such file"},
		{"nobody answers", nil, []string{"127.0.0.1:1", "--interval", "1s", "--count", "1"}, false, "no server answered in 2 polls: 127.0.0.1:1: dial"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := monitored(t.Context(), test.environ, test.args...)
			require.ErrorContains(t, err, test.want)
			var usage *UsageError
			assert.Equal(t, test.usage, errors.As(err, &usage))
		})
	}
}

func TestMonitorHelp(t *testing.T) {
	stdout, err := monitored(t.Context(), nil, "--help")
	require.NoError(t, err)
	for _, want := range []string{"--interval", "--resolve", "tokens_out_per_second", "APP_PORT"} {
		assert.Contains(t, stdout, want)
	}
}

func TestMonitorEndsWhenToldTo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stdout, err := monitored(ctx, nil, "127.0.0.1:1")
	assert.NoError(t, err)
	assert.Empty(t, stdout)
}

// What a terminal can do is in TERM.
func TestTerminalsThatCannotDraw(t *testing.T) {
	for environ, want := range map[string]bool{"": false, "TERM=": false, "TERM=dumb": false, "TERM=xterm-256color": true, "TERM=dumb TERM=tmux": true} {
		p := &Program{Environ: strings.Fields(environ)}
		assert.Equal(t, want, p.canDraw(), environ)
	}
	assert.False(t, isTerminal(&bytes.Buffer{}))
	f, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer f.Close()
	assert.False(t, isTerminal(f))
}
