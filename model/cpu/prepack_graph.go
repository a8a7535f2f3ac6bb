package cpu

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"dragoman/model/onnx"
)

// compaction rewrites a graph that ONNX Runtime saved with packed matrices.
//
// ONNX Runtime saves each constant twice, as it was and packed, in one file. In the
// rewritten graph a constant that did not change lies where it was exported to, and
// only packed matrices, and the constants that the optimizer made, are copied.
// Packed matrices must lie in the file of the constant that they are entered under;
// but ONNX Runtime looks for them by their content, under any name. So all are
// entered under one constant that is copied with them, the anchor.
type compaction struct {
	saved    string     // the graph that ONNX Runtime saved; its data file beside it
	original string     // the graph that it was made of; its weights beside it
	data     *onnx.Data // takes the packed matrices
	location string     // of data, as the graphs refer to it
}

// compactGraph carries the compaction out and returns the graph.
func compactGraph(ctx context.Context, c compaction) ([]byte, error) {
	saved, constants, err := onnx.Read(c.saved)
	if err != nil {
		return nil, err
	}
	_, originals, err := onnx.Read(c.original)
	if err != nil {
		return nil, err
	}
	files := openFiles{}
	defer files.close()
	if err := c.keepOriginals(ctx, constants, originals, files); err != nil {
		return nil, err
	}
	if err := c.move(ctx, constants, files); err != nil {
		return nil, err
	}
	return saved.With(constants), nil
}

// keepOriginals lets constants that are the same as in the original graph lie
// where they lie there.
func (c compaction) keepOriginals(ctx context.Context, constants, originals []*onnx.Constant, files openFiles) error {
	byName := map[string]*onnx.Constant{}
	for _, o := range originals {
		byName[o.Name] = o
	}
	for _, k := range constants {
		if err := ctx.Err(); err != nil {
			return err
		}
		o := byName[k.Name]
		if o == nil || o.Location == "" || k.Location == "" {
			continue
		}
		in, err := files.open(c.saved, k.Location)
		if err != nil {
			return err
		}
		inOriginal, err := files.open(c.original, o.Location)
		if err != nil {
			return err
		}
		same, err := sameBytes(in, k.At, inOriginal, o.At)
		if err != nil {
			return fmt.Errorf("constant %s: %w", k.Name, err)
		}
		if !same {
			continue
		}
		k.Location, k.At = o.Location, o.At
	}
	return nil
}

// move copies into data the packed matrices, which all go to one anchor, the
// constants that are not where the original graph has them, and the anchor.
func (c compaction) move(ctx context.Context, constants []*onnx.Constant, files openFiles) error {
	in, err := files.open(c.saved, prepackDataFile)
	if err != nil {
		return err
	}
	anchor := smallestExternal(constants)
	var packed []onnx.Packed
	for _, k := range constants {
		if err := ctx.Err(); err != nil {
			return err
		}
		if k.Location == prepackDataFile || k == anchor {
			from, err := files.open(c.fileOf(k), k.Location)
			if err != nil {
				return err
			}
			if k.At, err = c.data.Copy(from, k.At); err != nil {
				return fmt.Errorf("constant %s: %w", k.Name, err)
			}
			k.Location = c.location
		}
		for _, p := range k.Packed {
			for i, part := range p.Buffers {
				if p.Buffers[i], err = c.data.Copy(in, part); err != nil {
					return fmt.Errorf("packed %s: %w", k.Name, err)
				}
			}
			packed = append(packed, p)
		}
		k.Packed = nil
	}
	if anchor != nil {
		anchor.Packed = packed
	}
	return nil
}

// fileOf is the graph beside which a constant's file lies.
func (c compaction) fileOf(k *onnx.Constant) string {
	if k.Location == prepackDataFile {
		return c.saved
	}
	return c.original
}

// smallestExternal is the smallest constant outside the graph; nil if all are in it.
func smallestExternal(constants []*onnx.Constant) (smallest *onnx.Constant) {
	for _, k := range constants {
		if k.Location != "" && (smallest == nil || k.At.Length < smallest.At.Length) {
			smallest = k
		}
	}
	return smallest
}

// openFiles are files opened for reading, by path.
type openFiles map[string]*os.File

// open opens the file called location beside a graph, once.
func (f openFiles) open(graph, location string) (*os.File, error) {
	path := filepath.Join(filepath.Dir(graph), location)
	if file, ok := f[path]; ok {
		return file, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f[path] = file
	return file, nil
}

func (f openFiles) close() {
	for _, file := range f {
		file.Close()
	}
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
