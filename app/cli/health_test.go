package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/store/porttest"
)

// askHealth runs the subcommand and returns its output.
func askHealth(ctx context.Context, environ []string, args ...string) (string, error) {
	var stdout bytes.Buffer
	p := &Program{Environ: environ, Stdout: &stdout, Stderr: io.Discard}
	err := p.execute(ctx, append([]string{"health"}, args...))
	return stdout.String(), err
}

// routes answers by path; other paths get 404.
type routes map[string]http.HandlerFunc

func (r routes) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if handle, ok := r[req.Method+" "+req.URL.Path]; ok {
		handle(w, req)
		return
	}
	http.NotFound(w, req)
}

// answer returns a handler with a fixed answer.
func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

func TestHealth(t *testing.T) {
	notReady := answer(503, `{"error":{"code":"not_ready","message":"the model is\nstill loading"}}`)
	for _, test := range []struct {
		name   string
		routes routes
		path   string // added to the server's address
		flags  []string
		want   string // printed
		err    string // part of the error after the address; "": no error
	}{
		{"ready", routes{"GET /readyz": answer(200, `{"status":"ready"}`)}, "", nil, "ready\n", ""},
		{"a slash at the end", routes{"GET /readyz": answer(200, "")}, "/", nil, "ready\n", ""},
		{"below a path", routes{"GET /mt/readyz": answer(200, "")}, "/mt", nil, "ready\n", ""},
		{"alive, though not ready", routes{"GET /healthz": answer(200, ""), "GET /readyz": notReady}, "", []string{"--live"}, "alive\n", ""},
		{"not ready", routes{"GET /healthz": answer(200, ""), "GET /readyz": notReady}, "", nil, "",
			"/readyz answers 503: not_ready: the model is\nstill loading"},
		{"hanging", routes{"GET /healthz": answer(503, `{"error":{"code":"stuck","message":"a step hangs"}}`)}, "", []string{"--live"}, "",
			"/healthz answers 503: stuck: a step hangs"},
		{"another service", routes{}, "", nil, "", `/readyz answers 404: "404 page not found\n"`},
		{"an error without a body", routes{"GET /readyz": answer(500, "")}, "", nil, "", `/readyz answers 500: ""`},
		{"JSON that is no error", routes{"GET /readyz": answer(500, `["x"]`)}, "", nil, "", `/readyz answers 500: "[\"x\"]"`},
		{"a long page", routes{"GET /readyz": answer(502, strings.Repeat("é", 1<<20))}, "", nil, "",
			`/readyz answers 502: "` + strings.Repeat("é", 200) + `"`},
		{"control characters", routes{"GET /readyz": answer(502, "\x1b[2J\xff")}, "", nil, "", `/readyz answers 502: "\x1b[2J\xff"`},
		{"another status of success", routes{"GET /readyz": answer(204, "")}, "", nil, "", "/readyz answers 204"},
		{"a redirection", routes{
			"GET /readyz": http.RedirectHandler("/elsewhere", http.StatusFound).ServeHTTP, "GET /elsewhere": answer(200, ""),
		}, "", nil, "", "/readyz answers 302"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(test.routes)
			defer server.Close()
			got, err := askHealth(t.Context(), nil, append(test.flags, "--url", server.URL+test.path)...)
			assert.Equal(t, test.want, got)
			if test.err == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, server.URL+test.err)
			assert.NotErrorAs(t, err, new(*UsageError))
		})
	}
}

// A hanging service keeps connections open and sends nothing.
func TestHealthDoesNotWaitForever(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer server.Close()
	_, err := askHealth(t.Context(), nil, "--url", server.URL, "--timeout", "50ms")
	assert.EqualError(t, err, server.URL+"/readyz does not answer within 50ms")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = askHealth(ctx, nil, "--url", server.URL)
	assert.ErrorIs(t, err, context.Canceled)
}

// The default address is where serve listens with the same environment.
func TestHealthAsksThisMachine(t *testing.T) {
	server := httptest.NewServer(routes{"GET /readyz": answer(200, "")})
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	require.NoError(t, err)
	for _, host := range []string{"127.0.0.1", "0.0.0.0", ""} {
		got, err := askHealth(t.Context(), []string{"APP_PORT=" + port, "APP_HOST=" + host})
		require.NoError(t, err, host)
		assert.Equal(t, "ready\n", got)
	}

	_, port, err = net.SplitHostPort(porttest.Hold(t))
	require.NoError(t, err)
	_, err = askHealth(t.Context(), []string{"APP_PORT=" + port})
	assert.ErrorContains(t, err, "the service does not answer")
	assert.ErrorContains(t, err, "connection refused")
}

func TestReachable(t *testing.T) {
	for host, want := range map[string]string{
		"0.0.0.0": "127.0.0.1", "::": "::1", "0:0::0": "::1", "::ffff:0.0.0.0": "127.0.0.1",
		"10.1.2.3": "10.1.2.3", "fe80::1": "fe80::1", "localhost": "localhost", "translate.internal": "translate.internal",
	} {
		assert.Equal(t, want, reachable(host), host)
	}
}

func TestHealthUsage(t *testing.T) {
	for _, test := range []struct {
		name    string
		environ []string
		args    []string
		want    string
	}{
		{"an argument", nil, []string{"now"}, `health takes no arguments, got ["now"]`},
		{"an unknown flag", nil, []string{"--port", "1"}, "health: unknown flag: --port"},
		{"no time", nil, []string{"--timeout", "0"}, "health: --timeout 0s: use a time above 0, such as 3s"},
		{"a negative time", nil, []string{"--timeout", "-1s"}, "health: --timeout -1s: use a time above 0, such as 3s"},
		{"a time without a unit", nil, []string{"--timeout", "3"}, `health: invalid argument "3" for "--timeout" flag`},
		{"no scheme", nil, []string{"--url", "localhost"}, `health: --url "localhost": use an address such as http://localhost:9527, or localhost:9527`},
		{"another scheme", nil, []string{"--url", "ftp://localhost"}, `health: --url "ftp://localhost": use`},
		{"no host", nil, []string{"--url", "http:///readyz"}, `health: --url "http:///readyz": use`},
		{"no address at all", nil, []string{"--url", "http://[::1"}, `health: --url "http://[::1": use`},
		{"a port that is not known", []string{"APP_PORT=0"}, nil, "health: APP_PORT=0 is a port that only the service's log tells: use --url"},
		{"a port that is none", []string{"APP_PORT=x"}, nil, `health: configuration: APP_PORT="x": use a whole number`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := askHealth(t.Context(), test.environ, test.args...)
			require.ErrorContains(t, err, test.want)
			assert.ErrorAs(t, err, new(*UsageError))
			assert.Empty(t, got)
		})
	}
	help, err := askHealth(t.Context(), nil, "--help")
	assert.NoError(t, err)
	assert.Contains(t, help, "--live")
}
