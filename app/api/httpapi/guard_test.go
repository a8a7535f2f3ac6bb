package httpapi

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/dropin/compattest"
	"dragoman/app/api/dropin/openinference"
	"dragoman/app/api/mcp"
	"dragoman/app/api/openapi"
	"dragoman/app/api/webpage"
	"dragoman/app/glossary"
	"dragoman/app/glossary/glossarystore"
	"dragoman/app/guard/access"
	"dragoman/app/jobs"
	"dragoman/app/live"
)

// everything gives an API all possible routes, with nothing behind them.
func everything(t *testing.T, log *bytes.Buffer) func(cfg *Config) {
	t.Helper()
	store, err := glossarystore.OpenFile(filepath.Join(t.TempDir(), "glossaries.db"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	site, err := webpage.New()
	require.NoError(t, err)
	description, err := openapi.New(openapi.Config{})
	require.NoError(t, err)
	return func(cfg *Config) {
		cfg.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		counting(cfg)
		cfg.Jobs = &JobsConfig{Service: &jobs.Service{}, MaxBodyBytes: 1000, MaxDocumentBytes: 1000}
		cfg.Glossaries = glossary.New(glossary.Config{Store: store})
		cfg.Live = &LiveConfig{Service: live.New(live.Config{MaxSessions: 1}), MaxSessions: 1, MaxChars: 10}
		cfg.Site, cfg.Description = site, description
		cfg.Tools = func(routes http.Handler) http.Handler { return mcp.Handler("", routes, 1000) }
	}
}

// free lists the GET routes that pages of other sites may call: they change nothing, and they cost nothing or need a secret
// name.
var free = []string{
	"/", webpage.AssetsPath, "/docs", openapi.FilesPath, "/openapi.json", "/openapi.yaml", "/openapi-all.json", "/openapi-all.yaml", "/metrics", "/healthz", "/readyz", "/health", "/spec", "/frontend/settings",
	"/languages", "/version", "/__heartbeat__", "/__lbheartbeat__", "/mtranserver/version", "/mtranserver/__heartbeat__", "/mtranserver/__lbheartbeat__", "/mtranserver/health",
	"/download_file/:name", "/v2", "/v2/health/live", "/v2/health/ready", "/v2/models/:model/ready", "/v2/models/:model/versions/:version/ready",
}

var placeholder = regexp.MustCompile(`[:*]\w+`)

// isRefused sends a request to an API and reports whether the guard refuses it.
func isRefused(t *testing.T, api http.Handler, log *bytes.Buffer, body io.Reader, method, path, host string, headers ...string) bool {
	log.Reset()
	r := httptest.NewRequest(method, "http://"+host+placeholder.ReplaceAllString(path, "x"), body)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	refused := strings.Contains(log.String(), "CORS_ORIGINS") || strings.Contains(log.String(), "ALLOWED_HOSTS")
	if refused {
		assert.Equal(t, http.StatusBadRequest, w.Code, path)
		assert.Contains(t, w.Header().Get("Content-Type"), "application/json", path)
	}
	return refused
}

// All routes are guarded: a request from a page of another site is refused before its body is read if it changes or costs
// something, and so is every request under a stranger's host name. A new route must be refused by its gate or listed in free.
// Other requests pass everywhere.
func TestNoRouteIsForOtherSites(t *testing.T) {
	cors, err := access.NewCORS([]string{"https://app.example.com"})
	require.NoError(t, err)
	var log, openedLog bytes.Buffer
	a, _ := newAPI(everything(t, &log), func(cfg *Config) { cfg.CORS = cors })
	a.Manage(struct{ openinference.Models }{})
	opened, _ := newAPI(everything(t, &openedLog), func(cfg *Config) { cfg.CORS, cfg.OpenCORS = cors, access.OpenCORS() })
	opened.Manage(struct{ openinference.Models }{})
	guarded, open := a.Handler(), opened.Handler()
	const host, elsewhere = "localhost:9527", "https://evil.example.com"
	for _, path := range []string{"/nothing", "/v2/nothing", "/documents/x/y"} { // paths without a route
		for _, method := range []string{"POST", "BREW"} {
			assert.True(t, isRefused(t, guarded, &log, unread{t}, method, path, host, "Sec-Fetch-Site", "cross-site"), path)
		}
	}
	routes := a.Routes()
	assert.Greater(t, len(routes), 100)
	for _, route := range routes {
		name := route.Method + " " + route.Path
		path := strings.TrimPrefix(route.Path, "/models/:model")
		want := route.Method != "GET" && route.Method != "HEAD" || !slices.Contains(free, path)
		for _, foreign := range [][]string{
			{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", elsewhere}, {"Origin", "null"},
			{"Origin", elsewhere, "Sec-Fetch-Site", "cross-site", "Upgrade", "websocket", "Connection", "Upgrade"},
			{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document", "Content-Type", "text/plain"},
		} {
			assert.Equal(t, want, isRefused(t, guarded, &log, unread{t}, route.Method, route.Path, host, foreign...), "%s, %v", name, foreign)
		}
		assert.True(t, isRefused(t, guarded, &log, unread{t}, route.Method, route.Path, "evil.example.com", "Referer", "http://evil.example.com/"), name)
		assert.True(t, isRefused(t, open, &openedLog, unread{t}, route.Method, route.Path, "evil.example.com", "Origin", "http://evil.example.com"), name)
		for _, own := range [][]string{
			nil, {"Sec-Fetch-Site", "none"}, {"Origin", "http://" + host}, {"Origin", "https://localhost:9527", "Sec-Fetch-Site", "same-origin"},
			{"Origin", "chrome-extension://abc", "Sec-Fetch-Site", "cross-site"}, {"Origin", "https://app.example.com", "Sec-Fetch-Site", "cross-site"},
		} {
			assert.False(t, isRefused(t, guarded, &log, strings.NewReader(""), route.Method, route.Path, host, own...), "%s, %v", name, own)
		}
		// Routes that pages of all origins may call change nothing and make no jobs.
		if want && !isRefused(t, open, &openedLog, strings.NewReader(""), route.Method, route.Path, host, "Origin", elsewhere) {
			path = strings.TrimPrefix(path, "/mtranserver")
			assert.Contains(t, []string{
				"/languages", "/translate/batch",
				"/translate", "/detect", "/suggest", "/imme", "/kiss", "/hcfy", "/deeplx", "/translate_a/single", "/translate_a/t",
				"/language/translate/v2", "/language/translate/v2/detect", "/language/translate/v2/languages", "/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/models", "/v1/models/:id",
			}, path, name)
		}
	}
}

// All routes except the free ones require a key, at the gate that counts requests and charges for them.
func TestAllRoutesHaveTheGate(t *testing.T) {
	gate, key := compattest.Keys(t)
	var log bytes.Buffer
	a, _ := newAPI(everything(t, &log), func(cfg *Config) { cfg.Gate = gate })
	a.Manage(struct{ openinference.Models }{})
	h := a.Handler()
	for _, route := range a.Routes() {
		path := strings.TrimPrefix(route.Path, "/models/:model")
		if strings.Contains("GET HEAD", route.Method) && slices.Contains(free, path) || path == "/suggest" { // not offered here
			continue
		}
		for _, sent := range []string{"", access.NewKey(), key} {
			log.Reset()
			headers := []string{"Content-Type", "application/json", "X-API-Key", sent}
			if route.Path == livePath && sent == "" {
				continue // the key may be in the first message
			}
			do(h, route.Method, placeholder.ReplaceAllString(route.Path, "x"), "{}", headers...)
			refused := strings.Contains(log.String(), access.ErrNoKey.Error()) || strings.Contains(log.String(), access.ErrBadKey.Error())
			assert.Equal(t, sent != key, refused, "%s %s", route.Method, route.Path)
		}
	}
}

// unread is a body that must not be read.
type unread struct{ *testing.T }

func (u unread) Read([]byte) (int, error) {
	assert.Fail(u, "the body is read")
	return 0, http.ErrBodyReadAfterClose
}
