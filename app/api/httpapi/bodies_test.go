package httpapi

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/guard/access"
	"dragoman/app/guard/admission"
	"dragoman/app/guard/admission/cost"
)

// guarded returns a ready API behind a gate with limits, and a key if keys is set.
func guarded(t *testing.T, keys bool, limits access.Limits) (h http.Handler, key string) {
	cfg := access.Config{Limits: limits, Log: slog.New(slog.DiscardHandler)}
	key = access.NewKey()
	if keys {
		line, err := access.Line("alice", key)
		require.NoError(t, err)
		cfg.KeysFile = filepath.Join(t.TempDir(), "keys")
		require.NoError(t, os.WriteFile(cfg.KeysFile, []byte(line+"\n"), 0o600))
	}
	gate, err := access.New(cfg)
	require.NoError(t, err)
	a := New(Config{MaxBodyBytes: 4 << 20, MaxRecords: 2, MaxChars: 100, RequestTimeout: time.Minute, Gate: gate, Log: slog.New(slog.DiscardHandler)})
	a.Ready(upper{}, one)
	return a.Handler(), key
}

// counter counts the bytes read from a body.
type counter struct {
	io.Reader
	read int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += n
	return n, err
}

// post sends a body, and returns the answer and the number of bytes read.
func post(h http.Handler, path, body string, known bool, headers ...string) (*httptest.ResponseRecorder, int) {
	counted := &counter{Reader: strings.NewReader(body)}
	r := httptest.NewRequest(http.MethodPost, path, counted)
	if known {
		r.ContentLength = int64(len(body))
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w, counted.read
}

// bodies returns requests of n bytes for all routes with a body, without a key.
func bodies(n int) map[string]string {
	text := strings.Repeat("a", n)
	return map[string]string{
		"/translation":        payload(`[{"id":"1","text":"` + text + `"}]`),
		"/translation/stream": payload(`[{"id":"1","text":"` + text + `"}]`),
		"/translate":          `{"source":"en","target":"fr","q":"` + text + `"}`,
		"/detect":             `{"q":"` + text + `"}`,
		"/v2/translate":       `{"target_lang":"FR","text":["` + text + `"]}`,
		"/v2/languages":       `{"type":"source","other":"` + text + `"}`,
		"/v2/usage":           `{"other":"` + text + `"}`,
	}
}

// Checks that need only the headers and the query come before the first byte of the body is read.
func TestBodiesAreReadAfterKeys(t *testing.T) {
	const keyless = 256 << 10
	for path, content := range bodies(2 * keyless) {
		for _, known := range []bool{true, false} {
			h, key := guarded(t, true, access.Limits{Requests: access.Rate{N: 1, Per: time.Hour}, Burst: 2})
			send := func(query string, headers ...string) (status, read int) {
				w, read := post(h, path+query, content, known, headers...)
				return w.Code, read
			}
			what := fmt.Sprintf("%s, known length: %v", path, known)

			status, read := send("", "X-API-Key", access.NewKey())
			assert.Contains(t, []int{401, 403}, status, what)
			assert.Zero(t, read, what)
			status, read = send("")
			native := strings.HasPrefix(path, "/translation")
			switch {
			case native:
				assert.Equal(t, 401, status, what)
				assert.Zero(t, read, what)
			case known:
				assert.Equal(t, 413, status, what)
				assert.Zero(t, read, what)
			default:
				assert.Equal(t, 413, status, what)
				assert.LessOrEqual(t, read, keyless+1, what)
			}
			if !native {
				for range 2 { // uses up the remaining attempts
					send("?api_key=wrong&auth_key=wrong")
				}
				status, read = send("")
				assert.Equal(t, 429, status, what)
				assert.Zero(t, read, what)
			}
			for range 2 {
				status, read = send("", "Authorization", "Bearer "+key)
				assert.NotContains(t, []int{401, 403, 429}, status, what)
				assert.Equal(t, len(content), read, what)
			}
			status, read = send("", "Authorization", "Bearer "+key)
			assert.Equal(t, 429, status, what)
			assert.Zero(t, read, what)
		}
	}
}

// Without keys, the limits of an address are also checked before the body is read.
func TestBodiesAreReadAfterLimits(t *testing.T) {
	for path, body := range bodies(1000) {
		h, _ := guarded(t, false, access.Limits{Requests: access.Rate{N: 1, Per: time.Hour}})
		_, read := post(h, path, body, true)
		assert.Equal(t, len(body), read, path)
		w, read := post(h, path, body, true)
		assert.Equal(t, 429, w.Code, path)
		assert.Zero(t, read, path)
	}
}

// LibreTranslate's clients send the key as the last field of the body.
func TestKeysInBodies(t *testing.T) {
	h, key := guarded(t, true, access.Limits{})
	text := strings.Repeat("a", 200<<10)
	for _, test := range []struct {
		path, query, fields, key string
		status                   int
	}{
		{"/translate", "", `"source":"en","target":"fr","q":"` + text + `"`, `"api_key":"` + key + `"`, 200},
		{"/translate", "?api_key=" + key, `"source":"en","target":"fr","q":"` + text + text + `"`, `"api_key":""`, 200},
		{"/translate", "", `"source":"en","target":"fr","q":"` + text + text + `"`, `"api_key":"` + key + `"`, 413},
		{"/translate", "", `"source":"en","target":"fr","q":"hi"`, `"api_key":"wrong"`, 403},
		{"/translate", "", `"source":"en","target":"fr","q":"hi"`, `"api_key":7`, 400},
		{"/v2/translate", "", `"target_lang":"FR","text":["` + text + `"]`, `"auth_key":"` + key + `"`, 200},
		{"/v2/translate", "", `"target_lang":"FR","text":["hi"]`, `"auth_key":"wrong"`, 403},
	} {
		w, _ := post(h, test.path+test.query, "{"+test.fields+","+test.key+"}", true)
		assert.Equal(t, test.status, w.Code, w.Body)
		if test.status == 413 {
			assert.Contains(t, w.Body.String(), "send the key in a header")
		}
	}
}

// A body gets an error at once if there is no memory for it.
func TestBodiesWithoutMemory(t *testing.T) {
	a, _ := newAPI(func(cfg *Config) { cfg.Memory = admission.New(4000) })
	require.NoError(t, a.cfg.Memory.Lease("another").Take(2900))
	for path, status := range map[string]int{"/translation": 503, "/translate": 503, "/v2/translate": 529} {
		w, _ := post(a.Handler(), path, bodies(500)[path], false)
		assert.Equal(t, status, w.Code, path)
		assert.Equal(t, "1", w.Header().Get("Retry-After"), path)
		assert.Contains(t, w.Body.String(), "he memory for requests is in use", path)
		w, _ = post(a.Handler(), path, bodies(1)[path], false)
		assert.Equal(t, 200, w.Code, path)
	}
}

// Translations are charged once per target language. Language detection is charged, too.
func TestCharges(t *testing.T) {
	const limit = 200
	hidden := "< " + strings.Repeat("a house ", 10) + ">" // 83 characters that look like a tag
	for _, test := range []struct {
		name, path, body string
		charged          int
	}{
		{"a text", "/translation", payload(`[{"id":"1","text":"é日"}]`), 2},
		{"two languages", "/translation", `{"payload":{"fromLang":"en","toLangs":["fr","ja"],"records":[{"id":"1","text":"abc"},{"id":"2","text":"d"}]}}`, 8},
		{"two languages, streamed", "/translation/stream", `{"payload":{"fromLang":"en","toLangs":["fr","ja"],"records":[{"id":"1","text":"abc"}]}}`, 6},
		{"HTML", "/translation", `{"payload":{"fromLang":"en","toLang":"fr","format":"html","records":[{"id":"1","text":"<b>hi</b>"}]}}`, 2},
		{"HTML that hides a text", "/translation", `{"payload":{"fromLang":"en","toLang":"fr","format":"html","records":[{"id":"1","text":"` + hidden + `"}]}}`, 83},
		{"LibreTranslate", "/translate", `{"source":"en","target":"fr","q":["abc","d"]}`, 4},
		{"LibreTranslate, HTML", "/translate", `{"source":"en","target":"fr","format":"html","q":"` + hidden + `"}`, 83},
		{"detection", "/detect", `{"q":["abc","d"]}`, 4},
		{"DeepL", "/v2/translate", `{"target_lang":"FR","text":["abc","d"]}`, 4},
		{"DeepL, HTML", "/v2/translate", `{"target_lang":"FR","tag_handling":"html","text":["` + hidden + `"]}`, 83},
	} {
		h, _ := guarded(t, false, access.Limits{Characters: access.Rate{N: limit, Per: 24 * time.Hour}})
		w, _ := post(h, test.path, test.body, true)
		assert.Equal(t, 200, w.Code, test.name)
		rest := strings.Repeat("a", limit-test.charged)
		w, _ = post(h, "/translation", payload(`[{"id":"1","text":"`+rest+`a"}]`), true)
		assert.Equal(t, 429, w.Code, "%s: %d characters were charged, or fewer", test.name, test.charged)
		w, _ = post(h, "/translation", payload(`[{"id":"1","text":"`+rest+`"}]`), true)
		assert.Equal(t, 200, w.Code, "%s: %d characters were charged, or more", test.name, test.charged)
	}
}

func TestDetectionIsBounded(t *testing.T) {
	h, _ := guarded(t, false, access.Limits{})
	for _, test := range []struct {
		q      string
		status int
		want   string
	}{
		{`["a","b"]`, 200, `"language":"en"`},
		{`["a","b","c"]`, 400, "There are 3 texts, at most 2 are allowed"},
		{`"` + strings.Repeat("é", 100) + `"`, 200, `"language":"en"`},
		{`"` + strings.Repeat("é", 101) + `"`, 400, "A text has 101 characters, at most 100 are allowed"},
	} {
		w, _ := post(h, "/detect", `{"q":`+test.q+`}`, true)
		assert.Equal(t, test.status, w.Code)
		assert.Contains(t, w.Body.String(), test.want)
	}
}

// Reading a body allocates about as much memory as package body reserves for it, for texts and for bodies that are refused for
// their many small parts, which would take 40 bytes per byte. The race detector allocates more.
func TestMemoryOfBodies(t *testing.T) {
	const n = 3 << 20
	h, _ := guarded(t, false, access.Limits{})
	for _, test := range []struct{ name, path, body string }{
		{"a text", "/translation", payload(`[{"id":"1","text":"` + strings.Repeat("a", n) + `"}`)},
		{"escapes", "/translation", payload(`[{"id":"1","text":"` + strings.Repeat(`\n`, n/2) + `"}`)},
		{"records", "/translation", payload(`[` + strings.Repeat(`{},`, n/3) + `{}]`)},
		{"languages", "/translation", `{"payload":{"toLangs":[` + strings.Repeat(`"",`, n/3) + `""]}}`},
		{"a text of LibreTranslate's", "/detect", `{"q":"` + strings.Repeat("a", n) + `"}`},
		{"texts of LibreTranslate's", "/detect", `{"q":[` + strings.Repeat(`"",`, n/3) + `""]}`},
		{"fields of LibreTranslate's", "/detect", manyFields(n / 10)},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w, _ := post(h, test.path, test.body, true)
		runtime.ReadMemStats(&after)
		assert.Less(t, w.Code, 500, test.name)
		perByte := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(test.body))
		assert.Less(t, perByte, 2.0*cost.BodyByte, test.name)
		t.Logf("%s: %.1f", test.name, perByte)
	}
}

// manyFields returns an object with n fields.
func manyFields(n int) string {
	var object strings.Builder
	for i := range n {
		fmt.Fprintf(&object, `,"%06d":0`, i)
	}
	return "{" + object.String()[1:] + "}"
}
