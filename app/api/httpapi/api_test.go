package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/dropin/compattest"
	"dragoman/app/engine"
	"dragoman/app/guard/admission"
	"dragoman/app/guard/body"
	"dragoman/app/translate"
	"dragoman/model"
)

// upper is a translator that writes texts in capitals. Some words make it fail.
// Blank texts need no translating, and those that begin with "old" are cached.
type upper struct{}

var errSecret = errors.New("secret: weights at /root/weights")

func (t upper) Select(model string) (translate.Selection, error) {
	if model != "" && model != "default" {
		return nil, compattest.NoModel(model)
	}
	return compattest.Models{Codes: []string{"en", "fr", "ja"}, Tells: t}, nil
}

func (upper) Healthy() error { return nil }

func (upper) Detect(text string) (string, float64, bool) { return "en", 0.5, text != "" }

func (u upper) Translate(ctx context.Context, req translate.Request) ([]translate.Result, error) {
	var results []translate.Result
	err := u.Stream(ctx, req, func(_ int, r translate.Result) error {
		results = append(results, r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

func (upper) Stream(ctx context.Context, req translate.Request, yield func(int, translate.Result) error) error {
	if _, err := (upper{}).Select(req.Model); err != nil {
		return err
	}
	for _, to := range req.To {
		if to == "xx" {
			return &translate.Error{Code: translate.CodeUnknownLanguage, Field: "toLang", Message: `"xx" is not a language of this model`}
		}
		for i, r := range req.Records {
			if err := refuse(ctx, i, r.Text); err != nil {
				return err
			}
			text, old := strings.ToUpper(r.Text), strings.HasPrefix(r.Text, "old")
			if r.Text == "request" { // the requests, without their records
				req.Records = nil
				text = fmt.Sprintf("%+v", req)
			}
			result := translate.Result{
				Record: translate.Record{ID: r.ID, Text: text}, From: "en", To: to, Model: "m", Version: "1", Detected: req.From == translate.Auto,
				Segments:     []translate.Segment{{Source: r.Text, Text: text}},
				SourceTokens: 4, TargetTokens: 3, Score: -0.123456,
				Cached: old, Decoded: !old && r.Text != "", Queued: 1500 * time.Microsecond, Computed: 2 * time.Millisecond,
			}
			if r.Text == "loop" {
				result.Flags, result.Segments[0].Flags = translate.Loop|translate.Truncated, translate.Loop|translate.Truncated
			}
			if req.Alternatives > 0 {
				result.Alternatives = []translate.Alternative{{Text: text, Score: -0.123456}, {Text: fmt.Sprint(req.Alternatives), Score: -1}}
				result.Segments[0].Alternatives = result.Alternatives
			}
			if r.Text == "pivot" {
				result.Model, result.Version = "ja-en+en-de", "1+2"
				result.Segments[0].Steps = []translate.StepResult{
					{Model: "ja-en", Version: "1", From: "ja", To: "en", Text: "x", Score: -0.5, Cached: true},
					{Model: "en-de", Version: "2", From: "en", To: "de", Text: text, Score: -0.123456, Flags: translate.Loop},
				}
			}
			if err := yield(i, result); err != nil {
				return err
			}
		}
	}
	return nil
}

// refuse returns the error for record i.
func refuse(ctx context.Context, i int, text string) error {
	switch text {
	case "fail":
		return fmt.Errorf("step with 3 sentences: %w", errSecret)
	case "panic":
		panic(errSecret)
	case "busy":
		return fmt.Errorf("worker 1: %w", &engine.BusyError{Requests: 64, Wait: 2100 * time.Millisecond})
	case "closed":
		return engine.ErrClosed
	case "lost":
		return fmt.Errorf("worker 1: %w: CUDA_ERROR_ILLEGAL_ADDRESS", model.ErrLost)
	case "long", "endless", "many":
		code := map[string]translate.Code{"long": translate.CodeTextTooLong, "endless": translate.CodeUnfinished, "many": translate.CodeTooManyRecords}[text]
		return &translate.Error{Code: code, Field: fmt.Sprintf("records[%d].text", i), Message: "no"}
	case "late":
		return context.DeadlineExceeded
	case "wait":
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

const maxBody = 2000

// newAPI returns a ready API and the buffer of its log.
func newAPI(settings ...func(*Config)) (*API, *bytes.Buffer) {
	var log bytes.Buffer
	cfg := Config{Version: "v1.2", MaxBodyBytes: maxBody, RequestTimeout: time.Minute,
		Log: slog.New(slog.NewTextHandler(&log, nil))}
	for _, set := range settings {
		set(&cfg)
	}
	a := New(cfg)
	a.Ready(upper{}, one)
	return a, &log
}

// one returns the only model.
func one() []Model {
	return []Model{{Name: "m", Version: "1", Source: "owner/name", Revision: "abc", Precision: "int8"}}
}

// do sends one request to a handler.
func do(h http.Handler, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://service:9527"+path, strings.NewReader(body))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// payload makes a body from en to fr with the given JSON as records.
func payload(records string) string {
	return `{"payload":{"fromLang":"en","toLang":"fr","records":` + records + `}}`
}

func TestRoutes(t *testing.T) {
	a, _ := newAPI()
	for _, test := range []struct{ path, want string }{
		{"/", `{"name":"dragoman","version":"v1.2","model":{"name":"m","version":"1","source":"owner/name","revision":"abc","precision":"int8"},` +
			`"translation":"POST /translation","languages":"http://service:9527/languages","routes":["/: GET",`},
		{"/languages", `[{"code":"en","name":"English","nativeName":"English","targets":["en","fr","ja"]},` +
			`{"code":"fr","name":"French","nativeName":"français","targets":["en","fr","ja"]},` +
			`{"code":"ja","name":"Japanese","nativeName":"日本語","targets":["en","fr","ja"]}]`},
		{"/healthz", `{"status":"ok"}`},
		{"/readyz", `{"status":"ready"}`},
		{"/readyz?probe=1", `{"status":"ready"}`},
	} {
		t.Run(test.path, func(t *testing.T) {
			w := do(a.Handler(), "GET", test.path, "")
			assert.Equal(t, 200, w.Code)
			if test.path == "/" { // TestRoutesAreListed has the rest
				assert.True(t, strings.HasPrefix(w.Body.String(), test.want), w.Body.String())
			} else {
				assert.Equal(t, test.want+"\n", w.Body.String())
			}
			assert.Equal(t, 200, do(a.Handler(), "HEAD", test.path, "").Code)
		})
	}
}

func TestLifecycle(t *testing.T) {
	a := New(Config{MaxBodyBytes: maxBody, RequestTimeout: time.Minute, Log: slog.New(slog.DiscardHandler)})
	h := a.Handler()
	expect := func(method, path string, status int, in string) {
		t.Helper()
		w := do(h, method, path, payload("[]"))
		assert.Equal(t, status, w.Code, path)
		assert.Contains(t, w.Body.String(), in, path)
	}
	expect("GET", "/healthz", 200, "ok")
	expect("GET", "/readyz", 503, "not_ready")
	expect("GET", "/languages", 503, "odel is loading")
	expect("POST", "/translation", 503, "not_ready")
	expect("GET", "/", 200, `"name":"dragoman"`)

	a.Ready(upper{}, one)
	expect("GET", "/readyz", 200, "ready")
	expect("POST", "/translation", 200, `"result":[]`)

	a.Drain()
	expect("GET", "/healthz", 200, "ok")
	expect("GET", "/readyz", 503, "shutting_down")
	expect("POST", "/translation", 200, `"result":[]`)
}

// stuck is a translator that never returns a result.
type stuck struct{ upper }

func (stuck) Healthy() error { return errors.New("the model has not finished a step for 2m0s") }

func TestProbesOfAStuckModel(t *testing.T) {
	a, _ := newAPI()
	assert.True(t, a.IsReady())
	a.Ready(stuck{}, one)
	assert.False(t, a.IsReady())
	for _, path := range []string{"/readyz", "/healthz"} {
		w := do(a.Handler(), "GET", path, "")
		assert.Equal(t, 503, w.Code, path)
		assert.Equal(t, `{"error":{"code":"stuck","message":"the model has not finished a step for 2m0s"}}`+"\n", w.Body.String())
	}
}

func TestRequestID(t *testing.T) {
	a, log := newAPI()
	h := a.Handler()
	for sent, kept := range map[string]bool{
		"abc-123_x.y:z/+=": true, strings.Repeat("a", 128): true,
		"": false, strings.Repeat("a", 129): false, "a b": false, "a\tb": false, "é": false, `"`: false,
	} {
		got := do(h, "GET", "/", "", "X-Request-Id", sent).Header().Get("X-Request-Id")
		assert.NotEmpty(t, got)
		assert.Equal(t, kept, got == sent, "%q became %q", sent, got)
		assert.Contains(t, log.String(), got)
	}
	assert.NotEqual(t, do(h, "GET", "/", "").Header().Get("X-Request-Id"), do(h, "GET", "/", "").Header().Get("X-Request-Id"))
}

func TestInternalsAreLoggedNotSent(t *testing.T) {
	for _, text := range []string{"fail", "panic"} {
		t.Run(text, func(t *testing.T) {
			a, log := newAPI()
			w := do(a.Handler(), "POST", "/translation", payload(`[{"id":"1","text":"`+text+`"}]`), "X-Request-Id", "id-77")
			assert.Equal(t, 500, w.Code)
			assert.Equal(t, `{"error":{"code":"internal","message":"internal error, request id id-77"}}`+"\n", w.Body.String())
			assert.Contains(t, log.String(), errSecret.Error())
			assert.Contains(t, log.String(), "id-77")
		})
	}
}

func TestTextsAreNotLogged(t *testing.T) {
	a, log := newAPI()
	do(a.Handler(), "POST", "/translation", payload(`[{"id":"1","text":"confidential"}]`))
	assert.Contains(t, log.String(), "records=1")
	assert.NotContains(t, log.String(), "confidential")
}

func TestClientThatLeaves(t *testing.T) {
	a, log := newAPI(func(cfg *Config) { cfg.RequestTimeout = time.Hour })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequestWithContext(ctx, "POST", "/translation", strings.NewReader(payload(`[{"id":"1","text":"wait"}]`)))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	a.Handler().ServeHTTP(w, r)
	assert.Empty(t, w.Body.String())
	assert.Contains(t, log.String(), "status=499")
}

// serve runs the API behind its own server and returns its address.
func serve(t *testing.T, a *API) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	srv, done := a.Server(), make(chan error)
	go func() { done <- srv.Serve(listener) }()
	t.Cleanup(func() {
		assert.NoError(t, srv.Close())
		assert.ErrorIs(t, <-done, http.ErrServerClosed)
	})
	return listener.Addr().String()
}

func TestServerCutsSlowBodies(t *testing.T) {
	a, _ := newAPI()
	a.bodies = body.New(body.Config{Most: maxBody, Memory: admission.New(256 * maxBody), Timeout: 20 * time.Millisecond})
	conn, err := net.Dial("tcp", serve(t, a))
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "POST /translation HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	require.NoError(t, err)
	answer, err := io.ReadAll(conn) // the server closes the connection
	require.NoError(t, err)
	assert.Contains(t, string(answer), "HTTP/1.1 408 ")
	assert.Contains(t, string(answer), `"code":"body_timeout"`)
}

// A small body that does not arrive, and a large one that never starts, get a shorter time limit than other bodies.
func TestServerCutsSilence(t *testing.T) {
	for _, sent := range []string{"Content-Length: 100\r\n\r\n", "Content-Length: 100\r\n\r\n{", "Content-Length: 200000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n"} {
		a, _ := newAPI(func(cfg *Config) { cfg.MaxBodyBytes = 1 << 20 })
		a.bodies = body.New(body.Config{Most: 1 << 20, Memory: admission.New(1 << 30), Timeout: time.Hour, Silence: 20 * time.Millisecond})
		conn, err := net.Dial("tcp", serve(t, a))
		require.NoError(t, err)
		defer conn.Close()
		_, err = io.WriteString(conn, "POST /translation HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+sent)
		require.NoError(t, err)
		answer, err := io.ReadAll(conn)
		require.NoError(t, err)
		assert.Contains(t, string(answer), "HTTP/1.1 408 ", sent)
		assert.Contains(t, string(answer), "send it at once", sent)
	}
}

// Routes that the operator has disabled name the setting.
func TestTurnedOff(t *testing.T) {
	a, _ := newAPI()
	h := a.Handler()
	for path, variable := range map[string]string{
		"/jobs": "JOB_FILE", "/jobs/x/events": "JOB_FILE", "/documents": "JOB_FILE", "/documents/x/result": "JOB_FILE",
		"/glossaries": "GLOSSARY_FILE", "/live": "LIVE_SESSIONS",
	} {
		for _, method := range []string{"GET", "POST"} {
			w := do(h, method, path, "")
			assert.Equal(t, 404, w.Code, path)
			assert.Contains(t, w.Body.String(), variable, path)
		}
	}
	w := do(h, "POST", "/documents", "")
	assert.JSONEq(t, `{"error":{"code":"turned_off","message":"this service has no documents: its operator has turned them off by JOB_FILE=off"}}`, w.Body.String())
	for _, path := range []string{"/jobsite", "/document", "/v2/documents", "/models/m/jobs"} {
		assert.NotContains(t, do(h, "POST", path, "").Body.String(), "turned", path)
	}
}

// The deadline for reading the body must not end a longer translation.
func TestServerWaitsForSlowTranslations(t *testing.T) {
	a, _ := newAPI(func(cfg *Config) { cfg.RequestTimeout = 400 * time.Millisecond })
	a.bodies = body.New(body.Config{Most: maxBody, Memory: admission.New(256 * maxBody), Timeout: 250 * time.Millisecond})
	resp, err := http.Post("http://"+serve(t, a)+"/translation", "application/json", strings.NewReader(payload(`[{"id":"1","text":"wait"}]`)))
	require.NoError(t, err)
	defer resp.Body.Close()
	assert.Equal(t, 504, resp.StatusCode, "the request's own timeout")
}

func TestServerBoundsChunkedBodies(t *testing.T) {
	a, _ := newAPI()
	body := io.LimitReader(zeros{}, maxBody+1) // no known length: sent in chunks
	resp, err := http.Post("http://"+serve(t, a)+"/translation", "application/json", body)
	require.NoError(t, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, 413, resp.StatusCode)
	assert.Contains(t, string(answer), `"code":"body_too_large"`)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
