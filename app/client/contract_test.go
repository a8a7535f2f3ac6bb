package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/dropin/compattest"
	"dragoman/app/api/httpapi"
	"dragoman/app/catalog"
	"dragoman/app/engine"
	"dragoman/app/guard/access"
	"dragoman/app/guard/admission"
	"dragoman/app/jobs"
	"dragoman/app/jobs/jobstore"
	"dragoman/app/translate"
)

// These tests run the client against the service's real handlers.

// shouting is a translator that writes texts in capitals. It streams the last record
// first, and fails on some words.
type shouting struct{}

func (t shouting) Select(model string) (translate.Selection, error) {
	if model != "" && model != "default" {
		return nil, compattest.NoModel(model)
	}
	return compattest.Models{Codes: []string{"en", "fr", "ja"}, Tells: t}, nil
}
func (shouting) Healthy() error                        { return nil }
func (shouting) Detect(string) (string, float64, bool) { return "en", 1, true }

func (s shouting) Translate(ctx context.Context, req translate.Request) ([]translate.Result, error) {
	results := make([]translate.Result, len(req.Records)*len(req.To))
	err := s.Stream(ctx, req, func(i int, r translate.Result) error {
		results[i] = r
		return nil
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

func (shouting) Stream(ctx context.Context, req translate.Request, yield func(int, translate.Result) error) error {
	if _, err := (shouting{}).Select(req.Model); err != nil {
		return err
	}
	for i := len(req.Records)*len(req.To) - 1; i >= 0; i-- {
		record, to := req.Records[i%len(req.Records)], req.To[i/len(req.Records)]
		switch record.Text {
		case "busy":
			return &engine.BusyError{Wait: 7 * time.Second}
		case "broken":
			return &catalog.BrokenError{Model: "m:1", Err: errors.New("fault")}
		case "large":
			return &catalog.MemoryError{Model: "m", Needs: 2, Limit: 1}
		case "fail":
			return errors.New("fault")
		case "endless":
			return &translate.Error{Code: translate.CodeUnfinished, Field: "records[0].text", Message: "no end"}
		case "wait":
			<-ctx.Done()
			return ctx.Err()
		}
		if to == "xx" {
			return &translate.Error{Code: translate.CodeUnknownLanguage, Field: "toLang", Message: "xx is none"}
		}
		result := translate.Result{
			Record: translate.Record{ID: record.ID, Text: strings.ToUpper(record.Text)}, From: "en", To: to, Detected: req.From == translate.Auto,
			Segments:     []translate.Segment{{Source: record.Text, Text: strings.ToUpper(record.Text), Flags: translate.Loop}},
			SourceTokens: 3, TargetTokens: 4, Score: -0.25, Decoded: true, Flags: translate.Loop,
			Model: "m", Version: "1", Queued: 1500 * time.Microsecond, Computed: 2 * time.Millisecond,
		}
		if req.Alternatives > 0 {
			result.Alternatives = []translate.Alternative{{Text: result.Text, Score: -0.25}, {Text: fmt.Sprint(req.Alternatives), Score: -0.5}}
			result.Segments[0].Alternatives = result.Alternatives
		}
		if record.Text == "pivot" {
			result.Segments[0].Steps = []translate.StepResult{
				{Model: "m", Version: "1", From: "en", To: "ja", Text: "x", Flags: translate.SourceEcho, Score: -0.5, Cached: true},
				{Model: "n", Version: "2", From: "ja", To: to, Text: "PIVOT", Score: -0.25},
			}
		}
		if err := yield(i, result); err != nil {
			return err
		}
	}
	return nil
}

// contract returns a client of the service's own handlers.
func contract(t *testing.T, cfg Config, gate access.Config) (*Client, *httpapi.API) {
	log := slog.New(slog.DiscardHandler)
	gate.Log = log
	g, err := access.New(gate)
	require.NoError(t, err)
	api := httpapi.New(httpapi.Config{Version: "v1.2", MaxBodyBytes: 2000, RequestTimeout: time.Minute, Log: log, Gate: g, Glossaries: newGlossaries(t), Memories: newMemories(t)})
	api.Ready(shouting{}, func() []httpapi.Model {
		return []httpapi.Model{{Name: "m", Version: "1", Source: "owner/name", Revision: "abc", Precision: "int8", License: "mit"}}
	})
	server := httptest.NewServer(api.Handler())
	t.Cleanup(server.Close)
	cfg.URL, cfg.Log = server.URL, log
	c, err := New(cfg)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c, api
}

func TestContract(t *testing.T) {
	c, _ := contract(t, Config{}, access.Config{})
	request := Request{From: Auto, ToLangs: []string{"fr", "ja"}, Detail: true, NoSplit: true, Priority: PriorityHigh, Format: FormatHTML,
		Options: &Options{Beams: 2}, Records: []Record{{"1", "one <&>\n"}, {"2", "é😀"}, {"1", ""}}}
	want := func(id, text, source, to string) Result {
		return Result{ID: id, Text: text, To: to, Detail: &Detail{Model: "m", Version: "1", From: "en", Detected: true,
			Segments: []Segment{{source, text, []string{"loop"}, nil, nil, nil}}, SourceTokens: 3, TargetTokens: 4, Score: -0.25,
			Queued: 1500 * time.Microsecond, Computed: 2 * time.Millisecond, Flags: []string{"loop"}}}
	}
	var all []Result
	for _, to := range request.ToLangs {
		all = append(all, want("1", "ONE <&>\n", "one <&>\n", to), want("2", "É😀", "é😀", to), want("1", "", "", to))
	}
	results, err := c.Translate(t.Context(), request)
	require.NoError(t, err)
	assert.Equal(t, all, results)

	results, err = collect(t.Context(), c, request)
	require.NoError(t, err)
	slices.Reverse(all)
	assert.Equal(t, all, results)

	results, err = c.Translate(t.Context(), Request{From: "en", To: "fr"})
	require.NoError(t, err)
	assert.Empty(t, results)
	results, err = c.Translate(t.Context(), Request{From: "en", To: "fr", Options: &Options{}, Records: []Record{{"", "a"}}})
	require.NoError(t, err)
	assert.Equal(t, []Result{{Text: "A", To: "fr"}}, results)
}

func TestContractOfAlternatives(t *testing.T) {
	c, _ := contract(t, Config{}, access.Config{})
	request := Request{From: "en", To: "fr", Detail: true, Alternatives: 3, Records: []Record{{"1", "a"}}}
	want := []Alternative{{Text: "A", Score: -0.25}, {Text: "3", Score: -0.5}}
	results, err := c.Translate(t.Context(), request)
	require.NoError(t, err)
	assert.Equal(t, want, results[0].Alternatives)
	assert.Equal(t, want, results[0].Detail.Segments[0].Alternatives)
	streamed, err := collect(t.Context(), c, request)
	require.NoError(t, err)
	assert.Equal(t, results, streamed)
}

func TestContractOfErrors(t *testing.T) {
	c, _ := contract(t, Config{Retries: -1}, access.Config{})
	record := func(text string) []Record { return []Record{{"1", text}} }
	for name, test := range map[string]struct {
		request Request
		want    Error
	}{
		"no language":     {Request{From: "en"}, Error{Status: 400, Code: CodeMissingField, Field: "payload.toLang"}},
		"language twice":  {Request{From: "en", To: "fr", ToLangs: []string{"fr"}}, Error{Status: 400, Code: CodeInvalidValue, Field: "payload.toLangs"}},
		"other language":  {Request{From: "en", To: "xx", Records: record("a")}, Error{Status: 400, Code: CodeUnknownLanguage, Field: "payload.toLang"}},
		"other priority":  {Request{From: "en", To: "fr", Priority: "now"}, Error{Status: 400, Code: CodeInvalidValue, Field: "payload.priority"}},
		"long body":       {Request{From: "en", To: "fr", Records: record(strings.Repeat("a", 2000))}, Error{Status: 413, Code: CodeBodyTooLarge}},
		"endless":         {Request{From: "en", To: "fr", Records: record("endless")}, Error{Status: 422, Code: CodeUnfinished, Field: "payload.records[0].text"}},
		"fault":           {Request{From: "en", To: "fr", Records: record("fail")}, Error{Status: 500, Code: CodeInternal}},
		"other model":     {Request{From: "en", To: "fr", Model: "de-xx"}, Error{Status: 404, Code: CodeUnknownModel, Field: "payload.model"}},
		"other version":   {Request{From: "en", To: "fr", Model: "default:7"}, Error{Status: 404, Code: CodeUnknownModel, Field: "payload.model"}},
		"broken model":    {Request{From: "en", To: "fr", Records: record("broken")}, Error{Status: 503, Code: CodeModelBroken, RetryAfter: 30 * time.Second}},
		"large model":     {Request{From: "en", To: "fr", Records: record("large")}, Error{Status: 507, Code: CodeModelTooLarge}},
		"busy":            {Request{From: "en", To: "fr", Records: record("busy")}, Error{Status: 503, Code: CodeBusy, RetryAfter: 7 * time.Second}},
		"longer than ctx": {Request{From: "en", To: "fr", Records: record("wait")}, Error{Status: 504, Code: CodeTimeout}},
	} {
		t.Run(name, func(t *testing.T) {
			check := func(err error) {
				got := *requireError(t, err)
				assert.NotEmpty(t, got.Message)
				got.Message = ""
				assert.Equal(t, test.want, got)
			}
			test.request.ID = "contract-" + strings.ReplaceAll(name, " ", "-")
			test.want.RequestID = test.request.ID
			ctx := func() context.Context {
				if test.want.Code != CodeTimeout {
					return t.Context()
				}
				// the service knows the deadline, and answers before the client gives up
				return told{t.Context(), time.Now().Add(100 * time.Millisecond)}
			}
			_, err := c.Translate(ctx(), test.request)
			check(err)
			_, err = collect(ctx(), c, test.request)
			check(err)
		})
	}
}

// told is a context with a deadline that never ends by itself.
type told struct {
	context.Context
	at time.Time
}

func (c told) Deadline() (time.Time, bool) { return c.at, true }

// An error after the first result of a stream.
func TestContractOfBrokenStreams(t *testing.T) {
	c, _ := contract(t, Config{}, access.Config{})
	results, err := collect(t.Context(), c, Request{From: "en", To: "fr", ID: "r1", Records: []Record{{"1", "endless"}, {"2", "b"}}})
	assert.Equal(t, []Result{{"2", "B", "fr", nil, nil, nil}}, results)
	assert.Equal(t, Error{Code: CodeUnfinished, Field: "payload.records[0].text", Message: "no end", RequestID: "r1"}, *requireError(t, err))
}

func TestContractOfOtherRoutes(t *testing.T) {
	c, api := contract(t, Config{}, access.Config{})
	languages, err := c.Languages(t.Context(), "")
	require.NoError(t, err)
	require.Len(t, languages, 3)
	slices.SortFunc(languages, func(a, b Language) int { return cmp.Compare(a.Code, b.Code) })
	assert.Equal(t, Language{"ja", "Japanese", "日本語", []string{"en", "fr", "ja"}}, languages[2])

	info, err := c.Info(t.Context())
	require.NoError(t, err)
	assert.Equal(t, Info{Name: "dragoman", Version: "v1.2", Model: &Model{"m", "1", "owner/name", "abc", "int8", "mit"}}, info)

	assert.NoError(t, c.WaitReady(t.Context()))
	api.Drain()
	err = c.Ready(t.Context())
	assert.True(t, IsCode(err, CodeShuttingDown), err)
	assert.Equal(t, time.Second, requireError(t, err).RetryAfter)
}

func TestContractOfModels(t *testing.T) {
	c, api := contract(t, Config{Retries: -1}, access.Config{})
	request := Request{From: "en", To: "fr", Model: "default", Detail: true, Records: []Record{{"1", "pivot"}}}
	results, err := c.Translate(t.Context(), request)
	require.NoError(t, err)
	steps := []Step{{"m", "1", "en", "ja", "x", -0.5, true, []string{"source_echo"}}, {"n", "2", "ja", "fr", "PIVOT", -0.25, false, nil}}
	assert.Equal(t, []Segment{{"pivot", "PIVOT", []string{"loop"}, steps, nil, nil}}, results[0].Detail.Segments)
	streamed, err := collect(t.Context(), c, request)
	require.NoError(t, err)
	assert.Equal(t, results, streamed)

	languages, err := c.Languages(t.Context(), "default")
	require.NoError(t, err)
	assert.Len(t, languages, 3)
	_, err = c.Languages(t.Context(), "a b&c=d/..?")
	assert.Equal(t, 404, requireError(t, err).Status)
	assert.Contains(t, err.Error(), `There is no model "a b&c=d/..?"`)

	api.Ready(shouting{}, func() []httpapi.Model { return []httpapi.Model{{Name: "m", Version: "2"}, {Name: "m", Version: "1"}} })
	info, err := c.Info(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []Model{{Name: "m", Version: "2"}, {Name: "m", Version: "1"}}, info.Models)
	assert.Equal(t, &info.Models[0], info.Model)
}

// Keys, and a client that retries once its rate limit allows it.
func TestContractOfKeys(t *testing.T) {
	key, file := access.NewKey(), filepath.Join(t.TempDir(), "keys.txt")
	line, err := access.Line("alice", key, "rate=1/s", "burst=1")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(line+"\n"), 0o600))

	c, _ := contract(t, Config{Key: key}, access.Config{KeysFile: file})
	start := time.Now()
	for range 2 {
		results, err := c.Translate(t.Context(), hello)
		require.NoError(t, err)
		assert.Equal(t, hellos, results)
	}
	assert.Greater(t, time.Since(start), time.Second, "after a 429")

	c, _ = contract(t, Config{Key: "wrong"}, access.Config{KeysFile: file})
	_, err = c.Translate(t.Context(), hello)
	assert.True(t, IsCode(err, CodeUnauthorized), err)
	_, err = c.Languages(t.Context(), "")
	assert.NoError(t, err, "which needs no key")
}

// A service that drops the connection in the middle of a stream.
func TestContractOfCutStreams(t *testing.T) {
	api := httpapi.New(httpapi.Config{MaxBodyBytes: 2000, RequestTimeout: time.Minute, Log: slog.New(slog.DiscardHandler)})
	api.Ready(panicking{}, func() []httpapi.Model { return nil })
	server := httptest.NewUnstartedServer(api.Handler())
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.Start()
	defer server.Close()
	c, err := New(Config{URL: server.URL})
	require.NoError(t, err)
	defer c.Close()
	results, err := collect(t.Context(), c, Request{From: "en", To: "fr", Records: []Record{{"1", "a"}, {"2", "b"}}})
	assert.Equal(t, []Result{{"1", "A", "fr", nil, nil, nil}}, results)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

type panicking struct{ shouting }

func (panicking) Stream(_ context.Context, req translate.Request, yield func(int, translate.Result) error) error {
	_ = yield(0, translate.Result{Record: translate.Record{ID: "1", Text: "A"}})
	panic("in the middle")
}

// Check accepts all jobs that name languages.
func (shouting) Check(_ context.Context, req translate.Request) error {
	if slices.Contains(req.To, "xx") {
		return &translate.Error{Code: translate.CodeUnknownLanguage, Field: "toLang", Message: "xx is none"}
	}
	return nil
}

// jobService is a service that stores jobs in a file, and can be restarted.
type jobService struct {
	http.Handler
	end func()
}

func newJobService(t *testing.T, file string, gate *access.Gate) *jobService {
	log := slog.New(slog.DiscardHandler)
	store, err := jobstore.OpenFile(file, jobs.StoreConfig{TTL: time.Hour, PerOwner: 3, MaxBytes: 1 << 30})
	require.NoError(t, err)
	memory := admission.New(1 << 20)
	service := jobs.New(jobs.Config{Store: store, TTL: time.Hour, Concurrency: 1, Memory: memory, Render: httpapi.JobRenderer{}, Log: log})
	service.Ready(shouting{})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { service.Run(ctx) })
	api := httpapi.New(httpapi.Config{MaxBodyBytes: 1000, RequestTimeout: time.Minute, Log: log, Gate: gate, Memory: memory, Glossaries: newGlossaries(t), Memories: newMemories(t),
		Jobs: &httpapi.JobsConfig{Service: service, MaxBodyBytes: 10_000, MaxRecords: 20, MaxDocumentBytes: 10_000, MaxChars: 1000}})
	api.Ready(shouting{}, func() []httpapi.Model { return nil })
	return &jobService{api.Handler(), sync.OnceFunc(func() {
		cancel()
		running.Wait()
		assert.NoError(t, store.Close())
	})}
}

// contractOfJobs returns a client of the service's own jobs.
func contractOfJobs(t *testing.T, cfg Config) *Client {
	service := newJobService(t, filepath.Join(t.TempDir(), "jobs.db"), nil)
	server := httptest.NewServer(service)
	t.Cleanup(func() {
		server.Close()
		service.end()
	})
	cfg.URL, cfg.Log = server.URL, slog.New(slog.DiscardHandler)
	c, err := New(cfg)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// A job has the results of the same request.
func TestContractOfJobs(t *testing.T) {
	c := contractOfJobs(t, Config{})
	request := Request{From: Auto, ToLangs: []string{"fr", "ja"}, Detail: true, Alternatives: 2, Priority: PriorityHigh, Records: []Record{{"1", "one <&>\n"}, {"2", "é😀"}}}
	want, err := c.Translate(t.Context(), request)
	require.NoError(t, err)
	job, err := c.Submit(t.Context(), request, SubmitOptions{IdempotencyKey: "once"})
	require.NoError(t, err)
	again, err := c.Submit(t.Context(), request, SubmitOptions{IdempotencyKey: "once"})
	require.NoError(t, err)
	assert.Equal(t, job.ID(), again.ID())

	var last JobStatus
	for status, err := range job.Events(t.Context()) {
		require.NoError(t, err)
		last = status
	}
	assert.Equal(t, JobDone, last.State)
	assert.Equal(t, Progress{Records: 4, Done: 4, Flagged: 4, Characters: last.Progress.Characters}, last.Progress)
	for _, at := range []time.Time{last.Created, last.Started, last.Finished, last.Expires} {
		assert.False(t, at.IsZero(), last)
	}
	for _, j := range []*Job{job, c.Job(job.ID())} {
		results, err := j.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, results)
	}
	status, err := job.Status(t.Context())
	require.NoError(t, err)
	assert.Equal(t, last, status)
	list, err := c.Jobs(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []JobStatus{last}, list)

	require.NoError(t, job.Cancel(t.Context()))
	_, err = job.Wait(t.Context())
	assert.Equal(t, 404, requireError(t, err).Status)
	assert.True(t, IsCode(err, CodeUnknownJob))
}

func TestContractOfJobsThatFail(t *testing.T) {
	c := contractOfJobs(t, Config{Retries: -1})
	submit := func(text string, o SubmitOptions) (*Job, error) { return c.Submit(t.Context(), the(text), o) }
	job, err := submit("endless", SubmitOptions{IdempotencyKey: "k"})
	require.NoError(t, err)
	_, err = job.Wait(t.Context())
	assert.Equal(t, Error{Code: CodeUnfinished, Field: "payload.records[0].text", Message: "no end"}, *requireError(t, err))

	_, err = submit("another", SubmitOptions{IdempotencyKey: "k"})
	assert.True(t, IsCode(err, CodeIdempotencyMismatch), err)
	_, err = submit("a", SubmitOptions{Webhook: "http://localhost"})
	assert.Equal(t, "webhook", requireError(t, err).Field)
	_, err = c.Submit(t.Context(), Request{From: "en", To: "xx", Records: []Record{{}}}, SubmitOptions{})
	assert.True(t, IsCode(err, CodeUnknownLanguage), err)
	_, err = submit(strings.Repeat("a", 10_000), SubmitOptions{})
	assert.True(t, IsCode(err, CodeBodyTooLarge), err)

	job, err = submit("wait", SubmitOptions{})
	require.NoError(t, err)
	_, err = submit("a third", SubmitOptions{})
	require.NoError(t, err)
	_, err = submit("too many", SubmitOptions{})
	assert.True(t, IsCode(err, CodeTooManyJobs), err)
	require.NoError(t, job.Cancel(t.Context()))
	_, err = job.Wait(t.Context())
	assert.ErrorIs(t, err, ErrCancelled)
}

// Wait continues while the service restarts.
func TestContractOfRestarts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs.db")
	var serving atomic.Pointer[jobService]
	start := func() { serving.Store(newJobService(t, file, nil)) }
	away := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if service := serving.Load(); service != nil {
			service.ServeHTTP(w, r)
			return
		}
		w.WriteHeader(http.StatusBadGateway)
		away <- struct{}{}
	}))
	defer server.Close()
	start()
	c, err := New(Config{URL: server.URL, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	defer c.Close()
	// The waiting request holds the only place until the service ends.
	waiting, err := c.Submit(t.Context(), the("wait"), SubmitOptions{})
	require.NoError(t, err)
	submitted, err := c.Submit(t.Context(), the("hello"), SubmitOptions{})
	require.NoError(t, err)

	done := make(chan error)
	var seen []JobState
	go func() {
		for status, err := range c.Job(submitted.ID()).Events(t.Context()) {
			if err != nil {
				done <- err
				return
			}
			if seen = append(seen, status.State); len(seen) == 1 {
				done <- nil // it waits
			}
		}
		close(done)
	}()
	require.NoError(t, <-done)
	old := serving.Swap(nil)
	server.CloseClientConnections()
	old.end()
	<-away
	start()
	require.NoError(t, c.Job(waiting.ID()).Cancel(t.Context()))
	require.NoError(t, <-done)
	assert.Equal(t, JobDone, seen[len(seen)-1])
	results, err := submitted.Wait(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []Result{{Text: "HELLO", To: "fr"}}, results)
	serving.Load().end()
}
