package checkpoint

import (
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
)

// maxPieces is the maximum size of a vocabulary in bytes; typical ones have 1 MB.
const maxPieces = 32 << 20

// maxRatio is the maximum ratio of compression of a file of more than smallFile bytes. The ratio of weights is near one, that of
// vocabularies below ten.
const maxRatio, smallFile = 200, 1 << 20

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
	if info.Size() > limit {
		return tooLarge(info.Size(), limit)
	}
	w, err := os.Create(to)
	if err != nil {
		return err
	}
	if ext := filepath.Ext(from); ext == ".gz" || ext == ".zst" {
		_, err = unpack(w, f, info.Size(), ext, limit)
	} else {
		_, err = io.Copy(w, f)
	}
	return errors.Join(err, w.Close())
}

// unpack unpacks a file of packed bytes in the format of its extension. It fails before the first byte if the declared size is
// above most or above the maximum ratio, and otherwise as soon as the unpacked size is.
func unpack(to io.Writer, from io.ReadSeeker, packed int64, ext string, most int64) (size int64, err error) {
	most = min(most, max(smallFile, packed*maxRatio))
	declared, err := declaredSize(from, packed, ext)
	if err != nil {
		return 0, err
	}
	if declared > most {
		return 0, tooLarge(declared, most)
	}
	var r io.Reader
	if ext == ".gz" {
		r, err = gzip.NewReader(from)
	} else {
		var z *zstd.Decoder
		if z, err = zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxWindow)); err == nil {
			defer z.Close()
			r = z
		}
	}
	if err != nil {
		return 0, err
	}
	size, err = io.Copy(to, io.LimitReader(plainReader{r}, most+1))
	if err == nil && size > most {
		err = tooLarge(size, most)
	}
	return size, err
}

// plainReader hides a reader's WriteTo, which has no limit.
type plainReader struct{ io.Reader }

// maxWindow is the maximum distance of references in a packed file.
const maxWindow = 64 << 20

// declaredSize returns the minimum unpacked size that a file declares, or 0. It rewinds the file.
func declaredSize(f io.ReadSeeker, packed int64, ext string) (int64, error) {
	var size uint64
	if ext == ".gz" { // the size of the last member, modulo 2^32, in the file's last four bytes
		var trailer [4]byte
		if _, err := f.Seek(max(0, packed-int64(len(trailer))), io.SeekStart); err != nil {
			return 0, err
		}
		if _, err := io.ReadFull(f, trailer[:]); err != nil {
			return 0, cut(err)
		}
		size = uint64(binary.LittleEndian.Uint32(trailer[:]))
	} else {
		var header zstd.Header
		head := make([]byte, zstd.HeaderMaxSize)
		n, err := io.ReadFull(f, head)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return 0, cut(err)
		}
		if err := header.Decode(head[:n]); err != nil {
			return 0, err
		}
		size = min(header.FrameContentSize, math.MaxInt64)
	}
	_, err := f.Seek(0, io.SeekStart)
	return int64(size), err
}

func tooLarge(size, most int64) error {
	return fmt.Errorf("it has %d bytes or more unpacked, at most %d are supported: this is no file of such a model, or it is damaged", size, most)
}
