package checkpoint

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

// countedReads counts what is read of a file.
type countedReads struct {
	*bytes.Reader
	read int
}

func (c *countedReads) Read(p []byte) (int, error) {
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
			from, to := &countedReads{Reader: bytes.NewReader(raw)}, &bytes.Buffer{}
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

// A file that is refused leaves nothing behind.
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
	to := filepath.Join(out, "unpacked")
	require.ErrorContains(t, unpackFile(filepath.Join(dir, "large.gz"), to, 1000), "large.gz: it has 2000 bytes")
	require.Error(t, unpackFile(filepath.Join(dir, "small.gz"), to, 10))
	left, err := os.ReadDir(out)
	require.NoError(t, err)
	assert.Empty(t, left)
	require.NoError(t, unpackFile(filepath.Join(dir, "small.gz"), to, 1000))
	raw, err := os.ReadFile(to)
	require.NoError(t, err)
	assert.Equal(t, make([]byte, 100), raw)
}
