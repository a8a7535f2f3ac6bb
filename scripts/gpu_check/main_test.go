// Package gpucheck tests and measures models on a GPU. scripts/gpu_check.sh runs it as a
// program of its own, which needs nothing but ONNX Runtime for CUDA and this repository's
// files:
//
//	go test -c -o build/gpu_check.bin ./scripts/gpu_check
//	build/gpu_check.bin -test.v -library DIR/libonnxruntime.so
//	build/gpu_check.bin -test.run ^$ -test.bench . -library DIR/libonnxruntime.so -checkpoint DIR
//
// Without -library nothing is tested.
package gpucheck

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/bundled"
	"dragoman/model/cuda"
	"dragoman/model/cuda/cudatest"
	"dragoman/model/export"
)

// Flags in addition to those of go test.
var (
	library          = flag.String("library", "", "path of ONNX Runtime's library")
	program          = flag.String("program", "build/dragoman", "the service; empty: it is not tested")
	checkpointFolder = flag.String("checkpoint", "", "checkpoint to measure speed with; empty: none")
	work             = flag.String("work", "build/gpu_check", "folder for exported models")
	every            = flag.Int("every", 1, "take one in so many of the goldens")
	number           = flag.Int("gpu", 0, "number of the GPU")
	host             = flag.Bool("host", false, "use the CPU's memory and kernels: a check of this program, not of speed")
	bandwidth        = flag.Float64("bandwidth", 0, "the card's memory bandwidth in GB/s, for the floor of a step; 0: unknown")
	most             = flag.Int("most", 512, "most sentences at once")
	noGraphs         = flag.Bool("no-graphs", false, "start the kernels of a step one by one, for profilers")
	peers            []peer
)

// runtime is the process's ONNX Runtime.
var runtime *cuda.Runtime

func TestMain(m *testing.M) {
	flag.Func("peer", "name=command of another side (see scripts/bench/peers/protocol.py); may come again", func(s string) error {
		name, command, ok := strings.Cut(s, "=")
		if !ok {
			return fmt.Errorf("%q: write name=command", s)
		}
		peers = append(peers, peer{name, command})
		return nil
	})
	flag.Parse()
	if *library == "" {
		fmt.Println("gpu_check: no -library, so nothing is tested")
		return
	}
	var err error
	if runtime, err = cuda.Load(*library); err != nil {
		fmt.Fprintln(os.Stderr, "gpu_check:", err)
		os.Exit(1)
	}
	fmt.Println("onnxruntime:", runtime.Version()) // in the form of a benchmark's configuration lines
	code := m.Run()
	if err := runtime.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "gpu_check:", err)
		code = 1
	}
	os.Exit(code)
}

// exported exports a checkpoint into a folder of its own, unless that exists.
func exported(t testing.TB, checkpoint string, precision model.Precision) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join(*work, filepath.Base(checkpoint)+"-"+string(precision)))
	require.NoError(t, err)
	if _, err := model.ReadManifest(dir); err == nil {
		return dir
	}
	_, err = export.Export(t.Context(), checkpoint, dir, export.Options{
		Precision: precision, Source: checkpoint, Languages: bundled.Languages(), // any tokenizer of the right size
	})
	require.NoError(t, err)
	return dir
}

// open opens an exported folder on the device; the model is closed when the test ends.
func open(t testing.TB, dir string) *cuda.Model {
	t.Helper()
	opts := cuda.Options{Number: *number, NoGraphs: *noGraphs, Verify: model.VerifyNever, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	if *host {
		machine, err := cudatest.NewHost()
		require.NoError(t, err)
		opts.Machine = machine
	}
	m, err := runtime.Open(t.Context(), dir, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	t.Log(m.Device())
	return m
}
