package monitor

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/porttest"
)

// serve starts a server and returns the URL of its metrics.
func serve(t *testing.T, handler http.HandlerFunc) string {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL + metricsPath
}

func TestScrape(t *testing.T) {
	s := newService().load()
	s.work()
	var asked *http.Request
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r
		s.metrics.Handler().ServeHTTP(w, r)
	})
	begin := time.Now()
	got, err := newScraper(nil, "secret").scrape(t.Context(), address)
	require.NoError(t, err)
	assert.Equal(t, 100.0, got.numbers[steps])
	assert.Equal(t, 4.0, got.numbers[answered])
	assert.Positive(t, got.numbers[memory])
	assert.WithinRange(t, got.time, begin, time.Now())
	assert.Equal(t, "Bearer secret", asked.Header.Get("Authorization"))
	assert.Equal(t, "gzip", asked.Header.Get("Accept-Encoding"))
	assert.Equal(t, metricsPath, asked.URL.Path)

	_, err = newScraper(nil, "").scrape(t.Context(), address)
	require.NoError(t, err)
	assert.Empty(t, asked.Header.Get("Authorization"))
}

// raw answers with bytes in place of HTTP.
func raw(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, text)
	}
}

func TestServersThatDoNotAnswer(t *testing.T) {
	nobody := "http://" + porttest.Hold(t) + metricsPath
	var bomb bytes.Buffer
	zip := gzip.NewWriter(&bomb)
	_, err := zip.Write(make([]byte, maxBody+1))
	require.NoError(t, err)
	require.NoError(t, zip.Close())

	released := make(chan struct{})
	t.Cleanup(func() { close(released) })
	for _, test := range []struct {
		name   string
		server http.HandlerFunc // nil: nobody listens
		want   string
	}{
		{"nobody listens", nil, "connection refused"},
		{"an error", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "/metrics answered 500 Internal Server Error"},
		{"too many scrapes", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, "/metrics answered 503 Service Unavailable"},
		{"a status of its own", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(599) }, "/metrics answered 599"},
		{"a key is needed", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, "answered 401 Unauthorized: use --key"},
		{"a key is not enough", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }, "answered 403 Forbidden: use --key"},
		{"a detour", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		}, "answered 302 Found"},
		{"no metrics", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, "cannot be parsed"},
		{"no dragoman", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "up 1\n") }, "is another service listening there?"},
		{"too long", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(make([]byte, maxBody+1))
		}, "longer than 8388608 bytes"},
		{"too long once it is unzipped", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		}, "longer than 8388608 bytes"},
		{"not zipped", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			fmt.Fprint(w, "dragoman_ready 1\n")
		}, "broke off after 0 bytes: gzip: invalid header"},
		{"broken off", raw("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\ndragoman_ready 1\n"), "broke off after 17 bytes: unexpected EOF"},
		{"no HTTP", raw("SSH-2.0-OpenSSH_9.2\r\n"), "malformed HTTP"},
		{"hung up", raw(""), "EOF"},
		{"silent", func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-released:
			}
		}, "no complete answer within"},
		{"silent in the middle", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "dragoman_ready 1\n")
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
			case <-released:
			}
		}, "no complete answer within"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			address := nobody
			if test.server != nil {
				address = serve(t, test.server)
			}
			patience := 10 * time.Second
			if strings.HasPrefix(test.name, "silent") {
				patience = 50 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			_, err := newScraper(nil, "secret").scrape(ctx, address)
			require.ErrorContains(t, err, test.want)
			assert.NotContains(t, err.Error(), "secret")
		})
	}
}

func TestErrorsAreALine(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"two\n lines", "two lines"},
		{"a \x1b[2J bell\x07", "a ?[2J bell?"},
		{"invalid \xff", "invalid ?"},
		{strings.Repeat("é", 300), strings.Repeat("é", 200) + "…"},
	} {
		err := oneLine(fmt.Errorf("%s: %w", test.text, io.EOF))
		assert.True(t, strings.HasPrefix(err.Error(), test.want), err.Error())
	}
}
