package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/dropin/compattest"
	"dragoman/app/budget"
	"dragoman/app/guard/admission"
	"dragoman/app/translate"
)

// preparing is a translator that works, in its turn, until its request's context ends.
type preparing struct {
	upper
	begun chan struct{} // receives one per request
	ended chan error    // receives the error of each request
}

func (p preparing) work(ctx context.Context, caller string) error {
	_, err := admission.Do(ctx, caller, func(ctx context.Context) error {
		p.begun <- struct{}{}
		for {
			if err := budget.Work(ctx, 1<<10); err != nil {
				return err
			}
			time.Sleep(time.Millisecond) // stands for a step of work
		}
	})
	p.ended <- err
	return err
}

func (p preparing) Translate(ctx context.Context, req translate.Request) ([]translate.Result, error) {
	return nil, p.work(ctx, req.Caller)
}

func (p preparing) Stream(ctx context.Context, req translate.Request, _ func(int, translate.Result) error) error {
	return p.work(ctx, req.Caller)
}

// Over each API the work of a request ends when its client leaves, and its turn is free.
func TestWorkEndsWithItsClient(t *testing.T) {
	memory := admission.New(1 << 30)
	p := preparing{begun: make(chan struct{}), ended: make(chan error)}
	a, _ := newAPI(func(cfg *Config) { cfg.RequestTimeout, cfg.Memory = time.Hour, memory })
	a.Ready(p, one)
	checkFree := func(what string) {
		lease := memory.Lease("another")
		defer lease.Close()
		_, err := admission.Do(admission.With(t.Context(), lease), "another", func(context.Context) error { return nil })
		assert.NoError(t, err, what)
	}
	for _, call := range []struct{ path, body string }{
		{"/translation", payload(`[{"id":"1","text":"one"}]`)},
		{"/translation/stream", payload(`[{"id":"1","text":"one"}]`)},
		{"/translate", `{"source":"en","target":"fr","q":"one"}`},
		{"/v2/translate", `{"target_lang":"FR","text":["one"]}`},
		{"/deeplx", `{"text":"one","target_lang":"FR"}`},
		{"/language/translate/v2", `{"q":"one","target":"fr"}`},
		{"/v3/projects/p:translateText", `{"contents":["one"],"targetLanguageCode":"fr"}`},
		{"/translate_a/single", `{"q":"one","sl":"en","tl":"fr","dt":"t"}`},
		{"/translate?api-version=3.0&to=fr", `[{"Text":"one"}]`},
		{"/imme", `{"target_lang":"fr","text_list":["one"]}`},
		{"/kiss", `{"text":"one","to":"fr"}`},
		{"/hcfy", `{"text":"one","destination":["法语"],"source":"英语"}`},
		{"/v1/chat/completions", `{"model":"default","messages":[{"role":"user","content":"Translate into French: one"}]}`},
	} {
		t.Run(call.path, func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			r := httptest.NewRequestWithContext(ctx, http.MethodPost, call.path, strings.NewReader(call.body))
			r.Header.Set("Content-Type", "application/json")
			w, served := httptest.NewRecorder(), make(chan struct{})
			go func() {
				defer close(served)
				a.Handler().ServeHTTP(w, r)
			}()
			select {
			case <-p.begun:
			case <-served:
				require.Fail(t, "the request is refused", w.Body.String())
			}
			leave()
			assert.ErrorIs(t, <-p.ended, context.Canceled)
			<-served
			checkFree(call.path)
		})
	}
}

// leaver is a translator that detects languages. Its client leaves at the first text.
type leaver struct {
	upper
	leave    context.CancelFunc
	detected *int
}

func (l leaver) Select(string) (translate.Selection, error) {
	return compattest.Models{Codes: []string{"en", "fr", "ja"}, Tells: l}, nil
}

func (l leaver) Detect(text string) (string, float64, bool) {
	*l.detected++
	l.leave()
	return l.upper.Detect(text)
}

// Language detection also ends when its client leaves: the second text is not examined.
func TestDetectionEndsWithItsClient(t *testing.T) {
	for _, call := range []struct{ path, body string }{
		{"/detect", `{"q":["one","two"]}`},
		{"/language/translate/v2/detect", `{"q":["one","two"]}`},
		{"/detect?api-version=3.0", `[{"Text":"one"},{"Text":"two"}]`},
	} {
		ctx, leave := context.WithCancel(t.Context())
		detected := 0
		a, log := newAPI(func(cfg *Config) { cfg.RequestTimeout = time.Hour })
		a.Ready(leaver{leave: leave, detected: &detected}, one)
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, call.path, strings.NewReader(call.body))
		r.Header.Set("Content-Type", "application/json")
		a.Handler().ServeHTTP(httptest.NewRecorder(), r)
		assert.Equal(t, 1, detected, call.path)
		assert.Contains(t, log.String(), "status=499", call.path)
	}
}
