package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/dropin/compattest"
	"dragoman/app/guard/access"
)

// A page of another origin may call the APIs whose originals allow it, with a preflight and the headers of their clients. For
// the other APIs the operator must have listed the origin.
func TestBrowsers(t *testing.T) {
	own, err := access.NewCORS([]string{"https://app.example.com"})
	require.NoError(t, err)
	gate, key := compattest.Keys(t)
	opened, _ := newAPI(func(cfg *Config) { cfg.CORS, cfg.OpenCORS, cfg.Gate = own, access.OpenCORS(), gate })
	closed, _ := newAPI(func(cfg *Config) { cfg.CORS, cfg.Gate = own, gate })
	allowed := func(a *API, method, path, origin string, headers ...string) (http.Header, string) {
		r := httptest.NewRequest(method, path, nil)
		r.Header.Set("Origin", origin)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		a.Handler().ServeHTTP(w, r)
		assert.Empty(t, w.Header().Get("Access-Control-Allow-Credentials"), path)
		return w.Header(), w.Header().Get("Access-Control-Allow-Origin")
	}
	const method, wanted, page = "Access-Control-Request-Method", "Access-Control-Request-Headers", "https://page.example"
	for path, open := range map[string]bool{
		"/translate": true, "/translate?api-version=3.0": true, "/detect": true, "/languages": true, "/models/default/translate": true,
		"/imme": true, "/kiss": true, "/hcfy": true, "/deeplx": true, "/models/default/kiss": true,
		"/language/translate/v2": true, "/language/translate/v2/detect": true, "/language/nothing": true, "/translate_a/single": true,
		"/translation": false, "/translation/stream": false, "/jobs": false, "/v2/translate": false, "/models/default/v2/translate": false,
		"/v2/models/default/infer": false, "/metrics": false, "/": false, "/openapi.json": false, "/nothing": false, "/translate/": true, "//translate": true, "/translation/": false,
	} {
		for _, verb := range []string{"GET", "POST"} {
			headers := []string{method, verb, wanted, "authorization,content-type,ocp-apim-subscription-key,ocp-apim-subscription-region,x-goog-api-key"}
			header, origin := allowed(opened, "OPTIONS", path, page, headers...)
			assert.Equal(t, map[bool]string{true: "*"}[open], origin, path)
			assert.Equal(t, map[bool]string{true: headers[3]}[open], header.Get("Access-Control-Allow-Headers"), path)
			_, origin = allowed(opened, verb, path, page, "X-API-Key", key)
			assert.Equal(t, map[bool]string{true: "*"}[open], origin, path)
			_, origin = allowed(opened, verb, path, page)
			assert.Equal(t, map[bool]string{true: "*"}[open], origin, "errors can be read: %s", path)

			_, origin = allowed(opened, verb, path, "https://app.example.com")
			assert.Equal(t, map[bool]string{true: "*", false: "https://app.example.com"}[open], origin, path)
			_, origin = allowed(closed, "OPTIONS", path, page, headers...)
			assert.Empty(t, origin, path)
			_, origin = allowed(closed, verb, path, "https://app.example.com")
			assert.Equal(t, "https://app.example.com", origin, path)
		}
	}
}

// Clients join a base URL and a path in every way: DeepL's for Java posts to /v2/document/, others to //translate. The service's
// own API has one address for each of its paths.
func TestTidyPaths(t *testing.T) {
	a, _ := newAPI()
	h := a.Handler()
	answer := func(method, path string) string {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, "http://localhost"+path, nil))
		return http.StatusText(w.Code) + " " + w.Body.String()
	}
	const nothing = "there is nothing at this path"
	for _, route := range []string{
		"/translate", "/detect", "/languages", "/frontend/settings", "/v2/translate", "/v2/document", "/v2/usage", "/v1/models", "/v1/chat/completions", "/v2/models/m/infer",
		"/language/translate/v2/detect", "/v3/projects/p/locations/l/supportedLanguages", "/translator/document:translate", "/imme", "/mtranserver/version",
		"/models/default/translate", "/models/default/v1/models",
	} {
		for _, method := range []string{"GET", "POST"} {
			want := answer(method, route)
			require.NotContains(t, want, nothing, route)
			for _, path := range []string{"/" + route, route + "/", "//" + route + "//", strings.ReplaceAll(route, "/", "//")} {
				assert.Equal(t, want, answer(method, path), "%s %s", method, path)
			}
		}
	}
	for _, path := range []string{"//translation", "/translation/", "//", "/nothing/", "/metrics/"} {
		assert.Contains(t, answer("POST", path), nothing, path)
	}
}
