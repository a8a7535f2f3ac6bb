package source_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/source"
)

// hubList is a Hub that lists models in pages, and counts the requests.
func hubList(t *testing.T, pages ...string) string {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/models", func(w http.ResponseWriter, r *http.Request) {
		n := len(r.URL.Query().Get("cursor"))
		if r.URL.Query().Get("author") != "Helsinki-NLP" && n == 0 || n >= len(pages) {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		if n+1 < len(pages) {
			w.Header().Set("Link", `<http://`+r.Host+`/api/models?cursor=`+"xxxxxxxx"[:n+1]+`>; rel="next"`)
		}
		_, _ = w.Write([]byte(pages[n]))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func TestAvailable(t *testing.T) {
	m := newMirror(t)
	m.add("model", "en", "de", "1.0", "model.ende.intgemm.alphas.bin", "old one")
	m.add("model", "en", "de", "2.0", "model.ende.intgemm.alphas.bin", "weights")
	m.add("vocab", "en", "de", "2.0", "vocab.ende.spm", "pieces")
	m.add("model", "en", "fr", "2.0", "model.enfr.intgemm.alphas.bin", "without a vocabulary")
	m.add("model", "../x", "fr", "2.0", "model.enfr.intgemm.alphas.bin", "no pair")
	first := `[{"id":"Helsinki-NLP/opus-mt-fr-en","tags":["translation","license:apache-2.0"]},{"id":"Helsinki-NLP/opus-mt-tc-big-en-fr","tags":[]},{"id":"x/opus-mt-en-fr"}]`
	second := `[{"id":"Helsinki-NLP/opus-mt-de-en","tags":["license:cc-by-4.0"]},{"id":"Helsinki-NLP/opus-mt-ROMANCE-en"},{"id":"Helsinki-NLP/opus-mt-en-mul"}]`
	c, err := source.New(source.Config{Index: m.url, Endpoint: hubList(t, first, second)})
	require.NoError(t, err)

	list, err := c.Available(t.Context(), source.Firefox)
	require.NoError(t, err)
	assert.Equal(t, []source.Available{{Ref: "firefox:en-de", From: "en", To: "de", Languages: 2, Bytes: int64(len("weights" + "pieces")), License: "mpl-2.0"}}, list)

	list, err = c.Available(t.Context(), source.Opus)
	require.NoError(t, err)
	assert.Equal(t, []source.Available{
		{Ref: "Helsinki-NLP/opus-mt-de-en", From: "de", To: "en", Languages: 2, License: "cc-by-4.0"},
		{Ref: "Helsinki-NLP/opus-mt-en-mul", From: "en", To: "mul", Languages: 2},
		{Ref: "Helsinki-NLP/opus-mt-fr-en", From: "fr", To: "en", Languages: 2, License: "apache-2.0"},
	}, list)
	assert.NotEmpty(t, source.Large())
	for _, m := range source.Large() {
		_, err := source.ParseRef(m.Ref, "")
		assert.NoError(t, err)
	}
}

func TestAvailableFails(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", `<http://127.0.0.1:1/api/models?cursor=x>; rel="next"`)
		_ = json.NewEncoder(w).Encode([]any{})
	}))
	t.Cleanup(elsewhere.Close)
	for _, test := range []struct {
		name string
		cfg  source.Config
		of   string
		want string
	}{
		{"another host", source.Config{Endpoint: elsewhere.URL}, source.Opus, "goes on at another host"},
		{"no list", source.Config{Endpoint: hubList(t, "<html>")}, source.Opus, "JSON"},
		{"no index", source.Config{Index: elsewhere.URL}, source.Firefox, "FIREFOX_MODELS"},
		{"no URL", source.Config{Index: "here"}, source.Firefox, `FIREFOX_MODELS "here" is not a URL of an index`},
		{"offline", source.Config{Offline: true}, source.Opus, "HF_HUB_OFFLINE"},
		{"an unknown source", source.Config{}, "argos", `"argos" is no source of models that can be listed: use firefox or opus`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := source.New(test.cfg)
			require.NoError(t, err)
			_, err = c.Available(t.Context(), test.of)
			assert.ErrorContains(t, err, test.want)
		})
	}
}
