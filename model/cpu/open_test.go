package cpu_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/cpu"
	"dragoman/model/cpu/cputest"
)

func TestLoadSaysWhatToDo(t *testing.T) {
	_, err := cpu.Load(filepath.Join(t.TempDir(), "libonnxruntime.so"))
	assert.ErrorContains(t, err, "set ONNXRUNTIME_LIB")
}

// TestOpenRefusesDamagedFolders damages an exported folder as a disk, an interrupted copy or an older build may.
func TestOpenRefusesDamagedFolders(t *testing.T) {
	rewrite := func(change func(m map[string]any)) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, model.ManifestFile)
			raw, err := os.ReadFile(path)
			require.NoError(t, err)
			var m map[string]any
			require.NoError(t, json.Unmarshal(raw, &m))
			delete(m, "checksum") // as from a build without it
			change(m)
			raw, err = json.Marshal(m)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, raw, 0o644))
		}
	}
	for name, c := range map[string]struct {
		damage func(t *testing.T, dir string)
		want   string
	}{
		"no manifest": {func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, model.ManifestFile)))
		}, "no exported model"},
		"manifest is not JSON": {func(t *testing.T, dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, model.ManifestFile), []byte("{"), 0o644))
		}, "is damaged"},
		"another format": {rewrite(func(m map[string]any) { m["format"] = 99 }), "has format 99"},
		"missing decoder": {func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, model.DecoderFile)))
		}, "decoder.onnx"},
		"cut weights": {func(t *testing.T, dir string) {
			require.NoError(t, os.Truncate(filepath.Join(dir, model.WeightsFile), 1<<20))
		}, "weights.bin is corrupt: size 1048576"},
		"one flipped bit": {func(t *testing.T, dir string) {
			flipBit(t, filepath.Join(dir, model.WeightsFile), 5_000_000)
		}, "weights.bin is corrupt"},
		"graph swapped": {func(t *testing.T, dir string) {
			raw, err := os.ReadFile(filepath.Join(dir, model.EncoderFile))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, model.DecoderFile), raw, 0o644))
		}, "decoder.onnx is corrupt"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := cputest.Export(t, cputest.Bundled(), model.FP32)
			c.damage(t, dir)
			_, err := cputest.Runtime(t).Open(t.Context(), dir, cpu.Options{})
			assert.ErrorContains(t, err, c.want)
			assert.NotContains(t, err.Error(), "\n", "one line")
		})
	}
}

// TestOpenBrokenGraph skips the checksums, so ONNX Runtime sees the damage.
func TestOpenBrokenGraph(t *testing.T) {
	dir := cputest.Export(t, cputest.Bundled(), model.FP32)
	path := filepath.Join(dir, model.DecoderFile)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, make([]byte, info.Size()), 0o644))
	_, err = cputest.Runtime(t).Open(t.Context(), dir, cpu.Options{Verify: model.VerifyNever})
	assert.ErrorContains(t, err, "load "+path)
}

// TestOpenWeightsOutside: the constants of a graph must lie within the file of weights.
func TestOpenWeightsOutside(t *testing.T) {
	dir := cputest.Export(t, cputest.Bundled(), model.FP32)
	path := filepath.Join(dir, model.DecoderFile)
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	place := regexp.MustCompile(`offset\x12.(\d{7,})`).FindSubmatchIndex(raw)
	require.NotNil(t, place)
	copy(raw[place[2]:place[3]], strings.Repeat("9", place[3]-place[2]))
	require.NoError(t, os.WriteFile(path, raw, 0o644))
	_, err = cputest.Runtime(t).Open(t.Context(), dir, cpu.Options{Verify: model.VerifyNever})
	assert.ErrorContains(t, err, "load "+path+": weight ")
	assert.ErrorContains(t, err, " of a file of ")
}

func flipBit(t *testing.T, path string, offset int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	var b [1]byte
	_, err = f.ReadAt(b[:], offset)
	require.NoError(t, err)
	b[0] ^= 1
	_, err = f.WriteAt(b[:], offset)
	require.NoError(t, err)
}

// ONNX Runtime's telemetry client writes a log as soon as it exists.
func TestNothingIsReported(t *testing.T) {
	cputest.Runtime(t)
	assert.NoFileExists(t, filepath.Join(os.TempDir(), fmt.Sprintf("mat-debug-%d.log", os.Getpid())))
}
