// Package cpu runs exported models on CPUs, with ONNX Runtime.
//
// [Load] loads ONNX Runtime's library, [Runtime.Open] an exported folder. The
// state of sentences that decode together is a batch: see [model.Batch].
package cpu

import (
	"context"
	"errors"
	"fmt"

	ort "github.com/yalue/onnxruntime_go"

	"dragoman/model/cpu/ops"
	"dragoman/model/cpu/pool"
	"dragoman/model/onnx"
	"dragoman/model/onnxruntime"
)

// Runtime is ONNX Runtime, loaded. A process can hold one at a time.
type Runtime struct {
	api       *onnxruntime.API
	operators *ops.Operators
	memory    *pool.Pool // of all sessions
}

// Load loads ONNX Runtime's shared library from a path. The caller closes the
// Runtime after everything that was opened with it.
func Load(library string) (*Runtime, error) {
	api, err := onnxruntime.Load(library)
	if err != nil {
		return nil, err
	}
	ort.SetSharedLibraryPath(library)
	if err := ort.InitializeEnvironment(ort.WithLogLevelFatal()); err != nil {
		return nil, fmt.Errorf("%s cannot be used as ONNX Runtime: %w", library, err)
	}
	operators, err := ops.New(api)
	if err != nil {
		return nil, errors.Join(err, ort.DestroyEnvironment())
	}
	r := &Runtime{api: api, operators: operators}
	if r.memory, err = pool.New(api); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if err := r.registerDomain(); err != nil {
		return nil, errors.Join(fmt.Errorf("register the operators: %w", err), r.Close())
	}
	return r, nil
}

// registerDomain makes a session of next to nothing. With the first session that
// has operators of our own, ONNX Runtime enters their domain into a table of the
// process; two first sessions at once both would, and the second one fails.
func (r *Runtime) registerDomain() error {
	g := onnx.NewGraph("nothing")
	one := onnx.Fixed(1)
	y := g.Op("Identity", []string{g.Input("x", onnx.Float32, one)})
	g.Output(y, onnx.Float32, one)
	s, err := sessionConfig{runtime: r, threads: 1}.session(context.Background(), "nothing", func(o *ort.SessionOptions) (*ort.DynamicAdvancedSession, error) {
		return ort.NewDynamicAdvancedSessionWithONNXData(g.Marshal(), nil, nil, o)
	})
	if err != nil {
		return err
	}
	return s.Destroy()
}

// Version is ONNX Runtime's version.
func (r *Runtime) Version() string { return r.api.Version }

// Close unloads ONNX Runtime.
func (r *Runtime) Close() error {
	r.operators.Close()
	var err error
	if r.memory != nil {
		err = r.memory.Close()
	}
	return errors.Join(err, ort.DestroyEnvironment())
}
