package server

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/cli"
	"dragoman/model"
	"dragoman/model/cpu/cputest"
	"dragoman/model/modeltest"
	"dragoman/model/repository"
)

// TestRepository pulls models into a repository and lists them.
func TestRepository(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "models")
	environ := environment("MODEL_REPOSITORY=" + dir + ",/nowhere")
	pull := func(want string, args ...string) result {
		t.Helper()
		r := execute(t, "", environ, append([]string{"pull", "--name"}, args...)...)
		require.Equal(t, cli.ExitOK, r.code, r.stderr)
		assert.Equal(t, want, r.stdout)
		return r
	}
	line := func(name string, version int) string {
		return fmt.Sprintf("%s:%d %s\n", name, version, filepath.Join(dir, name, fmt.Sprint(version)))
	}
	pull(line("small", 1), "small")
	m, err := model.ReadManifest(filepath.Join(dir, "small", "1"))
	require.NoError(t, err)
	modeltest.CheckFiles(t, filepath.Join(dir, "small", "1"), m)
	before := names(t, filepath.Join(dir, "small"))

	r := pull(line("small", 1), "small")
	assert.Contains(t, r.stderr, "nothing to do: the newest version is this model already")
	assert.Equal(t, before, names(t, filepath.Join(dir, "small")))

	pull(line("small", 2), "small", "--precision", "int8")
	pull(line("small", 3), "small") // the newest version is served
	pull(line("folder", 1), "folder", cputest.Bundled())
	pull(line("copy", 1), "copy", exported)
	pull(line("copy", 1), "copy", exported)
	flip(t, filepath.Join(dir, "copy", "1", model.WeightsFile))
	pull(line("copy", 2), "copy", exported)
	assert.Equal(t, names(t, filepath.Join(dir, "copy", "2")), names(t, filepath.Join(dir, "copy", "1")))

	write := func(path, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, path), []byte(text), 0o644))
	}
	write("small/config.yaml", "versions: [1, 2]\naliases: [tiny, folder]\n")
	write("config.yaml", "order: [tiny]\npipelines:\n  pivot: {steps: [{detect: true}, {model: tiny:2, to: en}, {model: copy}]}\n  round: {steps: [{model: round}]}\n")
	require.NoError(t, os.Remove(filepath.Join(dir, "folder", "1", model.DecoderFile)))

	r = execute(t, "", environ, "models", "--repository", dir)
	assert.Equal(t, cli.ExitOK, r.code)
	assert.Equal(t, fmt.Sprintf(`NAME    VERSION  FAMILY  PRECISION  LANGUAGES  LICENSE    SIZE   ALIASES  STATE
copy    1        m2m100  fp32       5          cc-by-2.0  57 MB           not served
copy    2        m2m100  fp32       5          cc-by-2.0  57 MB           served
folder  1        m2m100  fp32       100        cc-by-2.0  0 B             broken: the exported model is damaged: %[1]s/folder/1/decoder.onnx is not a file of %[2]d bytes: wait until it is copied, or delete %[1]s/folder/1 and export again
small   1        m2m100  fp32       5          cc-by-2.0  57 MB  tiny     served
small   2        m2m100  int8       5          cc-by-2.0  25 MB  tiny     served
small   3        m2m100  fp32       5          cc-by-2.0  57 MB  tiny     not served

PIPELINE  VERSION  STEPS                        STATE
pivot     1        detect, small:2 to en, copy  served
round     1        round                        broken: %[1]s/config.yaml: line 4: step 1: round is a pipeline: name the models of its steps instead
`, dir, m.Files[model.DecoderFile].Size), r.stdout)
	assert.Equal(t, []string{dir + "/small/config.yaml: the alias folder is ignored: it is a name of folder already"}, r.errorLines())

	r = execute(t, "", environ, "models", "--json")
	assert.Equal(t, cli.ExitError, r.code, "a repository is not there")
	var list struct {
		Models []struct {
			Versions []struct{ State, Identity string }
		}
		Order, Problems []string
	}
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &list))
	assert.Equal(t, "broken", list.Models[1].Versions[0].State)
	assert.Equal(t, []string{"small", "copy", "folder", "pivot", "round"}, list.Order)
	assert.Len(t, list.Problems, 2, "also the repository that is not there")
	assert.Equal(t, list.Models[0].Versions[1].Identity, list.Models[2].Versions[0].Identity)
	assert.NotEqual(t, list.Models[2].Versions[1].Identity, list.Models[2].Versions[0].Identity)
}

// names returns the entries of a folder.
func names(t *testing.T, dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestPullVersionAtOnce: two concurrent pulls of a model add it once.
func TestPullVersionAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			r := execute(t, "", environment(), "pull", "--repository", dir, "--name", "m")
			assert.Equal(t, cli.ExitOK, r.code, r.stderr)
			assert.Equal(t, "m:1 "+filepath.Join(dir, "m", "1")+"\n", r.stdout)
		})
	}
	wg.Wait()
	assert.ElementsMatch(t, []string{".dragoman.lock", "1"}, names(t, filepath.Join(dir, "m")))
}

func TestPullVersionFails(t *testing.T) {
	for name, test := range map[string]struct {
		config  string
		environ []string
		args    []string
		want    string
	}{
		"not a checkpoint": {"", nil, []string{t.TempDir()}, "config.json"},
		"offline":          {"", []string{"HF_HUB_OFFLINE=1"}, []string{"owner/name"}, "owner/name"},
		"broken config":    {"workers: x", nil, nil, `config.yaml: line 1: "x": use a whole number from 0 to 64`},
		"two precisions":   {"precision: int8", []string{"PRECISION=fp32"}, nil, "PRECISION is fp32, but config.yaml of m has precision int8: change one of them"},
		"another export":   {"precision: int8", nil, []string{exported}, "holds an fp32 model"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(dir, "m"), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "m", "config.yaml"), []byte(test.config), 0o644))
			r := execute(t, "", environment(test.environ...), append([]string{"pull", "--repository", dir, "--name", "m"}, test.args...)...)
			assert.Equal(t, cli.ExitError, r.code)
			require.Len(t, r.errorLines(), 1, r.stderr)
			assert.Contains(t, r.errorLines()[0], test.want)
			assert.Subset(t, []string{".dragoman.lock", "config.yaml", ".dragoman-download"}, names(t, filepath.Join(dir, "m")))
		})
	}
}

// TestPullSeveral: each of several models gets its own name, and a failed model does not stop the others.
func TestPullSeveral(t *testing.T) {
	dir, parent := t.TempDir(), t.TempDir()
	for _, name := range []string{"first", "second one"} {
		require.NoError(t, os.Symlink(cputest.Bundled(), filepath.Join(parent, name)))
	}
	r := execute(t, "", environment(), "pull", "--repository", dir, filepath.Join(parent, "first"), parent, filepath.Join(parent, "second one"))
	assert.Equal(t, cli.ExitError, r.code)
	assert.Equal(t, fmt.Sprintf("first:1 %[1]s/first/1\nsecond-one:1 %[1]s/second-one/1\n", dir), r.stdout)
	lines := r.errorLines()
	require.Len(t, lines, 2)
	assert.Contains(t, lines[0], "dragoman: "+parent+": ")
	assert.Contains(t, lines[0], "config.json")
	assert.Equal(t, "dragoman: 1 of 3 models were not pulled: see above; what was downloaded is kept, pull them again", lines[1])
	for _, m := range repository.Scan([]string{dir}).Models {
		if m.Name == "first" || m.Name == "second-one" {
			assert.Len(t, m.Versions, 1)
		}
	}
}

// TestPullOfOtherLanguages: a model that replaces another one of the same name, but with other languages, causes a warning.
func TestPullOfOtherLanguages(t *testing.T) {
	const warning = "replaces a model with other languages"
	dir, from := t.TempDir(), filepath.Join("..", "..", "model", "testdata", "families", "marian")
	for _, test := range []struct {
		languages, made string
		warns           bool
	}{{"en:fr", "marian:1 ", false}, {"en:fr", "marian:1 ", false}, {"de:fr", "marian:2 ", true}} {
		r := execute(t, "", environment("MODEL_LANGUAGES="+test.languages), "pull", "--repository", dir, from)
		require.Equal(t, cli.ExitOK, r.code, r.stderr)
		assert.Contains(t, r.stdout, test.made)
		if test.warns {
			assert.Contains(t, r.stderr, warning)
		} else {
			assert.NotContains(t, r.stderr, warning)
		}
	}
}

// TestPullVersionReadOnly: a pull of a model that exists already works in a read-only repository.
func TestPullVersionReadOnly(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("everything can be written by root")
	}
	dir := t.TempDir()
	args := []string{"pull", "--repository", dir, "--name", "m"}
	require.Equal(t, cli.ExitOK, execute(t, "", environment(), args...).code)
	for _, path := range []string{dir, filepath.Join(dir, "m"), filepath.Join(dir, "m", "1")} {
		require.NoError(t, os.Chmod(path, 0o555))
		t.Cleanup(func() { assert.NoError(t, os.Chmod(path, 0o755)) }) // so that the test can remove it
	}
	assert.Equal(t, cli.ExitOK, execute(t, "", environment(), args...).code)
}
