package httpapi

import (
	"net/http"
	"net/http/httptest"
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
		"/v2/models/default/infer": false, "/metrics": false, "/": false, "/openapi.json": false, "/nothing": false, "/translate/": false,
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
