package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/repository"
)

// having returns a catalogue with versions of models: name, number, identity.
func having(versions ...[3]string) *Catalogue {
	c := &Catalogue{}
	for _, v := range versions {
		var number int
		_, _ = fmt.Sscan(v[1], &number)
		if n := len(c.Models); n == 0 || c.Models[n-1].Name != v[0] {
			c.Models = append(c.Models, repository.Model{Name: v[0]})
			c.Order = append(c.Order, v[0])
		}
		m := &c.Models[len(c.Models)-1]
		m.Versions = append(m.Versions, repository.Version{Number: number, Served: true, Identity: v[2], Manifest: &model.Manifest{}})
	}
	return c
}

// Catalogues are merged. An export of which workers have different ones is that of most workers.
func TestMerge(t *testing.T) {
	a1, a1x, a2, b1 := [3]string{"a", "1", "A"}, [3]string{"a", "1", "X"}, [3]string{"a", "2", "B"}, [3]string{"b", "1", "C"}
	for name, test := range map[string]struct {
		catalogues []*Catalogue
		want       []string
		order      []string
	}{
		"none":                 {nil, nil, nil},
		"one":                  {[]*Catalogue{having(a1, a2, b1)}, []string{"a:1=A", "a:2=B", "b:1=C"}, []string{"a", "b"}},
		"nothing in it":        {[]*Catalogue{{}, having(a1), {}}, []string{"a:1=A"}, []string{"a"}},
		"the same":             {[]*Catalogue{having(a1, b1), having(a1, b1)}, []string{"a:1=A", "b:1=C"}, []string{"a", "b"}},
		"others":               {[]*Catalogue{having(b1), having(a1)}, []string{"a:1=A", "b:1=C"}, []string{"b", "a"}},
		"other versions":       {[]*Catalogue{having(a2), having(a1)}, []string{"a:1=A", "a:2=B"}, []string{"a"}},
		"conflict, newest":     {[]*Catalogue{having(a1x), having(a1)}, []string{"a:1=X"}, []string{"a"}},
		"conflict, most":       {[]*Catalogue{having(a1x), having(a1), having(a1)}, []string{"a:1=A"}, []string{"a"}},
		"conflict in one part": {[]*Catalogue{having(a1x, a2), having(a1), having(a1, b1)}, []string{"a:1=A", "a:2=B", "b:1=C"}, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := merge(test.catalogues)
			var got []string
			for _, m := range s.Models {
				for _, v := range m.Versions {
					got = append(got, fmt.Sprintf("%s:%d=%s", m.Name, v.Number, v.Identity))
				}
			}
			assert.Equal(t, test.want, got)
			assert.Equal(t, test.order, s.Order)
		})
	}
	first, second := having(a1), having(a1)
	first.Pivots, second.Pivots = []string{"en"}, []string{"de"}
	first.Pipelines, second.Pipelines = []repository.Pipeline{{Name: "p", Version: 2}}, []repository.Pipeline{{Name: "p", Version: 1}, {Name: "q"}}
	s := merge([]*Catalogue{first, second})
	assert.Equal(t, []string{"en"}, s.Pivots)
	assert.Equal(t, []repository.Pipeline{{Name: "p", Version: 2}, {Name: "q"}}, s.Pipelines)
}

// onDisk returns a snapshot with one version, whose tokenizer is a file with some content.
func onDisk(t *testing.T, name, content string) repository.Snapshot {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, model.VocabFile), []byte(content), 0o600))
	sum := sha256.Sum256([]byte(content))
	manifest := &model.Manifest{Languages: []string{"en"}, Files: map[string]model.File{
		model.VocabFile: {SHA256: hex.EncodeToString(sum[:])}, "weights.bin": {SHA256: "none"},
	}}
	return repository.Snapshot{Order: []string{name}, Models: []repository.Model{{Name: name, Dir: dir, Versions: []repository.Version{
		{Number: 1, Dir: dir, Served: true, Identity: name + "-identity", Manifest: manifest},
	}}}}
}

// A gateway reads from Redis what a worker has published, without its folders.
func TestPublish(t *testing.T) {
	server := newServer(t)
	b := newTestBroker(t, server.Addr(), calm)
	s := onDisk(t, "m", "words")
	hash, _, err := b.publish(t.Context(), s, 5, 200)
	require.NoError(t, err)
	c, err := newCatalogues(b).get(t.Context(), hash)
	require.NoError(t, err)
	assert.Equal(t, [2]int{5, 200}, [2]int{c.MaxBeams, c.MaxLength})
	v := c.Models[0].Versions[0]
	assert.Empty(t, c.Models[0].Dir+v.Dir)
	assert.Equal(t, s.Models[0].Versions[0].Manifest, v.Manifest)
	assert.NotEmpty(t, s.Models[0].Versions[0].Dir, "the worker's own has not changed")
	again, _, err := b.publish(t.Context(), s, 5, 200)
	require.NoError(t, err)
	assert.Equal(t, hash, again)

	dir := t.TempDir()
	require.NoError(t, b.FetchTokenizer(t.Context(), v.Manifest, dir))
	raw, err := os.ReadFile(filepath.Join(dir, model.VocabFile))
	require.NoError(t, err)
	assert.Equal(t, "words", string(raw))

	require.NoError(t, server.Set(b.keys.file(v.Manifest.Files[model.VocabFile].SHA256), "other words"))
	require.ErrorContains(t, b.FetchTokenizer(t.Context(), v.Manifest, dir), "is damaged")
	server.FlushAll()
	require.ErrorIs(t, b.FetchTokenizer(t.Context(), v.Manifest, dir), ErrNoFile)
}

// A file of a tokenizer is written into its folder, or not at all, whatever name Redis has for it.
func TestFetchTokenizerStaysInItsFolder(t *testing.T) {
	server := newServer(t)
	b := newTestBroker(t, server.Addr(), calm)
	sum := sha256.Sum256([]byte("words"))
	file := model.File{SHA256: hex.EncodeToString(sum[:])}
	require.NoError(t, server.Set(b.keys.file(file.SHA256), "words"))
	outside := t.TempDir()
	dir := filepath.Join(outside, "tokenizer")
	require.NoError(t, os.Mkdir(dir, 0o700))
	for _, name := range []string{"../words", filepath.Join(outside, "words"), "a/../../words"} {
		require.Error(t, b.FetchTokenizer(t.Context(), &model.Manifest{Files: map[string]model.File{name: file}}, dir), name)
	}
	assert.NoFileExists(t, filepath.Join(outside, "words"))
	require.NoError(t, b.FetchTokenizer(t.Context(), &model.Manifest{Files: map[string]model.File{"bpe.model": file}}, dir))
	assert.FileExists(t, filepath.Join(dir, "bpe.model"))
}

// A worker does not publish a model whose tokenizer it cannot read. It publishes the others.
func TestPublishWithoutAFile(t *testing.T) {
	good := onDisk(t, "good", "words")
	for name, spoil := range map[string]func(path string) error{
		"damaged": func(path string) error { return os.WriteFile(path, []byte("other"), 0o600) },
		"missing": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			b := newTestBroker(t, newServer(t).Addr(), calm)
			bad := onDisk(t, "bad", "letters")
			require.NoError(t, spoil(filepath.Join(bad.Models[0].Dir, model.VocabFile)))
			bad.Models = append(bad.Models, good.Models...)
			hash, _, err := b.publish(t.Context(), bad, 1, 1)
			require.NoError(t, err)
			c, err := newCatalogues(b).get(t.Context(), hash)
			require.NoError(t, err)
			require.Len(t, c.Models, 1)
			assert.Equal(t, "good", c.Models[0].Name)
			assert.Len(t, bad.Models[0].Versions, 1, "the worker's own has not changed")
		})
	}
}
