package sender

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/client"
	"dragoman/app/store/porttest"
	"dragoman/scripts/stress_test/internal/corpus"
	"dragoman/scripts/stress_test/internal/traffic"
)

// order is a request for two records.
var order = traffic.Order{Pair: corpus.Pair{From: "ja", To: "fr"}, Texts: []string{"駅", "駅は"}}

type record struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

type payload struct {
	FromLang, ToLang string
	Records          []record
	Detail           bool
}

// read reads a request's body: a server that has not read it does not notice that a client leaves.
func read(t *testing.T, r *http.Request) payload {
	var body struct{ Payload payload }
	raw, err := io.ReadAll(r.Body)
	assert.NoError(t, err)
	assert.NoError(t, json.Unmarshal(raw, &body))
	return body.Payload
}

func write(t *testing.T, w http.ResponseWriter, records []record) {
	assert.NoError(t, json.NewEncoder(w).Encode(map[string]any{"result": records}))
}

// cut ends a connection after some bytes.
func cut(t *testing.T, w http.ResponseWriter, bytes string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if assert.NoError(t, err) {
		_, _ = conn.Write([]byte(bytes)) // the client may be gone
		_ = conn.Close()
	}
}

func TestSend(t *testing.T) {
	answer := func(change func(r []record) []record) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { write(t, w, change(read(t, r).Records)) }
	}
	same := func(r []record) []record { return r }
	fail := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			read(t, r)
			w.WriteHeader(status)
			_, err := io.WriteString(w, body)
			assert.NoError(t, err)
		}
	}
	tests := map[string]struct {
		handler http.HandlerFunc
		kind    string // of the failure
	}{
		"right":         {answer(same), ""},
		"busy":          {fail(503, `{"error":{"code":"busy","message":"full"}}`), "status 503 busy"},
		"its timeout":   {fail(504, `{"error":{"code":"timeout","message":"late"}}`), "status 504 timeout"},
		"proxy":         {fail(502, "<html>"), "status 502"},
		"not JSON":      {fail(200, "<html>"), "invalid answer"},
		"no records":    {answer(func([]record) []record { return nil }), "invalid answer"},
		"wrong id":      {answer(func(r []record) []record { r[0].ID = "x"; return r }), "invalid answer"},
		"changed order": {answer(func(r []record) []record { r[0], r[1] = r[1], r[0]; return r }), "invalid answer"},
		"empty":         {answer(func(r []record) []record { r[1].Text = ""; return r }), "empty translation"},
		"hangs":         {func(_ http.ResponseWriter, r *http.Request) { read(t, r); <-r.Context().Done() }, "timeout"},
		"cut before":    {func(w http.ResponseWriter, r *http.Request) { read(t, r); cut(t, w, "") }, "connection cut"},
		"cut header": {func(w http.ResponseWriter, r *http.Request) {
			read(t, r)
			cut(t, w, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n")
		}, "connection cut"},
		"cut body": {func(w http.ResponseWriter, r *http.Request) {
			read(t, r)
			cut(t, w, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"result\":[")
		}, "connection cut"},
		"not HTTP": {func(w http.ResponseWriter, r *http.Request) { read(t, r); cut(t, w, "220 mail.example.com\r\n\r\n") }, "connection failed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(test.handler)
			defer server.Close()
			timeout := time.Minute
			if test.kind == "timeout" {
				timeout = 100 * time.Millisecond
			}
			s, err := New(Config{URL: server.URL, Timeout: timeout, MaxInFlight: 1})
			require.NoError(t, err)
			defer s.Close()

			got, err := s.Send(t.Context(), 7, order)
			assert.Equal(t, 2, got.Records)
			assert.Positive(t, got.Took)
			if test.kind == "" {
				assert.NoError(t, err)
				return
			}
			failed, ok := errors.AsType[*Failure](err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, test.kind, failed.Kind, "%v", failed.Cause)
			assert.EqualError(t, err, test.kind)
		})
	}
}

func TestSendRefused(t *testing.T) {
	tests := map[string]string{"http://" + porttest.Hold(t): "connection refused", "http://no-such-host.invalid": "unknown host"}
	for url, kind := range tests {
		s, err := New(Config{URL: url, Timeout: time.Minute, MaxInFlight: 1})
		require.NoError(t, err)
		_, err = s.Send(t.Context(), 0, order)
		assert.EqualError(t, err, kind)
		s.Close()
	}
}

// Each request has the common fields of the test, and the relevant headers of the answer are kept.
func TestSendAsks(t *testing.T) {
	var seen atomic.Pointer[http.Request]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := read(t, r)
		assert.Equal(t, payload{"ja", "fr", []record{{"7-0", p.Records[0].Text}, {"7-1", p.Records[1].Text}}, true}, p)
		seen.Store(r)
		w.Header().Set("Dragoman-Cache", "hits=1, misses=1")
		p.Records[0].Text = ""
		write(t, w, p.Records)
	}))
	defer server.Close()
	s, err := New(Config{URL: server.URL, Key: "secret", Timeout: 20 * time.Second, AllowEmpty: true, MaxInFlight: 1,
		Request: client.Request{Detail: true}})
	require.NoError(t, err)
	defer s.Close()

	got, err := s.Send(t.Context(), 7, order)
	require.NoError(t, err)
	assert.Equal(t, 1, got.Hits)
	assert.Equal(t, 1, got.Misses)
	header := seen.Load().Header
	assert.Equal(t, "Bearer secret", header.Get("Authorization"))
	assert.Equal(t, "dragoman-stress-test", header.Get("User-Agent"))
	assert.Regexp(t, `^(19|20)\.\d+$`, header.Get("Request-Timeout"), "the service is told how long is waited")
}

func TestSendUnfinished(t *testing.T) {
	arrived := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		read(t, r)
		close(arrived)
		<-r.Context().Done()
	}))
	defer server.Close()
	s, err := New(Config{URL: server.URL, Timeout: time.Minute, MaxInFlight: 1})
	require.NoError(t, err)
	defer s.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-arrived
		cancel(ErrUnfinished)
	}()
	_, err = s.Send(ctx, 0, order)
	assert.EqualError(t, err, "unfinished")
	assert.ErrorIs(t, err, ErrUnfinished)
}

func TestNewRefuses(t *testing.T) {
	for _, url := range []string{"", "localhost:9527", "ftp://localhost", "http://localhost?x=1"} {
		_, err := New(Config{URL: url, Timeout: time.Second})
		assert.Error(t, err, url)
	}
}
