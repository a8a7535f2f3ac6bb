package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/guard/access"
	"dragoman/app/guard/admission"
	"dragoman/app/jobs"
	"dragoman/app/jobs/jobstore"
	"dragoman/app/translate"
)

// checked is a translator with a Check for jobs.
type checked struct{ upper }

func (checked) Check(_ context.Context, req translate.Request) error {
	if req.From == "xx" {
		return &translate.Error{Code: translate.CodeUnknownLanguage, Field: "fromLang", Message: "no"}
	}
	return nil
}

// jobService is a service with jobs, which run until the test ends or stop is called.
type jobService struct {
	http.Handler
	api    *API
	jobs   *jobs.Service
	memory *admission.Memory
	stop   func()
}

func newJobService(t *testing.T, gate *access.Gate, run bool) *jobService {
	store, err := jobstore.OpenFile(filepath.Join(t.TempDir(), "jobs.db"), storeConfig)
	require.NoError(t, err)
	return newJobServiceIn(t, gate, run, jobs.Config{Store: store, Log: slog.New(slog.DiscardHandler)})
}

var storeConfig = jobs.StoreConfig{TTL: time.Hour, PerOwner: 5, MaxBytes: 1 << 30}

// newJobServiceIn is newJobService on a store, which it closes.
func newJobServiceIn(t *testing.T, gate *access.Gate, run bool, cfg jobs.Config) *jobService {
	s := &jobService{memory: cmp.Or(cfg.Memory, admission.New(1<<20))}
	cfg.TTL, cfg.Concurrency, cfg.Memory, cfg.Render = time.Hour, 1, s.memory, JobRenderer{}
	store, service := cfg.Store, jobs.New(cfg)
	s.jobs = service
	service.Ready(checked{})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if run {
			service.Run(ctx)
		}
	}()
	s.stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(func() {
		s.stop()
		assert.NoError(t, store.Close())
	})
	s.api = New(Config{
		MaxBodyBytes: 1000, MaxRecords: 2, RequestTimeout: time.Minute, Log: slog.New(slog.DiscardHandler), Gate: gate, Memory: s.memory,
		Jobs: &JobsConfig{Service: service, MaxBodyBytes: 10_000, MaxRecords: 20, MaxDocumentBytes: 10_000, MaxChars: 5000},
	})
	s.api.Ready(upper{}, func() []Model { return nil })
	s.Handler = s.api.Handler()
	return s
}

// jobRequest returns the body of a job with one text.
func jobRequest(text string) string {
	return `{"payload":{"fromLang":"en","toLang":"fr","records":[{"id":"1","text":"` + text + `"}]}}`
}

// do sends a request and returns the status and body of the answer.
func (s *jobService) do(method, path, body string, headers ...string) (int, string) {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// submit submits a job and returns its path.
func (s *jobService) submit(t *testing.T, body string, headers ...string) string {
	t.Helper()
	status, answer := s.do("POST", "/jobs", body, headers...)
	require.Equal(t, http.StatusAccepted, status, answer)
	var parsed struct{ Job jobOutput }
	require.NoError(t, json.Unmarshal([]byte(answer), &parsed))
	return parsed.Job.URL
}

// gateOf returns a gate that knows two callers, and their keys.
func gateOf(t *testing.T, options ...string) (gate *access.Gate, alice, bob string) {
	alice, bob = access.NewKey(), access.NewKey()
	var lines string
	for name, key := range map[string]string{"alice": alice, "bob": bob} {
		line, err := access.Line(name, key, options...)
		require.NoError(t, err)
		lines += line + "\n"
	}
	path := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(path, []byte(lines), 0o600))
	gate, err := access.New(access.Config{KeysFile: path, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return gate, alice, bob
}

// With keys, a job belongs to one key.
func TestJobsHaveOwners(t *testing.T) {
	gate, alice, bob := gateOf(t)
	s := newJobService(t, gate, false)
	path := s.submit(t, jobRequest("one"), "X-API-Key", alice, "Idempotency-Key", "k")
	for _, request := range [][2]string{{"GET", path}, {"GET", path + "/events"}, {"DELETE", path}} {
		status, answer := s.do(request[0], request[1], "", "X-API-Key", bob)
		assert.Equal(t, 404, status, answer)
		assert.Contains(t, answer, `"unknown_job"`)
		status, answer = s.do(request[0], request[1], "")
		assert.Equal(t, 401, status, answer)
	}
	_, list := s.do("GET", "/jobs", "", "X-API-Key", bob)
	assert.JSONEq(t, `{"jobs":[]}`, list)
	_, list = s.do("GET", "/jobs", "", "X-API-Key", alice)
	assert.Contains(t, list, path)
	bobs := s.submit(t, jobRequest("another"), "X-API-Key", bob, "Idempotency-Key", "k")
	assert.NotEqual(t, path, bobs)
	status, _ := s.do("DELETE", path, "", "X-API-Key", alice)
	assert.Equal(t, 200, status)
	status, _ = s.do("POST", "/jobs", "{", "X-API-Key", "dgm_nope")
	assert.Equal(t, 401, status, "before the body is looked at")
}

// Without keys, a job needs only its id, and a list has the jobs of the client's address.
func TestJobsOfAddresses(t *testing.T) {
	s := newJobService(t, nil, false)
	path := s.submit(t, jobRequest("one"))
	r := httptest.NewRequest("GET", path, nil)
	r.RemoteAddr = "198.51.100.7:1"
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	assert.Equal(t, 200, w.Code)
	r.URL.Path = "/jobs"
	w = httptest.NewRecorder()
	s.ServeHTTP(w, r)
	assert.JSONEq(t, `{"jobs":[]}`, w.Body.String())
}

// The characters of a job are charged once, when it is submitted.
func TestJobsAreCharged(t *testing.T) {
	gate, alice, _ := gateOf(t, "chars=10/d")
	s := newJobService(t, gate, false)
	status, answer := s.do("POST", "/jobs", jobRequest("12345678901"), "X-API-Key", alice)
	assert.Equal(t, 413, status, answer)
	assert.Contains(t, answer, "too_many_characters")
	status, answer = s.do("POST", "/jobs", strings.Replace(jobRequest("1234"), `"en"`, `"xx"`, 1), "X-API-Key", alice)
	assert.Equal(t, 400, status, answer) // and costs nothing
	for range 3 {
		_, answer = s.do("POST", "/jobs", jobRequest("123456"), "X-API-Key", alice, "Idempotency-Key", "k")
		assert.Contains(t, answer, `"characters":6`)
	}
	s.submit(t, jobRequest("1234"), "X-API-Key", alice)
	status, answer = s.do("POST", "/jobs", jobRequest("1"), "X-API-Key", alice)
	assert.Equal(t, 429, status, answer)
	assert.Contains(t, answer, "rate_limited")
}

func TestJobsAreLimited(t *testing.T) {
	s := newJobService(t, nil, false)
	for i := range 5 {
		s.submit(t, jobRequest(fmt.Sprint(i)))
	}
	status, answer := s.do("POST", "/jobs", jobRequest("3"))
	assert.Equal(t, 429, status)
	assert.Contains(t, answer, "there are 5 jobs already, ended ones included, and no more are allowed: delete some, or wait until they expire")
}

// Invalid and hostile jobs are refused before any work, and leave nothing behind.
func TestHostileJobs(t *testing.T) {
	s := newJobService(t, nil, false)
	records := func(n int) string {
		return `{"payload":{"fromLang":"en","toLang":"fr","records":[` + strings.TrimSuffix(strings.Repeat(`{"id":"","text":""},`, n), ",") + `]}}`
	}
	for name, test := range map[string]struct {
		body   string
		status int
		code   string
	}{
		"too large":            {strings.Repeat("x", 20_000), 413, "body_too_large"},
		"larger than requests": {jobRequest(strings.Repeat("x", 5000)), 202, ""},
		"too many records":     {records(21), 413, "too_many_records"},
		"more than requests":   {records(20), 202, ""},
		"null":                 {"null", 400, "missing_field"},
		"webhook null":         {`{"webhook":null,` + jobRequest("x")[1:], 400, "wrong_type"},
		"no webhooks here":     {`{"webhook":"https://example.com",` + jobRequest("x")[1:], 400, "invalid_value"},
		"payload twice":        {`{"payload":{},` + jobRequest("x")[1:], 400, "duplicate_field"},
		"not UTF-8":            {jobRequest("\xff"), 400, "invalid_json"},
		"deep":                 {strings.Repeat("[", 9000), 400, "wrong_type"},
		"nothing":              {"", 400, "invalid_json"},
	} {
		status, answer := s.do("POST", "/jobs", test.body)
		assert.Equal(t, test.status, status, "%s: %.300s", name, answer)
		assert.Contains(t, answer, test.code, name)
		assert.Zero(t, s.memory.InUse(), name)
	}
	// in chunks, so without a length
	r := httptest.NewRequest("POST", "/jobs", bytes.NewReader(make([]byte, 20_000)))
	r.ContentLength = -1
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	assert.Equal(t, 413, w.Code)
	for _, path := range []string{"/jobs/", "/jobs/x", "/jobs/..%2f", "/jobs/%00", "/jobs/" + strings.Repeat("x", 5000), "/jobs/x/events"} {
		status, _ := s.do("GET", path, "")
		assert.Equal(t, 404, status, path)
	}
	status, _ := s.do("GET", "/jobs", strings.Repeat("x", 2000))
	assert.Equal(t, 413, status, "only POST has large bodies")
}

// A job's results equal the answer to the same request, byte for byte.
func TestJobResults(t *testing.T) {
	s := newJobService(t, nil, true)
	for _, fields := range []string{`"toLang":"fr"`, `"toLangs":["fr","ja"]`, `"toLang":"fr","detail":true`, `"toLangs":["fr"],"detail":true,"fromLang":"auto"`} {
		if !strings.Contains(fields, "fromLang") {
			fields += `,"fromLang":"en"`
		}
		body := `{"payload":{` + fields + `,"records":[{"id":"<é>","text":"a & b"}]}}`
		status, direct := s.do("POST", "/translation", body)
		require.Equal(t, 200, status)
		path := s.submit(t, body)
		s.do("GET", path+"/events", "") // waits until the job has ended
		status, answer := s.do("GET", path, "")
		require.Equal(t, 200, status)
		_, result, _ := strings.Cut(answer, `,"result":`)
		assert.Equal(t, strings.TrimPrefix(strings.TrimSpace(direct), `{"result":`), strings.TrimSpace(result))
		status, _ = s.do("DELETE", path, "")
		assert.Equal(t, 204, status)
	}
}

// A stream of events ends when the server shuts down, so that it does not delay the shutdown.
func TestJobEventsEndWithTheServer(t *testing.T) {
	s := newJobService(t, nil, false)
	path := s.submit(t, jobRequest("one"))
	server := s.api.Server()
	r := httptest.NewRequest("GET", path+"/events", nil)
	w := &firstWrite{ResponseRecorder: httptest.NewRecorder(), written: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.ServeHTTP(w, r)
	}()
	<-w.written
	require.NoError(t, server.Shutdown(t.Context()))
	<-ended
	assert.Contains(t, w.Body.String(), `"state":"queued"`)
}

// firstWrite reports the first write of an answer.
type firstWrite struct {
	*httptest.ResponseRecorder
	written chan struct{}
	done    bool
}

func (w *firstWrite) Write(p []byte) (int, error) {
	if !w.done {
		w.done = true
		defer close(w.written)
	}
	return w.ResponseRecorder.Write(p)
}

func TestNoJobs(t *testing.T) {
	s := newJobService(t, nil, false)
	missing := jobs.New(jobs.Config{Missing: fmt.Errorf("set JOB_FILE")})
	cfg := s.api.cfg
	cfg.Jobs = &JobsConfig{Service: missing, MaxBodyBytes: 1, MaxRecords: 1}
	api := New(cfg)
	for _, request := range [][2]string{{"POST", "/jobs"}, {"GET", "/jobs"}, {"GET", "/jobs/x"}, {"GET", "/jobs/x/events"}, {"DELETE", "/jobs/x"}} {
		w := httptest.NewRecorder()
		api.Handler().ServeHTTP(w, httptest.NewRequest(request[0], request[1], nil))
		assert.Equal(t, 503, w.Code)
		assert.Contains(t, w.Body.String(), `"jobs_unavailable","message":"set JOB_FILE"`)
		assert.Equal(t, "30", w.Header().Get("Retry-After"))
	}
}

// told delivers webhook calls to the test.
type told chan string

func (told) Check(string) error { return nil }

func (w told) Send(_ context.Context, _, _ string, body []byte) error {
	w <- string(body)
	return nil
}

// If Redis loses an accepted job, the loss is reported: by all routes, only to the job's owner, by every gateway once one has
// noticed it, in the log, and to the job's webhook. A deleted job is not lost.
func TestLostJobs(t *testing.T) {
	server := miniredis.RunT(t)
	gate, alice, bob := gateOf(t)
	var log bytes.Buffer
	open := func(run bool, hook told) *jobService {
		client := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1})
		t.Cleanup(func() { assert.NoError(t, client.Close()) })
		return newJobServiceIn(t, gate, run, jobs.Config{Store: jobstore.InRedis(client, "test", storeConfig), Webhooks: hook, Log: slog.New(slog.NewTextHandler(&log, nil))})
	}
	here, there, hook := open(false, told(nil)), open(false, told(nil)), make(told, 1)
	body := jobRequest("one")
	lost := here.submit(t, body[:len(body)-1]+`,"webhook":"https://example.com"}`, "Authorization", "Bearer "+alice)
	deleted := here.submit(t, body, "Authorization", "Bearer "+alice)
	for _, want := range []int{200, 204} { // the first cancels it, the second removes it
		got, _ := there.do("DELETE", deleted, "", "Authorization", "Bearer "+alice)
		assert.Equal(t, want, got)
	}
	for _, s := range []*jobService{here, there} {
		got, answer := s.do("GET", deleted, "", "Authorization", "Bearer "+alice)
		assert.Equal(t, 404, got, answer)
	}

	server.FlushAll()
	for _, s := range []*jobService{here, there} {
		for _, route := range [][2]string{{"GET", lost}, {"GET", lost + "/events"}, {"DELETE", lost}, {"HEAD", lost}} {
			got, answer := s.do(route[0], route[1], "", "Authorization", "Bearer "+alice)
			assert.Equal(t, 410, got, route)
			if route[0] != "HEAD" {
				assert.Contains(t, answer, `"code":"job_lost"`)
			}
			got, _ = s.do(route[0], route[1], "", "Authorization", "Bearer "+bob)
			assert.Equal(t, 404, got, route)
		}
		got, _ := s.do("GET", "/jobs/AAAAAAAAAAAAAAAAAAAAAAAAAA", "", "Authorization", "Bearer "+alice)
		assert.Equal(t, 404, got, "it was never accepted")
	}
	assert.Equal(t, 1, strings.Count(log.String(), "an accepted job is lost"))
	open(true, hook)
	assert.Contains(t, <-hook, `"type":"job.failed"`)
}

// The service also looks for lost jobs that no client polls.
func TestLostJobsAreLookedFor(t *testing.T) {
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1})
	defer func() { assert.NoError(t, client.Close()) }()
	hook := make(told, 1)
	s := newJobServiceIn(t, nil, false, jobs.Config{Store: jobstore.InRedis(client, "test", storeConfig), Webhooks: hook, Log: slog.New(slog.DiscardHandler)})
	body := jobRequest("one")
	s.submit(t, body[:len(body)-1]+`,"webhook":"https://example.com"}`)
	server.FlushAll()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.jobs.Run(ctx)
	}()
	assert.Contains(t, <-hook, `"code":"job_lost"`)
	cancel()
	<-ended
}

// Results that are stored as data are rendered as the results themselves.
func TestRenderedDataOfJobs(t *testing.T) {
	step := translate.StepResult{Model: "m", Version: "1", From: "en", To: "fr", Text: "x", Score: -0.1234, Cached: true, Flags: translate.Loop}
	results := []translate.Result{{
		Record: translate.Record{ID: "<1>", Text: "un & deux"}, From: "en", To: "fr", Detected: true, Model: "m", Version: "2",
		Alternatives: []translate.Alternative{{Text: "un", Score: -0.1}, {Text: "deux", Score: -0.2}},
		Segments: []translate.Segment{{Source: "one", Text: "un", Flags: translate.Truncated, Steps: []translate.StepResult{step, step},
			Alternatives: []translate.Alternative{{Text: "un", Score: -0.1}}}},
		SourceTokens: 3, TargetTokens: 4, Score: -0.25, Flags: translate.Truncated | translate.Loop, Cached: true, Decoded: true,
		Queued: 1234 * time.Microsecond, Computed: 5 * time.Millisecond,
	}, {Record: translate.Record{ID: "2"}}}
	stored, err := json.Marshal(results)
	require.NoError(t, err)
	var read []translate.Result
	require.NoError(t, json.Unmarshal(stored, &read))
	for _, r := range []jobs.Request{{}, {Detail: true}, {Detail: true, Languages: true}} {
		want, err := JobRenderer{}.Results(r, results)
		require.NoError(t, err)
		got, err := JobRenderer{}.Results(r, read)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got))
	}
}
