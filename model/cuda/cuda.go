// Package cuda runs exported models where their decoding never leaves the device: on
// an NVIDIA GPU with ONNX Runtime's CUDA provider. It is the second backend beside
// package model/cpu; both implement [model.Model].
//
//	r, err := cuda.Load(library)
//	m, err := r.Open(ctx, dir, cuda.Options{Number: 0})
//	b, err := m.NewBatch(limits)
//
// # What is where
//
// The device holds the weights, the KV cache, the memory of cross attention and the
// histories of all hypotheses, in one piece each, from NewBatch on. A step sends seven
// 32-bit numbers for each row (token, position, where it is written, whose history it
// goes on from, where the source is) and gets the best candidates back: 65 numbers for
// each row. Logits and hidden states stay.
//
// Nothing is ever moved or copied for a beam search: a hypothesis's tokens may lie in
// any row of the KV cache, and its history, on the device, says in which. A beam that
// goes on from another takes over its history, 4 bytes for each token.
//
// # Graphs and kernels
//
// Matrix products are ONNX Runtime's (cuBLAS in half precision, sums in single). All
// else is done by our own kernels, see package kernels for the reasons: the stream of
// residuals, LayerNorm and softmax are in single precision, and the logits of the best
// candidates are computed again in it. What overflows half precision is clamped, as
// Hugging Face does it; models with RMS norms, such as T5, have room for 64 times as
// much. Of ONNX Runtime's own attention operators none fits: its CUDA
// GroupQueryAttention knows no histories, so beams would be copied, at a step's worth
// of memory traffic; DecoderMaskedMultiHeadAttention does know them
// (cache_indirection), but has one length for all rows.
//
// A step is a CUDA graph: its kernels are recorded once for each number of rows, rounded
// up (see buckets.go), and then started by one call. Rows that fill up work on a row of
// the memory that nothing reads. The graph is recorded here, with the driver, and not by
// ONNX Runtime, whose own recording is bound to an OS thread and refuses to share a
// stream with others in some versions.
//
// # What does not change a translation
//
// What the kernels compute for a row does not depend on the other rows. Matrix products
// of one number of rows do not either, but cuBLAS may choose another algorithm for
// another number, which rounds differently: the same sentence can differ in the last
// bits between steps of 8 and of 128 rows. On the CPU of the tests there is no such
// difference.
//
// # Without a GPU
//
// The package needs nothing of CUDA to build: the driver and the provider are loaded
// when a model is opened on CUDA, and what is missing then is one error (see
// [ErrUnavailable]); whether to go on with the CPU is the caller's decision. There is no
// build tag, so that what is built and tested everywhere is what runs on a GPU. Tests
// run the same batches, graphs and kernels on the machine of package cudatest: ONNX Runtime's CPU provider with
// memory of the host.
package cuda

import (
	"errors"
	"log/slog"

	"dragoman/model"
	"dragoman/model/onnxruntime"
)

// Options says how to run a model.
type Options struct {
	Number int // of the GPU, among those that CUDA_VISIBLE_DEVICES leaves
	// Machine is opened instead of a GPU, by tests, and closed with the model. nil is the GPU.
	Machine Machine
	// Activations is how many bytes of the device ONNX Runtime may at least reserve for
	// what lies between two operators, for encoder and decoder each; 0 is 2 GiB. Its
	// limit counts weights, too, so that a graph can take more by those that only the
	// other one has. The state of batches comes on top: see [Model.StateBytes].
	Activations int64
	// Verify says when the files' checksums are compared; "" is model.VerifyChanged.
	Verify model.Verify
	// NoGraphs starts the kernels of a step one by one: slower, and easier to profile.
	NoGraphs bool
	// Log is told which device is used, and of graphs that cannot be recorded; nil is
	// nobody.
	Log *slog.Logger

	driver string // the driver's library; "" is the usual one
}

var (
	// ErrUnavailable means that a model cannot be opened on a device for a reason that
	// lies in the machine: another device, or the CPU, may do. All errors below wrap it.
	ErrUnavailable = errors.New("the device cannot be used")
	// ErrNoProvider means that ONNX Runtime has no CUDA provider, or that a library
	// which that needs is missing or of another version.
	ErrNoProvider = onnxruntime.ErrProvider
	// ErrMemory means that a device has not enough memory. From NewBatch and Join it
	// changes nothing.
	ErrMemory = errors.New("not enough device memory")
)
