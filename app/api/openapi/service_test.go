package openapi_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/dropin/compattest"
	"dragoman/app/api/httpapi"
	"dragoman/app/api/mcp"
	"dragoman/app/api/webpage"
	"dragoman/app/catalog"
	"dragoman/app/engine"
	"dragoman/app/guard/access"
	"dragoman/app/guard/admission"
	"dragoman/app/jobs"
	"dragoman/app/jobs/jobstore"
	"dragoman/app/telemetry"
	"dragoman/app/translate"
)

// capitals is a translator that writes capitals, within the limits of config and loaded. It fails for some texts, and flags
// texts that begin with "loop".
type capitals struct{}

func (t capitals) Select(model string) (translate.Selection, error) {
	if model != "" && model != "default" {
		return nil, compattest.NoModel(model)
	}
	return compattest.Models{Codes: loaded().Languages, Tells: t}, nil
}

func (capitals) Healthy() error { return nil }

func (capitals) Detect(text string) (code string, confidence float64, ok bool) {
	return "en", 0.9, strings.ContainsFunc(text, unicode.IsLetter)
}

func (t capitals) Translate(ctx context.Context, req translate.Request) ([]translate.Result, error) {
	results := []translate.Result{}
	err := t.Stream(ctx, req, func(_ int, r translate.Result) error {
		results = append(results, r)
		return nil
	})
	return results, err
}

func (t capitals) Stream(ctx context.Context, req translate.Request, yield func(int, translate.Result) error) error {
	if _, err := t.Select(req.Model); err != nil {
		return err
	}
	if err := refuse(req); err != nil {
		return err
	}
	for _, to := range req.To {
		for i, r := range req.Records {
			if err := fail(ctx, i, r.Text); err != nil {
				return err
			}
			text := strings.ToUpper(r.Text)
			result := translate.Result{
				Record: translate.Record{ID: r.ID, Text: text}, From: "en", To: to, Detected: req.From == translate.Auto,
				Model: "m", Version: "1", Segments: []translate.Segment{{Source: r.Text, Text: text}}, SourceTokens: 4, TargetTokens: 3, Score: -0.123456,
				Decoded: true, Queued: 1500 * time.Microsecond, Computed: 2 * time.Millisecond,
			}
			for range req.Alternatives {
				result.Alternatives = append(result.Alternatives, translate.Alternative{Text: text, Score: -0.25})
				result.Segments[0].Alternatives = result.Alternatives
			}
			if strings.HasPrefix(text, "LOOP") {
				result.Flags, result.Segments[0].Flags = translate.Loop|translate.Truncated, translate.Loop
			}
			switch text {
			case "12":
				result.From, result.Segments = "", nil // no language can be detected
				result.Model, result.Version = "", ""
			case "PIVOT":
				result.Model, result.Version = "m+n", "1+2"
				result.Segments[0].Steps = []translate.StepResult{
					{Model: "m", Version: "1", From: "en", To: "ja", Text: "x", Score: -0.5, Cached: true},
					{Model: "n", Version: "2", From: "ja", To: to, Text: text, Score: -0.25, Flags: translate.Loop},
				}
			}
			if err := yield(i, result); err != nil {
				return err
			}
		}
	}
	return nil
}

// refuse returns the error for an invalid request, as the real service does.
func refuse(req translate.Request) error {
	refused := func(code translate.Code, field string) error {
		return &translate.Error{Code: code, Field: field, Message: "that is not possible here"}
	}
	known := func(code string) bool { return slices.Contains(loaded().Languages, code) }
	switch beams := req.Options.Beams; {
	case req.From != translate.Auto && !known(req.From):
		return refused(translate.CodeUnknownLanguage, "fromLang")
	case len(req.To) == 0 || !known(req.To[0]):
		return refused(translate.CodeUnknownLanguage, "toLang")
	case beams > loaded().MaxBeams:
		return refused(translate.CodeInvalidOption, "options.beams")
	case req.Alternatives < 0 || req.Alternatives > loaded().MaxBeams:
		return refused(translate.CodeInvalidOption, "alternatives")
	case len(req.Records)*len(req.To) > config().MaxRecords:
		return refused(translate.CodeTooManyRecords, "records")
	}
	for i, r := range req.Records {
		if utf8.RuneCountInString(r.Text) > config().MaxChars {
			return refused(translate.CodeTextTooLong, fmt.Sprintf("records[%d].text", i))
		}
	}
	return nil
}

// fail returns the error for record i.
func fail(ctx context.Context, i int, text string) error {
	switch text {
	case "fail":
		return errors.New("secret")
	case "panic":
		panic("secret")
	case "busy":
		return &engine.BusyError{Requests: 64, Wait: 2100 * time.Millisecond}
	case "closed":
		return engine.ErrClosed
	case "loading":
		return &catalog.LoadingError{Model: "m", Wait: time.Second}
	case "broken":
		return &catalog.BrokenError{Model: "m:1", Err: errors.New("secret")}
	case "large":
		return &catalog.MemoryError{Model: "m", Needs: 2, Limit: 1}
	case "endless":
		return &translate.Error{Code: translate.CodeUnfinished, Field: fmt.Sprintf("records[%d].text", i), Message: "no end"}
	case "late":
		return context.DeadlineExceeded
	case "wait":
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

// newAPI returns a service with all optional parts except keys, ready or not.
func newAPI(t *testing.T, ready bool) *httpapi.API {
	api := newAPIWith(t, nil)
	if ready {
		api.Ready(capitals{}, func() []httpapi.Model {
			return []httpapi.Model{{Name: "m", Version: "1", Source: "owner/name", Precision: "int8"}}
		})
	}
	return api
}

// newAPIWith returns a service with a gate; nil: without keys.
func newAPIWith(t *testing.T, gate *access.Gate) *httpapi.API {
	t.Helper()
	site, err := webpage.New()
	require.NoError(t, err)
	return httpapi.New(httpapi.Config{
		Version: config().Version, MaxBodyBytes: config().MaxBodyBytes, Memory: admission.New(2 << 20), RequestTimeout: time.Minute,
		Log: slog.New(slog.DiscardHandler), Gate: gate, Site: site,
		Jobs: &httpapi.JobsConfig{Service: newJobs(t), MaxBodyBytes: config().MaxJobBodyBytes, MaxRecords: config().MaxJobRecords,
			MaxDocumentBytes: config().MaxDocumentBytes, MaxChars: config().MaxJobChars},
		Glossaries: newGlossaries(t),
		Memories:   newMemories(t),
		Live:       &httpapi.LiveConfig{Service: newLive(t), MaxChars: liveChars},
		Metrics:    telemetry.New(slog.New(slog.DiscardHandler)),
		Tools:      func(routes http.Handler) http.Handler { return mcp.Handler("", routes, config().MaxBodyBytes) },
	})
}

// Check checks the request of a job.
func (t capitals) Check(ctx context.Context, req translate.Request) error {
	if _, err := t.Select(req.Model); err != nil {
		return err
	}
	return refuse(req)
}

// newJobs returns a service of jobs and runs it until the test ends.
func newJobs(t *testing.T) *jobs.Service {
	store, err := jobstore.OpenFile(filepath.Join(t.TempDir(), "jobs.db"), jobs.StoreConfig{TTL: time.Hour, PerOwner: 6, MaxBytes: 1 << 30})
	require.NoError(t, err)
	s := jobs.New(jobs.Config{
		Store: store, TTL: time.Hour, Concurrency: 1, Render: httpapi.JobRenderer{}, Webhooks: noWebhooks{}, Log: slog.New(slog.DiscardHandler),
	})
	s.Ready(capitals{})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		assert.NoError(t, store.Close())
	})
	return s
}

// noWebhooks knows one webhook, which is gone.
type noWebhooks struct{}

func (noWebhooks) Check(url string) error {
	if url != "https://example.com" {
		return errors.New("that is not possible here")
	}
	return nil
}

func (noWebhooks) Send(context.Context, string, string, []byte) error { return jobs.ErrWebhookGone }
