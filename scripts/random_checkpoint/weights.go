package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"

	"dragoman/model"
	"dragoman/model/checkpoint"
	"dragoman/model/checkpoint/safetensorstest"
	"dragoman/model/family"
)

// initStd is the standard deviation of weights and biases, like M2M100's init_std.
const initStd = 0.02

// lastNorm returns the name of the last norm before the LM head.
func lastNorm(spec model.Spec) string {
	if spec.PostNorm {
		return fmt.Sprintf("model.decoder.layers.%d.final_layer_norm.weight", spec.Decoder.Layers-1)
	}
	return "model.decoder.layer_norm.weight"
}

// chunk is the number of elements per seed, a part of a requested block. Chunks are filled in any order and on any number of
// cores with the same result.
const chunk = safetensorstest.BlockElements / 16

// distribution is a normal distribution.
type distribution struct{ mean, std float32 }

// randomTensors returns the tensors of a model with values of an untrained model: layers that neither explode nor vanish, and a
// zero row for padding.
//
// One tensor differs. An untrained model with tied embeddings repeats the token that it is fed, as no other is as similar to it,
// so it would decode to the same tokens if most of it were broken. Random signs and sizes in lastNorm remove that similarity: the
// next token depends on all previous ones.
func randomTensors(network *family.Network, spec model.Spec, dtype string, seed uint64) []safetensorstest.Tensor {
	var tensors []safetensorstest.Tensor
	for i, p := range checkpoint.Layout(spec) {
		d := initialize(p.Name, spec)
		values := func(dst []float32, offset int) error {
			d.fill(dst, offset, seed, i)
			if isEmbedding(p.Name) {
				clearRow(dst, offset, int(spec.Pad), spec.DModel)
			}
			return nil
		}
		tensors = append(tensors, safetensorstest.Tensor{Name: network.Stored(p.Name, spec), Shape: p.Shape, DType: dtype, Values: values})
	}
	return tensors
}

// initialize returns the distribution of a tensor's values, by its name.
func initialize(name string, spec model.Spec) distribution {
	switch {
	case isEmbedding(name):
		return distribution{0, float32(1 / math.Sqrt(float64(spec.DModel)))}
	case name == lastNorm(spec):
		return distribution{0, 1}
	case strings.HasSuffix(name, "layer_norm.weight"), strings.HasSuffix(name, "layernorm_embedding.weight"):
		return distribution{1, initStd}
	}
	return distribution{0, initStd}
}

// isEmbedding reports whether a tensor has a row for each token of one side or of both.
func isEmbedding(name string) bool {
	return name == checkpoint.SharedEmbedding || name == checkpoint.EncoderEmbedding || name == checkpoint.DecoderEmbedding
}

// fill fills dst with the elements from offset on of the given tensor. offset must be a multiple of chunk, like the start of each
// of the writer's blocks.
func (d distribution) fill(dst []float32, offset int, seed uint64, tensor int) {
	chunks := (len(dst) + chunk - 1) / chunk
	workers := min(runtime.GOMAXPROCS(0), chunks)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for c := w; c < chunks; c += workers {
				part := dst[c*chunk : min((c+1)*chunk, len(dst))]
				d.fillChunk(part, rand.New(rand.NewPCG(seed, uint64(tensor)<<32|uint64(offset/chunk+c))))
			}
		})
	}
	wg.Wait()
}

// fillChunk draws the values of one chunk.
func (d distribution) fillChunk(dst []float32, r *rand.Rand) {
	for i := range dst {
		// The conversion prevents processors from fusing the two operations, which would round differently.
		dst[i] = d.mean + float32(d.std*float32(r.NormFloat64()))
	}
}

// clearRow zeroes the part of a matrix row within a block, dst from offset on.
func clearRow(dst []float32, offset, row, width int) {
	begin, end := row*width-offset, (row+1)*width-offset
	begin, end = max(begin, 0), min(end, len(dst))
	if begin < end {
		clear(dst[begin:end])
	}
}
