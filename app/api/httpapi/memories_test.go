package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/guard/access"
	"dragoman/app/guard/admission"
	"dragoman/app/memory"
	"dragoman/app/memory/memorystore"
	"dragoman/app/translate"
)

// newMemories returns an API with an empty store of translation memories.
func newMemories(t *testing.T, gate *access.Gate, change func(*Config)) (*API, *memory.Service) {
	store, err := memorystore.OpenFile(filepath.Join(t.TempDir(), "memories.db"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	service := memory.New(memory.Config{Store: store, Limits: memory.Limits{Entries: 100_000, Bytes: 64 << 20, PerOwner: 4}})
	a, _ := newAPI(func(cfg *Config) {
		cfg.Gate, cfg.MaxBodyBytes, cfg.RequestTimeout, cfg.Memories = gate, 4096, time.Minute, service
		if change != nil {
			change(cfg)
		}
	})
	return a, service
}

func TestMemories(t *testing.T) {
	a, _ := newMemories(t, nil, nil)
	h := a.Handler()
	w := do(h, "PUT", "/memories/m?from=en&to=fr", "Hello\tBonjour\n\tx\n", "Content-Type", tsvType)
	assert.Equal(t, 201, w.Code, w.Body)
	assert.Equal(t, "/memories/m", w.Header().Get("Location"))
	assert.Regexp(t, `^\{"import":\{"taken":1,"skipped":1,"reasons":\["line 2: the source is empty"\]\},"memory":\{"id":"m","created":"[^"]+","changed":"[^"]+",`+
		`"entryCount":1,"languages":\[\{"from":"en","to":"fr","entryCount":1\}\],"url":"/memories/m"\}\}`, w.Body.String())
	w = do(h, "POST", "/memories/m/entries", `{"from":"EN","to":"fr","entries":[{"source":"Bye <b>","target":"Au revoir"}]}`, "Content-Type", inJSON)
	assert.Equal(t, 200, w.Code, w.Body)
	w = do(h, "GET", "/memories/m/entries", "")
	assert.Equal(t, 200, w.Code)
	assert.Equal(t, "application/x-tmx+xml; charset=utf-8", w.Header().Get("Content-Type"))
	assert.Equal(t, `attachment; filename="m.tmx"`, w.Header().Get("Content-Disposition"))
	tmx := w.Body.String()
	assert.Contains(t, tmx, `<tu srclang="en"><tuv xml:lang="en"><seg>Bye &lt;b&gt;</seg></tuv><tuv xml:lang="fr"><seg>Au revoir</seg></tuv></tu>`)
	w = do(h, "PUT", "/memories/copy", tmx, "Content-Type", "application/x-tmx+xml")
	assert.Equal(t, 201, w.Code, w.Body)
	assert.Contains(t, w.Body.String(), `"entryCount":2`)
	w = do(h, "GET", "/memories", "")
	assert.Regexp(t, `^\{"memories":\[\{"id":"(copy|m)".*\{"id":"(copy|m)"`, w.Body.String())
	w = do(h, "DELETE", "/memories/m/entries?from=en&to=fr&text=Hello", "")
	assert.Equal(t, 204, w.Code)
	w = do(h, "GET", "/memories/m", "")
	assert.Contains(t, w.Body.String(), `"entryCount":1`)
	assert.Equal(t, 204, do(h, "DELETE", "/memories/m", "").Code)
	assert.Equal(t, 404, do(h, "GET", "/memories/m", "").Code)
	for path, want := range map[string]string{
		"/memories/m?keep=yes&from=en&to=fr": `keep is \"yes\", expected true or false`,
		"/memories/m?to=fr":                  "from is missing in the query",
		"/memories/a:b?from=en&to=fr":        `"field":"id"`,
	} {
		w := do(h, "PUT", path, "a\tb\n", "Content-Type", tsvType)
		assert.Contains(t, w.Body.String(), want)
	}
}

// A file is larger than other bodies may be, and takes no memory of requests.
func TestMemoryFileIsStreamed(t *testing.T) {
	a, service := newMemories(t, nil, func(cfg *Config) { cfg.Memory = admission.New(1 << 20) })
	server := httptest.NewServer(a.Handler())
	defer server.Close()
	var file strings.Builder
	for i := range 50_000 {
		file.WriteString(strings.Repeat(string(rune('a'+i%26)), 1+i%7) + " line " + strings.Repeat("x", i%50) + string(rune('A'+i%24)) + "\tligne\n")
	}
	put := func(body string) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), "PUT", server.URL+"/memories/m?from=en&to=fr", bytes.NewReader([]byte(body)))
		require.NoError(t, err)
		req.Header.Set("Content-Type", tsvType)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		assert.NoError(t, resp.Body.Close())
		return resp
	}
	require.Greater(t, file.Len(), 1<<20)
	assert.Equal(t, 201, put(file.String()).StatusCode)
	m, err := service.Get(t.Context(), "", "m")
	require.NoError(t, err)
	assert.Greater(t, m.Entries(), 1000)
	assert.Equal(t, 413, put(strings.Repeat(file.String(), 45)).StatusCode)
}

// referring notes the translation memories of requests.
type referring struct {
	upper
	asked *[]translate.MemoryRef
}

func (r referring) Translate(ctx context.Context, req translate.Request) ([]translate.Result, error) {
	*r.asked = append(*r.asked, *req.Memory)
	return r.upper.Translate(ctx, req)
}

// A translation memory belongs to the key that made it; requests use that of their own key, whatever they say.
func TestMemoriesHaveOwners(t *testing.T) {
	gate, aliceKey, bobKey := gateOf(t)
	a, service := newMemories(t, gate, nil)
	var asked []translate.MemoryRef
	a.server.Ready(referring{asked: &asked})
	h := a.Handler()
	with := func(key, method, path, body, media string) int {
		return do(h, method, path, body, "Content-Type", media, "Authorization", "Bearer "+key).Code
	}
	assert.Equal(t, 201, with(aliceKey, "PUT", "/memories/m?from=en&to=fr", "a\tb\n", tsvType))
	assert.Equal(t, 200, with(aliceKey, "GET", "/memories/m", "", ""))
	assert.Equal(t, 404, with(bobKey, "GET", "/memories/m", "", ""))
	assert.Equal(t, 404, with(bobKey, "DELETE", "/memories/m", "", ""))
	assert.Equal(t, 404, with(bobKey, "GET", "/memories/m/entries", "", ""))
	assert.Equal(t, 401, with("wrong", "GET", "/memories", "", ""))
	assert.Equal(t, 200, with(bobKey, "POST", "/translation", `{"payload":{"fromLang":"en","toLang":"fr","memoryId":"m","records":[]}}`, inJSON))
	assert.Equal(t, []translate.MemoryRef{{Owner: "bob", ID: "m"}}, asked)
	_, err := service.Get(t.Context(), "alice", "m")
	assert.NoError(t, err)
}
