package ort

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"

	"dragoman/model"
	"dragoman/model/onnx"
)

// prepackData is the file of packed matrices while it is written.
type prepackData struct {
	file *os.File
	out  *bufio.Writer
	hash hash.Hash
	size int64
}

// createPrepackData creates the file at path. The caller closes its file.
func createPrepackData(path string) (*prepackData, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	d := &prepackData{file: f, hash: sha256.New()}
	d.out = bufio.NewWriterSize(io.MultiWriter(f, d.hash), 1<<20)
	return d, nil
}

// add appends part of another file at the next page and returns where it lies now.
func (d *prepackData) add(from io.ReaderAt, part span) (span, error) {
	padding := make([]byte, (onnx.Alignment-d.size%onnx.Alignment)%onnx.Alignment)
	if _, err := d.out.Write(padding); err != nil {
		return span{}, err
	}
	d.size += int64(len(padding))
	moved := span{offset: d.size, length: part.length}
	n, err := io.Copy(d.out, part.reader(from))
	d.size += n
	if err == nil && n != part.length {
		err = fmt.Errorf("%d of %d bytes at %d: %w", n, part.length, part.offset, io.ErrUnexpectedEOF)
	}
	return moved, err
}

// finish waits until the file is on the disk and returns its size and checksum.
func (d *prepackData) finish() (model.File, error) {
	if err := d.out.Flush(); err != nil {
		return model.File{}, err
	}
	if err := d.file.Sync(); err != nil {
		return model.File{}, err
	}
	return model.File{Size: d.size, SHA256: hex.EncodeToString(d.hash.Sum(nil))}, nil
}

// span is a part of a file, in bytes.
type span struct{ offset, length int64 }

func (s span) reader(from io.ReaderAt) io.Reader {
	return io.NewSectionReader(from, s.offset, s.length)
}

// sameBytes says whether two parts of files hold the same.
func sameBytes(a io.ReaderAt, inA span, b io.ReaderAt, inB span) (bool, error) {
	if inA.length != inB.length {
		return false, nil
	}
	const chunk = 1 << 20
	bufA, bufB := make([]byte, chunk), make([]byte, chunk)
	for done := int64(0); done < inA.length; done += chunk {
		n := min(chunk, inA.length-done)
		if _, err := a.ReadAt(bufA[:n], inA.offset+done); err != nil {
			return false, err
		}
		if _, err := b.ReadAt(bufB[:n], inB.offset+done); err != nil {
			return false, err
		}
		if !bytes.Equal(bufA[:n], bufB[:n]) {
			return false, nil
		}
	}
	return true, nil
}
