package cpu

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"dragoman/model"
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
	in, err := os.Open(filepath.Join(filepath.Dir(c.saved), prepackDataFile))
	if err != nil {
		return nil, err
	}
	defer in.Close()
	weights, err := os.Open(filepath.Join(filepath.Dir(c.original), model.WeightsFile))
	if err != nil {
		return nil, err
	}
	defer weights.Close()
	if err := keepOriginals(ctx, constants, originals, in, weights); err != nil {
		return nil, err
	}
	if err := c.move(ctx, constants, in, weights); err != nil {
		return nil, err
	}
	return saved.With(constants), nil
}

// keepOriginals lets constants that are the same among the exported weights lie there.
func keepOriginals(ctx context.Context, constants, originals []*onnx.Constant, in, weights *os.File) error {
	exported := map[string]onnx.Span{}
	for _, o := range originals {
		if o.Location == model.WeightsFile {
			exported[o.Name] = o.At
		}
	}
	for _, k := range constants {
		if err := ctx.Err(); err != nil {
			return err
		}
		at, ok := exported[k.Name]
		if !ok || k.Location != prepackDataFile {
			continue
		}
		same, err := model.SameBytes(section(in, k.At), section(weights, at))
		if err != nil {
			return fmt.Errorf("constant %s: %w", k.Name, err)
		}
		if same {
			k.Location, k.At = model.WeightsFile, at
		}
	}
	return nil
}

// section is a part of a file.
func section(file *os.File, part onnx.Span) *io.SectionReader {
	return io.NewSectionReader(file, part.Offset, part.Length)
}

// move copies into data the packed matrices, which all go to one anchor, the
// constants that are not among the exported weights, and the anchor.
func (c compaction) move(ctx context.Context, constants []*onnx.Constant, in, weights *os.File) (err error) {
	anchor := smallestExternal(constants)
	var packed []onnx.Packed
	for _, k := range constants {
		if err := ctx.Err(); err != nil {
			return err
		}
		if k.Location == prepackDataFile || k == anchor {
			from := in
			if k.Location == model.WeightsFile {
				from = weights
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

// smallestExternal is the smallest constant outside the graph; nil if all are in it.
func smallestExternal(constants []*onnx.Constant) (smallest *onnx.Constant) {
	for _, k := range constants {
		if k.Location != "" && (smallest == nil || k.At.Length < smallest.At.Length) {
			smallest = k
		}
	}
	return smallest
}
