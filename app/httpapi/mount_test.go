package httpapi

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/app/telemetry"
)

// Failures of the drop-in routes are told in each API's words, and are counted once under
// the codes that the service's own routes have.
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
		{"too slow", "/translate", libre("wait"), nil, 504, "error", "timeout"},
		{"a code of the use case", "/translate", libre("endless"), nil, 400, "error", "unfinished"},
		{"too many", "/v2/translate", deepl("many"), nil, 413, "message", "too_many_records"},
		{"not a request", "/translate", `{"q":"text"}`, nil, 400, "error", "invalid_value"},
		{"not offered", "/translate_file", `{}`, nil, 403, "error", "invalid_value"},
		{"refused by middleware", "/v2/translate", deepl(tooLarge), nil, 413, "message", "body_too_large"},
		{"refused by middleware", "/translate", libre(tooLarge), nil, 413, "error", "body_too_large"},
		{"a deadline that is none", "/translate", libre("text"), []string{"Request-Timeout", "soon"}, 400, "error", "invalid_header"},
		{"no such path", "/v2/nothing", `{}`, nil, 404, "error", "not_found"},
		{"no such method", "/health", `{}`, nil, 405, "error", "method_not_allowed"},
	} {
		t.Run(test.name+" "+test.path, func(t *testing.T) {
			a, _ := newAPI()
			a.cfg.Metrics = telemetry.New(telemetry.Config{ErrorCodes: ErrorCodes()})
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
