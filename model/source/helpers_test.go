package source_test

import (
	"bytes"
	"context"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/source"
	"dragoman/model/source/hubtest"
)

const (
	repo   = "owner/m2m100"
	weight = "model.safetensors"
	size   = 300_000 // bytes of the weights
)

// noise returns n bytes that depend on seed.
func noise(seed uint64, n int) []byte {
	random := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

// repoFiles returns the files of a repository: a checkpoint and others that
// no model needs. Each edit adds to it or, with nil content, takes from it.
func repoFiles(edits ...map[string][]byte) map[string][]byte {
	files := map[string][]byte{
		"config.json":             []byte(`{"model_type": "m2m_100"}`),
		"generation_config.json":  []byte(`{"num_beams": 5}`),
		"vocab.json":              []byte(`{"<s>": 0, "<pad>": 1}`),
		"sentencepiece.bpe.model": noise(1, 20_000),
		"tokenizer_config.json":   []byte(`{}`),
		weight:                    noise(2, size),
		"rust_model.ot":           noise(3, 10),
	}
	for _, edit := range edits {
		for name, content := range edit {
			if files[name] = content; content == nil {
				delete(files, name)
			}
		}
	}
	return files
}

// newClient makes a client of s that never waits. Each edit changes its Config.
func newClient(t *testing.T, s *hubtest.Server, edits ...func(*source.Config)) *source.Client {
	t.Helper()
	cfg := source.Config{Endpoint: s.Endpoint}
	for _, edit := range edits {
		edit(&cfg)
	}
	c, err := source.New(cfg)
	require.NoError(t, err)
	c.SetWait((&waits{}).wait)
	c.SetAccept(anyModel)
	c.SetCheck(func(model.Files, string) error { return nil })
	return c
}

// anyModel accepts any model.
func anyModel(_, _ []byte) (int64, error) { return 1 << 44, nil }

func ref(t *testing.T, name string) source.Ref {
	t.Helper()
	r, err := source.ParseRef(name, "")
	require.NoError(t, err)
	return r
}

// assertHolds checks that the folder has exactly these files, byte for byte, and
// nothing unfinished.
func assertHolds(t *testing.T, dir string, files map[string][]byte, names ...string) {
	t.Helper()
	got := map[string][]byte{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range entries {
		if entry.Name()[0] != '.' {
			got[entry.Name()], err = os.ReadFile(filepath.Join(dir, entry.Name()))
			require.NoError(t, err)
		}
	}
	want := map[string][]byte{}
	for _, name := range names {
		want[name] = files[name]
	}
	assert.Equal(t, sorted(want), sorted(got))
	for name := range want {
		assert.True(t, bytes.Equal(want[name], got[name]), "content of %s", name)
	}
}

func sorted(files map[string][]byte) map[string]int {
	sizes := map[string]int{}
	for name, content := range maps.All(files) {
		sizes[name] = len(content)
	}
	return sizes
}

var usual = []string{"config.json", "generation_config.json", "vocab.json", "sentencepiece.bpe.model", "tokenizer_config.json", weight}

// waits remembers how long a client should have waited.
type waits struct{ list []time.Duration }

func (w *waits) wait(ctx context.Context, d time.Duration) error {
	w.list = append(w.list, d)
	return ctx.Err()
}

// meter is a Progress that calls a function.
type meter func(file string, done int64)

func (m meter) progress(file string, done, _ int64) source.Meter { return &meterOf{m, file} }

type meterOf struct {
	meter
	file string
}

func (m *meterOf) Set(done int64) { m.meter(m.file, done) }
func (m *meterOf) Close(error)    {}
