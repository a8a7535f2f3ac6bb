// Package export converts a Hugging Face checkpoint to the ONNX graphs that dragoman serves, and their weights.
//
// The exported folder has an encoder and a decoder for CPUs (encoder.onnx, decoder.onnx) and, except for int8, for GPUs,
// weights.bin (external data of all graphs, each weight page aligned and stored once), the tokenizer's files and, written last,
// dragoman.json. The layers are described once, in network.go, over the operators of cpu.go and cuda.go. The graphs are made for
// serving:
//
//   - matrix products are custom operators on CPUs and ONNX Runtime's on GPUs; between them are custom operators (packages
//     model/cpu/ops and model/cuda/kernels), each of which computes everything between two products in one pass;
//   - the weights file has matrices in the operators' layout, for any CPU, so it is mapped, and loading a model prepares nothing;
//   - the encoder takes sentences without padding and writes the decoder's cross-attention keys and values, so hidden states
//     never leave it;
//   - the decoder runs one step for rows of different lengths, writes its KV cache in place, reads common parts of beams once and
//     returns only the best candidates of each row.
//
// Weights are streamed tensor by tensor; the largest object in memory is one 8-bit matrix.
package export

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dragoman/model"
	"dragoman/model/checkpoint"
	"dragoman/model/family"
	"dragoman/model/onnx"
)

// WorkPrefix is the prefix of the names of work folders of exports, inside the exported folder.
const WorkPrefix = ".dragoman-work-"

// Options configures an export.
type Options struct {
	Precision model.Precision
	Source    string   // origin of the checkpoint, for the manifest
	Revision  string   // commit of the source, if it has commits
	Languages []string // codes of the languages that the model translates between
	// Sources and Targets are the source and target languages; none: all.
	Sources, Targets []string
	Family           string // name of the family; "" is M2M100
}

// Export reads the checkpoint in checkpointDir and writes the exported folder outDir, which it creates. It works in a folder
// inside outDir and moves the files at the end, the manifest last: an interrupted export never looks complete. Only one process
// may export into a folder at a time. The remains of a killed export have a name that begins with WorkPrefix.
func Export(ctx context.Context, checkpointDir, outDir string, opts Options) (*model.Manifest, error) {
	if _, err := model.ParsePrecision(string(opts.Precision)); err != nil {
		return nil, err
	}
	ckpt, err := checkpoint.Open(checkpointDir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = ckpt.Close() }()
	if err := os.MkdirAll(outDir, 0o755); err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp(outDir, WorkPrefix)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)

	license, err := family.License(model.Folder(checkpointDir))
	if err != nil {
		return nil, err
	}
	m := &model.Manifest{
		Format:    model.ManifestFormat,
		Source:    opts.Source,
		Revision:  opts.Revision,
		Precision: opts.Precision,
		Family:    opts.Family,
		Spec:      ckpt.Spec(),
		Languages: slices.Sorted(slices.Values(opts.Languages)),
		Sources:   slices.Sorted(slices.Values(opts.Sources)),
		Targets:   slices.Sorted(slices.Values(opts.Targets)),
		License:   license,
		Files:     map[string]model.File{},
	}
	order, err := orderScripts(ckpt, checkpointDir, m)
	if err == nil {
		err = writeGraphs(ctx, ckpt, work, m, order)
	}
	if err == nil {
		err = copyTokenizer(ctx, checkpointDir, work, m)
	}
	if err != nil {
		return nil, fmt.Errorf("export %s: %w", checkpointDir, err)
	}
	return m, publish(work, outDir, m)
}

// writeGraphs writes the graphs and their weights into dir and enters them in the manifest.
func writeGraphs(ctx context.Context, ckpt *checkpoint.Checkpoint, dir string, m *model.Manifest, order []int32) error {
	data, err := onnx.CreateData(filepath.Join(dir, model.WeightsFile))
	if err != nil {
		return err
	}
	defer data.Close()
	w := &weights{ctx: ctx, ckpt: ckpt, data: data, precision: m.Precision, order: order}
	for _, part := range graphsFor(m.Precision, m.Spec) {
		graph, err := part.build(w, m.Spec)
		if err != nil {
			return err
		}
		path := filepath.Join(dir, part.file)
		if err := os.WriteFile(path, graph.Marshal(), 0o644); err != nil {
			return err
		}
		if m.Files[part.file], err = model.HashFile(ctx, path); err != nil {
			return err
		}
	}
	if tokens, ok := data.Weight(scriptTokens); ok {
		m.Scripts.Tokens = tokens.Offset
	}
	size, sum, err := data.Finish()
	m.Files[model.WeightsFile] = model.File{Size: size, SHA256: sum}
	return err
}

// graphFile is a graph of an exported folder.
type graphFile struct {
	file     string
	backend  func(*builder) operators
	describe func(network) // [network.encoder] or [network.decoder]
}

// graphsFor returns the graphs of an export. Graphs for GPUs need no additional weights; an int8 export has none, and some
// networks run on CPUs only.
func graphsFor(precision model.Precision, spec model.Spec) []graphFile {
	onCPU := func(b *builder) operators { return cpu{b} }
	onGPU := func(b *builder) operators { return &cuda{builder: b} }
	graphs := []graphFile{{model.EncoderFile, onCPU, network.encoder}, {model.DecoderFile, onCPU, network.decoder}}
	if precision != model.INT8 && !spec.CPUOnly() {
		graphs = append(graphs,
			graphFile{model.CUDAEncoderFile, onGPU, network.encoder}, graphFile{model.CUDADecoderFile, onGPU, network.decoder})
	}
	return graphs
}

// build builds the graph, named like its file up to the first dot.
func (g graphFile) build(w *weights, spec model.Spec) (*onnx.Graph, error) {
	name, _, _ := strings.Cut(g.file, ".")
	b := &builder{Graph: onnx.NewGraph(name), w: w, spec: spec}
	g.describe(network{b, g.backend(b)})
	return b.Graph, b.err
}

// copyTokenizer copies the tokenizer's files and enters them in the manifest.
func copyTokenizer(ctx context.Context, from, to string, m *model.Manifest) error {
	f, err := family.Named(m.Family)
	if err != nil {
		return err
	}
	names, err := f.CopyTokenizer(from, to)
	if err != nil {
		return err
	}
	for _, name := range names {
		if m.Files[name], err = model.HashFile(ctx, filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return nil
}

// publish moves the files of work into dir and writes the manifest.
func publish(work, dir string, m *model.Manifest) error {
	if err := os.Remove(filepath.Join(dir, model.ManifestFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := m.Write(work); err != nil {
		return err
	}
	for name := range m.Files {
		if err := os.Rename(filepath.Join(work, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return os.Rename(filepath.Join(work, model.ManifestFile), filepath.Join(dir, model.ManifestFile))
}
