package cpu

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
func (d *prepackData) add(from io.ReaderAt, part onnx.Span) (onnx.Span, error) {
	padding := make([]byte, (onnx.Alignment-d.size%onnx.Alignment)%onnx.Alignment)
	if _, err := d.out.Write(padding); err != nil {
		return onnx.Span{}, err
	}
	d.size += int64(len(padding))
	moved := onnx.Span{Offset: d.size, Length: part.Length}
	n, err := io.Copy(d.out, io.NewSectionReader(from, part.Offset, part.Length))
	d.size += n
	if err == nil && n != part.Length {
		err = fmt.Errorf("%d of %d bytes at %d: %w", n, part.Length, part.Offset, io.ErrUnexpectedEOF)
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

// sameBytes says whether two parts of files hold the same.
func sameBytes(a io.ReaderAt, inA onnx.Span, b io.ReaderAt, inB onnx.Span) (bool, error) {
	if inA.Length != inB.Length {
		return false, nil
	}
	const chunk = 1 << 20
	bufA, bufB := make([]byte, chunk), make([]byte, chunk)
	for done := int64(0); done < inA.Length; done += chunk {
		n := min(chunk, inA.Length-done)
		if _, err := a.ReadAt(bufA[:n], inA.Offset+done); err != nil {
			return false, err
		}
		if _, err := b.ReadAt(bufB[:n], inB.Offset+done); err != nil {
			return false, err
		}
		if !bytes.Equal(bufA[:n], bufB[:n]) {
			return false, nil
		}
	}
	return true, nil
}
