package access

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// corsServer is a service with keys, as the pages of other origins see it.
func corsServer(t *testing.T, key string, origins ...string) http.Handler {
	cors, err := NewCORS(origins)
	require.NoError(t, err)
	g, _ := newGate(t, Config{KeysFile: writeKeys(t, "", keyLine(t, "alice", key))})
	var routes http.ServeMux
	routes.HandleFunc("POST /", admit(g, func(http.ResponseWriter, *http.Request) {}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cors != nil && cors(w, r) {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		routes.ServeHTTP(w, Proxies{}.Resolve(w, r))
	})
}

func TestCORS(t *testing.T) {
	key := NewKey()
	const method = "Access-Control-Request-Method"
	for _, test := range []struct {
		name    string
		origins []string
		origin  string
		allowed string // Access-Control-Allow-Origin
	}{
		{"off", nil, "https://app.example.com", ""},
		{"off, by blanks", []string{"", " "}, "https://app.example.com", ""},
		{"the origin", []string{"https://app.example.com"}, "https://app.example.com", "https://app.example.com"},
		{"one of several", []string{"http://localhost:3000", " https://app.example.com "}, "https://app.example.com", "https://app.example.com"},
		{"written in capitals", []string{"https://App.Example.com"}, "https://app.example.com", "https://app.example.com"},
		{"another", []string{"https://app.example.com"}, "https://evil.example.com", ""},
		{"another scheme", []string{"https://app.example.com"}, "http://app.example.com", ""},
		{"another port", []string{"https://app.example.com"}, "https://app.example.com:8443", ""},
		{"one that begins like it", []string{"https://app.example.com"}, "https://app.example.com.evil.org", ""},
		{"one that ends like it", []string{"https://*.example.com"}, "https://evilexample.com", ""},
		{"below a host", []string{"https://*.example.com"}, "https://a.b.example.com", "https://a.b.example.com"},
		{"the host above", []string{"https://*.example.com"}, "https://example.com", ""},
		{"no origin at all", []string{"https://app.example.com"}, "null", ""},
		{"every origin", []string{"*"}, "https://app.example.com", "*"},
		{"an extension", []string{"chrome-extension://abcdef"}, "chrome-extension://abcdef", "chrome-extension://abcdef"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := corsServer(t, key, test.origins...)
			ask := func(verb string, headers ...string) http.Header {
				r := httptest.NewRequest(verb, "/", nil)
				r.Header.Set("Origin", test.origin)
				for i := 0; i < len(headers); i += 2 {
					r.Header.Set(headers[i], headers[i+1])
				}
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				assert.Equal(t, test.allowed, w.Header().Get("Access-Control-Allow-Origin"), verb)
				assert.Empty(t, w.Header().Get("Access-Control-Allow-Credentials"))
				w.Header().Set("Status", http.StatusText(w.Code))
				return w.Header()
			}
			// A preflight has no key, and needs none.
			got := ask(http.MethodOptions, method, "POST", "Access-Control-Request-Headers", "authorization,content-type,request-timeout,x-api-key")
			if test.allowed != "" {
				assert.Equal(t, "No Content", got.Get("Status"))
				assert.Equal(t, "POST", got.Get("Access-Control-Allow-Methods"))
				assert.Equal(t, "authorization,content-type,request-timeout,x-api-key", got.Get("Access-Control-Allow-Headers"))
				assert.Equal(t, "7200", got.Get("Access-Control-Max-Age"))
			}
			// Errors can be read as answers can.
			got = ask(http.MethodPost)
			assert.Equal(t, "Unauthorized", got.Get("Status"))
			got = ask(http.MethodPost, "X-API-Key", key)
			assert.Equal(t, "OK", got.Get("Status"), "CORS keeps nobody out who is no browser")
			if test.allowed != "" {
				assert.Equal(t, "Retry-After, Ratelimit, Ratelimit-Policy, X-Request-Id, Dragoman-Cache, Dragoman-Flags", got.Get("Access-Control-Expose-Headers"))
				assert.Contains(t, got.Values("Vary"), "Origin")
			}
			got = ask(http.MethodOptions) // no preflight
			assert.Equal(t, "Method Not Allowed", got.Get("Status"))
		})
	}
}

// SDKs in pages send headers of their own. The page of an allowed origin may, and no other page.
func TestCORSAllowsAskedHeaders(t *testing.T) {
	const sdks = "authorization,content-type,http-referer,x-ms-client-request-id,x-requested-with,x-stainless-arch,x-stainless-lang,x-stainless-retry-count,x-title"
	for _, test := range []struct{ origin, method, headers, allowed, echoed string }{
		{"https://app.example.com", "POST", sdks, "https://app.example.com", sdks},
		{"https://app.example.com", "POST", "", "https://app.example.com", ""},
		{"https://app.example.com", "TRACE", sdks, "", ""},
		{"https://evil.example.org", "POST", sdks, "", ""},
		{"null", "POST", sdks, "", ""},
	} {
		r := httptest.NewRequest(http.MethodOptions, "/", nil)
		r.Header.Set("Origin", test.origin)
		r.Header.Set("Access-Control-Request-Method", test.method)
		if test.headers != "" {
			r.Header.Set("Access-Control-Request-Headers", test.headers)
		}
		w := httptest.NewRecorder()
		corsServer(t, NewKey(), "https://app.example.com").ServeHTTP(w, r)
		assert.Equal(t, http.StatusNoContent, w.Code)
		assert.Equal(t, test.allowed, w.Header().Get("Access-Control-Allow-Origin"), test)
		assert.Equal(t, test.echoed, w.Header().Get("Access-Control-Allow-Headers"), test)
	}
}

func TestCORSRefusesOrigins(t *testing.T) {
	for _, origin := range []string{
		"null", "example.com", "*.example.com", "https://", "https://*", "https://*example.com", "https://a.*.example.com",
		"https://*.*.example.com", "https://app.example.com/", "https://app.example.com/path", "https://app.example.com?q",
		"https://app.example.com#f", "https://user@app.example.com", "https://app.example.com:", "https://app.example.com:port",
		"https://app.example.com:443", "http://app.example.com:80", "https://bücher.example", "https://app example.com",
		"https://app.example.com,https://b.example.com", "//app.example.com", "https:app.example.com", "%zz", "https://\x00",
	} {
		_, err := NewCORS([]string{"https://good.example.com", origin})
		assert.Error(t, err, origin)
	}
	_, err := NewCORS([]string{"*", "https://app.example.com"})
	assert.EqualError(t, err, "* is every origin: name it alone, or leave it out")
}
