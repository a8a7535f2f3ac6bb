package convert

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

// maxPieces bounds a file of a vocabulary, which has 1 MB.
const maxPieces = 32 << 20

// maxRatio is how many times smaller a file of more than smallFile bytes can be packed: weights hardly are, vocabularies by
// less than ten.
const maxRatio, smallFile = 200, 1 << 20

// unpackedFile is a file of a model, unpacked.
type unpackedFile struct {
	*os.File
	size int64
	own  bool // it was unpacked, and goes when it is closed
}

// Close closes the file, and removes it where it was unpacked.
func (f *unpackedFile) Close() error {
	err := f.File.Close()
	if f.own {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// open opens a file of a model that has at most so many bytes, unpacked. One that is packed is unpacked into the folder out.
func open(dir, name, out string, most int64) (opened *unpackedFile, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
	}()
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > most {
		err = tooLarge(info.Size(), most)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if ext := filepath.Ext(name); ext != ".gz" && ext != ".zst" {
		return &unpackedFile{f, info.Size(), false}, nil
	}
	defer f.Close()
	to, err := os.CreateTemp(out, "unpacked-*")
	if err != nil {
		return nil, err
	}
	opened = &unpackedFile{to, 0, true}
	if opened.size, err = unpack(to, f, info.Size(), filepath.Ext(name), most); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return opened, nil
}

// readUnpacked reads what open opens.
func readUnpacked(dir, name, out string, most int64) ([]byte, error) {
	f, err := open(dir, name, out, most)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw := make([]byte, f.size)
	if _, err := f.ReadAt(raw, 0); err != nil && (err != io.EOF || f.size > 0) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return raw, nil
}

// unpack writes a file of packed bytes, whose extension says how it is packed, unpacked. A file that says that it has more than
// most bytes, or more than any model's of its size, is not begun; one that does not say so ends with an error there.
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

// plainReader hides that a reader can write by itself, which has no bound.
type plainReader struct{ io.Reader }

// maxWindow is how far back a file that is packed may refer.
const maxWindow = 64 << 20

// declaredSize is how many bytes a packed file says that it has unpacked, at least; 0 where it does not say so. The file stands at its
// start again.
func declaredSize(f io.ReadSeeker, packed int64, ext string) (int64, error) {
	var size uint64
	if ext == ".gz" { // the last member's, in its last four bytes, without what does not fit into them
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
