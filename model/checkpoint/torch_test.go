package checkpoint

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

// parseFile reads a torch file of testdata/pickles.
func parseFile(t testing.TB, name string) (map[string]Tensor, error) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata/pickles", name))
	require.NoError(t, err)
	return parseTorch(bytes.NewReader(raw), int64(len(raw)))
}

func TestTorchGoldens(t *testing.T) {
	for _, name := range []string{"ordered", "parameters", "half", "bfloat16", "views", "protocol4", "legacy", "legacy_parameters", "legacy_half",
		"legacy_bfloat16", "legacy_views", "legacy_protocol4"} {
		t.Run(name, func(t *testing.T) {
			got, err := parseFile(t, name+".bin")
			require.NoError(t, err)
			compareGolden(t, name, got)
		})
	}
}

func TestTorchRefuses(t *testing.T) {
	tests := map[string]string{
		"transposed":        `tensor "a": shape [6 4] has strides [1 6]: only contiguous tensors are supported`,
		"strided":           `tensor "a": shape [12] has strides [2]`,
		"expanded":          `tensor "a": shape [2 3] has strides [0 1]`,
		"legacy_transposed": `tensor "a": shape [6 4] has strides [1 6]: only contiguous tensors are supported`,
		"legacy_nested":     `state dict: state dict has "state_dict", which is not a tensor`,
		"legacy_module":     "state dict: pickle opcode",
		"nested":            `state dict has "state_dict", which is not a tensor: save model.state_dict() alone`,
		"module":            "pickle opcode 0x81 at byte 37: torch.save writes no such thing for a state dict",
		"tensor":            "pickle is not a state dict: save model.state_dict()",
		"torchscript":       "archive is a TorchScript program",
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := parseFile(t, name+".bin")
			assert.ErrorContains(t, err, want)
		})
	}
	t.Run("double", func(t *testing.T) {
		got, err := parseFile(t, "double.bin")
		require.NoError(t, err)
		assert.ErrorContains(t, got["a"].ReadFloat32(make([]float32, 3), 0), "elements of type F64")
	})
}

// entry is a file of a hand-made archive.
type entry struct {
	name   string
	method uint16
	raw    string
}

// archiveOf makes a zip file.
func archiveOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		w, err := z.CreateHeader(&zip.FileHeader{Name: e.name, Method: e.method})
		require.NoError(t, err)
		_, err = w.Write([]byte(e.raw))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

// vector is the pickle of {"a": tensor}, where the tensor has n elements from
// element offset on of storage 0, which is said to have length elements.
func vector(offset, n, length byte) string {
	return "\x80\x02}X\x01\x00\x00\x00actorch._utils\n_rebuild_tensor_v2\n(" +
		"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK" + string(length) + "tQ" +
		"K" + string(offset) + "K" + string(n) + "\x85K\x01\x85\x89ccollections\nOrderedDict\n)RtRs."
}

func TestTorchArchive(t *testing.T) {
	data := entry{"m/data.pkl", zip.Store, vector(1, 2, 4)}
	values := entry{"m/data/0", zip.Store, strings.Repeat("\x00\x00\x80\x3f", 4)}
	good := archiveOf(t, data, values)
	tensors, err := parseTorch(bytes.NewReader(good), int64(len(good)))
	require.NoError(t, err)
	assert.Equal(t, []float32{1, 1}, read(t, tensors["a"]))

	pickled := func(raw string) []byte { return archiveOf(t, entry{"m/data.pkl", zip.Store, raw}, values) }
	tests := map[string]struct {
		raw  []byte
		want string
	}{
		"empty":             {nil, "not a torch file, or truncated or damaged"},
		"cut":               {good[:len(good)-1], "not a torch file, or truncated or damaged"},
		"no pickle":         {archiveOf(t, values), "archive has no data.pkl"},
		"no storage":        {archiveOf(t, data), `tensor "a": archive has no "m/data/0"`},
		"storage elsewhere": {archiveOf(t, data, entry{"n/data/0", zip.Store, values.raw}), `archive has no "m/data/0"`},
		"twice":             {archiveOf(t, data, values, values), `archive has "m/data/0" twice`},
		"packed pickle":     {archiveOf(t, entry{data.name, zip.Deflate, data.raw}, values), "data.pkl is compressed or encrypted"},
		"packed storage":    {archiveOf(t, data, entry{values.name, zip.Deflate, values.raw}), "data/0 is compressed or encrypted"},
		"short storage":     {archiveOf(t, data, entry{values.name, zip.Store, "\x00\x00\x80\x3f"}), `storage "0" has 4 bytes, 4 elements of F32 take 16`},
		"big endian":        {archiveOf(t, data, values, entry{"m/byteorder", zip.Store, "big"}), `archive has byte order "big"`},
		"long byte order":   {archiveOf(t, data, values, entry{"m/byteorder", zip.Store, strings.Repeat(" ", 17)}), "byteorder of 17 bytes, at most 16"},
		"huge pickle":       {pickled(strings.Repeat(" ", maxPickleSize+1)), "data.pkl of 4194305 bytes, at most 4194304"},
		"beyond storage":    {pickled(vector(3, 2, 4)), `tensor "a": 2 elements from element 3 lie beyond its storage of 4`},
		"offset beyond":     {pickled(vector(9, 0, 4)), `tensor "a": 0 elements from element 9 lie beyond its storage of 4`},
		"other length":      {pickled(vector(0, 2, 5)), `storage "0" has 16 bytes, 5 elements of F32 take 20`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := parseTorch(bytes.NewReader(test.raw), int64(len(test.raw)))
			assert.ErrorContains(t, err, test.want)
		})
	}
}

// Archives whose directory lies about places and sizes.
func TestTorchDirectory(t *testing.T) {
	t.Run("entry beyond the file", func(t *testing.T) {
		raw := archiveOf(t, entry{"m/data.pkl", zip.Store, vector(0, 4, 4)}, entry{"m/data/0", zip.Store, strings.Repeat("\x00", 16)})
		at := bytes.LastIndex(raw, []byte("PK\x01\x02")) // the storage's directory entry
		copy(raw[at+20:], "\xff\xff\xff\x00\xff\xff\xff\x00")
		_, err := parseTorch(bytes.NewReader(raw), int64(len(raw)))
		assert.ErrorContains(t, err, "lies beyond the file's")
	})
	t.Run("many entries", func(t *testing.T) {
		raw := archiveOf(t, make([]entry, maxArchiveEntries+1)...)
		_, err := parseTorch(bytes.NewReader(raw), int64(len(raw)))
		assert.ErrorContains(t, err, "archive of 65537 files, at most 65536")
	})
	t.Run("long directory", func(t *testing.T) {
		entries := make([]entry, model.MaxZipDirectory/60000+1)
		for i := range entries {
			entries[i].name = strings.Repeat("x", 60000)
		}
		raw := archiveOf(t, entries...)
		_, err := parseTorch(bytes.NewReader(raw), int64(len(raw)))
		assert.ErrorContains(t, err, "archive's directory is larger than 16777216 bytes")
	})
}

// FuzzTorchArchive reads whole torch files.
func FuzzTorchArchive(f *testing.F) {
	paths, err := filepath.Glob("testdata/pickles/*.bin")
	require.NoError(f, err)
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		tensors, err := parseTorch(bytes.NewReader(raw), int64(len(raw)))
		if err == nil {
			readAll(t, tensors, len(raw))
		}
	})
}

// readAll reads tensors of an accepted file of so many bytes. They may hold
// anything but must lie within it.
func readAll(t *testing.T, tensors map[string]Tensor, size int) {
	for name, tensor := range tensors {
		if n := tensor.Len(); n > size {
			t.Fatalf("%q has %d elements in %d bytes", name, n, size)
		}
		values := make([]float32, tensor.Len())
		if err := tensor.ReadFloat32(values, 0); err != nil && !strings.Contains(err.Error(), "finite") &&
			!strings.Contains(err.Error(), "only F32") {
			t.Fatal(err)
		}
	}
}
