package ort

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"dragoman/model"
)

func TestPrepackKey(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, model.ManifestFile), []byte("{}"), 0o644))
	config := sessionConfig{threads: 1, entries: map[string]string{"a": "1", "b": "2"}}
	key, err := newPrepackKey(dir, "1.30.0", config)
	require.NoError(t, err)
	name, err := key.name()
	require.NoError(t, err)
	assert.Regexp(t, "^[0-9a-f]{16}$", name)

	same, err := newPrepackKey(dir, "1.30.0", sessionConfig{threads: 2, entries: config.entries})
	require.NoError(t, err)
	assert.Equal(t, key, same, "threads do not matter")

	for what, change := range map[string]func(*prepackKey){
		"format":  func(k *prepackKey) { k.Format++ },
		"model":   func(k *prepackKey) { k.Model = "other" },
		"runtime": func(k *prepackKey) { k.Runtime = "1.31.0" },
		"arch":    func(k *prepackKey) { k.Arch = "other" },
		"CPU":     func(k *prepackKey) { k.CPU = append(k.CPU[:len(k.CPU):len(k.CPU)], "other") },
		"options": func(k *prepackKey) { k.Options = map[string]string{"a": "1"} },
	} {
		other := key
		change(&other)
		otherName, err := other.name()
		require.NoError(t, err)
		assert.NotEqual(t, name, otherName, what)
	}
	_, err = newPrepackKey(t.TempDir(), "1.30.0", config)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// TestPublishRefusesAnotherExport exports the model again while its weights are
// packed.
func TestPublishRefusesAnotherExport(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, model.ManifestFile), []byte("{}"), 0o644))
	s := &prepackStore{dir: dir, root: filepath.Join(dir, prepackFolder), name: "key",
		key: prepackKey{Model: "before"}, log: slog.New(slog.DiscardHandler)}
	work := filepath.Join(s.root, ".work-1")
	require.NoError(t, os.MkdirAll(work, 0o755))
	assert.ErrorContains(t, s.publish(work, &prepackManifest{Key: s.key}), "was exported again")
	assert.NoDirExists(t, filepath.Join(s.root, "key"))
}

func TestConstantRoundTrip(t *testing.T) {
	want := constant{
		name: "w", proto: appendBytes(nil, tensorName, []byte("w")), location: "data.bin", at: span{4096, 8},
		packed: []packedMatrix{{"MatMul+1", []span{{8192, 16}, {12288, 4}}}, {"Gemm+2", []span{{16384, 1}}}},
	}
	got, err := readConstant(want.encode())
	require.NoError(t, err)
	assert.Equal(t, &want, got)

	inside := constant{name: "w", proto: want.proto}
	got, err = readConstant(inside.encode())
	require.NoError(t, err)
	assert.Equal(t, &inside, got)
}

func TestReadGraphRefuses(t *testing.T) {
	withEntry := func(key, value string) []byte {
		entry := appendBytes(appendBytes(nil, entryKey, []byte(key)), entryValue, []byte(value))
		tensor := appendBytes(appendBytes(nil, tensorName, []byte("w")), tensorExternalData, entry)
		return appendBytes(nil, modelGraph, appendBytes(nil, graphInitializer, tensor))
	}
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"no protobuf":         {[]byte{0xff}, "truncated protobuf"},
		"cut field":           {protowire.AppendTag(nil, modelGraph, protowire.BytesType), "truncated protobuf"},
		"offset is no number": {withEntry("offset", "x"), `constant w: strconv.ParseInt: parsing "x"`},
		"length is no number": {withEntry("length", ""), "constant w: strconv.ParseInt"},
		"two numbers":         {withEntry("prepacked_0", "key|1;2"), "offset;length;checksum expected"},
		"packed at no number": {withEntry("prepacked_0", "key|1;x;0"), "packed matrix"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "graph.onnx")
			require.NoError(t, os.WriteFile(path, c.raw, 0o644))
			_, _, err := readGraph(path)
			assert.ErrorContains(t, err, c.want)
			assert.ErrorContains(t, err, path)
		})
	}
}

// TestCopyCutFile copies from a file that ends too soon, as after a full disk.
func TestCopyCutFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cut")
	require.NoError(t, os.WriteFile(path, make([]byte, 100), 0o644))
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	data, err := createPrepackData(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	defer data.file.Close()
	_, err = data.add(f, span{50, 51})
	assert.ErrorContains(t, err, "50 of 51 bytes at 50")
	_, err = sameBytes(f, span{0, 100}, f, span{1, 100})
	assert.ErrorContains(t, err, "EOF")
}
