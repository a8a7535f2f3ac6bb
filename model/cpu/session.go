package cpu

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	ort "github.com/yalue/onnxruntime_go"

	"dragoman/model/mapping"
	"dragoman/model/onnx"
	"dragoman/model/onnxruntime"
)

// sessionConfig is how ONNX Runtime runs a graph.
type sessionConfig struct {
	runtime *Runtime
	weights *mapping.File
	threads int // 0 is one for each core
}

// load loads the graph at path, which uses weights, and optimizes it.
func (c sessionConfig) load(ctx context.Context, path string) (*ort.DynamicAdvancedSession, error) {
	graph, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	used, err := onnx.Weights(graph)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", path, err)
	}
	return c.session(ctx, path, func(o *ort.SessionOptions) (*ort.DynamicAdvancedSession, error) {
		constants, err := c.runtime.api.AddConstants(o, used, c.weights.Bytes)
		if err != nil {
			return nil, err
		}
		defer constants.Close()
		// Values are bound by name (see binding): the session needs no lists of names.
		return ort.NewDynamicAdvancedSession(path, nil, nil, o)
	})
}

// create makes a session with options.
type create func(*ort.SessionOptions) (*ort.DynamicAdvancedSession, error)

// session makes the options for create, which ends soon after ctx is done.
func (c sessionConfig) session(ctx context.Context, name string, create create) (*ort.DynamicAdvancedSession, error) {
	o, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	defer o.Destroy()
	for key, value := range map[string]string{
		"session.use_env_allocators": "1",
	} {
		if err := o.AddSessionConfigEntry(key, value); err != nil {
			return nil, fmt.Errorf("session option %s: %w", key, err)
		}
	}
	if err := c.runtime.operators.Register(o, cmp.Or(c.threads, runtime.NumCPU())); err != nil {
		return nil, err
	}
	// Shapes change from step to step, so planned memory would not be used again.
	if err := o.SetMemPattern(false); err != nil {
		return nil, err
	}
	s, err := c.interruptible(ctx, o, create)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", name, err)
	}
	return s, nil
}

// interruptible calls create with options o and makes it fail when ctx is done.
func (c sessionConfig) interruptible(ctx context.Context, o *ort.SessionOptions, create create) (*ort.DynamicAdvancedSession, error) {
	handle, err := onnxruntime.Handle(o)
	if err != nil {
		return nil, err
	}
	var s *ort.DynamicAdvancedSession
	err = c.runtime.api.Interruptible(ctx, handle, func() (err error) { s, err = create(o); return err })
	if err != nil && s != nil {
		return nil, errors.Join(err, s.Destroy())
	}
	return s, err
}
