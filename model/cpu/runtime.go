// Package cpu runs exported models on CPUs, with ONNX Runtime.
//
// [Load] loads ONNX Runtime's library, [Runtime.Open] an exported folder. The state of sentences that are decoded together is a
// batch: see [model.Batch].
package cpu

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"dragoman/model/cpu/ops"
	"dragoman/model/cpu/pool"
	"dragoman/model/mapping"
	"dragoman/model/onnx"
	"dragoman/model/onnxruntime"
)

// Runtime is the loaded ONNX Runtime. A process can have one at a time.
type Runtime struct {
	api       *onnxruntime.API
	operators *ops.Operators
	memory    *pool.Pool // shared by all sessions
}

// Load loads ONNX Runtime's shared library from a path. The caller must close the Runtime after everything opened with it.
func Load(library string) (*Runtime, error) {
	api, err := onnxruntime.Load(library)
	if err != nil {
		return nil, err
	}
	r := &Runtime{api: api, operators: ops.New(api)}
	if r.memory, err = pool.New(api); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if err := r.registerDomain(); err != nil {
		return nil, errors.Join(fmt.Errorf("register the operators: %w", err), r.Close())
	}
	return r, nil
}

// registerDomain makes a minimal session. At the first session with custom operators, ONNX Runtime enters their domain into a
// table of the process; of two concurrent first sessions both would do so, and the second would fail.
func (r *Runtime) registerDomain() error {
	g := onnx.NewGraph("nothing")
	one := onnx.Fixed(1)
	y := g.Node(onnx.Dragoman, "Quantize", []string{g.Input("x", onnx.Float32, one, one)}, 2)
	g.Output(y[0], onnx.Uint8, one, one)
	setup, err := r.setup(g.Marshal(), 1)
	if err != nil {
		return err
	}
	s, err := r.api.NewSession(context.Background(), setup)
	s.Close()
	return err
}

// setup returns the common setup of all sessions, with threads threads.
func (r *Runtime) setup(graph []byte, threads int) (onnxruntime.Setup, error) {
	setup, err := r.operators.Setup(graph, threads)
	setup.Config["session.use_env_allocators"] = "1"
	return setup, err
}

// session loads the graph at path, which uses weights.
func (r *Runtime) session(ctx context.Context, path string, weights *mapping.File, threads int) (*onnxruntime.Session, error) {
	graph, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	setup, err := r.setup(graph, threads)
	setup.Config["session.model_external_initializers_file_folder_path"] = filepath.Dir(path)
	setup.Data = weights.Bytes
	var s *onnxruntime.Session
	if err == nil {
		setup.Constants, err = onnx.Weights(graph)
	}
	if err == nil {
		s, err = r.api.NewSession(ctx, setup)
	}
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", path, err)
	}
	return s, nil
}

// Version returns ONNX Runtime's version.
func (r *Runtime) Version() string { return r.api.Version }

// Close unloads ONNX Runtime.
func (r *Runtime) Close() error {
	r.operators.Close()
	var err error
	if r.memory != nil {
		err = r.memory.Close()
	}
	r.api.Close()
	return err
}
