package checkpoint

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
)

// maxPieces is the maximum size of a vocabulary in bytes; typical ones have 1 MB.
const maxPieces = 32 << 20

// maxRatio is the maximum ratio of compression of a file of more than smallFile bytes. The ratio of weights is near one, that of
// vocabularies below ten.
const maxRatio, smallFile = 20, 1 << 20

// maxWindow is the maximum distance of references in a packed file.
const maxWindow = 64 << 20

// unpackFile writes a file of a model, unpacked, as a new file of at most limit bytes.
func unpackFile(from, to string, limit int64) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", filepath.Base(from), errors.Join(err, os.RemoveAll(to)))
		}
	}()
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	w, err := os.Create(to)
	if err != nil {
		return err
	}
	return errors.Join(unpack(w, f, filepath.Ext(from), min(limit, max(smallFile, info.Size()*maxRatio))), w.Close())
}

// unpack unpacks a file in the format of its extension. It fails as soon as the unpacked size is above most.
func unpack(to io.Writer, from io.Reader, ext string, most int64) (err error) {
	switch ext {
	case ".gz":
		from, err = gzip.NewReader(from)
	case ".zst":
		var z *zstd.Decoder
		if z, err = zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxWindow)); err == nil {
			defer z.Close()
			from = z
		}
	}
	if err != nil {
		return err
	}
	size, err := io.Copy(to, io.LimitReader(from, most+1))
	if err == nil && size > most {
		err = fmt.Errorf("it has more than %d bytes unpacked: this is no file of such a model, or it is damaged", most)
	}
	return err
}
