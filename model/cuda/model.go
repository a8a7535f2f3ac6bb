package cuda

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"strings"

	"dragoman/model"
	"dragoman/model/cuda/driver"
	"dragoman/model/cuda/kernels"
	"dragoman/model/onnxruntime"
)

// Model is an exported model on a device. It implements model.Model. All its work on the device is done on one OS thread, one
// call at a time.
type Model struct {
	runtime  *Runtime
	manifest *model.Manifest
	opts     Options
	thread   *thread

	// Fields used on the thread only.
	machine Machine
	encoder *onnxruntime.Session
	decoder *onnxruntime.Session
}

// Open loads the exported folder dir, in half or single precision, onto a device. It first checks the files against the manifest,
// and at the end that a step returns finite numbers. An error that wraps ErrUnavailable has its cause in the machine, not in the
// model. If ctx ends, Open soon ends with ctx's error.
func (r *Runtime) Open(ctx context.Context, dir string, opts Options) (_ *Model, err error) {
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	opts.Activations = cmp.Or(opts.Activations, 2<<30)
	manifest, err := model.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	if err := checkFiles(ctx, dir, manifest, opts.Verify); err != nil {
		return nil, err
	}
	m := &Model{runtime: r, manifest: manifest, opts: opts, thread: newThread()}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.Close())
		}
	}()
	if err := m.thread.do(func() error { return m.load(ctx, dir) }); err != nil {
		return nil, m.explain(err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := m.try(); err != nil {
		return nil, m.explain(fmt.Errorf("%s does not work on %s: %w", dir, m.machine, err))
	}
	opts.Log.Info("loaded the model on a device", "device", m.machine.String(), "precision", manifest.Precision)
	return m, nil
}

// checkFiles fails if files that a device needs are missing or damaged.
func checkFiles(ctx context.Context, dir string, manifest *model.Manifest, verify model.Verify) error {
	if p := manifest.Precision; p != model.FP16 && p != model.FP32 {
		return fmt.Errorf("%s holds an %s model, which is for CPUs: export it with PRECISION=fp16 for a GPU", dir, p)
	}
	if err := Accepts(manifest.Spec); err != nil {
		return fmt.Errorf("%s holds a model for CPUs: %w", dir, err)
	}
	return manifest.Check(ctx, dir, verify, model.CUDAEncoderFile, model.CUDADecoderFile, model.WeightsFile)
}

// Accepts returns the reason why no GPU runs a network with these parts and sizes, or nil.
func Accepts(spec model.Spec) error {
	if spec.CPUOnly() {
		return errors.New("its decoder has recurrent units, which run on CPUs only")
	}
	if d := max(spec.Encoder.HeadDim(spec.DModel), spec.Decoder.HeadDim(spec.DModel)); d > kernels.MostHeadDim {
		return fmt.Errorf("its heads of attention are %d wide: GPUs run up to %d", d, kernels.MostHeadDim)
	}
	return nil
}

// load opens the device and loads both graphs.
func (m *Model) load(ctx context.Context, dir string) (err error) {
	r := m.runtime
	if m.machine, err = r.open(m.opts); err != nil {
		m.machine = nil
		return err
	}
	r.sessions.Lock()
	defer r.sessions.Unlock()
	weights := m.manifest.Files[model.WeightsFile].Size
	for _, part := range []struct {
		file string
		to   **onnxruntime.Session
	}{{model.CUDAEncoderFile, &m.encoder}, {model.CUDADecoderFile, &m.decoder}} {
		s := m.machine.Session(newSetup(filepath.Join(dir, part.file)), weights)
		if *part.to, err = r.newSession(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// driverTooOld is the text of cudaErrorInsufficientDriver in ONNX Runtime's CUDA provider.
const driverTooOld = "CUDA failure 35:"

// explain attributes a failure on a GPU to the machine, for example to a driver that is too old: the files are undamaged. For a
// lack of memory it adds the free memory.
func (m *Model) explain(err error) error {
	if m.opts.Machine != nil || errors.Is(err, ErrUnavailable) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if strings.Contains(err.Error(), driverTooOld) {
		err = fmt.Errorf("%w: NVIDIA's driver is older than the CUDA version that this ONNX Runtime was built for", err)
	}
	if !errors.Is(err, ErrMemory) {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	free, failed := m.Available()
	if failed != nil {
		return errors.Join(err, failed)
	}
	weights := m.manifest.Files[model.WeightsFile].Size
	return fmt.Errorf("%w: %w: the weights are %d MiB, %s has %d MiB left", ErrUnavailable, err, weights>>20, m.machine, free>>20)
}

// try encodes a source and takes a step, which must return finite numbers, because half precision can overflow, and a driver can
// be incompatible with a card.
func (m *Model) try() (err error) {
	spec := m.manifest.Spec
	b, err := m.newBatch(model.Limits{Rows: 1, MaxLength: 1}, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if err := m.do(b.backend.encoding.warmUp); err != nil {
		return err
	}
	if err := b.Join(context.Background(), [][]int64{{spec.EOS}}); err != nil {
		return err
	}
	c, err := b.Step(context.Background(), []model.Feed{{Tokens: []int64{spec.DecoderStart}}}, 1)
	if err != nil {
		return err
	}
	for _, v := range []float32{c.LogProbs[0], c.LogSumExp[0]} {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("a first step gives %g: PRECISION=fp32 may help", v)
		}
	}
	return nil
}

// do calls f on the model's thread. Errors of a lost device wrap model.ErrLost.
func (m *Model) do(f func() error) error {
	err := m.thread.do(f)
	if errors.Is(err, driver.ErrLost) {
		return fmt.Errorf("%s: %w: %w", m.machine, model.ErrLost, err)
	}
	return err
}

// Spec returns the model's sizes.
func (m *Model) Spec() model.Spec { return m.manifest.Spec }

// Device returns a description of the device.
func (m *Model) Device() string { return m.machine.String() }

// Precision returns the precision of activations and weights.
func (m *Model) Precision() model.Precision { return m.manifest.Precision }

// Available returns the free bytes of the device's memory; -1: unlimited.
func (m *Model) Available() (free int64, err error) {
	err = m.do(func() error {
		free, err = m.machine.Available()
		return err
	})
	return free, err
}

// Footprint returns a batch's memory on the device per token. The memory is reserved for the limits of a batch: see StateBytes.
func (m *Model) Footprint() model.Footprint { return footprint(m.manifest) }

func footprint(m *model.Manifest) model.Footprint {
	token := int64(m.Spec.Decoder.Layers) * tokenSize(m)
	return model.Footprint{RowToken: token + 2*4, SourceToken: token} // two histories of 4 bytes
}

// StateBytes returns the memory of the device that a batch reserves, in bytes. The batch never takes more later.
func (m *Model) StateBytes(limits model.Limits) int64 { return StateBytes(m.manifest, limits) }

// StateBytes is [Model.StateBytes] for a model that need not be open.
func StateBytes(m *model.Manifest, limits model.Limits) int64 {
	f, rows := footprint(m), int64(limits.Rows)+1 // one padding row
	spec := m.Spec
	channels := 4 * (maxRows(limits.Rows)*(kernels.StepFields+2*kernels.Lanes+1) + int64(encoderTokens(spec))*kernels.EncoderFields + int64(spec.VocabSize)/kernels.Lanes + 1)
	return rows*(int64(limits.MaxLength)*f.RowToken+int64(spec.MaxPositions)*f.SourceToken) + channels
}

// tokenSize returns the bytes of a token's keys and values in one layer.
func tokenSize(m *model.Manifest) int64 { return int64(m.Spec.TokenBytes(m.Precision == model.FP16)) }

// Close releases the model. Every batch must be closed before. A lost device has nothing to release, and Close ignores its failed
// calls.
func (m *Model) Close() error {
	if m.thread == nil {
		return nil
	}
	err := m.thread.do(func() error {
		m.runtime.sessions.Lock()
		defer m.runtime.sessions.Unlock()
		m.encoder.Close()
		m.decoder.Close()
		if m.machine == nil {
			return nil
		}
		if err := m.machine.Close(); !errors.Is(err, driver.ErrLost) {
			return err
		}
		return nil
	})
	m.thread.stop()
	m.thread, m.encoder, m.decoder = nil, nil, nil
	return err
}
