package repository

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// breakRoot has ways to make a repository unreadable. Each moves it aside.
var breakRoot = []struct {
	name string
	put  func(dir string) error // in its place
}{
	{"it is gone", func(string) error { return nil }},
	{"it is a file", func(dir string) error { return os.WriteFile(dir, []byte("x"), 0o600) }},
	{"it is a link to nothing", func(dir string) error { return os.Symlink("nothing", dir) }},
	{"it is a link to itself", func(dir string) error { return os.Symlink(filepath.Base(dir), dir) }},
	{"it is a link to a file", func(dir string) error {
		return os.Symlink("/dev/null", dir)
	}},
}

// A repository that becomes unreadable keeps its last state, and the snapshot has the reason. Changes of other repositories are
// read, and so is the new state once it is readable again.
func TestUnreadableRepositoryIsItsOwn(t *testing.T) {
	for _, test := range breakRoot {
		t.Run(test.name, func(t *testing.T) {
			a := newTree(t).export("m/1", "x").write("m/config.yaml", "aliases: [mm]").write("config.yaml", "order: [m]\npivots: [en]")
			b := newTree(t).export("n/1", "x").write("config.yaml", "pipelines: {p: {steps: [{model: mm}]}}")
			s := NewScanner([]string{a.dir, b.dir})
			before := s.Scan()
			require.NoError(t, before.Err)
			require.NoError(t, os.Rename(a.dir, a.dir+"-"))
			require.NoError(t, test.put(a.dir))
			b.export("n/2", "y").export("o/1", "z")
			for range 2 {
				now := s.Scan()
				require.ErrorContains(t, now.Err, a.dir+": the repository cannot be read: ")
				assert.Equal(t, map[string][]int{"m": {1}, "n": {2}, "o": {1}}, served(now))
				require.ErrorContains(t, now.Models[0].Err, a.dir)
				assert.NoError(t, now.Models[1].Err)
				assert.Equal(t, []string{"mm"}, now.Models[0].Aliases)
				assert.Equal(t, []string{"m", "n", "o", "p"}, now.Order)
				assert.Equal(t, []string{"en"}, now.Pivots)
				assert.NoError(t, now.Pipelines[0].Err, "its model may be loaded")
				assert.Len(t, now.Problems, 1)
			}
			require.NoError(t, os.RemoveAll(a.dir))
			require.NoError(t, os.Rename(a.dir+"-", a.dir))
			a.export("m/2", "y")
			now := s.Scan()
			require.NoError(t, now.Err)
			assert.Equal(t, map[string][]int{"m": {2}, "n": {2}, "o": {1}}, served(now))
			assert.NoError(t, now.Models[0].Err)
		})
	}
}

// A fault of one configuration or one folder does not affect the rest.
func TestUnreadablePartsAreTheirOwn(t *testing.T) {
	a := newTree(t).export("m/1", "x").export("m/2", "x").write("m/config.yaml", "versions: all").write("config.yaml", "pivots: [en]\npipelines: {p: {steps: [{model: m:1}]}}")
	s := NewScanner([]string{a.dir})
	require.NoError(t, s.Scan().Err)
	a.write("config.yaml", "pivots: 1").write("m/config.yaml", "versions: none").export("n/1", "x")
	now := s.Scan()
	require.ErrorContains(t, now.Err, "config.yaml: line 1")
	assert.Equal(t, []string{"en"}, now.Pivots)
	require.Len(t, now.Pipelines, 1)
	require.NoError(t, now.Pipelines[0].Err)
	require.Error(t, now.Models[0].Err)
	assert.Equal(t, map[string][]int{"m": {1, 2}, "n": {1}}, served(now))

	require.NoError(t, os.Rename(filepath.Join(a.dir, "m"), filepath.Join(a.dir, ".m")))
	require.NoError(t, os.Symlink("m", filepath.Join(a.dir, "m")))
	now = s.Scan()
	require.ErrorContains(t, now.Models[0].Err, "cannot be read")
	assert.Equal(t, map[string][]int{"m": {1, 2}, "n": {1}}, served(now))
}

// A repository with too many versions or problems does not take the share of others.
func TestHugeRepositoryIsItsOwn(t *testing.T) {
	a, b := newTree(t), newTree(t).export("n/1", "x").write("not a name/x", "")
	for i := range maxVersions + 1 {
		require.NoError(t, os.MkdirAll(filepath.Join(a.dir, strconv.Itoa(i%2), strconv.Itoa(i+1)), 0o755))
	}
	for i := range maxProblems + 1 {
		a.write("not a name "+strconv.Itoa(i)+"/x", "")
	}
	s := Scan([]string{a.dir, b.dir})
	assert.Equal(t, []int{1}, served(s)["n"])
	assert.Len(t, s.Problems, maxProblems+2)
	assert.Equal(t, filepath.Join(b.dir, "not a name"), s.Problems[maxProblems+1].Path)
}

// A file system that hangs delays a scan only briefly, and is not read a second time.
func TestRepositoryDoesNotAnswer(t *testing.T) {
	a, b := newTree(t).export("m/1", "x"), newTree(t).export("n/1", "x")
	synctest.Test(t, func(t *testing.T) {
		s := NewScanner([]string{a.dir, b.dir})
		s.Scan()
		answer, asked := make(chan struct{}), 0
		s.read = func(dir string, before root) root {
			if dir == a.dir {
				asked++
				<-answer
			}
			return read(dir, before)
		}
		b.export("n/2", "x")
		for range 3 {
			now := s.Scan()
			require.ErrorContains(t, now.Err, "does not answer")
			assert.Equal(t, map[string][]int{"m": {1}, "n": {2}}, served(now))
		}
		a.export("m/2", "x")
		close(answer)
		assert.NoError(t, s.Scan().Err)
		assert.Equal(t, 1, asked)
		assert.Equal(t, map[string][]int{"m": {2}, "n": {2}}, served(s.Scan()))
	})
}

// After any change of repositories, readable ones have their new state at once, and others their last state.
func TestRepositoriesAtRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	parent := t.TempDir()
	var dirs []string
	want, there, versions := map[string][]int{}, make([]bool, 3), make([]int, 3)
	for i := range there {
		dirs = append(dirs, filepath.Join(parent, strconv.Itoa(i)))
	}
	s := NewScanner(dirs)
	for step := range 300 {
		i := random.IntN(len(dirs))
		name, r := "m"+strconv.Itoa(i), tree{t, dirs[i]}
		switch {
		case there[i] && random.IntN(2) == 0:
			require.NoError(t, os.Rename(r.dir, r.dir+"-"))
			require.NoError(t, breakRoot[random.IntN(len(breakRoot))].put(r.dir))
			there[i] = false
		case !there[i]:
			require.NoError(t, os.RemoveAll(r.dir))
			if versions[i] > 0 {
				require.NoError(t, os.Rename(r.dir+"-", r.dir))
			}
			there[i] = true
			fallthrough
		default:
			versions[i]++
			r.export(name+"/"+strconv.Itoa(versions[i]), "x")
			want[name] = []int{versions[i]}
		}
		now := s.Scan()
		require.Equal(t, want, served(now), "step %d", step)
		for _, m := range now.Models {
			readable := there[m.Name[1]-'0']
			require.Equal(t, readable, m.Err == nil, "step %d: %s", step, m.Name)
		}
	}
}
