package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/config"
	"dragoman/model/repository"
	"dragoman/model/source"
)

// slowMirror is a firefoxMirror that sends half of a model's file, and the rest when open is closed. broken models are missing.
func slowMirror(t *testing.T, open chan struct{}, broken string) (index string) {
	behind, err := url.Parse(firefoxMirror(t))
	require.NoError(t, err)
	behind.Path = ""
	proxy := httputil.NewSingleHostReverseProxy(behind)
	proxy.ModifyResponse = func(r *http.Response) error {
		if !strings.HasPrefix(r.Request.URL.Path, "/files/model") {
			return nil
		}
		if broken != "" {
			r.StatusCode, r.Status = http.StatusNotFound, broken
			return nil
		}
		content, err := io.ReadAll(r.Body)
		half := len(content) / 2
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(content[:half]), waiting{open}, bytes.NewReader(content[half:])))
		return err
	}
	proxy.FlushInterval = -1
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL + "/records"
}

// waiting is an empty reader that ends when a channel is closed.
type waiting struct{ until chan struct{} }

func (w waiting) Read([]byte) (int, error) {
	<-w.until
	return 0, io.EOF
}

// languages returns the target languages by source language.
func (r *running) languages(t require.TestingT) map[string][]string {
	resp, err := http.Get(r.url + "/languages")
	require.NoError(t, err)
	defer resp.Body.Close()
	var list []struct {
		Code    string
		Targets []string
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&list))
	all := map[string][]string{}
	for _, l := range list {
		all[l.Code] = l.Targets
	}
	return all
}

// A pair of languages is fetched when it is first asked for, and a pair without a model by way of English.
func TestModelsAreFetchedWhenAskedFor(t *testing.T) {
	open, dir := make(chan struct{}), t.TempDir()
	release := sync.OnceFunc(func() { close(open) })
	t.Cleanup(release)
	environ := []string{"AUTO_PULL=firefox", "MODEL_REPOSITORY=" + dir, "FIREFOX_MODELS=" + slowMirror(t, open, "")}
	r := startServer(t, func(context.Context) {}, func(http.Handler) {}, environ...)
	targets := r.languages(t)
	assert.Subset(t, targets["en"], []string{"de", "fr"})
	assert.Contains(t, targets["de"], "fr", "by way of English")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries, "nothing is fetched before it is asked for")

	status, _, body := r.translateWith(t, "", "en", "de", "Hello.")
	assert.Equal(t, 503, status, body)
	assert.Contains(t, body, "the model firefox:en-de is being fetched (")
	assert.Contains(t, body, `"not_ready"`)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		_, _, body := r.translateWith(c, "", "en", "de", "Hello.")
		assert.Regexp(c, `is being fetched \([1-9]\d? % of [\d.]+ [kM]B\)`, body)
	}, time.Minute, 20*time.Millisecond)
	resp, err := http.Post(r.url+"/translate", "application/json", strings.NewReader(`{"q":"Hello.","source":"en","target":"de"}`))
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, 503, resp.StatusCode)
	assert.NotEmpty(t, resp.Header.Get("Retry-After"), "dialects say it, too")
	status, _, _ = r.translateWith(t, "", "en", "ja", "Hello.")
	assert.Equal(t, 400, status, "no source has the pair")

	release()
	for _, want := range []struct{ from, to, model string }{{"en", "de", "firefox-en-de"}, {"de", "fr", "firefox-de-en+firefox-en-fr"}} {
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			status, got, body := r.translateWith(c, "", want.from, want.to, "Hello.")
			assert.Equal(c, 200, status, body)
			assert.Equal(c, want.model, got.Detail.Model)
		}, time.Minute, 20*time.Millisecond)
	}
	status, _, _ = r.translateWith(t, "firefox-en-de", "en", "de", "Hello.")
	assert.Equal(t, 200, status)
	r.stop()
	require.NoError(t, <-r.result)

	environ[2] = "FIREFOX_MODELS=http://127.0.0.1:1/records" // the source is gone, the models stay
	r = service(t, environ...)
	status, _, body = r.translateWith(t, "", "de", "fr", "Hello.")
	assert.Equal(t, 200, status, body)
}

func TestFetchesAreBounded(t *testing.T) {
	open := make(chan struct{})
	close(open)
	for _, test := range []struct {
		name, broken string
		environ      []string
		to           string
		status       int
		body         string
	}{
		{"languages", "", []string{"AUTO_PULL_LANGUAGES=en,fr"}, "de", 400, "not a language"},
		{"disk", "", []string{"AUTO_PULL_STORAGE=1MiB"}, "de", 507, "there is no room for the model firefox:en-de: the models have 0 B of the 1.0 MiB of AUTO_PULL_STORAGE"},
		{"a missing file", "404 Not Found", nil, "de", 503, "the model firefox:en-de could not be fetched, and the service's log says why"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := service(t, append(test.environ, "AUTO_PULL=firefox", "MODEL_REPOSITORY="+t.TempDir(), "FIREFOX_MODELS="+slowMirror(t, open, test.broken))...)
			require.EventuallyWithT(t, func(c *assert.CollectT) {
				status, _, body := r.translateWith(c, "", "en", test.to, "Hello.")
				assert.Equal(c, test.status, status)
				assert.Contains(c, body, test.body)
			}, time.Minute, 20*time.Millisecond)
		})
	}
}

// The room of a fetch is what the last snapshot leaves of AUTO_PULL_STORAGE: a request scans no folder.
func TestRoomIsThatOfTheSnapshot(t *testing.T) {
	dir := t.TempDir()
	p := &puller{
		loader: &loader{cfg: config.Config{AutoPullStorage: 3 << 20}}, dir: dir + "/",
		offers:  map[[2]string]source.Available{{"en", "de"}: {Ref: "firefox:en-de", Bytes: 1 << 20}},
		fetches: map[string]*pulled{"firefox:en-fr": {Available: source.Available{Bytes: 1 << 20}}, "firefox:en-ja": {Available: source.Available{Bytes: 9 << 20}, ended: true}},
	}
	sized := func(dir string, bytes int64) repository.Model {
		return repository.Model{Dir: dir, Versions: []repository.Version{{Bytes: bytes / 2}, {Bytes: bytes / 2}}}
	}
	for _, test := range []struct {
		here, elsewhere int64
		room            bool
	}{{1 << 20, 9 << 20, true}, {1<<20 + 2, 0, false}, {0, 0, true}} {
		p.measure(repository.Snapshot{Models: []repository.Model{sized(filepath.Join(dir, "a"), test.here), sized("/elsewhere/b", test.elsewhere)}})
		err := p.room(p.offers[[2]string{"en", "de"}])
		assert.Equal(t, test.room, err == nil, "%v: %v", test, err)
	}
}

// A source that does not answer keeps its models, and is logged once until it answers again. Only other models are news.
func TestListsAreLoggedWhenTheyChange(t *testing.T) {
	var away atomic.Bool
	index := firefoxMirror(t)
	mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() {
			http.NotFound(w, r)
			return
		}
		http.Redirect(w, r, index, http.StatusFound)
	}))
	t.Cleanup(mirror.Close)
	var lines bytes.Buffer
	p := &puller{
		loader: &loader{cfg: config.Config{AutoPull: []string{"firefox"}, ModelIndex: mirror.URL}, log: slog.New(slog.NewTextHandler(&lines, nil))},
		away:   map[string]bool{},
	}
	const unknown, listed = `msg="the models that can be fetched are not known"`, `msg="models can be fetched when they are asked for"`
	for i, test := range []struct {
		away, changed bool
		pause         time.Duration
		logged        []string
	}{
		{true, false, listAgain, []string{unknown, listed}},
		{true, false, listAgain, nil},
		{false, true, listEvery, []string{listed}},
		{false, false, listEvery, nil},
		{true, false, listAgain, []string{unknown}},
		{true, false, listAgain, nil},
	} {
		lines.Reset()
		away.Store(test.away)
		assert.Equal(t, test.changed, p.list(t.Context()), i)
		assert.Equal(t, test.pause, p.pause, i)
		assert.Equal(t, i > 1, len(p.Pairs()["en"]) > 0, i)
		assert.Equal(t, len(test.logged), strings.Count(lines.String(), "\n"), "%d: %s", i, &lines)
		for _, line := range test.logged {
			assert.Contains(t, lines.String(), line, i)
		}
	}
}
