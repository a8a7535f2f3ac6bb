package client

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/access"
	"dragoman/app/catalog"
	"dragoman/app/compat/compattest"
	"dragoman/app/engine"
	"dragoman/app/httpapi"
	"dragoman/app/translate"
)

// These tests hold the client to the service's real handlers.

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

// contract makes a client of the service's own handlers.
func contract(t *testing.T, cfg Config, gate access.Config) (*Client, *httpapi.API) {
	log := slog.New(slog.DiscardHandler)
	gate.Log = log
	g, err := access.New(gate)
	require.NoError(t, err)
	api := httpapi.New(httpapi.Config{Version: "v1.2", MaxBodyBytes: 2000, RequestTimeout: time.Minute, Log: log, Gate: g})
	api.Ready(shouting{}, func() []httpapi.Model {
		return []httpapi.Model{{Name: "m", Version: "1", Source: "owner/name", Revision: "abc", Precision: "int8"}}
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
			Segments: []Segment{{source, text, []string{"loop"}, nil}}, SourceTokens: 3, TargetTokens: 4, Score: -0.25,
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
				// the service is told, and answers before the client gives up
				return told{t.Context(), time.Now().Add(100 * time.Millisecond)}
			}
			_, err := c.Translate(ctx(), test.request)
			check(err)
			_, err = collect(ctx(), c, test.request)
			check(err)
		})
	}
}

// told is a context that has a deadline and never notices that it passed.
type told struct {
	context.Context
	at time.Time
}

func (c told) Deadline() (time.Time, bool) { return c.at, true }

// An error after the first result of a stream.
func TestContractOfBrokenStreams(t *testing.T) {
	c, _ := contract(t, Config{}, access.Config{})
	results, err := collect(t.Context(), c, Request{From: "en", To: "fr", ID: "r1", Records: []Record{{"1", "endless"}, {"2", "b"}}})
	assert.Equal(t, []Result{{"2", "B", "fr", nil}}, results)
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
	assert.Equal(t, Info{Name: "dragoman", Version: "v1.2", Model: &Model{"m", "1", "owner/name", "abc", "int8"}}, info)

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
	assert.Equal(t, []Segment{{"pivot", "PIVOT", []string{"loop"}, steps}}, results[0].Detail.Segments)
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

// Keys, and a client that comes back when its share is there again.
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
	assert.Equal(t, []Result{{"1", "A", "fr", nil}}, results)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

type panicking struct{ shouting }

func (panicking) Stream(_ context.Context, req translate.Request, yield func(int, translate.Result) error) error {
	_ = yield(0, translate.Result{Record: translate.Record{ID: "1", Text: "A"}})
	panic("in the middle")
}
