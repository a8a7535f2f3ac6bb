// Package cputest opens models on the real ONNX Runtime for tests.
package cputest

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/cpu"
	"dragoman/model/export"
	"dragoman/model/modeltest"
)

// load loads ONNX Runtime once for the process and never unloads it: a process
// can hold only one, and tests share it.
var load = sync.OnceValues(func() (*cpu.Runtime, error) { return cpu.Load(Library()) })

// Library returns [modeltest.Library].
func Library() string { return modeltest.Library() }

// Bundled returns the folder of the bundled checkpoint.
func Bundled() string { return filepath.Join(root(), "model", "bundled") }

// Runtime returns ONNX Runtime. Callers must not close it.
func Runtime(t testing.TB) *cpu.Runtime {
	t.Helper()
	r, err := load()
	require.NoError(t, err)
	return r
}

// Complete returns a temporary folder with links to a checkpoint's files, and to the bundled tokenizer if the checkpoint has no
// tokenizer.
func Complete(t testing.TB, checkpoint string) string {
	t.Helper()
	complete := t.TempDir()
	for _, dir := range []string{Bundled(), checkpoint} {
		for _, pattern := range []string{model.PieceModelFile, model.VocabFile, "*.spm", "target_vocab.json", "*config.json", "*.safetensors*", "*.bin", "*_vocabulary.*", "*metadata.json"} {
			if dir != checkpoint && pattern[0] == '*' {
				continue
			}
			files, err := filepath.Glob(filepath.Join(dir, pattern))
			require.NoError(t, err)
			for _, file := range files {
				file, err := filepath.Abs(file)
				require.NoError(t, err)
				link := filepath.Join(complete, filepath.Base(file))
				os.Remove(link)
				require.NoError(t, os.Symlink(file, link))
			}
		}
	}
	return complete
}

// exports are the folders of the bundled checkpoint's exports, below a folder that [Run] makes and removes.
var exports struct {
	sync.Mutex
	root string
	made map[model.Precision]string
}

// Run runs the tests of a package, which export the bundled checkpoint once per precision. It returns the exit code.
func Run(m *testing.M) int {
	root, err := os.MkdirTemp("", "dragoman-exports-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(root)
	exports.root, exports.made = root, map[model.Precision]string{}
	return m.Run()
}

// Exported returns the folder of an export, which tests must not change. All tests of a process share the export of the bundled
// checkpoint if [Run] runs them.
func Exported(t testing.TB, checkpoint string, precision model.Precision) string {
	t.Helper()
	if exports.root == "" || checkpoint != Bundled() {
		out := t.TempDir()
		exportTo(t, out, checkpoint, precision)
		return out
	}
	exports.Lock()
	defer exports.Unlock()
	if dir, ok := exports.made[precision]; ok {
		return dir
	}
	dir := filepath.Join(exports.root, string(precision))
	exportTo(t, dir, checkpoint, precision)
	exports.made[precision] = dir
	return dir
}

// Export returns a temporary folder with the export of a checkpoint, see [Complete], which the test may change.
func Export(t testing.TB, checkpoint string, precision model.Precision) string {
	t.Helper()
	shared := Exported(t, checkpoint, precision)
	if exports.root == "" || checkpoint != Bundled() {
		return shared
	}
	out := t.TempDir()
	require.NoError(t, os.CopyFS(out, os.DirFS(shared)))
	return out
}

func exportTo(t testing.TB, out, checkpoint string, precision model.Precision) {
	t.Helper()
	_, err := export.Export(t.Context(), Complete(t, checkpoint), out, export.Options{
		Precision: precision, Source: filepath.Base(checkpoint), Languages: []string{"de", "en", "fr", "ja", "zh"},
	})
	require.NoError(t, err)
}

// Benchmarked returns the export for benchmarks: the one in the folder DRAGOMAN_BENCH_MODELS, if it is set, or else the export of
// the bundled model. Without the precision in that folder, it skips the benchmark.
func Benchmarked(b *testing.B, precision model.Precision) string {
	if dir := os.Getenv("DRAGOMAN_BENCH_MODELS"); dir != "" {
		dir = filepath.Join(dir, string(precision))
		if _, err := os.Stat(dir); err != nil {
			b.Skip(err)
		}
		return dir
	}
	return Exported(b, Bundled(), precision)
}

// Open exports and opens a checkpoint; the model is closed when the test ends.
func Open(t testing.TB, checkpoint string, precision model.Precision) *cpu.Model {
	t.Helper()
	m, err := Runtime(t).Open(t.Context(), Exported(t, checkpoint, precision), cpu.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

// root returns the module's root. It panics if there is none.
func root() string {
	dir, err := modeltest.Root()
	if err != nil {
		panic(err)
	}
	return dir
}
