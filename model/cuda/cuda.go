// Package cuda runs exported models with decoding entirely on the device: on an NVIDIA GPU with ONNX Runtime's CUDA provider. The
// package is the second backend besides package model/cpu; both implement [model.Model].
//
//	r, err := cuda.Load(library)
//	m, err := r.Open(ctx, dir, cuda.Options{Number: 0})
//	b, err := m.NewBatch(limits)
//
// # Memory
//
// The device holds the weights, the KV cache, the cross-attention memory and the histories of all hypotheses, in one piece each,
// from NewBatch on. A step sends seven 32-bit numbers per row (token, position, destination, histories, place of the source) and
// receives the best candidates: 65 numbers per row. Logits and hidden states stay on the device.
//
// A beam search never moves or copies keys and values: a hypothesis's tokens may be in any row of the KV cache, and its history,
// on the device, has the rows. A beam that continues another takes over its history, 4 bytes per token.
//
// # Graphs and kernels
//
// Matrix products are ONNX Runtime's (cuBLAS in half precision, sums in single precision). All other operators are our own
// kernels, see package kernels for the reasons: the residual stream, LayerNorm and softmax are in single precision, and the
// logits of the best candidates are computed again in single precision. Values that overflow half precision are clamped, as in
// Hugging Face; models with RMS norms, such as T5, have a range 64 times as large. None of ONNX Runtime's own attention operators
// fits: its CUDA GroupQueryAttention has no histories, so beams would be copied, at a step's worth of memory traffic;
// DecoderMaskedMultiHeadAttention has histories (cache_indirection), but one length for all rows.
//
// A step is a CUDA graph: its kernels are recorded once for each number of rows, rounded up (see buckets.go), and then launched
// by one call. Padding rows use a row of the memory that is never read. The graph is recorded here, with the driver, and not by
// ONNX Runtime, whose own recording is bound to an OS thread and refuses to share a stream with others in some versions.
//
// # Reproducibility
//
// The kernels compute a row independently of the other rows. So do matrix products with a given number of rows, but cuBLAS may
// choose another algorithm for another number, which rounds differently: the same sentence may differ in the last bits between
// steps of 8 and of 128 rows. On the CPU of the tests there is no such difference.
//
// # Without a GPU
//
// The package needs no part of CUDA to build: the driver and the provider are loaded when a model is opened on CUDA, and missing
// parts are then one error (see [ErrUnavailable]); the caller decides whether to continue on the CPU. There is no build tag, so
// the code built and tested everywhere is the code that runs on a GPU. Tests run the same batches, graphs and kernels on the
// machine of package cudatest: ONNX Runtime's CPU provider with memory of the host.
package cuda

import (
	"errors"
	"log/slog"

	"dragoman/model"
	"dragoman/model/onnxruntime"
)

// Options configures a model.
type Options struct {
	Number int // of the GPU, among the devices in CUDA_VISIBLE_DEVICES
	// Machine replaces the GPU in tests, and is closed with the model. nil: the GPU.
	Machine Machine
	// Activations is the minimum memory of the device, in bytes, that ONNX Runtime may reserve for values between operators, for
	// encoder and decoder each; 0 is 2 GiB. ONNX Runtime's limit includes weights, so a graph may take more for activations, by
	// the weights that only the other graph has. The state of batches comes on top: see [Model.StateBytes].
	Activations int64
	// Verify selects when the files' checksums are compared; "" is model.VerifyChanged.
	Verify model.Verify
	// NoGraphs launches the kernels of a step separately: slower, and easier to profile.
	NoGraphs bool
	// Log receives the name of the device, and graphs that cannot be recorded; nil: no log.
	Log *slog.Logger

	driver string // the driver's library; "" is the usual one
}

var (
	// ErrUnavailable means that a model cannot be opened on a device for a reason in the machine: another device, or the CPU, may
	// work. All errors below wrap it.
	ErrUnavailable = errors.New("the device cannot be used")
	// ErrNoProvider means that ONNX Runtime has no CUDA provider, or that a library needed by the provider is missing or of
	// another version.
	ErrNoProvider = onnxruntime.ErrProvider
	// ErrMemory means that a device has not enough memory. NewBatch and Join change nothing when they return this error.
	ErrMemory = errors.New("not enough device memory")
)
