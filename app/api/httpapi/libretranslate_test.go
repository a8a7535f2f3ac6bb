package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The tests of LibreTranslate's own repository (tests/test_api): a row for each test function.
func TestLibreTranslate(t *testing.T) {
	const form, inJSON = "application/x-www-form-urlencoded", "application/json"
	for _, test := range []struct {
		name, method, path string
		contentType, body  string
		status             int
		check              func(t *testing.T, answer any)
	}{
		{"detect", "POST", "/detect", form, "q=Hello", 200, func(t *testing.T, answer any) {
			first := itemOf(t, answer)
			assert.Contains(t, first, "confidence")
			assert.Contains(t, first, "language")
		}},
		{"detect without parameters", "POST", "/detect", "", "", 400, hasError("Invalid request: missing q parameter")},
		{"detect, wrong method", "GET", "/detect", "", "", 405, hasError("This path takes POST, OPTIONS.")},
		{"settings", "GET", "/frontend/settings", "", "", 200, nil},
		{"languages", "GET", "/languages", "", "", 200, func(t *testing.T, answer any) {
			first := itemOf(t, answer)
			assert.Contains(t, first, "code")
			assert.Contains(t, first, "name")
		}},
		{"languages, wrong method", "POST", "/languages", "", "", 405, hasError("This path takes GET, HEAD, OPTIONS.")},
		{"health", "GET", "/health", "", "", 200, func(t *testing.T, answer any) {
			assert.Equal(t, map[string]any{"status": "ok"}, answer)
		}},
		{"health, wrong method", "POST", "/health", "", "", 405, hasError("This path takes GET, HEAD, OPTIONS.")},
		{"spec", "GET", "/spec", "", "", 200, func(t *testing.T, answer any) {
			assert.Contains(t, answer, "swagger")
		}},
		{"spec, wrong method", "POST", "/spec", "", "", 405, hasError("This path takes GET, HEAD, OPTIONS.")},
		{"translate", "POST", "/translate", form, "q=Hello&source=en&target=fr&format=text", 200, func(t *testing.T, answer any) {
			assert.Equal(t, map[string]any{"translatedText": "HELLO"}, answer)
		}},
		{"translate several", "POST", "/translate", inJSON, `{"q":["Hello","World"],"source":"en","target":"fr","format":"text"}`, 200,
			func(t *testing.T, answer any) {
				assert.Equal(t, map[string]any{"translatedText": []any{"HELLO", "WORLD"}}, answer)
			}},
		{"translate into an unknown language", "POST", "/translate", form, "q=Hello&source=en&target=zz&format=text", 400,
			hasError("zz is not supported")},
		{"translate without a text", "POST", "/translate", form, "source=en&target=fr&format=text", 400,
			hasError("Invalid request: missing q parameter")},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, _ := newAPI()
			r := httptest.NewRequest(test.method, test.path, strings.NewReader(test.body))
			if test.contentType != "" {
				r.Header.Set("Content-Type", test.contentType)
			}
			w := httptest.NewRecorder()
			a.Handler().ServeHTTP(w, r)
			assert.Equal(t, test.status, w.Code, w.Body)
			assert.Equal(t, test.status == http.StatusMethodNotAllowed, w.Header().Get("Allow") != "")
			var answer any
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer), w.Body)
			if test.check != nil {
				test.check(t, answer)
			}
		})
	}
}

// itemOf returns the first item of a list.
func itemOf(t *testing.T, answer any) any {
	list, ok := answer.([]any)
	require.True(t, ok, answer)
	require.NotEmpty(t, list)
	return list[0]
}

// hasError checks that an answer is an error in LibreTranslate's form.
func hasError(message string) func(*testing.T, any) {
	return func(t *testing.T, answer any) { assert.Equal(t, map[string]any{"error": message}, answer) }
}
