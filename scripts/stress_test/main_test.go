package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/scripts/stress_test/internal/report"
	"dragoman/scripts/stress_test/internal/sender"
)

// request is a request as a service reads it.
type request struct {
	Payload struct {
		FromLang, ToLang string
		Model            string
		Records          []struct{ ID, Text string }
		Options          json.RawMessage
	}
}

// serve starts a service that answers each request with its texts, if behave returns true without writing an answer. n counts
// the requests from 1.
func serve(t *testing.T, behave func(n int64, w http.ResponseWriter, r *http.Request, body request) bool) string {
	t.Helper()
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			_, err := io.WriteString(w, `{"name":"dragoman","version":"v1","model":{"source":"toy","precision":"fp32"}}`)
			assert.NoError(t, err)
			return
		}
		var body request
		if !assert.NoError(t, json.NewDecoder(r.Body).Decode(&body)) || !behave(n.Add(1), w, r, body) {
			return
		}
		type record struct {
			ID   string `json:"id"`
			Text string `json:"text"`
		}
		var answer struct {
			Result []record `json:"result"`
		}
		for _, in := range body.Payload.Records {
			answer.Result = append(answer.Result, record(in))
		}
		w.Header().Set("Dragoman-Cache", "hits=1, misses=0")
		assert.NoError(t, json.NewEncoder(w).Encode(answer))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// well answers all requests.
func well(int64, http.ResponseWriter, *http.Request, request) bool { return true }

// stressed runs a stress test of a service.
func stressed(t *testing.T, ctx context.Context, url string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errors bytes.Buffer
	code = run(ctx, append([]string{"--url", url}, args...), &out, &errors)
	return code, out.String(), errors.String()
}

const line = `100\.00% of requests were successful with average of \d+\.\d\ds, minimum of \d+\.\d\ds and maximum of \d+\.\d\ds response time`

func TestWays(t *testing.T) {
	tests := map[string]struct {
		args []string
		out  string // regular expression
	}{
		"as the original": {[]string{"--pay-size", "16", "--num-req", "5", "--sleep", "0.001"}, `^` + line + `\n\n *phase .*\n *one every 1ms +5 +100\.00% `},
		"all at once":     {[]string{"--num-req", "5", "--sleep", "0"}, `all at once +5 `},
		"rate":            {[]string{"--rate", "200", "--duration", "0.1"}, `200/s +\d+ `},
		"rate and number": {[]string{"--rate", "200", "--duration", "10", "--num-req", "3"}, `200/s +3 `},
		"sweep": {[]string{"--sweep", "200,100", "--duration", "200ms", "--refine", "2"},
			`^100/s: ` + line + `\n200/s: ` + line + `\n\n(?s:.*)\np95 is within 2 s at all rates, up to 200 requests/s\n$`},
		"clients":     {[]string{"--clients", "3", "--duration", "0.2"}, `3 clients +\d+ `},
		"quiet":       {[]string{"--num-req", "3", "--sleep", "0", "--quiet"}, `^` + line + `\n$`},
		"quiet sweep": {[]string{"--sweep", "100", "--duration", "200ms", "-q"}, `^100/s: ` + line + `\np95 is .*\n$`},
		"warm-up":     {[]string{"--num-req", "3", "--sleep", "0", "--warmup", "2"}, `all at once +3 `},
		"thresholds": {[]string{"--num-req", "3", "--sleep", "0", "--min-success", "100", "--max-p50", "5", "--max-p95", "5s", "--max-p99", "5",
			"--min-rate", "0.1", "--min-goodput", "0.1"}, line},
		"cache": {[]string{"--num-req", "3", "--sleep", "0"}, ` 100% +[\d.]+\n`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, out, errors := stressed(t, t.Context(), serve(t, well), test.args...)
			assert.Equal(t, exitOK, code, errors)
			assert.Regexp(t, test.out, out)
			assert.Empty(t, errors, "no progress where there is no terminal")
		})
	}
}

// The flags determine the requests.
func TestAsks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "corpus.txt")
	require.NoError(t, os.WriteFile(path, []byte("One.\nTwo.\n"), 0o600))
	var french, german atomic.Int64
	url := serve(t, func(_ int64, _ http.ResponseWriter, r *http.Request, body request) bool {
		p := body.Payload
		assert.Equal(t, "auto", p.FromLang)
		map[string]*atomic.Int64{"fr": &french, "de": &german}[p.ToLang].Add(1)
		assert.Len(t, p.Records, 3)
		assert.JSONEq(t, `{"beams":2,"noRepeatNgramSize":0,"lengthPenalty":0.5}`, string(p.Options))
		assert.Equal(t, "Bearer k", r.Header.Get("Authorization"))
		assert.Empty(t, r.Header.Get("Request-Timeout"))
		return true
	})
	code, _, errors := stressed(t, t.Context(), url+"/", "--from", "auto", "--to", "fr,de", "--lambda", "0", "--corpus", path, "--pay-size", "3",
		"--num-req", "4", "--sleep", "0.05", "--key", "k", "--options", `{"beams":2,"noRepeatNgramSize":0,"lengthPenalty":0.5}`, "--warmup", "2", "--hide-timeout")
	assert.Equal(t, exitOK, code, errors)
	assert.EqualValues(t, 3, french.Load(), "with the warm-up")
	assert.EqualValues(t, 3, german.Load())
}

// Requests name a model of a catalogue, but not a model with its own service. Each model has its own figures in the report.
func TestModels(t *testing.T) {
	own := func(model string, n *atomic.Int64) string {
		return serve(t, func(_ int64, _ http.ResponseWriter, _ *http.Request, body request) bool {
			assert.Equal(t, model, body.Payload.Model)
			n.Add(1)
			return true
		})
	}
	var alone, shared atomic.Int64
	dir := t.TempDir()
	models := "a=" + own("", &alone) + ",b"
	code, out, errors := stressed(t, t.Context(), own("b", &shared), "--models", models, "--num-req", "50", "--sleep", "0", "--lambda", "1",
		"--max-in-flight", "49", "--out", dir)
	require.Equal(t, exitOK, code, errors)
	assert.Regexp(t, `(?m)^ +all at once .*\n +a .*\n +b `, out)

	var d report.Document
	raw, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &d))
	a, b := d.Phases[0].Models[0], d.Phases[0].Models[1]
	assert.Equal(t, []string{"a", "b"}, []string{a.Name, b.Name})
	assert.EqualValues(t, alone.Load(), a.Answered)
	assert.EqualValues(t, shared.Load(), b.Answered)
	assert.Equal(t, 50, a.Requests+b.Requests, "with those that were not sent")
	assert.Greater(t, b.Requests, 10)
}

func TestFailures(t *testing.T) {
	busy := func(w http.ResponseWriter) bool {
		w.WriteHeader(503)
		_, err := io.WriteString(w, `{"error":{"code":"busy","message":"too much waits"}}`)
		assert.NoError(t, err)
		return false
	}
	// Every other request is refused.
	flaky := func(n int64, w http.ResponseWriter, _ *http.Request, _ request) bool { return n%2 == 0 || busy(w) }
	never := func(_ int64, w http.ResponseWriter, _ *http.Request, _ request) bool { return busy(w) }
	hangs := func(_ int64, _ http.ResponseWriter, r *http.Request, _ request) bool {
		<-r.Context().Done()
		return false
	}
	// Each answer has another text.
	changing := func(n int64, _ http.ResponseWriter, _ *http.Request, body request) bool {
		body.Payload.Records[0].Text = strconv.FormatInt(n, 10)
		return true
	}
	one := filepath.Join(t.TempDir(), "one.txt")
	require.NoError(t, os.WriteFile(one, []byte("One.\n"), 0o600))
	calm := []string{"--num-req", "10", "--sleep", "0.005"}
	tests := map[string]struct {
		behave func(int64, http.ResponseWriter, *http.Request, request) bool
		args   []string
		code   int
		out    string // regular expressions
		err    string
	}{
		"half":         {flaky, calm, exitOK, `^50\.00% of requests were successful with average(?s:.*)one every 5ms: 5 × status 503 busy: .*too much waits`, `^$`},
		"min-success":  {flaky, append(calm, "--min-success", "99.9"), exitFailed, `^50\.00%`, `missed --min-success 99.9: it is 50%`},
		"max-p95":      {flaky, append(calm, "--max-p95", "1"), exitFailed, `^50\.00%`, `missed --max-p95 1s: it is 60s`},
		"several":      {flaky, append(calm, "--max-p99", "1", "--min-rate", "1e5", "--min-goodput", "1e5"), exitFailed, `.`, `missed --max-p99 .*; missed --min-rate 100000: it is .* answers/s; missed --min-goodput`},
		"max-p50":      {well, append(calm, "--max-p50", "1us"), exitFailed, `^100\.00%`, `missed --max-p50`},
		"none":         {never, calm, exitFailed, `^0\.00% of requests were successful, so there is no response time\n`, `no request was successful: .*503 busy`},
		"hangs":        {hangs, []string{"--num-req", "2", "--sleep", "0", "--timeout", "50ms"}, exitFailed, `all at once: 2 × timeout: `, `no request was successful`},
		"changed":      {changing, append(calm, "--corpus", one, "--from", "en", "--to", "fr", "--same"), exitOK, `^10\.00%(?s:.*): 9 × another translation than before`, `^$`},
		"warm-up":      {never, append(calm, "--warmup", "2"), exitFailed, `^$`, `no request of the warm-up was successful: .*busy`},
		"in flight":    {hangs, append(calm, "--timeout", "2", "--max-in-flight", "2"), exitFailed, `: 8 × not sent`, `no request`},
		"max-duration": {well, []string{"--num-req", "1000", "--sleep", "0.05", "--max-duration", "0.12"}, exitOK, `one every 50ms: --max-duration ended it, with \d+ requests of 1000`, `^$`},
		"clients":      {well, []string{"--clients", "2", "--duration", "5", "--max-duration", "0.1"}, exitOK, `2 clients: --max-duration ended it, with \d+ requests`, `^$`},
		"sweep within": {well, []string{"--sweep", "100,200", "--duration", "0.2", "--min-rate", "200"}, exitOK, `at all rates`, `^$`},
		"sweep beyond": {never, []string{"--sweep", "100,200", "--duration", "0.1", "--min-rate", "200"}, exitFailed, `p95 is beyond 2 s at the lowest rate, 100 requests/s`, `no request was successful`},
		"sweep missed": {flaky, []string{"--sweep", "100,200", "--duration", "0.1", "--refine", "1", "--min-rate", "100"}, exitFailed, `(?s)100/s: .*200/s: .*\n50/s: .*`, `missed --min-rate 100: it is 0 answers/s`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, out, errors := stressed(t, t.Context(), serve(t, test.behave), test.args...)
			assert.Equal(t, test.code, code)
			assert.Regexp(t, test.out, out)
			assert.Regexp(t, test.err, errors)
			assert.LessOrEqual(t, strings.Count(errors, "\n"), 1, "one line")
		})
	}
}

func TestUsage(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	tests := map[string]struct {
		args []string
		err  string
	}{
		"flag":             {[]string{"--unknown"}, "unknown flag"},
		"argument":         {[]string{"http://localhost"}, `"http://localhost" is no flag`},
		"rate and sweep":   {[]string{"--rate", "1", "--sweep", "1"}, "use one of them"},
		"rate and sleep":   {[]string{"--rate", "1", "--sleep", "1"}, "--sleep does not go with --rate"},
		"sweep and number": {[]string{"--sweep", "1", "--num-req", "1"}, "--num-req does not go with --sweep"},
		"duration":         {[]string{"--duration", "1"}, "--duration needs --rate"},
		"clients":          {[]string{"--clients", "2", "--rate", "1"}, "--rate does not go with --clients"},
		"refine":           {[]string{"--rate", "1", "--refine", "1"}, "--refine needs --sweep"},
		"zero rate":        {[]string{"--rate", "0"}, "--rate or --sweep is 0"},
		"negative rate":    {[]string{"--sweep", "1,-1"}, "--rate or --sweep is -1"},
		"not a rate":       {[]string{"--rate", "nan"}, "--rate or --sweep is NaN"},
		"huge rate":        {[]string{"--rate", "1e9"}, "--rate or --sweep is 1e+09"},
		"too many":         {[]string{"--rate", "1000", "--duration", "1h"}, "--duration × rates is 3.6e+06, expected 0 to 1e+06"},
		"too many refined": {[]string{"--sweep", "1000", "--duration", "600", "--refine", "1"}, "--duration × rates is 1.2e+06"},
		"too long":         {[]string{"--num-req", "1000", "--sleep", "100000"}, "--num-req × --sleep is 1e+08"},
		"pay size":         {[]string{"--pay-size", "0"}, "--pay-size is 0, expected 1 to 100000"},
		"number":           {[]string{"--num-req", "-1"}, "--num-req is -1"},
		"number too large": {[]string{"--num-req", "2000000"}, "--num-req is 2e+06"},
		"lambda":           {[]string{"--lambda", "-0.1"}, "--lambda is -0.1"},
		"in flight":        {[]string{"--max-in-flight", "0"}, "--max-in-flight is 0"},
		"timeout":          {[]string{"--timeout", "0"}, "--timeout is 0"},
		"limit":            {[]string{"--limit", "0"}, "--limit is 0"},
		"sleep":            {[]string{"--sleep", "soon"}, "expected seconds"},
		"negative sleep":   {[]string{"--sleep", "-1"}, "not between 0"},
		"endless sleep":    {[]string{"--sleep", "inf"}, "not between 0"},
		"no number":        {[]string{"--sleep", "nan"}, "not between 0"},
		"URL":              {[]string{"--url", "localhost:9527"}, `URL is "localhost:9527": use one such as`},
		"no URL":           {[]string{"--url", ""}, "URL is"},
		"user":             {[]string{"--url", "http://me:secret@localhost"}, "--url has a user name, for localhost"},
		"models":           {[]string{"--models", "a,b,a"}, `--models: "a" is there twice`},
		"nameless model":   {[]string{"--models", "=http://localhost"}, "has no name"},
		"URL of a model":   {[]string{"--models", "a=localhost"}, `URL is "localhost": use one such as`},
		"user of a model":  {[]string{"--models", "a=http://me:secret@localhost"}, "--models has a user name, for localhost"},
		"query":            {[]string{"--url", "http://localhost?a=b"}, "URL is"},
		"from":             {[]string{"--from", "en"}, "--from has 0 languages and --to has 0"},
		"same":             {[]string{"--from", "en", "--to", "en"}, "cannot be translated"},
		"to auto":          {[]string{"--from", "en", "--to", "auto"}, "cannot be translated"},
		"pairs":            {[]string{"--from", "en,fr,ja", "--to", "fr,en"}, "--from has 3 languages and --to has 2"},
		"language":         {[]string{"--from", "de", "--to", "en"}, "the corpus has no text to translate from de to en"},
		"success":          {[]string{"--min-success", "101"}, "--min-success is 101, expected"},
		"no success":       {[]string{"--min-success", "0"}, "--min-success is 0, expected more than 0"},
		"no p95":           {[]string{"--max-p95", "0"}, "--max-p95 is 0"},
		"sweep threshold":  {[]string{"--sweep", "1", "--max-p95", "1"}, "--max-p95 does not go with --sweep"},
		"options":          {[]string{"--options", `{"beam":1}`}, `unknown field "beam"`},
		"no corpus":        {[]string{"--corpus", filepath.Join(dir, "absent")}, "no such file"},
		"bad corpus":       {[]string{"--corpus", file("bad", "a\tb\n")}, "line 1: 2 fields"},
		"no languages":     {[]string{"--corpus", file("texts", "One.\n")}, "use --from and --to"},
		"key":              {[]string{"--key", "a\nb"}, "control characters"},
	}
	for name, test := range tests {
		var out, errors bytes.Buffer
		assert.Equal(t, exitUsage, run(t.Context(), test.args, &out, &errors), name)
		assert.Contains(t, errors.String(), test.err, name)
		assert.Equal(t, 1, strings.Count(errors.String(), "\n"), name)
		assert.Empty(t, out.String(), name)
	}
}

func TestHelp(t *testing.T) {
	var out, errors bytes.Buffer
	assert.Equal(t, exitOK, run(t.Context(), []string{"--help"}, &out, &errors))
	assert.Contains(t, out.String(), "--pay-size int")
	assert.Contains(t, out.String(), "--sleep time")
	assert.Empty(t, errors.String())
}

func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	code, out, errors := stressed(t, t.Context(), serve(t, well), "--sweep", "100,200", "--duration", "0.1", "--out", dir, "--key", "secret")
	require.Equal(t, exitOK, code, errors)
	assert.Contains(t, out, dir)

	var d report.Document
	raw, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &d))
	require.Len(t, d.Phases, 2)
	assert.Equal(t, "toy", d.Service.Model.Source)
	assert.Equal(t, "100ms", d.Settings["duration"])
	assert.Equal(t, 200.0, d.Crossing.Within)
	assert.NotContains(t, string(raw), "secret")

	svg, err := os.ReadFile(filepath.Join(dir, "plot.svg"))
	require.NoError(t, err)
	assert.Contains(t, string(svg), "</svg>")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 2)

	// A folder that cannot be made is reported before the first request.
	code, out, errors = stressed(t, t.Context(), "http://localhost:1", "--out", filepath.Join(dir, "summary.json", "x"))
	assert.Equal(t, exitFailed, code)
	assert.Empty(t, out)
	assert.Contains(t, errors, "--out")
}

// After an interrupt no more requests are sent, those in flight are awaited, and all are in the report.
func TestInterrupt(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	release := make(chan struct{})
	url := serve(t, func(n int64, _ http.ResponseWriter, _ *http.Request, _ request) bool {
		if n == 3 {
			interrupt()
			time.AfterFunc(20*time.Millisecond, func() { close(release) })
			<-release
		}
		return true
	})
	dir := t.TempDir()
	code, out, errors := stressed(t, ctx, url, "--num-req", "1000", "--sleep", "0.05", "--out", dir)
	assert.Equal(t, exitFailed, code)
	assert.Regexp(t, `^100\.00% of requests`, out, "the third is answered, too")
	assert.Regexp(t, `one every 50ms: an interrupt ended it, with 3 requests of 1000`, out)
	assert.Contains(t, errors, "interrupted")
	assert.FileExists(t, filepath.Join(dir, "plot.svg"))

	code, out, errors = stressed(t, ctx, url) // interrupted before it begins
	assert.Equal(t, exitFailed, code)
	assert.Empty(t, out)
	assert.Contains(t, errors, "interrupted")
}

func TestOutlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		longer, end := outlive(ctx, 5*time.Second)
		defer end(nil)
		interrupt()
		time.Sleep(5*time.Second - 1)
		synctest.Wait()
		assert.NoError(t, longer.Err())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		assert.ErrorIs(t, context.Cause(longer), sender.ErrUnfinished)

		other, end := outlive(ctx, time.Hour)
		end(nil)
		synctest.Wait() // the requests that waited an hour have ended
		assert.ErrorIs(t, context.Cause(other), context.Canceled)
	})
}

func TestSeconds(t *testing.T) {
	tests := map[string]time.Duration{
		"0": 0, "0.5": 500 * time.Millisecond, "1": time.Second, "2.5s": 2500 * time.Millisecond, "500ms": 500 * time.Millisecond, "1e-3": time.Millisecond, "2m": 2 * time.Minute,
	}
	for text, want := range tests {
		var s seconds
		require.NoError(t, s.Set(text), text)
		assert.Equal(t, want, time.Duration(s), text)
		var again seconds
		require.NoError(t, again.Set(s.String()))
		assert.Equal(t, s, again)
	}
}
