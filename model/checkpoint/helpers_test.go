package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/checkpoint/safetensorstest"
)

// settings returns testdata/config.json with some fields replaced; a nil value
// removes the field.
func settings(t testing.TB, change map[string]any) []byte {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + model.ConfigFile)
	require.NoError(t, err)
	config := make(map[string]any)
	require.NoError(t, json.Unmarshal(raw, &config))
	maps.Copy(config, change)
	maps.DeleteFunc(config, func(_ string, v any) bool { return v == nil })
	raw, err = json.Marshal(config)
	require.NoError(t, err)
	return raw
}

// folderOf makes a checkpoint folder of config.json and some files of testdata.
func folderOf(t testing.TB, config []byte, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, model.ConfigFile), config, 0o644))
	for _, pattern := range files {
		paths, err := filepath.Glob(filepath.Join("testdata", pattern))
		require.NoError(t, err)
		require.NotEmpty(t, paths, pattern)
		for _, path := range paths {
			raw, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(path)), raw, 0o644))
		}
	}
	return dir
}

// open opens a checkpoint that must be fine and closes it after the test.
func open(t testing.TB, dir string) *Checkpoint {
	t.Helper()
	c, err := Open(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// read returns all values of a tensor.
func read(t testing.TB, tensor Tensor) []float32 {
	t.Helper()
	values := make([]float32, tensor.Len())
	require.NoError(t, tensor.ReadFloat32(values, 0))
	return values
}

// Source is a tensor to write.
type Source = safetensorstest.Tensor

// sources lists a checkpoint's tensors for writing them anew.
func sources(c *Checkpoint, dtype DType) []Source {
	var list []Source
	for _, p := range Layout(c.Spec()) {
		list = append(list, Source{Name: p.Name, Shape: p.Shape, DType: string(dtype), Values: c.tensors[p.Name].ReadFloat32})
	}
	return list
}

// constant is a tensor of one value.
func constant(name string, value float32, shape ...int) Source {
	return Source{Name: name, Shape: shape, DType: safetensorstest.F32, Values: func(dst []float32, _ int) error {
		for i := range dst {
			dst[i] = value
		}
		return nil
	}}
}

// writeModel writes tensors to dir's model.safetensors.
func writeModel(t testing.TB, dir, name string, tensors []Source) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, safetensorstest.Write(&b, tensors))
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644))
}

// goldens are the contents of testdata/expected.json: by file and tensor.
type goldens struct {
	Torch string
	Files map[string]map[string]struct {
		DType  string
		Shape  []int
		Values []float32
	}
}

// readGoldens reads testdata/expected.json.
func readGoldens(t testing.TB) goldens {
	t.Helper()
	raw, err := os.ReadFile("testdata/expected.json")
	require.NoError(t, err)
	var g goldens
	require.NoError(t, json.Unmarshal(raw, &g))
	return g
}

// safetensorsOf puts a safetensors file together.
func safetensorsOf(header string, data int) []byte {
	n := len(header)
	raw := fmt.Appendf(nil, "%c%c%c%c\x00\x00\x00\x00%s", 0, 0, 0, 0, header)
	for i := range 4 {
		raw[i] = byte(n >> (8 * i))
	}
	return append(raw, make([]byte, data)...)
}
