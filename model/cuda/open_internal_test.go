package cuda

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"dragoman/model"
	"dragoman/model/cpu/cputest"
	"dragoman/model/cuda/driver"
	"dragoman/model/cuda/kernels"
	"dragoman/model/onnxruntime"
)

func TestUnavailable(t *testing.T) {
	cputest.Runtime(t)
	dir := cputest.Exported(t, cputest.Bundled(), model.FP16)
	runtimeIn := func(t *testing.T) (*Runtime, string) {
		folder := t.TempDir()
		library := filepath.Join(folder, "libonnxruntime.so")
		require.NoError(t, os.Symlink(cputest.Library(), library))
		r, err := Load(library)
		require.NoError(t, err)
		return r, folder
	}
	withProvider := func(t *testing.T) *Runtime { // only a file of this name is checked
		r, folder := runtimeIn(t)
		require.NoError(t, os.WriteFile(filepath.Join(folder, providerLibrary), nil, 0o644))
		return r
	}
	without, _ := runtimeIn(t)
	for name, c := range map[string]struct {
		runtime *Runtime
		opts    Options
		is      error
		want    string
	}{
		"no provider":                 {without, Options{}, ErrNoProvider, "is ONNX Runtime for CPUs"},
		"no such GPU":                 {withProvider(t), Options{driver: fakeDriver(t), Number: 2}, driver.ErrNoDevice, "2 is wanted, there are 2"},
		"provider that does not load": {withProvider(t), Options{driver: fakeDriver(t), Number: 1}, ErrNoProvider, "CUDA"},
		"no driver":                   {withProvider(t), Options{driver: "libnothing.so"}, driver.ErrNoDriver, "install NVIDIA's driver"},
		"not a driver":                {withProvider(t), Options{driver: cputest.Library()}, driver.ErrNoDriver, "it has no cuInit"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.runtime.Open(t.Context(), dir, c.opts)
			assert.ErrorIs(t, err, ErrUnavailable)
			assert.ErrorIs(t, err, c.is)
			assert.ErrorContains(t, err, c.want)
			assert.NotContains(t, err.Error(), "\n", "one line")
		})
	}
	_, err := without.Devices()
	assert.ErrorIs(t, err, ErrNoProvider)
}

// fakeDriver builds a driver with devices that do nothing.
func fakeDriver(t *testing.T) string {
	t.Helper()
	library := filepath.Join(t.TempDir(), "libcuda.so.1")
	out, err := exec.Command("cc", "-shared", "-fPIC", "-o", library, filepath.Join("driver", "testdata", "driver.c")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return library
}

func TestMemoryOfADevice(t *testing.T) {
	library := fakeDriver(t)
	free, total, err := memoryOf(library, 1)
	require.NoError(t, err)
	assert.Equal(t, []int64{1000, 3000}, []int64{free, total})
	_, _, err = memoryOf(library, 2)
	assert.ErrorIs(t, err, ErrUnavailable)
	assert.ErrorIs(t, err, driver.ErrNoDevice)
	_, _, err = memoryOf("libnothing.so", 0)
	assert.ErrorIs(t, err, driver.ErrNoDriver)
	r, err := loaded()
	require.NoError(t, err)
	_, _, err = r.Memory(0)
	assert.ErrorIs(t, err, ErrNoProvider)
}

// TestGPU uses a device that only allocates memory.
func TestGPU(t *testing.T) {
	cputest.Runtime(t)
	r, err := loaded()
	require.NoError(t, err)
	thread := newThread()
	defer thread.stop()
	require.NoError(t, thread.do(func() error {
		g, err := openGPU(r.api, Options{driver: fakeDriver(t), Number: 1, Activations: 500})
		if err != nil {
			return err
		}
		assert.Equal(t, "GPU 1 (Card 11, compute capability 76.77, 0 MiB, driver for CUDA 12.4)", g.String())
		free, err := g.Available()
		assert.NoError(t, err)
		assert.EqualValues(t, 1000, free)
		_, err = g.Alloc(2000)
		assert.ErrorIs(t, err, ErrMemory)

		c, err := newChannel(g, 3)
		assert.NoError(t, err)
		copy(c.view(3), []int32{1, 2, 3})
		assert.NoError(t, c.upload(2))
		clear(c.view(3))
		assert.NoError(t, c.download(3))
		assert.NoError(t, g.Wait())
		assert.Equal(t, []int32{1, 2, 0}, c.view(3))
		assert.NoError(t, c.close())

		s := g.Session(newSetup("a"), 70)
		assert.Equal(t, "Cuda 1", fmt.Sprint(s.Memory, " ", s.Number))
		assert.NotNil(t, s.Domain)
		assert.Equal(t, g.Stream(), s.Stream)
		assert.Equal(t, "1 570", s.Provider["device_id"]+" "+s.Provider["gpu_mem_limit"])
		work, err := g.Record(func() error { return nil })
		assert.NoError(t, err)
		assert.NoError(t, work.Launch())
		assert.NoError(t, work.Close())
		_, err = g.Record(func() error { return errors.New("no") })
		assert.EqualError(t, err, "no")
		return g.Close()
	}))
}

// TestProviderMissing asks a session for a provider that this ONNX Runtime does not have.
func TestProviderMissing(t *testing.T) {
	cputest.Runtime(t)
	r, err := loaded()
	require.NoError(t, err)
	operators, err := kernels.Host(r.api.Pointer())
	require.NoError(t, err)
	defer operators.Close()
	_, err = r.newSession(t.Context(), onnxruntime.Setup{Domain: operators.Domain(), Provider: map[string]string{"device_id": "0"}})
	assert.ErrorIs(t, err, ErrUnavailable)
	assert.ErrorIs(t, err, ErrNoProvider)
}

// small is a checkpoint for tests without translations.
const small = "../testdata/odd/bf16"

func TestFoldersThatDoNotFit(t *testing.T) {
	cputest.Runtime(t)
	r, err := loaded()
	require.NoError(t, err)
	old := cputest.Export(t, small, model.FP32)
	manifest, err := model.ReadManifest(old)
	require.NoError(t, err)
	delete(manifest.Files, model.CUDADecoderFile)
	require.NoError(t, manifest.Write(old))
	damaged := cputest.Export(t, small, model.FP32)
	f, err := os.OpenFile(filepath.Join(damaged, model.WeightsFile), os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte{1, 2, 3}, 5000)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	for name, c := range map[string]struct{ dir, want string }{
		"nothing":     {t.TempDir(), "no exported model"},
		"int8":        {cputest.Export(t, small, model.INT8), "an int8 model, which is for CPUs: export it with PRECISION=fp16"},
		"older build": {old, "has no decoder.device.onnx, an older build exported it"},
		"damaged":     {damaged, "weights.bin is corrupt"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := r.Open(t.Context(), c.dir, Options{Machine: onHost(t)})
			assert.ErrorContains(t, err, c.want)
			assert.NotErrorIs(t, err, ErrUnavailable)
		})
	}
	_, err = Load(filepath.Join(t.TempDir(), "libonnxruntime.so"))
	assert.ErrorContains(t, err, "set ONNXRUNTIME_LIB")
	_, err = Load(os.Args[0])
	assert.ErrorContains(t, err, "cannot be used as ONNX Runtime")
}

// TestInterruptedOpen: after a cancellation no other device is tried.
func TestInterruptedOpen(t *testing.T) {
	cputest.Runtime(t)
	r, err := loaded()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, verify := range []model.Verify{model.VerifyAlways, model.VerifyNever} { // while files are read, and while a session is made
		_, err = r.Open(ctx, cputest.Export(t, small, model.FP32), Options{Machine: onHost(t), Verify: verify})
		assert.ErrorIs(t, err, context.Canceled)
	}
	m := &Model{}
	assert.NotErrorIs(t, m.explain(fmt.Errorf("load: %w", context.Canceled)), ErrUnavailable)
}

// TestKnownFiles: a file that was checked before is read only if the policy requires it.
func TestKnownFiles(t *testing.T) {
	dir := cputest.Export(t, small, model.FP32)
	manifest, err := model.ReadManifest(dir)
	require.NoError(t, err)
	known := map[string]any{}
	for _, name := range []string{model.CUDAEncoderFile, model.CUDADecoderFile, model.WeightsFile} {
		file := manifest.Files[name]
		file.SHA256 = "another"
		manifest.Files[name] = file
		var s unix.Stat_t
		require.NoError(t, unix.Stat(filepath.Join(dir, name), &s))
		known[name] = map[string]any{"sha256": "another", "size": s.Size, "inode": s.Ino, "modified": s.Mtim.Nano(), "changed": s.Ctim.Nano()}
	}
	raw, err := json.Marshal(known)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".dragoman.checked"), raw, 0o644))
	assert.NoError(t, checkFiles(t.Context(), dir, manifest, ""))
	assert.NoError(t, checkFiles(t.Context(), dir, manifest, model.VerifyChanged))
	assert.ErrorContains(t, checkFiles(t.Context(), dir, manifest, model.VerifyAlways), "is corrupt")
}

func TestPlainMessages(t *testing.T) {
	for message, want := range map[string]string{
		"a.cc:1 f() [ONNXRuntimeError] : 1 : FAIL : Failed to load\n lib : not found": "Failed to load lib : not found",
		"CUDA is not enabled":    "CUDA is not enabled",
		"[ONNXRuntimeError] : 1": "[ONNXRuntimeError] : 1",
		"a.cc:1 T f() [with T = int] CUDA failure 35: the driver is too old ; GPU=0 ; hostname=h ; file=a.cc":                                                                                    "CUDA failure 35: the driver is too old",
		"running A node. Status Message: CUBLAS failure 3: none ; GPU=0 ; file=a.cc":                                                                                                             "CUBLAS failure 3: none",
		"Non-zero status code returned while running MatMul node. Name:'a' Status Message: /src/framework/bfc_arena.cc:360 void* Arena::Alloc(size_t, Stream*) Available memory of 1 is smaller": "Available memory of 1 is smaller",
	} {
		assert.Equal(t, want, plain(message))
	}
}

func TestMessagesOfMissingMemory(t *testing.T) {
	for message, want := range map[string]bool{
		"Available memory of 102912 is smaller than requested bytes of 131072": true,
		"Failed to allocate memory for requested buffer of size 8192":          true,
		"CUDA failure 2: out of memory":                                        true,
		"CUBLAS failure 3: the resource allocation failed":                     true,
		"CUBLAS failure 13: the GPU program failed to execute":                 false,
	} {
		assert.Equal(t, want, lacksMemory(message), message)
	}
}

// TestErrorsOfGPUs: if opening fails on one GPU, another one may work.
func TestErrorsOfGPUs(t *testing.T) {
	m, f := openFrail(t, Options{})
	tooOld := errors.New("the driver is too old")
	assert.NotErrorIs(t, m.explain(tooOld), ErrUnavailable)
	m.opts.Machine, f.free = nil, 5<<20
	assert.ErrorIs(t, m.explain(tooOld), ErrUnavailable)
	assert.ErrorIs(t, m.explain(tooOld), tooOld)
	err := m.explain(fmt.Errorf("%w: 7 bytes", ErrMemory))
	assert.ErrorIs(t, err, ErrUnavailable)
	assert.ErrorIs(t, err, ErrMemory)
	assert.ErrorContains(t, err, "the CPU has 5 MiB left")
}

func TestAccepts(t *testing.T) {
	wide := model.Stack{Heads: 4, HeadWidth: 256}
	assert.NoError(t, Accepts(model.Spec{DModel: 64, Encoder: model.Stack{Heads: 1}, Decoder: model.Stack{Heads: 4, HeadWidth: 128}}))
	assert.EqualError(t, Accepts(model.Spec{DModel: 64, Encoder: wide, Decoder: wide}), "its heads of attention are 256 wide: GPUs run up to 128")
	assert.ErrorContains(t, Accepts(model.Spec{DModel: 4, Recurrent: true}), "recurrent units, which run on CPUs only")
}
