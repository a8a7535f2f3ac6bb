package repository

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

// tree is the folder of a repository under test.
type tree struct {
	*testing.T
	dir string
}

func newTree(t *testing.T) tree { return tree{t, t.TempDir()} }

// write writes a file and the folders that it is in.
func (r tree) write(path, content string) tree {
	r.Helper()
	path = filepath.Join(r.dir, path)
	require.NoError(r, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(r, os.WriteFile(path, []byte(content), 0o644))
	return r
}

// export writes an exported folder, whose weights are as given.
func (r tree) export(path, weights string) tree {
	r.Helper()
	r.write(filepath.Join(path, model.WeightsFile), weights)
	require.NoError(r, manifest(r.T, filepath.Join(r.dir, path)).Write(filepath.Join(r.dir, path)))
	return r
}

// manifest is that of the weights in a folder.
func manifest(t testing.TB, dir string) *model.Manifest {
	file, err := model.HashFile(t.Context(), filepath.Join(dir, model.WeightsFile))
	require.NoError(t, err)
	stack := model.Stack{Layers: 1, Heads: 2, FFN: 8}
	return &model.Manifest{
		Format: model.ManifestFormat, Source: "someone/model", Revision: "main", Precision: model.FP32, Family: "m2m100",
		Spec:      model.Spec{VocabSize: 100, DModel: 8, MaxPositions: 16, Encoder: stack, Decoder: stack, EOS: 2},
		Languages: []string{"en", "ja"}, Files: map[string]model.File{model.WeightsFile: file},
	}
}

// served are the versions that each model serves.
func served(s Snapshot) map[string][]int {
	all := map[string][]int{}
	for _, m := range s.Models {
		all[m.Name] = nil
		for _, v := range m.Versions {
			if v.Served {
				all[m.Name] = append(all[m.Name], v.Number)
			}
		}
	}
	return all
}

// problems are the problems of a snapshot, without the folder that all paths begin with.
func (r tree) problems(s Snapshot) []string {
	var lines []string
	for _, p := range s.Problems {
		path, err := filepath.Rel(r.dir, p.Path)
		require.NoError(r, err)
		lines = append(lines, path+": "+p.Text)
	}
	return lines
}

func TestScan(t *testing.T) {
	r := newTree(t).export("b/1", "one").export("b/2", "two").export("b/10", "two").export("a/3", "three").
		write("b/config.yaml", "versions: {latest: 2}\naliases: [bb]\n")
	s := Scan([]string{r.dir})
	assert.Empty(t, s.Problems)
	require.NoError(t, s.Err)
	require.Len(t, s.Models, 2)
	a, b := s.Models[0], s.Models[1]
	assert.Equal(t, "a", a.Name)
	assert.Equal(t, filepath.Join(r.dir, "b"), b.Dir)
	assert.Equal(t, []string{"bb"}, b.Aliases)
	assert.Equal(t, map[string][]int{"a": {3}, "b": {2, 10}}, served(s))
	for i, number := range []int{1, 2, 10} {
		v := b.Versions[i]
		assert.Equal(t, number, v.Number)
		assert.Equal(t, filepath.Join(r.dir, "b", strconv.Itoa(number)), v.Dir)
		require.NoError(t, v.Err)
		assert.EqualValues(t, 3, v.Bytes)
		assert.Equal(t, []string{"en", "ja"}, v.Manifest.Languages)
	}
	assert.Equal(t, b.Versions[1].Identity, b.Versions[2].Identity)
	assert.NotEqual(t, b.Versions[0].Identity, b.Versions[1].Identity)
	assert.NotEqual(t, b.Versions[1].Fingerprint, b.Versions[2].Fingerprint)
	assert.Equal(t, s, Scan([]string{r.dir, r.dir + "/"}))
}
