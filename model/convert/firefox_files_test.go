package convert

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFirefoxFiles(t *testing.T) {
	const enfr, ende = "model.enfr.intgemm.alphas.bin", "model.ende.intgemm.alphas.bin"
	for name, test := range map[string]struct {
		names   []string
		model   string
		want    map[string]string
		message string
	}{
		"one vocabulary":   {[]string{enfr, "vocab.enfr.spm", "lex.50.50.enfr.s2t.bin", "README.md"}, "", map[string]string{"model": enfr, "vocab": "vocab.enfr.spm", "lex": "lex.50.50.enfr.s2t.bin"}, ""},
		"two vocabularies": {[]string{enfr, "srcvocab.enfr.spm", "trgvocab.enfr.spm"}, "", map[string]string{"model": enfr, "source": "srcvocab.enfr.spm", "target": "trgvocab.enfr.spm"}, ""},
		"packed twice":     {[]string{enfr + ".zst", enfr, "vocab.spm.gz", "vocab.spm"}, "", map[string]string{"model": enfr + ".zst", "vocab": "vocab.spm.gz"}, ""},
		"of two":           {[]string{enfr, ende, "vocab.ende.spm", "vocab.enfr.spm"}, ende, map[string]string{"model": ende, "vocab": "vocab.ende.spm"}, ""},
		"as it is packed":  {[]string{enfr, enfr + ".gz", "vocab.enfr.spm"}, enfr, map[string]string{"model": enfr, "vocab": "vocab.enfr.spm"}, ""},
		"of one pair":      {[]string{enfr, "model.enfr.intgemm8.bin", "vocab.enfr.spm"}, enfr, map[string]string{"model": enfr, "vocab": "vocab.enfr.spm"}, ""},
		"two models":       {[]string{enfr, ende, "vocab.spm"}, "", nil, ende + " and " + enfr + " are both there"},
		"two lists":        {[]string{enfr, "vocab.spm", "lex.s2t.bin", "lex.50.50.s2t.bin"}, "", nil, "lex.50.50.s2t.bin and lex.s2t.bin are both there"},
		"half of them":     {[]string{enfr, "srcvocab.enfr.spm"}, "", nil, "there is no vocab.*.spm"},
		"another pair's":   {[]string{enfr, "vocab.spm"}, enfr, nil, "there is no vocab.*.spm"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := FirefoxFiles(test.names, test.model)
			if test.message != "" {
				require.ErrorContains(t, err, test.message)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}

// The names that are looked for where there is no list are such as a folder's are found by.
func TestFirefoxNames(t *testing.T) {
	for _, model := range append(FirefoxModels("en", "fr"), "model.intgemm.alphas.bin.gz") {
		require.True(t, IsFirefox(model), model)
		got, err := FirefoxFiles([]string{model, FirefoxBeside(model)[1], FirefoxBeside(model)[len(FirefoxBeside(model))-1]}, model)
		require.NoError(t, err)
		assert.Len(t, got, 3)
	}
	assert.False(t, IsFirefox(FirefoxModels("../x", "fr")[0]))
}

// counted counts what is read of a file.
type counted struct {
	*bytes.Reader
	read int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += n
	return n, err
}

// A file that says how large it is unpacked is refused by what it says: nothing of it is unpacked. One that does not is unpacked as far
// as its bound.
func TestUnpackingIsBounded(t *testing.T) {
	const most = 3 << 20
	pack := func(ext string, size int, declared bool) []byte {
		var out bytes.Buffer
		var w io.WriteCloser
		switch {
		case ext == ".gz":
			w = gzip.NewWriter(&out)
		case declared:
			encoder, err := zstd.NewWriter(nil)
			require.NoError(t, err)
			return encoder.EncodeAll(make([]byte, size), nil)
		default:
			encoder, err := zstd.NewWriter(&out)
			require.NoError(t, err)
			w = encoder
		}
		_, err := w.Write(make([]byte, size))
		require.NoError(t, err)
		require.NoError(t, w.Close())
		if ext == ".gz" && !declared { // as where it does not fit into the number
			binary.LittleEndian.PutUint32(out.Bytes()[out.Len()-4:], 1)
		}
		return out.Bytes()
	}
	for name, test := range map[string]struct {
		ext            string
		size           int
		declared, fits bool
	}{
		"gzip that is whole":                 {".gz", smallFile, true, true},
		"gzip that says that it is large":    {".gz", 16 * most, true, false},
		"gzip that does not say so":          {".gz", 16 * most, false, false},
		"zstd that is whole":                 {".zst", smallFile, true, true},
		"zstd that does not say its size":    {".zst", smallFile, false, true},
		"zstd that says that it is large":    {".zst", 16 * most, true, false},
		"zstd that does not say so":          {".zst", 16 * most, false, false},
		"zstd that is packed as no model is": {".zst", most, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			raw := pack(test.ext, test.size, test.declared)
			from, to := &counted{Reader: bytes.NewReader(raw)}, &bytes.Buffer{}
			size, err := unpack(to, from, int64(len(raw)), test.ext, most)
			if test.fits {
				require.NoError(t, err)
				assert.EqualValues(t, test.size, size)
				assert.Equal(t, make([]byte, test.size), to.Bytes())
				return
			}
			require.ErrorContains(t, err, "at most")
			assert.LessOrEqual(t, to.Len(), most+1)
			if test.declared {
				assert.Zero(t, to.Len())
				assert.LessOrEqual(t, from.read, zstd.HeaderMaxSize)
			}
		})
	}
}

// A file that is refused leaves nothing behind, and neither does one that was read.
func TestUnpackedFilesGo(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	for name, size := range map[string]int{"small.gz": 100, "large.gz": 2000} {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, err := w.Write(make([]byte, size))
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), packed.Bytes(), 0o600))
	}
	raw, err := readUnpacked(dir, "small.gz", out, 1000)
	require.NoError(t, err)
	assert.Len(t, raw, 100)
	_, err = readUnpacked(dir, "large.gz", out, 1000)
	require.ErrorContains(t, err, "large.gz: it has 2000 bytes")
	_, err = readUnpacked(dir, "small.gz", out, 10)
	require.Error(t, err)
	left, err := os.ReadDir(out)
	require.NoError(t, err)
	assert.Empty(t, left)
}
