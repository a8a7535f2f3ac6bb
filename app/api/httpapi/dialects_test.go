package httpapi

import (
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/guard/access"
	"dragoman/app/telemetry"
)

// counting gives an API metrics.
func counting(cfg *Config) {
	cfg.Metrics = telemetry.New(cfg.Log)
}

// Drop-in routes report failures in the words of their API. The metrics count them under the codes of the service's own routes.
func TestFailuresOfDropInRoutes(t *testing.T) {
	libre := func(text string) string { return `{"q":"` + text + `","source":"en","target":"fr"}` }
	deepl := func(text string) string { return `{"text":["` + text + `"],"target_lang":"FR"}` }
	tooLarge := strings.Repeat("x", maxBody)
	for _, test := range []struct {
		name, path, body string
		headers          []string
		status           int
		field, code      string
	}{
		{"LibreTranslate", "/translate", libre("busy"), nil, 503, "error", "busy"},
		{"DeepL", "/v2/translate", deepl("busy"), nil, 529, "message", "busy"},
		{"shutting down", "/translate", libre("closed"), nil, 503, "error", "shutting_down"},
		{"a fault", "/v2/translate", deepl("fail"), nil, 500, "message", "internal"},
		{"a panic", "/v2/translate", deepl("panic"), nil, 500, "message", "internal"},
		{"too slow", "/translate", libre("late"), nil, 504, "error", "timeout"},
		{"a code of the use case", "/translate", libre("endless"), nil, 400, "error", "unfinished"},
		{"too many", "/v2/translate", deepl("many"), nil, 413, "message", "too_many_records"},
		{"not a request", "/translate", `{"q":"text"}`, nil, 400, "error", "invalid_value"},
		{"turned off", "/translate_file", `{}`, nil, 403, "error", "turned_off"},
		{"refused by middleware", "/v2/translate", deepl(tooLarge), nil, 413, "message", "body_too_large"},
		{"refused by middleware", "/translate", libre(tooLarge), nil, 413, "error", "body_too_large"},
		{"a deadline that is none", "/translate", libre("text"), []string{"Request-Timeout", "soon"}, 400, "error", "invalid_header"},
		{"no such path", "/v2/nothing", `{}`, nil, 404, "message", "not_found"},
		{"no such path", "/v3/nothing", `{}`, nil, 404, "message", "not_found"},
		{"a slash at the end", "/v2/translate/", `{}`, nil, 400, "message", "invalid_value"},
		{"Immersive Translate", "/imme", `{"target_lang":"fr","text_list":["busy"]}`, nil, 503, "error", "busy"},
		{"KISS Translator", "/kiss", `{"text":"a","to":"xx"}`, nil, 400, "error", "unknown_language"},
		{"hcfy", "/hcfy", `{"text":"a"}`, nil, 400, "error", "missing_field"},
		{"DeepLX", "/deeplx", `{"text":"fail","target_lang":"FR"}`, nil, 500, "code", "internal"},
		{"DeepLX", "/translate", `{"text":"busy","target_lang":"FR"}`, nil, 503, "code", "busy"},
		{"DeepLX, for a model", "/models/nope/translate", `{"text":"a","target_lang":"FR"}`, nil, 404, "code", "unknown_model"},
		{"Google", "/language/translate/v2", `{"q":"busy","target":"fr"}`, nil, 503, "error", "busy"},
		{"Google, no such path", "/language/translate/v2/models", `{}`, nil, 404, "error", "not_found"},
		{"Azure", "/translate?api-version=3.0&to=fr", `[{"Text":"closed"}]`, nil, 503, "error", "shutting_down"},
		{"Azure, for a model", "/models/default/detect?api-version=1", `[]`, nil, 400, "error", "invalid_value"},
		{"the Open Inference Protocol", "/v2/models/m/nothing", `{}`, nil, 404, "error", "not_found"},
		{"the Open Inference Protocol", "/v2/repository/nothing", `{}`, nil, 404, "error", "not_found"},
		{"the Open Inference Protocol", "/v2/systemsharedmemory/status", `{}`, nil, 404, "error", "not_found"},
		{"the Open Inference Protocol", "/v2/models/m/infer", tooLarge + "x", nil, 413, "error", "body_too_large"},
		{"the Open Inference Protocol", "/v2/models/m/infer", `{}`, nil, 503, "error", "not_ready"},
		{"no such method", "/v2/health/live", `{}`, nil, 405, "error", "method_not_allowed"},
		{"no such method", "/v2", `{}`, nil, 405, "error", "method_not_allowed"},
		{"no such method", "/v2/", `{}`, nil, 405, "error", "method_not_allowed"},
		{"no such method", "/v2/glossaries/1", `{}`, nil, 405, "message", "method_not_allowed"},
		{"no such method", "/health", `{}`, nil, 405, "error", "method_not_allowed"},
		{"a path of nobody", "/v20/nothing", `{}`, nil, 404, "error", "not_found"},
	} {
		t.Run(test.name+" "+test.path, func(t *testing.T) {
			a, _ := newAPI(counting)
			h := a.Handler()
			w := do(h, "POST", test.path, test.body, test.headers...)
			assert.Equal(t, test.status, w.Code, w.Body.String())
			assert.True(t, strings.HasPrefix(w.Body.String(), `{"`+test.field+`":`), w.Body.String())
			counted := regexp.MustCompile(`dragoman_errors_total\{code="([a-z_]+)"\} ([1-9]\d*)`).
				FindAllStringSubmatch(do(h, "GET", metricsPath, "").Body.String(), -1)
			if assert.Len(t, counted, 1) {
				assert.Equal(t, []string{test.code, "1"}, counted[0][1:])
			}
		})
	}
}

// For OPTIONS and for other methods, each path lists its allowed methods.
func TestAllow(t *testing.T) {
	for path, want := range map[string]string{
		"/translate": "POST, OPTIONS", "/imme": "POST, OPTIONS", "/translate_a/single": "GET, HEAD, POST, OPTIONS", "/languages": "GET, HEAD, OPTIONS", "/v2/usage": "POST, GET, HEAD, OPTIONS",
		"/v2/glossaries/1": "GET, HEAD, PUT, PATCH, DELETE, OPTIONS", "/translation": "POST, OPTIONS", "/metrics": "GET, HEAD, OPTIONS",
	} {
		for method, status := range map[string]int{"OPTIONS": 204, "BREW": 405} {
			a, _ := newAPI(counting)
			w := do(a.Handler(), method, path, "")
			assert.Equal(t, status, w.Code, "%s %s", method, path)
			assert.ElementsMatch(t, strings.Split(want, ", "), strings.Split(w.Header().Get("Allow"), ", "), "%s %s", method, path)
			assert.Equal(t, status == 204, w.Body.Len() == 0, "%s %s: %s", method, path, w.Body)
		}
	}
}

// A key's usage is counted. It stays at the limit once requests get 456.
func TestUsageOfKeys(t *testing.T) {
	key := access.NewKey()
	line, err := access.Line("alice", key, "chars=20/d")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(file, []byte(line), 0o600))
	gate, err := access.New(access.Config{KeysFile: file, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	a, _ := newAPI(func(cfg *Config) { cfg.Gate = gate })
	h := a.Handler()
	for _, step := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/v2/usage", "", 200, `{"character_count":0,"character_limit":20}`},
		{"POST", "/v2/translate", `{"text":["twelve chars"],"target_lang":"FR"}`, 200, ""},
		{"GET", "/v2/usage", "", 200, `{"character_count":12,"character_limit":20}`},
		{"POST", "/v2/translate", `{"text":["twelve chars"],"target_lang":"FR"}`, 456, ""},
		{"POST", "/translate", `{"q":"8 chars.","source":"en","target":"fr"}`, 200, ""},
		{"GET", "/v2/usage", "", 200, `{"character_count":20,"character_limit":20}`},
	} {
		w := do(h, step.method, step.path, step.body, "Authorization", "DeepL-Auth-Key "+key)
		assert.Equal(t, step.status, w.Code, w.Body)
		if step.want != "" {
			assert.JSONEq(t, step.want, w.Body.String())
		}
	}
}
