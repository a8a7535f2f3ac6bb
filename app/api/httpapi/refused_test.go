package httpapi

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/glossary"
	"dragoman/app/glossary/glossarystore"
)

// unreadBody counts the bytes requested from it.
type unreadBody struct{ read int }

func (b *unreadBody) Read(p []byte) (int, error) {
	b.read += len(p)
	return 0, http.ErrBodyReadAfterClose
}

func (b *unreadBody) Close() error { return nil }

// uncharged lists the routes with bodies that charge no characters.
var uncharged = []string{
	"POST /glossaries", "PUT /glossaries/:id", "PATCH /glossaries/:id",
	"POST /v2/glossaries", "POST /v3/glossaries", "PATCH /v3/glossaries/:id", "PUT /v3/glossaries/:id/dictionaries",
	"POST /v2/document/:id", "POST /v2/document/:id/result", "POST /v2/languages", "POST /v2/usage",
	"POST /language/translate/v2/languages",
	"POST /v3/projects/:project/locations/:location/glossaries",
	"POST /mcp", "POST /v2/repository/index", "POST /v2/repository/models/:model/load", "POST /v2/repository/models/:model/unload",
}

// elsewhere has parts of routes that are refused earlier, for another reason.
var elsewhere = []string{"/suggest", "/repository/", "/infer"}

// A caller without requests left is refused before the body is read, on every route with a body. So is a caller without
// characters left, except on uncharged routes.
func TestRefusedBeforeReading(t *testing.T) {
	parameter := regexp.MustCompile(`:\w+`)
	for limit, spend := range map[string]bool{"rate=1/d": false, "chars=3/d": true} {
		gate, alice, _ := gateOf(t, limit)
		s := newJobService(t, gate, false)
		store, err := glossarystore.OpenFile(t.TempDir() + "/glossaries.db")
		require.NoError(t, err)
		defer func() { assert.NoError(t, store.Close()) }()
		s.api.cfg.Glossaries = glossary.New(glossary.Config{Store: store, Limits: glossary.Limits{Terms: 5, Bytes: 200, PerOwner: 4}})
		s.api.server.Glossaries = s.api.cfg.Glossaries
		s.Handler = s.api.Handler()
		status, answer := s.do("POST", "/translation", jobRequest("one"), "X-API-Key", alice)
		require.Equal(t, 200, status, answer)
		routes := 0
		for _, route := range s.api.Routes() {
			if !slices.Contains([]string{"POST", "PUT", "PATCH"}, route.Method) {
				continue
			}
			routes++
			name := route.Method + " " + strings.TrimPrefix(route.Path, "/models/:model")
			sent := &unreadBody{}
			r := httptest.NewRequest(route.Method, parameter.ReplaceAllString(route.Path, "x")+"?api-version=3.0", sent)
			r.ContentLength = 100
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("X-API-Key", alice)
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if spend && slices.Contains(uncharged, name) {
				assert.NotContains(t, w.Body.String(), "used up", name)
				continue
			}
			assert.GreaterOrEqual(t, w.Code, 400, name)
			assert.Zero(t, sent.read, name)
			if !slices.ContainsFunc(elsewhere, func(part string) bool { return strings.Contains(name, part) }) {
				assert.Contains(t, w.Body.String(), "used up", name)
			}
		}
		assert.Greater(t, routes, 25)
	}
}

// An owner with the maximum number of jobs is refused before the body is read, unless an idempotency key may name an existing
// job.
func TestNoRoomForJobs(t *testing.T) {
	s := newJobService(t, nil, false)
	for range 4 {
		s.submit(t, jobRequest("one"))
	}
	s.submit(t, jobRequest("one"), "Idempotency-Key", "k")
	for _, path := range []string{"/jobs", "/documents", "/v2/document", "/translate_file", "/models/x/v2/document"} {
		sent := &unreadBody{}
		r := httptest.NewRequest("POST", path, sent)
		r.ContentLength = 100
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		assert.Equal(t, 429, w.Code, "%s: %s", path, w.Body)
		assert.Zero(t, sent.read, path)
	}
	status, answer := s.do("POST", "/jobs", jobRequest("one"), "Idempotency-Key", "k")
	assert.Equal(t, 200, status, answer)
	status, answer = s.do("POST", "/jobs", jobRequest("one"), "Idempotency-Key", "other")
	assert.Equal(t, 429, status, answer)
}
