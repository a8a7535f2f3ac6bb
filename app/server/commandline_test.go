package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/cli"
	"dragoman/app/client"
)

// asJob returns a command line that translates with a service.
func asJob(url string, args ...string) []string {
	return append([]string{"translate", "--job", "--from", "en", "--to", "fr", "--url", url}, args...)
}

// The command line prints the same translations from a job as from a local model, also if the service restarts meanwhile.
func TestCommandLineAndService(t *testing.T) {
	var text strings.Builder
	for i := range 300 {
		fmt.Fprintf(&text, "It is number %d.\n", i)
	}
	file := filepath.Join(t.TempDir(), "jobs.db")
	start := func() *running {
		return startServer(t, func(context.Context) {}, func(http.Handler) {}, "JOB_FILE="+file, "CACHE_BYTES=0", "NUM_BEAMS=1")
	}
	end := func(r *running) {
		r.stop()
		require.NoError(t, <-r.result)
	}
	r := start()
	target := atomic.Pointer[url.URL]{}
	point := func(r *running) {
		u, err := url.Parse(r.url)
		require.NoError(t, err)
		target.Store(u)
	}
	point(r)
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:  func(r *httputil.ProxyRequest) { r.SetURL(target.Load()) },
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // 502 while the service is unreachable
	})
	defer proxy.Close()

	c, err := client.New(client.Config{URL: proxy.URL})
	require.NoError(t, err)
	defer c.Close()
	commanded := make(chan result)
	go func() { commanded <- execute(t, text.String(), nil, asJob(proxy.URL)...) }()
	var jobs []client.JobStatus
	for len(jobs) == 0 {
		jobs, err = c.Jobs(t.Context())
		require.NoError(t, err)
	}
	for status, err := range c.Job(jobs[0].ID).Events(t.Context()) {
		require.NoError(t, err)
		if status.Progress.Done > 0 {
			break
		}
	}
	end(r)
	r = start()
	point(r)
	got := <-commanded
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	again := execute(t, "", nil, "jobs", "wait", jobs[0].ID, "--url", proxy.URL)
	assert.Equal(t, result{cli.ExitOK, got.stdout, ""}, again)
	end(r)

	here := execute(t, text.String(), environment("NUM_BEAMS=1"), "translate", "--from", "en", "--to", "fr")
	require.Equal(t, cli.ExitOK, here.code, here.stderr)
	assert.Equal(t, here.stdout, got.stdout)
}
