package repository

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"dragoman/model"
)

// tree is the folder of a repository under test.
type tree struct {
	testing.TB
	dir string
}

func newTree(t testing.TB) tree { return tree{t, t.TempDir()} }

// write writes a file and makes its folders.
func (r tree) write(path, content string) tree {
	r.Helper()
	path = filepath.Join(r.dir, path)
	require.NoError(r, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(r, os.WriteFile(path, []byte(content), 0o644))
	return r
}

// export writes an exported folder with the given weights.
func (r tree) export(path, weights string) tree {
	r.Helper()
	r.write(filepath.Join(path, model.WeightsFile), weights)
	require.NoError(r, manifest(r, filepath.Join(r.dir, path)).Write(filepath.Join(r.dir, path)))
	return r
}

// manifest returns the manifest of a folder's weights.
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

// served returns the versions that each model serves.
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

// problems returns the problems of a snapshot, without the common folder of the paths.
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

// TestScanIgnores: other files in a repository cause at most a line, and the rest is served.
func TestScanIgnores(t *testing.T) {
	r := newTree(t).export("good/1", "x")
	r.write("README.md", "").write(".hidden/1/dragoman.json", "").write("lost+found/x", "").write("good/README.md", "").
		write("good/.adding-1/dragoman.json", "").write("config.yml", "").write("good/config.yml", "").
		write("two words/1/x", "").export("exported", "x").export("good/v2", "x").export("good/02", "x").export("good/0", "x").
		export("good/1234567890", "x").write("good/notes/x", "").write("foreign/model.bin", "").write("configured/config.yaml", "workers: 1")
	require.NoError(t, os.MkdirAll(filepath.Join(r.dir, "empty"), 0o755))
	require.NoError(t, os.Symlink("loop", filepath.Join(r.dir, "loop")))
	require.NoError(t, os.Symlink("..", filepath.Join(r.dir, "good", "7")))
	require.NoError(t, os.Symlink(filepath.Join(r.dir, "good", "1"), filepath.Join(r.dir, "good", "8")))

	const rule = ": is ignored: a version is a number from 1 to 999999999 without leading zeros"
	noVersion := func(name string) string {
		return name + ": has no version: export one with `dragoman pull MODEL --repository " + r.dir + " --name " + name + "`"
	}
	s := Scan([]string{r.dir})
	assert.ElementsMatch(t, []string{
		"config.yml: is ignored: call it config.yaml", "good/config.yml: is ignored: call it config.yaml",
		`two words: is ignored: "two words" is not a model's name: use 1 to 63 letters, digits or . _ -, the first a letter or digit`,
		"exported: is an exported model itself: move it to " + filepath.Join(r.dir, "exported", "1"),
		"good/0" + rule, "good/02" + rule, "good/v2" + rule, "good/1234567890" + rule,
		noVersion("exported"), noVersion("foreign"), noVersion("configured"),
	}, r.problems(s))
	require.NoError(t, s.Err)
	assert.Equal(t, map[string][]int{"good": {8}, "configured": nil, "loop": nil}, served(s))
	assert.EqualError(t, s.Models[2].Err, r.dir+"/loop cannot be read: too many levels of symbolic links")
	require.Len(t, s.Models[1].Versions, 3)
	assert.ErrorIs(t, s.Models[1].Versions[1].Err, model.ErrNoModel, "a link back to the repository")
}

// TestScanBrokenVersion: an older version is served in place of a broken one.
func TestScanBrokenVersion(t *testing.T) {
	for name, test := range map[string]struct {
		damage func(r tree, dir string) error
		want   string
	}{
		"no manifest": {func(_ tree, dir string) error { return os.Remove(filepath.Join(dir, model.ManifestFile)) },
			"half of one may be there: export it again, or delete the folder"},
		"half a manifest": {func(_ tree, dir string) error { return os.Truncate(filepath.Join(dir, model.ManifestFile), 50) },
			"delete the folder and export again"},
		"another format": {func(r tree, _ string) error { r.write("m/2/dragoman.json", `{"format":1}`); return nil },
			"has format 1, this build reads 4"},
		"a pipe for a manifest": {func(_ tree, dir string) error {
			path := filepath.Join(dir, model.ManifestFile)
			return errors.Join(os.Remove(path), unix.Mkfifo(path, 0o644))
		}, "is not a regular file"},
		"half a file": {func(_ tree, dir string) error { return os.Truncate(filepath.Join(dir, model.WeightsFile), 1) },
			"is not a file of 5 bytes: wait until it is copied, or delete"},
		"no file":             {func(_ tree, dir string) error { return os.Remove(filepath.Join(dir, model.WeightsFile)) }, "is not a file of 5 bytes"},
		"a foreign file name": {func(r tree, dir string) error { return listing(r, dir, "../../etc/passwd") }, `lists 2 files, among them "../../etc/passwd"`},
		"many files": {func(r tree, dir string) error {
			var names []string
			for i := range 100 {
				names = append(names, strconv.Itoa(i))
			}
			return listing(r, dir, names...)
		}, "lists 101 files"},
		"a file": {func(r tree, dir string) error {
			return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o644))
		}, "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTree(t).export("m/1", "older").export("m/2", "newer")
			require.NoError(t, test.damage(r, filepath.Join(r.dir, "m", "2")))
			s := Scan([]string{r.dir})
			assert.Empty(t, s.Problems)
			v := s.Models[0].Versions[1]
			require.ErrorContains(t, v.Err, test.want)
			assert.Contains(t, v.Err.Error(), filepath.Join("m", "2"))
			assert.NotContains(t, v.Err.Error(), "\n")
			assert.Equal(t, map[string][]int{"m": {1}}, served(s))
		})
	}
}

// listing adds names of files to a manifest.
func listing(r tree, dir string, names ...string) error {
	m := manifest(r, dir)
	for _, name := range names {
		m.Files[name] = model.File{}
	}
	return m.Write(dir)
}

// TestScanWantsPrecision: config.yaml decides the precision in which a model is served.
func TestScanWantsPrecision(t *testing.T) {
	for precision, want := range map[string][]int{"int8": nil, "fp32": {1}, "auto": {1}} {
		r := newTree(t).export("m/1", "x").write("m/config.yaml", "precision: "+precision)
		s := Scan([]string{r.dir})
		assert.Equal(t, map[string][]int{"m": want}, served(s))
		if want == nil {
			assert.ErrorContains(t, s.Models[0].Versions[0].Err, "holds an fp32 model, and precision in config.yaml is int8: export it again, or change that")
		}
	}
}

// TestScanBrokenConfig: a model with an unreadable configuration is not served with other settings, and a repository with an
// unreadable configuration reports that.
func TestScanBrokenConfig(t *testing.T) {
	r := newTree(t).export("bad/1", "x").write("bad/config.yaml", "\nworkers: x").export("good/1", "x").
		export("big/1", "x").write("big/config.yaml", "#"+strings.Repeat("x", maxConfig)).export("pipe/1", "x").
		write("config.yaml", "order: [good, bad]\npivot: [en]")
	require.NoError(t, unix.Mkfifo(filepath.Join(r.dir, "pipe", "config.yaml"), 0o644))
	s := Scan([]string{r.dir})
	require.ErrorContains(t, s.Err, filepath.Join(r.dir, "config.yaml")+`: line 2: unknown field "pivot": use order, pipelines, pivots`)
	assert.Len(t, s.Problems, 1)
	assert.Equal(t, []string{"bad", "big", "good", "pipe"}, s.Order)
	assert.Equal(t, map[string][]int{"bad": nil, "big": nil, "good": {1}, "pipe": nil}, served(s))
	for i, want := range []string{
		`bad/config.yaml: line 2: "x": use a whole number from 0 to 64`, "big/config.yaml: has more than 65536 bytes", "", "pipe/config.yaml: is not a regular file",
	} {
		if want == "" {
			assert.NoError(t, s.Models[i].Err)
		} else {
			assert.ErrorContains(t, s.Models[i].Err, want)
		}
	}
}

func TestScanUnreadableRepository(t *testing.T) {
	r := newTree(t).write("file", "").export("dir/m/1", "x")
	for _, name := range []string{"nowhere", "file", "file/below"} {
		s := Scan([]string{filepath.Join(r.dir, name), filepath.Join(r.dir, "dir")})
		require.ErrorContains(t, s.Err, "the repository cannot be read: ")
		assert.Len(t, s.Problems, 1)
		assert.Equal(t, map[string][]int{"m": {1}}, served(s))
	}
}

func TestScanManyRepositories(t *testing.T) {
	a := newTree(t).export("m/1", "x").write("config.yaml", "order: [m]\npivots: [en]\npipelines: {p: {steps: [{model: n}]}}")
	b := newTree(t).export("m/2", "x").export("n/1", "x").
		write("config.yaml", "order: [n, m]\npivots: [en, de]\npipelines: {p: {steps: [{model: m}]}, q: {steps: [{model: n}]}}")
	s := Scan([]string{a.dir, b.dir})
	assert.Equal(t, map[string][]int{"m": {1}, "n": {1}}, served(s))
	assert.Equal(t, []string{"m", "n", "p", "q"}, s.Order)
	assert.Equal(t, []string{"en", "de"}, s.Pivots)
	require.Len(t, s.Pipelines, 2)
	assert.Equal(t, "n", s.Pipelines[0].Steps[0].Model.Name)
	assert.NoError(t, errors.Join(s.Pipelines[0].Err, s.Pipelines[1].Err))
	assert.Equal(t, []string{
		"config.yaml: line 3: is ignored: " + filepath.Join(a.dir, "config.yaml") + ": line 3 has a pipeline p: give one another name",
		"m: is ignored: " + filepath.Join(a.dir, "m") + " is found first: rename one of them",
	}, b.problems(s))
}

func TestScanVersions(t *testing.T) {
	r := newTree(t)
	for i := 1; i < 12; i++ {
		r.export("m/"+strconv.Itoa(i), strconv.Itoa(i))
	}
	require.NoError(t, os.Remove(filepath.Join(r.dir, "m", "11", model.WeightsFile)))
	for versions, want := range map[string][]int{
		"latest": {10}, "{latest: 3}": {8, 9, 10}, "all": {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, "[2, 10, 11]": {2, 10}, "{latest: 999999999}": {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
	} {
		r.write("m/config.yaml", "versions: "+versions)
		s := Scan([]string{r.dir})
		assert.Equal(t, map[string][]int{"m": want}, served(s), versions)
		assert.Empty(t, s.Problems)
	}
	r.write("m/config.yaml", "versions: [1, 20]")
	assert.Equal(t, []string{"m/config.yaml: lists version 20, which is not there: add it, or take it out of versions"}, r.problems(Scan([]string{r.dir})))
}

// TestScanIsBounded: at most 10,000 entries are read, and further problems are only counted.
func TestScanIsBounded(t *testing.T) {
	r := newTree(t)
	for i := range maxEntries + 5 {
		require.NoError(t, os.Mkdir(filepath.Join(r.dir, "not a name "+strconv.Itoa(i)), 0o755))
	}
	s := Scan([]string{r.dir})
	require.Len(t, s.Problems, maxProblems+1)
	assert.Equal(t, r.dir+": has more than 10000 entries, the others are ignored: remove what does not belong here", s.Problems[0].String())
	assert.Equal(t, r.dir+": 9901 more problems", s.Problems[maxProblems].String())
}

// TestIdentity: the identity depends on everything that affects translations, and not on the model's source.
func TestIdentity(t *testing.T) {
	r := newTree(t).export("m/1", "x")
	dir := filepath.Join(r.dir, "m", "1")
	first := identity(manifest(t, dir))
	for name, test := range map[string]struct {
		change func(*model.Manifest)
		same   bool
	}{
		"source":    {func(m *model.Manifest) { m.Source, m.Revision = "another", "v2" }, true},
		"precision": {func(m *model.Manifest) { m.Precision = model.INT8 }, false},
		"family":    {func(m *model.Manifest) { m.Family = "nllb" }, false},
		"languages": {func(m *model.Manifest) { m.Languages = []string{"en"} }, false},
		"beams":     {func(m *model.Manifest) { m.Spec.Generation.Beams = 7 }, false},
		"weights":   {func(m *model.Manifest) { m.Files[model.WeightsFile] = model.File{Size: 1, SHA256: "y"} }, false},
	} {
		m := manifest(t, dir)
		test.change(m)
		assert.Equal(t, test.same, first == identity(m), name)
	}
}

// TestFingerprint: the fingerprint has the whole state of a repository, and nothing else.
func TestFingerprint(t *testing.T) {
	r := newTree(t).export("m/1", "x").write("config.yaml", "").write("m/config.yaml", "")
	last := Scan([]string{r.dir}).Fingerprint
	for _, step := range []struct {
		name    string
		change  func()
		another bool
	}{
		{"nothing", func() {}, false},
		{"a file that no export has", func() { r.write("m/1/other/x", "") }, false},
		{"work in progress", func() { r.write("m/.adding-1/dragoman.json", "") }, false},
		{"a version", func() { r.export("m/2", "x") }, true},
		{"exported again", func() { r.export("m/2", "x") }, true},
		{"a file is gone", func() { require.NoError(t, os.Remove(filepath.Join(r.dir, "m/2", model.WeightsFile))) }, true},
		{"a version is gone", func() { require.NoError(t, os.RemoveAll(filepath.Join(r.dir, "m/2"))) }, true},
		{"configuration", func() { r.write("m/config.yaml", "pinned: true") }, true},
		{"a repository's configuration", func() { r.write("config.yaml", "pivots: [en]") }, true},
		{"an order", func() { r.write("config.yaml", "order: [m]") }, true},
		{"a problem", func() { r.write("not a model/x", "") }, true},
		{"a model", func() { r.export("n/1", "x") }, true},
		{"another name", func() { require.NoError(t, os.Rename(filepath.Join(r.dir, "n"), filepath.Join(r.dir, "o"))) }, true},
		{"no repository", func() { require.NoError(t, os.RemoveAll(r.dir)) }, true},
	} {
		step.change()
		now := Scan([]string{r.dir}).Fingerprint
		assert.Equal(t, step.another, now != last, step.name)
		last = now
	}
}

// TestScanAgain: an unchanged manifest is not read again, but its files are checked.
func TestScanAgain(t *testing.T) {
	r := newTree(t).export("m/1", "x").export("m/2", "x")
	s := NewScanner([]string{r.dir})
	first, second := s.Scan().Models[0], s.Scan().Models[0]
	assert.Same(t, first.Versions[0].Manifest, second.Versions[0].Manifest)
	r.export("m/2", "y")
	require.NoError(t, os.Remove(filepath.Join(r.dir, "m/1", model.WeightsFile)))
	third := s.Scan().Models[0]
	require.ErrorIs(t, third.Versions[0].Err, model.ErrDamaged)
	assert.NotEqual(t, first.Versions[1].Identity, third.Versions[1].Identity)
	require.NoError(t, os.RemoveAll(filepath.Join(r.dir, "m/2")))
	s.Scan()
	assert.Len(t, s.roots[0].exported, 1, "what is gone is forgotten")
}

func BenchmarkScan(b *testing.B) {
	r := newTree(b)
	for i := range 1000 {
		r.export("m"+strconv.Itoa(i)+"/1", "x")
	}
	for name, again := range map[string]bool{"first": false, "again": true} {
		b.Run(name, func(b *testing.B) {
			s := NewScanner([]string{r.dir})
			s.Scan()
			for b.Loop() {
				if !again {
					s = NewScanner([]string{r.dir})
				}
				s.Scan()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "µs/model")
		})
	}
}
