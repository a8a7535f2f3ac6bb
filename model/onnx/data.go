package onnx

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
)

// Alignment is the multiple at which every weight of a Data file starts, in
// bytes: a page, so that a runtime can map each weight by itself.
const Alignment = 4096

// Data is a file of weights that lie outside the graphs which use them. Weights
// are appended once, under a unique name, and read by any number of graphs in
// the same folder. It is not safe for concurrent use.
type Data struct {
	name    string // of the file, as the graphs refer to it
	file    *os.File
	out     *bufio.Writer
	hash    hash.Hash
	size    int64
	weights map[string]Weight
}

// Weight is a tensor in a Data file.
type Weight struct {
	Name   string
	Type   DataType
	Shape  []int
	file   string
	offset int64
	length int64
}

// CreateData creates the file at path. The caller closes the Data.
func CreateData(path string) (*Data, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	d := &Data{name: filepath.Base(path), file: f, hash: sha256.New(), weights: map[string]Weight{}}
	d.out = bufio.NewWriterSize(io.MultiWriter(f, d.hash), 1<<20)
	return d, nil
}

// Add appends a weight whose elements, little-endian and row-major, are written
// by write. It fails if write writes more or fewer bytes than the shape needs.
func (d *Data) Add(name string, t DataType, shape []int, write func(io.Writer) error) (Weight, error) {
	if _, ok := d.weights[name]; ok {
		return Weight{}, fmt.Errorf("weight %s is added twice", name)
	}
	if err := d.align(); err != nil {
		return Weight{}, err
	}
	w := Weight{Name: name, Type: t, Shape: shape, file: d.name, offset: d.size, length: int64(t.Size())}
	for _, n := range shape {
		w.length *= int64(n)
	}
	counted := &countingWriter{w: d.out}
	if err := write(counted); err != nil {
		return Weight{}, fmt.Errorf("weight %s: %w", name, err)
	}
	d.size += counted.n
	if counted.n != w.length {
		return Weight{}, fmt.Errorf("weight %s: %d bytes written, its shape %v needs %d", name, counted.n, shape, w.length)
	}
	d.weights[name] = w
	return w, nil
}

// Weight returns a weight added before.
func (d *Data) Weight(name string) (Weight, bool) {
	w, ok := d.weights[name]
	return w, ok
}

// Finish flushes the file to the disk and returns its size in bytes and sha256.
func (d *Data) Finish() (size int64, sum string, err error) {
	if err := d.out.Flush(); err != nil {
		return 0, "", err
	}
	if err := d.file.Sync(); err != nil {
		return 0, "", err
	}
	return d.size, hex.EncodeToString(d.hash.Sum(nil)), nil
}

// Close closes the file, finished or not.
func (d *Data) Close() error { return d.file.Close() }

// align pads the file with zeros to the next multiple of Alignment.
func (d *Data) align() error {
	n := (Alignment - d.size%Alignment) % Alignment
	_, err := d.out.Write(make([]byte, n))
	d.size += n
	return err
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
