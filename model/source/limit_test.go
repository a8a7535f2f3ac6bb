package source_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/source"
	"dragoman/model/source/hubtest"
)

// endlessServer is a web server with a checkpoint, one file of which has no size and no end.
func endlessServer(t *testing.T, endless string) *httptest.Server {
	files := repoFiles()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := path.Base(r.URL.Path)
		content, ok := files[name]
		switch {
		case name == endless && r.Method == http.MethodGet:
			for _, err := w.Write(content); err == nil; _, err = w.Write(make([]byte, 1<<20)) {
			}
		case name == endless:
		case ok:
			http.ServeContent(w, r, name, time.Time{}, strings.NewReader(string(content)))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// bounded is a client of a hub that lets the weights be of limit bytes.
func bounded(t *testing.T, hub string, limit int64) *source.Client {
	c, err := source.New(source.Config{Endpoint: hub})
	require.NoError(t, err)
	c.SetAccept(func(_, _ []byte) (int64, error) { return limit, nil })
	return c
}

// A server that does not end cannot fill the disk: neither with a small file nor with
// weights, of which the configuration tells how large they can be.
func TestEndlessFiles(t *testing.T) {
	for _, name := range []string{"config.json", "generation_config.json", "vocab.json", "sentencepiece.bpe.model", weight} {
		t.Run(name, func(t *testing.T) {
			s := endlessServer(t, name)
			dir := t.TempDir()
			_, err := bounded(t, "", 2*size).Pull(t.Context(), ref(t, s.URL), dir)
			assert.ErrorIs(t, err, source.ErrTooLarge)
			assert.ErrorContains(t, err, name)
			entries, err := os.ReadDir(dir)
			require.NoError(t, err)
			for _, e := range entries {
				assert.NotContains(t, e.Name(), name, "what came of it is gone")
			}
		})
	}
}

// Weights larger than the configuration lets them be are not even asked for, and where
// nobody says how large they are, the disk must have room for as many as there may be.
func TestWeightsBeyondTheirBound(t *testing.T) {
	s := hubtest.New(t, repo, repoFiles())
	_, err := bounded(t, s.Endpoint, size-1).Pull(t.Context(), ref(t, repo), t.TempDir())
	assert.ErrorIs(t, err, source.ErrTooLarge)
	assert.ErrorContains(t, err, "more than 300 kB (299999 bytes)")
	assert.Zero(t, s.Sent(weight))
	_, err = bounded(t, s.Endpoint, size).Pull(t.Context(), ref(t, repo), t.TempDir())
	assert.NoError(t, err)

	sharded := map[string][]byte{weight: nil, "a.safetensors": noise(4, 1000), "b.safetensors": noise(5, 1000),
		"model.safetensors.index.json": []byte(`{"weight_map": {"x": "a.safetensors", "y": "b.safetensors"}}`)}
	s = hubtest.New(t, repo, repoFiles(sharded))
	_, err = bounded(t, s.Endpoint, 1999).Pull(t.Context(), ref(t, repo), t.TempDir())
	assert.ErrorIs(t, err, source.ErrTooLarge, "the shards together")
	_, err = bounded(t, s.Endpoint, 2000).Pull(t.Context(), ref(t, repo), t.TempDir())
	assert.NoError(t, err)

	c := bounded(t, "", 4*size)
	c.SetFreeSpace(func(string) (uint64, error) { return 3 * size, nil })
	_, err = c.Pull(t.Context(), ref(t, endlessServer(t, weight).URL), t.TempDir())
	assert.ErrorIs(t, err, source.ErrNoSpace)
}
