package ctranslate2

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

// entry is a file of a zip.
type entry struct{ name, content string }

// pack writes a zip and returns its path.
func pack(t *testing.T, entries ...entry) string {
	path := filepath.Join(t.TempDir(), "translate-en_fr-1_9"+PackageExt)
	f, err := os.Create(path)
	require.NoError(t, err)
	z := zip.NewWriter(f)
	for _, e := range entries {
		w, err := z.Create(e.name)
		require.NoError(t, err)
		_, err = w.Write([]byte(e.content))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())
	return path
}

func TestUnpack(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, Unpack(pack(t, entry{"en_fr/", ""}, entry{"en_fr/metadata.json", `{"from_code": "en", "to_code": "fr", "license": "MIT"}`},
		entry{"en_fr/model/model.bin", "weights"}, entry{"en_fr/model/shared_vocabulary.txt", "a"}, entry{"en_fr/sentencepiece.model", "pieces"}, entry{"en_fr/bpe.model", "codes"},
		entry{"en_fr/stanza/en/tokenize/ewt.pt", "sentences"}, entry{"en_fr/model.bin", "not the model"}), dir))
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	assert.Equal(t, []string{"bpe.model", "metadata.json", "model.bin", "sentencepiece.model", "shared_vocabulary.txt"}, names)
	m, ok, err := ReadMetadata(model.Folder(dir))
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, Metadata{From: "en", To: "fr", License: "MIT"}, m)
	weights, err := os.ReadFile(filepath.Join(dir, ModelFile))
	require.NoError(t, err)
	assert.Equal(t, "weights", string(weights))
}

func TestUnpackRefuses(t *testing.T) {
	metadata, weights := entry{"metadata.json", "{}"}, entry{"model/model.bin", "weights"}
	for name, test := range map[string]struct {
		entries []entry
		want    string
	}{
		"no package":       {[]entry{weights}, "no metadata.json"},
		"no model":         {[]entry{metadata}, "no model/model.bin"},
		"out of it":        {[]entry{metadata, weights, {"../evil", ""}}, "climbs out"},
		"out, deeper":      {[]entry{metadata, weights, {"a/../../evil", ""}}, "climbs out"},
		"another root":     {[]entry{metadata, weights, {"/etc/evil", ""}}, "climbs out"},
		"for Windows":      {[]entry{metadata, weights, {`..\evil`, ""}}, "climbs out"},
		"metadata twice":   {[]entry{metadata, weights, metadata}, "twice"},
		"two packages":     {[]entry{{"a/metadata.json", "{}"}, {"b/metadata.json", "{}"}}, "twice"},
		"model twice":      {[]entry{metadata, weights, weights}, "twice"},
		"a bomb":           {[]entry{metadata, {"model/model.bin", string(make([]byte, 8<<20))}}, "are packed into"},
		"metadata too big": {[]entry{{"metadata.json", string(make([]byte, 2<<20))}, weights}, "at most 1048576"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Unpack(pack(t, test.entries...), t.TempDir())
			assert.ErrorContains(t, err, test.want)
		})
	}
	many := make([]entry, maxEntries)
	for i := range many {
		many[i].name = "a"
	}
	assert.ErrorContains(t, Unpack(pack(t, append(many, metadata)...), t.TempDir()), "at most 10000")
	long := make([]entry, model.MaxZipDirectory/60000+1)
	for i := range long {
		long[i].name = strings.Repeat("x", 60000)
	}
	assert.ErrorContains(t, Unpack(pack(t, long...), t.TempDir()), "directory is larger than 16777216 bytes")
	assert.ErrorContains(t, Unpack(filepath.Join("testdata", "none"), t.TempDir()), "none")
}

// The size in a header is not trusted.
func TestUnpackLies(t *testing.T) {
	path := pack(t, entry{"metadata.json", "{}"}, entry{"model/model.bin", "weights, weights, weights, weights"})
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	central := bytes.LastIndex(raw, []byte("PK\x01\x02")) // of model.bin
	for name, change := range map[string]struct {
		offset int
		value  byte
	}{"encrypted": {8, 1}, "longer than it is": {24, 200}, "shorter than it is": {24, 3}, "another checksum": {16, 77}} {
		t.Run(name, func(t *testing.T) {
			lying := bytes.Clone(raw)
			lying[central+change.offset] ^= change.value
			require.NoError(t, os.WriteFile(path, lying, 0o600))
			assert.Error(t, Unpack(path, t.TempDir()))
		})
	}
}

func FuzzUnpack(f *testing.F) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range []string{"a/metadata.json", "a/model/model.bin", "a/sentencepiece.model"} {
		w, _ := z.Create(name)
		_, _ = w.Write([]byte("{}"))
	}
	_ = z.Close()
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, raw []byte) {
		outside := t.TempDir()
		path, dir := filepath.Join(outside, "p"+PackageExt), filepath.Join(outside, "in")
		if os.WriteFile(path, raw, 0o600) != nil || os.Mkdir(dir, 0o700) != nil {
			t.Skip()
		}
		_ = Unpack(path, dir)
		if files, _ := os.ReadDir(outside); len(files) != 2 {
			t.Fatalf("files outside of the folder: %v", files)
		}
	})
}
