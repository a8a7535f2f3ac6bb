package onnx

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"dragoman/model/mapping"
)

// Alignment is the number of bytes of which the offset of every weight in a Data file is a multiple: a page, so that a runtime
// can map each weight separately.
const Alignment = 4096

// Data is a file of weights outside the graphs that use them. Weights are appended once, under a unique name, and read by any
// number of graphs in the same folder. A Data is not safe for concurrent use.
type Data struct {
	name    string // of the file, as the graphs refer to it
	file    *os.File
	out     *countingWriter
	hash    hash.Hash
	weights map[string]Weight
}

// Weight is a tensor in a Data file.
type Weight struct {
	Name         string
	Type         DataType
	Shape        []int
	File         string // in the folder of the graphs
	Offset, Size int64  // in File, bytes
}

// CreateData creates the file at path. The caller must close the Data.
func CreateData(path string) (*Data, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	d := &Data{name: filepath.Base(path), file: f, hash: sha256.New(), weights: map[string]Weight{}}
	d.out = &countingWriter{buffer: bufio.NewWriterSize(io.MultiWriter(f, d.hash), 1<<20)}
	return d, nil
}

// Add appends a weight whose elements, little-endian and row-major, are written by write. Add fails unless write writes exactly
// the number of bytes of the shape.
func (d *Data) Add(name string, t DataType, shape []int, write func(io.Writer) error) (Weight, error) {
	if _, ok := d.weights[name]; ok {
		return Weight{}, fmt.Errorf("weight %s is added twice", name)
	}
	w := Weight{Name: name, Type: t, Shape: shape, File: d.name}
	var err error
	if w.Offset, w.Size, err = d.append(write); err != nil {
		return Weight{}, fmt.Errorf("weight %s: %w", name, err)
	}
	if want := w.bytes(); w.Size != want {
		return Weight{}, fmt.Errorf("weight %s: %d bytes written, its shape %v needs %d", name, w.Size, shape, want)
	}
	d.weights[name] = w
	return w, nil
}

// bytes returns the number of bytes of the weight's shape.
func (w Weight) bytes() int64 {
	n := int64(w.Type.Size())
	for _, d := range w.Shape {
		n *= int64(d)
	}
	return n
}

// append appends the bytes written by write at the next multiple of Alignment, after a padding of zeros.
func (d *Data) append(write func(io.Writer) error) (offset, size int64, err error) {
	if _, err := d.out.Write(make([]byte, (Alignment-d.out.size%Alignment)%Alignment)); err != nil {
		return 0, 0, err
	}
	offset = d.out.size
	err = write(d.out)
	return offset, d.out.size - offset, err
}

// Weight returns a weight added before.
func (d *Data) Weight(name string) (Weight, bool) {
	w, ok := d.weights[name]
	return w, ok
}

// Finish flushes the file to the disk and returns its size in bytes and sha256.
func (d *Data) Finish() (size int64, sum string, err error) {
	if err := d.out.buffer.Flush(); err != nil {
		return 0, "", err
	}
	if err := d.file.Sync(); err != nil {
		return 0, "", err
	}
	mapping.Forget(d.file)
	return d.out.size, fmt.Sprintf("%x", d.hash.Sum(nil)), nil
}

// Close closes the file, finished or not.
func (d *Data) Close() error { return d.file.Close() }

// countingWriter counts the bytes written.
type countingWriter struct {
	buffer *bufio.Writer
	size   int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.buffer.Write(p)
	c.size += int64(n)
	return n, err
}
