package cpu

import (
	"context"
	"errors"
	"fmt"
	"maps"

	ort "github.com/yalue/onnxruntime_go"

	"dragoman/model/onnxruntime"
)

// sessionConfig is how ONNX Runtime runs a graph.
type sessionConfig struct {
	runtime *Runtime
	threads int // 0 is one for each core
	// entries are ONNX Runtime's session options that have no function of their
	// own. They decide what it makes of a graph.
	entries map[string]string
}

func (r *Runtime) newSessionConfig(threads int) sessionConfig {
	return sessionConfig{runtime: r, threads: threads, entries: map[string]string{
		// Waiting threads sleep instead of taking cores from the other sessions.
		"session.intra_op.allow_spinning": "0",
	}}
}

// with returns the configuration with more entries.
func (c sessionConfig) with(entries map[string]string) sessionConfig {
	c.entries = maps.Clone(c.entries)
	maps.Copy(c.entries, entries)
	return c
}

// load loads the graph at path, whose weights lie in the same folder, and
// optimizes it.
func (c sessionConfig) load(ctx context.Context, path string) (*ort.DynamicAdvancedSession, error) {
	return c.session(ctx, path, func(o *ort.SessionOptions) (*ort.DynamicAdvancedSession, error) {
		// Values are bound by name (see binding): the session needs no lists of names.
		return ort.NewDynamicAdvancedSession(path, nil, nil, o)
	})
}

// loadOptimized loads a graph that ONNX Runtime optimized before. Its weights
// lie below the folder dir. The name is for the error only.
func (c sessionConfig) loadOptimized(ctx context.Context, name string, graph []byte, dir string) (*ort.DynamicAdvancedSession, error) {
	c = c.with(map[string]string{"session.model_external_initializers_file_folder_path": dir})
	return c.session(ctx, name, func(o *ort.SessionOptions) (*ort.DynamicAdvancedSession, error) {
		if err := o.SetGraphOptimizationLevel(ort.GraphOptimizationLevelDisableAll); err != nil {
			return nil, err
		}
		return ort.NewDynamicAdvancedSessionWithONNXData(graph, nil, nil, o)
	})
}

// save loads the graph at path and writes what ONNX Runtime made of it to out,
// the constants, and the forms into which its kernels pack them, to outData in
// the same folder.
func (c sessionConfig) save(ctx context.Context, path, out, outData string) error {
	c = c.with(map[string]string{
		"session.optimized_model_external_initializers_file_name":         outData,
		"session.optimized_model_external_initializers_min_size_in_bytes": "1024",
		"session.save_external_prepacked_constant_initializers":           "1",
	})
	s, err := c.session(ctx, path, func(o *ort.SessionOptions) (*ort.DynamicAdvancedSession, error) {
		if err := o.SetOptimizedModelFilePath(out); err != nil {
			return nil, err
		}
		return ort.NewDynamicAdvancedSession(path, nil, nil, o)
	})
	if err != nil {
		return err
	}
	return s.Destroy()
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
	for key, value := range c.entries {
		if err := o.AddSessionConfigEntry(key, value); err != nil {
			return nil, fmt.Errorf("session option %s: %w", key, err)
		}
	}
	// Not among the entries: it says where memory comes from, not what becomes of a graph.
	if err := o.AddSessionConfigEntry("session.use_env_allocators", "1"); err != nil {
		return nil, fmt.Errorf("session option session.use_env_allocators: %w", err)
	}
	if err := c.runtime.operators.Register(o); err != nil {
		return nil, err
	}
	if err := o.SetIntraOpNumThreads(c.threads); err != nil {
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
