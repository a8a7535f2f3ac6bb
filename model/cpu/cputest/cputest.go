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

// Library is where ONNX Runtime's library is: ONNXRUNTIME_LIB or, by default,
// where `make runtime` puts it.
func Library() string {
	if path := os.Getenv("ONNXRUNTIME_LIB"); path != "" {
		return path
	}
	return filepath.Join(root(), "build", "onnxruntime", "libonnxruntime.so")
}

// Bundled is the folder of the bundled checkpoint.
func Bundled() string { return filepath.Join(root(), "model", "bundled") }

// Runtime returns ONNX Runtime. Callers must not close it.
func Runtime(t testing.TB) *cpu.Runtime {
	t.Helper()
	r, err := load()
	require.NoError(t, err)
	return r
}

// Complete returns a temporary folder with a checkpoint's files; where it has no
// tokenizer, with that of the bundled one. They are links.
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

// Export exports a checkpoint, see [Complete], into a temporary folder.
func Export(t testing.TB, checkpoint string, precision model.Precision) string {
	t.Helper()
	out := t.TempDir()
	_, err := export.Export(t.Context(), Complete(t, checkpoint), out, export.Options{
		Precision: precision, Source: filepath.Base(checkpoint), Languages: []string{"de", "en", "fr", "ja", "zh"},
	})
	require.NoError(t, err)
	return out
}

// Benchmarked is the export that benchmarks take: that in the folder DRAGOMAN_BENCH_MODELS, if it names one, else the bundled model's.
func Benchmarked(b *testing.B, precision model.Precision) string {
	if dir := os.Getenv("DRAGOMAN_BENCH_MODELS"); dir != "" {
		return filepath.Join(dir, string(precision))
	}
	return Export(b, Bundled(), precision)
}

// Open exports and opens a checkpoint; the model is closed when the test ends.
func Open(t testing.TB, checkpoint string, precision model.Precision) *cpu.Model {
	t.Helper()
	m, err := Runtime(t).Open(t.Context(), Export(t, checkpoint, precision), cpu.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

// root is the module's root. It panics where there is none.
func root() string {
	dir, err := modeltest.Root()
	if err != nil {
		panic(err)
	}
	return dir
}
