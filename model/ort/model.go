package ort

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"

	ort "github.com/yalue/onnxruntime_go"
	"golang.org/x/sys/cpu"

	"dragoman/model"
)

// Options says how to run a model.
type Options struct {
	// Threads is the number of threads that share the work of one step; 0 is one
	// for each core.
	Threads int
	// SkipVerify leaves out the check of the files' checksums.
	SkipVerify bool
}

// Model is an exported model in ONNX Runtime: a session for the encoder and one
// for the decoder step. It implements model.Model.
type Model struct {
	manifest *model.Manifest
	encoder  *ort.DynamicAdvancedSession
	decoder  *ort.DynamicAdvancedSession
}

// Open loads the exported folder dir. It checks the files against the manifest
// first, so that a damaged weight is an error here, not a wrong translation.
func (r *Runtime) Open(dir string, opts Options) (*Model, error) {
	manifest, err := model.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	if !opts.SkipVerify {
		if err := manifest.Verify(dir); err != nil {
			return nil, err
		}
	}
	m := &Model{manifest: manifest}
	if m.encoder, err = r.newSession(filepath.Join(dir, model.EncoderFile), opts); err != nil {
		return nil, err
	}
	if m.decoder, err = r.newSession(filepath.Join(dir, model.DecoderFile), opts); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// Spec returns the model's sizes.
func (m *Model) Spec() model.Spec { return m.manifest.Spec }

// Close releases the sessions.
func (m *Model) Close() error {
	var errs []error
	for _, s := range []*ort.DynamicAdvancedSession{m.encoder, m.decoder} {
		if s != nil {
			errs = append(errs, s.Destroy())
		}
	}
	m.encoder, m.decoder = nil, nil
	return errors.Join(errs...)
}

// newSession loads a graph.
func (r *Runtime) newSession(path string, opts Options) (*ort.DynamicAdvancedSession, error) {
	o, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	defer o.Destroy()
	for key, value := range map[string]string{
		"session.x64quantprecision": quantPrecision(),
		// Waiting threads sleep instead of taking cores from the other sessions.
		"session.intra_op.allow_spinning": "0",
	} {
		if err := o.AddSessionConfigEntry(key, value); err != nil {
			return nil, fmt.Errorf("session option %s: %w", key, err)
		}
	}
	if err := r.operators.Register(o); err != nil {
		return nil, err
	}
	if err := o.SetIntraOpNumThreads(opts.Threads); err != nil {
		return nil, err
	}
	// Shapes change from step to step, so planned memory would not be used again.
	if err := o.SetMemPattern(false); err != nil {
		return nil, err
	}
	// Values are bound by name (see binding), so the session needs no lists of names.
	s, err := ort.NewDynamicAdvancedSession(path, nil, nil, o)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", path, err)
	}
	return s, nil
}

// quantPrecision is "1" on CPUs without VNNI. Their u8×s8 products are added in
// pairs, in 16 bits, and saturate; the option makes ONNX Runtime take exact u8×u8
// kernels. With VNNI these are twice as slow as what they would replace.
func quantPrecision() string {
	if cpu.X86.HasAVX512VNNI || cpu.X86.HasAVXVNNI || runtime.GOARCH != "amd64" {
		return "0"
	}
	return "1"
}
