package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/scripts/bench/openloop"
)

// textsFile writes a file of texts.
func textsFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "texts.tsv")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

const threeTexts = "en\tfr\tone\nen\tja\ttwo\nen\tfr\tthree\n"

func TestPayload(t *testing.T) {
	texts, err := readTexts(textsFile(t, threeTexts), 2)
	require.NoError(t, err)
	assert.Equal(t, payload{"en", "fr", []record{{"0-0", "one"}, {"0-1", "three"}}}, texts.payload(0))
	assert.Equal(t, payload{"en", "ja", []record{{"1-0", "two"}, {"1-1", "two"}}}, texts.payload(1))

	texts.records = 1
	assert.Equal(t, []record{{"2-0", "three"}}, texts.payload(2).Records, "before the first comes again")
	assert.Equal(t, []record{{"4-0", "one"}}, texts.payload(4).Records)

	_, err = readTexts(textsFile(t, "en\tfr\n"), 1)
	assert.ErrorContains(t, err, "2 fields")
}

// answering makes a server that answers a request of one record with what change
// makes of its right answer.
func answering(t *testing.T, change func(n int, r []record) (status int, result []record)) *httptest.Server {
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Payload payload }
		if !assert.NoError(t, json.NewDecoder(r.Body).Decode(&body)) {
			return
		}
		for i := range body.Payload.Records {
			body.Payload.Records[i].Text += "!"
		}
		status, result := change(int(n.Add(1)), body.Payload.Records)
		w.WriteHeader(status)
		assert.NoError(t, json.NewEncoder(w).Encode(map[string]any{"result": result}))
	}))
	t.Cleanup(s.Close)
	return s
}

func TestRun(t *testing.T) {
	tests := map[string]struct {
		args   []string
		change func(n int, r []record) (int, []record)
		want   map[string]int // errors
	}{
		"right":        {nil, func(_ int, r []record) (int, []record) { return 200, r }, map[string]int{}},
		"refused":      {nil, func(_ int, r []record) (int, []record) { return 503, r }, map[string]int{"status 503": 4}},
		"id":           {nil, func(_ int, r []record) (int, []record) { r[0].ID = "x"; return 200, r }, map[string]int{"wrong id": 4}},
		"lost":         {nil, func(int, []record) (int, []record) { return 200, nil }, map[string]int{"wrong number of records": 4}},
		"empty":        {nil, func(_ int, r []record) (int, []record) { r[0].Text = ""; return 200, r }, map[string]int{"empty translation": 4}},
		"may be empty": {[]string{"-empty"}, func(_ int, r []record) (int, []record) { r[0].Text = ""; return 200, r }, map[string]int{}},
		"not looked":   {nil, func(n int, r []record) (int, []record) { r[0].Text += string(rune('a' + n)); return 200, r }, map[string]int{}},
		"changed": {[]string{"-same"}, func(n int, r []record) (int, []record) {
			r[0].Text += string(rune('a' + n))
			return 200, r
		}, map[string]int{"another translation than before": 1}}, // one text comes twice
	}
	path := textsFile(t, threeTexts)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := answering(t, test.change)
			var out bytes.Buffer
			args := append([]string{"-url", s.URL, "-texts", path, "-interval", "1ms", "-requests", "4"}, test.args...)
			require.NoError(t, run(t.Context(), args, &out))
			var got openloop.Summary
			require.NoError(t, json.Unmarshal(out.Bytes(), &got))
			assert.Equal(t, 4, got.Requests)
			failed := 0
			for _, n := range test.want {
				failed += n
			}
			assert.Equal(t, 4-failed, got.Answered)
			assert.Equal(t, len(test.want), len(got.Errors), got.Errors)
			for text, n := range test.want {
				assert.Equal(t, n, got.Errors[text], got.Errors)
			}
		})
	}
}

func TestClosedRun(t *testing.T) {
	s := answering(t, func(_ int, r []record) (int, []record) { return 200, r })
	var out bytes.Buffer
	require.NoError(t, run(t.Context(),
		[]string{"-url", s.URL, "-texts", textsFile(t, threeTexts), "-clients", "2", "-duration", "100ms"}, &out))
	var got openloop.Summary
	require.NoError(t, json.Unmarshal(out.Bytes(), &got))
	assert.Positive(t, got.Answered)
	assert.Equal(t, got.Requests, got.Answered, got.Errors)
}

func TestTimeoutAndConnection(t *testing.T) {
	release := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-release:
		}
	}))
	defer hanging.Close()
	defer close(release)
	texts, err := readTexts(textsFile(t, threeTexts), 1)
	require.NoError(t, err)
	assert.ErrorIs(t, newClient(hanging.URL, texts, 20*time.Millisecond).send(t.Context(), 0), errTimeout)

	gone := httptest.NewServer(nil)
	gone.Close()
	assert.ErrorIs(t, newClient(gone.URL, texts, time.Second).send(t.Context(), 0), errConnection)
}

func TestRefuses(t *testing.T) {
	tests := map[string][]string{
		"nothing":  {},
		"no way":   {"-url", "x", "-texts", "y"},
		"two ways": {"-url", "x", "-texts", "y", "-rate", "1", "-clients", "1"},
		"records":  {"-url", "x", "-texts", "y", "-rate", "1", "-records", "0"},
		"no file":  {"-url", "x", "-texts", "absent.tsv", "-rate", "1"},
		"flag":     {"-unknown"},
	}
	for name, args := range tests {
		assert.Error(t, run(t.Context(), args, &bytes.Buffer{}), name)
	}
}
