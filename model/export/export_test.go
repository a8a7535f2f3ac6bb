package export_test

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/cpu/cputest"
	"dragoman/model/export"
	"dragoman/model/modeltest"
	"dragoman/model/onnx"
)

const (
	bundled = "../bundled"
	small   = "../testdata/odd/fp16" // a checkpoint of 16-bit floats
)

func TestExportWritesACompleteFolder(t *testing.T) {
	checkpoint := copyOf(t, cputest.Complete(t, small))
	require.NoError(t, os.WriteFile(filepath.Join(checkpoint, model.TokenizerConfigFile), []byte("{}"), 0o644))
	for _, precision := range []model.Precision{model.FP32, model.FP16, model.INT8} {
		t.Run(string(precision), func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "made", "here")
			m, err := export.Export(t.Context(), checkpoint, out, export.Options{
				Precision: precision, Source: "somewhere", Revision: "abc", Languages: []string{"ja", "en"},
			})
			require.NoError(t, err)

			read, err := model.ReadManifest(out)
			require.NoError(t, err)
			assert.Equal(t, m, read)
			assert.Equal(t, "somewhere", read.Source)
			assert.Equal(t, "abc", read.Revision)
			assert.Equal(t, []string{"en", "ja"}, read.Languages)
			assert.Equal(t, precision, read.Precision)
			assert.Equal(t, 120, read.Spec.VocabSize)
			modeltest.CheckFiles(t, out, read)
			want := []string{
				model.ManifestFile, model.EncoderFile, model.DecoderFile, model.WeightsFile, model.PieceModelFile, model.VocabFile,
				model.TokenizerConfigFile,
			}
			if precision != model.INT8 {
				want = append(want, model.CUDAEncoderFile, model.CUDADecoderFile)
			}
			assert.ElementsMatch(t, want, names(t, out))
			assert.Zero(t, read.Files[model.WeightsFile].Size%2)
		})
	}
}

// TestSharedEmbeddingIsStoredOnce compares the size of the weights with the number of parameters: the embedding is a third of
// them and used three times.
func TestSharedEmbeddingIsStoredOnce(t *testing.T) {
	const parameters = 13_605_120 // of the bundled checkpoint
	out := t.TempDir()
	m, err := export.Export(t.Context(), bundled, out, export.Options{Precision: model.FP32})
	require.NoError(t, err)
	positions := int64(4 * m.Spec.MaxPositions * m.Spec.DModel)
	size := m.Files[model.WeightsFile].Size - positions
	assert.GreaterOrEqual(t, size, int64(4*parameters))
	assert.Less(t, size, int64(4*parameters+1<<20), "less than 1 MiB may go to alignment")
}

// TestEqualTensorsAreStoredOnce: the stacks of an Argos package share a table of embeddings and one of positions, and old
// checkpoints of Opus-MT have the same table of positions for each stack.
func TestEqualTensorsAreStoredOnce(t *testing.T) {
	for name, c := range map[string]struct {
		checkpoint, family string
		precision          model.Precision
	}{
		"Argos fp32":   {"../testdata/families/ctranslate2-argos", "ctranslate2", model.FP32},
		"Argos fp16":   {"../testdata/families/ctranslate2-argos", "ctranslate2", model.FP16},
		"Argos int8":   {"../testdata/families/ctranslate2-argos", "ctranslate2", model.INT8},
		"Opus-MT fp32": {cputest.Complete(t, "../testdata/odd/marian-old-config"), "", model.FP32},
		"Opus-MT int8": {cputest.Complete(t, "../testdata/odd/marian-old-config"), "", model.INT8},
	} {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			m, err := export.Export(t.Context(), c.checkpoint, out, export.Options{Precision: c.precision, Family: c.family})
			require.NoError(t, err)
			raw, err := os.ReadFile(filepath.Join(out, model.WeightsFile))
			require.NoError(t, err)
			names := map[string]string{} // of weights by their bytes
			for file := range m.Files {
				if filepath.Ext(file) != ".onnx" {
					continue
				}
				graph, err := os.ReadFile(filepath.Join(out, file))
				require.NoError(t, err)
				weights, err := onnx.Weights(graph)
				require.NoError(t, err)
				for _, w := range weights {
					bytes := string(raw[w.Offset:][:w.Size])
					assert.Equal(t, w.Name, cmp.Or(names[bytes], w.Name))
					names[bytes] = w.Name
				}
			}
		})
	}
}

// TestExportIsDeterministic: equal checksums show that exports are equal.
func TestExportIsDeterministic(t *testing.T) {
	checkpoint, opts := cputest.Complete(t, small), export.Options{Precision: model.INT8}
	first, err := export.Export(t.Context(), checkpoint, t.TempDir(), opts)
	require.NoError(t, err)
	second, err := export.Export(t.Context(), checkpoint, t.TempDir(), opts)
	require.NoError(t, err)
	assert.Equal(t, first, second)
}

func TestExportReplacesAnOlderOne(t *testing.T) {
	checkpoint, out := cputest.Complete(t, small), t.TempDir()
	_, err := export.Export(t.Context(), checkpoint, out, export.Options{Precision: model.FP32})
	require.NoError(t, err)
	_, err = export.Export(t.Context(), checkpoint, out, export.Options{Precision: model.INT8})
	require.NoError(t, err)
	m, err := model.ReadManifest(out)
	require.NoError(t, err)
	assert.Equal(t, model.INT8, m.Precision)
	modeltest.CheckFiles(t, out, m)
}

func TestFailedExportLeavesNothing(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	whole := cputest.Complete(t, small)
	withoutVocab := copyOf(t, whole)
	require.NoError(t, os.Remove(filepath.Join(withoutVocab, model.VocabFile)))
	withNaN := copyOf(t, whole)
	poison(t, filepath.Join(withNaN, "model.safetensors"))
	for name, c := range map[string]struct {
		ctx        context.Context
		checkpoint string
		precision  model.Precision
		want       string
	}{
		"cancelled":         {cancelled, whole, model.FP32, "context canceled"},
		"no vocabulary":     {t.Context(), withoutVocab, model.FP32, "vocab.json"},
		"NaN":               {t.Context(), withNaN, model.INT8, "model.shared.weight"},
		"unknown precision": {t.Context(), whole, "int4", `unknown precision "int4": use fp32, fp16 or int8`},
		"no checkpoint":     {t.Context(), t.TempDir(), model.FP32, "config.json"},
	} {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			_, err := export.Export(c.ctx, c.checkpoint, out, export.Options{Precision: c.precision})
			assert.ErrorContains(t, err, c.want)
			assert.Empty(t, names(t, out))
			_, err = model.ReadManifest(out)
			assert.ErrorIs(t, err, model.ErrNoModel)
		})
	}
}

// BenchmarkExport exports the bundled checkpoint, or the checkpoint in the folder DRAGOMAN_BENCH_CHECKPOINT. peak-MB is the
// process's peak resident memory so far.
func BenchmarkExport(b *testing.B) {
	checkpoint := cmp.Or(os.Getenv("DRAGOMAN_BENCH_CHECKPOINT"), bundled)
	for _, precision := range []model.Precision{model.FP32, model.FP16, model.INT8} {
		b.Run(string(precision), func(b *testing.B) {
			info, err := os.Stat(filepath.Join(checkpoint, "model.safetensors"))
			require.NoError(b, err)
			b.SetBytes(info.Size())
			for b.Loop() {
				_, err := export.Export(b.Context(), checkpoint, b.TempDir(), export.Options{Precision: precision})
				require.NoError(b, err)
			}
			var usage syscall.Rusage
			require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
			b.ReportMetric(float64(usage.Maxrss)/1024, "peak-MB")
		})
	}
}

// poison makes the last element of a safetensors file of 16-bit floats a NaN.
func poison(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	info, err := f.Stat()
	require.NoError(t, err)
	_, err = f.WriteAt([]byte{0xff, 0x7f}, info.Size()-2)
	require.NoError(t, err)
}

func copyOf(t *testing.T, dir string) string {
	t.Helper()
	out := t.TempDir()
	for _, name := range names(t, dir) {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(out, name), raw, 0o644))
	}
	return out
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
