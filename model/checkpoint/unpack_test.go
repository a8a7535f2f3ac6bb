package checkpoint

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A file is unpacked as far as its bound.
func TestUnpackingIsBounded(t *testing.T) {
	const most = 3 << 20
	pack := map[string]func(w io.Writer) (io.WriteCloser, error){
		".gz":  func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		".zst": func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
	}
	for ext, open := range pack {
		for size, fits := range map[int]bool{0: true, most: true, most + 1: false, 16 * most: false} {
			var packed, to bytes.Buffer
			w, err := open(&packed)
			require.NoError(t, err)
			_, err = w.Write(make([]byte, size))
			require.NoError(t, err)
			require.NoError(t, w.Close())
			if err = unpack(&to, &packed, ext, most); fits {
				require.NoError(t, err)
				assert.Equal(t, size, to.Len())
			} else {
				require.ErrorContains(t, err, "more than")
				assert.Equal(t, most+1, to.Len())
			}
		}
	}
}

// No file of a model is packed as well as zeros.
func TestRatioIsBounded(t *testing.T) {
	from := filepath.Join(t.TempDir(), "model.bin.gz")
	f, err := os.Create(from)
	require.NoError(t, err)
	w := gzip.NewWriter(f)
	_, err = w.Write(make([]byte, smallFile+1))
	require.NoError(t, errors.Join(err, w.Close(), f.Close()))
	require.ErrorContains(t, unpackFile(from, from+".unpacked", 1<<30), "more than")
	assert.NoFileExists(t, from+".unpacked")
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
	require.ErrorContains(t, unpackFile(filepath.Join(dir, "large.gz"), to, 1000), "large.gz: it has more than 1000 bytes")
	require.Error(t, unpackFile(filepath.Join(dir, "small.gz"), to, 10))
	left, err := os.ReadDir(out)
	require.NoError(t, err)
	assert.Empty(t, left)
	require.NoError(t, unpackFile(filepath.Join(dir, "small.gz"), to, 1000))
	raw, err := os.ReadFile(to)
	require.NoError(t, err)
	assert.Equal(t, make([]byte, 100), raw)
}
