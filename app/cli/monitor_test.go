package cli

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/httpapi"
	"dragoman/app/telemetry"
)

// monitored runs the subcommand to its end.
func monitored(ctx context.Context, environ []string, args ...string) (stdout string, err error) {
	var out bytes.Buffer
	p := &Program{Environ: environ, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &bytes.Buffer{}}
	err = p.execute(ctx, append([]string{"monitor"}, args...))
	return out.String(), err
}

// metricsServer serves the metrics of a service that loads.
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
	name := filepath.Join(t.TempDir(), "out.csv")
	for _, test := range []struct {
		name    string
		environ []string
		args    []string
		want    []string // servers
	}{
		{"a URL", nil, []string{"http://" + host}, []string{host}},
		{"the server on this machine", []string{"APP_PORT=" + port}, nil, []string{"localhost:" + port}},
		{"two, one of which is down", nil, []string{host, "127.0.0.1:1"}, []string{host, "127.0.0.1:1"}},
		{"a file", nil, []string{"--csv", name, host}, []string{host}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel() // each poll takes up to an interval
			stdout, err := monitored(t.Context(), test.environ, append([]string{"--csv", "-", "--interval", "4s", "--count", "1"}, test.args...)...)
			require.NoError(t, err)
			if test.name == "a file" {
				assert.Empty(t, stdout)
				raw, err := os.ReadFile(name)
				require.NoError(t, err)
				stdout = string(raw)
			}
			lines, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
			require.NoError(t, err)
			require.Len(t, lines, 1+len(test.want))
			for i, server := range test.want {
				line := lines[1+i]
				assert.Equal(t, server, line[1])
				if server == "127.0.0.1:1" {
					assert.Equal(t, "down", line[2])
					assert.Contains(t, line[3], "connection refused")
					continue
				}
				assert.Equal(t, "not ready", line[2], "it loads")
			}
		})
	}
}

func TestMonitorWritesTables(t *testing.T) {
	t.Parallel()
	host := metricsServer(t)
	stdout, err := monitored(t.Context(), nil, host, "--interval", "4s", "--count", "2")
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(stdout, host+"  not ready  "), stdout)
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
		{"a negative count", nil, []string{"--count", "-1"}, true, `invalid argument "-1" for "--count" flag`},
		{"no server", nil, []string{"ftp://x"}, true, `monitor: "ftp://x" is not a server`},
		{"a bad environment", []string{"APP_PORT=x"}, nil, true, `APP_PORT="x"`},
		{"no folder for the CSV", nil, []string{"--csv", "/nowhere/out.csv"}, false, "no such file"},
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
	for _, want := range []string{"--interval", "--csv", "tokens_out", "APP_PORT"} {
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

func TestFilesAreNoTerminals(t *testing.T) {
	assert.False(t, IsTerminal(&bytes.Buffer{}))
	f, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer f.Close()
	assert.False(t, IsTerminal(f))
}
