package httpapi

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/translate"
)

const streamPath = translationPath + "/stream"

func TestStream(t *testing.T) {
	const (
		twoRecords = `[{"id":"1","text":"one <1>"},{"id":"2","text":"old\ntwo"}]`
		brokenOne  = `[{"id":"1","text":"one"},{"id":"2","text":"fail"}]`
		endlessOne = `[{"id":"1","text":"one"},{"id":"2","text":"endless"}]`
	)
	for _, test := range []struct{ name, accept, records, contentType, want string }{
		{"lines", "", twoRecords, ndjsonType,
			`{"result":{"id":"1","text":"ONE <1>"}}` + "\n" + `{"result":{"id":"2","text":"OLD\nTWO"}}` + "\n" + `{"done":{"results":2}}` + "\n"},
		{"lines for those who take anything", "*/*", `[]`, ndjsonType, `{"done":{"results":0}}` + "\n"},
		{"events", "text/event-stream", twoRecords, eventsType,
			"event: result\ndata: {\"id\":\"1\",\"text\":\"ONE <1>\"}\n\nevent: result\ndata: {\"id\":\"2\",\"text\":\"OLD\\nTWO\"}\n\n" +
				"event: done\ndata: {\"results\":2}\n\n"},
		{"a failure after the first", "", brokenOne, ndjsonType,
			`{"result":{"id":"1","text":"ONE"}}` + "\n" + `{"error":{"code":"internal","message":"internal error, request id rid"}}` + "\n"},
		{"an error after the first", "text/event-stream", endlessOne, eventsType,
			"event: result\ndata: {\"id\":\"1\",\"text\":\"ONE\"}\n\n" +
				"event: error\ndata: {\"code\":\"unfinished\",\"field\":\"payload.records[1].text\",\"message\":\"no\"}\n\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, _ := newAPI()
			w := do(a.Handler(), "POST", streamPath, payload(test.records), "Accept", test.accept, "X-Request-Id", "rid")
			assert.Equal(t, 200, w.Code)
			assert.Equal(t, test.contentType, w.Header().Get("Content-Type"))
			assert.Equal(t, "no-store", w.Header().Get("Cache-Control"))
			assert.Equal(t, test.want, w.Body.String())
			assert.True(t, w.Flushed)
		})
	}
}

func TestStreamOfDetails(t *testing.T) {
	a, log := newAPI()
	w := do(a.Handler(), "POST", streamPath,
		`{"payload":{"fromLang":"en","toLangs":["fr","ja"],"detail":true,"records":[{"id":"1","text":"old"}]}}`)
	lines := strings.Split(w.Body.String(), "\n")
	require.Len(t, lines, 4)
	assert.Contains(t, lines[0], `{"result":{"id":"1","toLang":"fr","text":"OLD","detail":{"model":"m","version":"1","fromLang":"en","detected":false,"segments":[{"source":"old","text":"OLD"}],`)
	assert.Contains(t, lines[0], `"cacheHit":true`)
	assert.Contains(t, lines[0], `"flags":[]`)
	assert.Contains(t, lines[1], `"toLang":"ja"`)
	assert.Contains(t, log.String(), "cached=2")
}

// steps is a translator that finishes one record for each value that it receives.
type steps struct {
	upper
	next chan string
	left chan error // receives the cause when the client has left
}

func (s steps) Stream(ctx context.Context, _ translate.Request, yield func(int, translate.Result) error) error {
	for {
		select {
		case text, ok := <-s.next:
			if !ok {
				return nil
			}
			if err := yield(0, translate.Result{Record: translate.Record{Text: text}}); err != nil {
				return err
			}
		case <-ctx.Done():
			s.left <- context.Cause(ctx)
			return context.Cause(ctx)
		}
	}
}

// The client has each result before the next is translated, and the work ends when the client leaves.
func TestStreamOverHTTP(t *testing.T) {
	a, _ := newAPI(func(cfg *Config) { cfg.RequestTimeout = time.Minute })
	s := steps{next: make(chan string), left: make(chan error, 1)}
	a.Ready(s, one)
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", "http://"+serve(t, a)+streamPath, strings.NewReader(payload("[]")))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	go func() { s.next <- "one" }()
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for _, text := range []string{"one", "two", "three"} {
		require.True(t, lines.Scan())
		assert.Contains(t, lines.Text(), text)
		if text == "one" {
			s.next <- "two"
			s.next <- "three"
		}
	}
	leave()
	assert.ErrorIs(t, <-s.left, context.Canceled)
}

// After a panic a stream has no last event and the connection breaks, so that clients notice that it is incomplete.
func TestStreamThatPanics(t *testing.T) {
	a, log := newAPI()
	server := httptest.NewServer(a.Handler())
	defer server.Close()
	resp, err := http.Post(server.URL+streamPath, "application/json",
		strings.NewReader(payload(`[{"id":"1","text":"one"},{"id":"2","text":"panic"}]`)))
	require.NoError(t, err)
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	require.True(t, lines.Scan())
	assert.False(t, lines.Scan())
	assert.Error(t, lines.Err())
	server.Close() // waits for the handler
	assert.Regexp(t, `level=ERROR msg=request .*path=`+streamPath+` status=200 .*aborted=true`, log)
}
