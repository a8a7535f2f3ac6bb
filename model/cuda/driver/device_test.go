package driver_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/cuda/driver"
)

// build compiles the driver that needs no device.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "cuda") // not t.TempDir(): the library stays loaded until the process ends
	if err != nil {
		return "", err
	}
	library := filepath.Join(dir, "libcuda.so.1")
	out, err := exec.Command("cc", "-shared", "-fPIC", "-o", library, filepath.Join("testdata", "driver.c")).CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return library, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if library, err := build(); err == nil {
		os.RemoveAll(filepath.Dir(library))
	}
	os.Exit(code)
}

func load(t *testing.T) *driver.Driver {
	t.Helper()
	library, err := build()
	require.NoError(t, err)
	d, err := driver.Load(library)
	require.NoError(t, err)
	return d
}

func TestDevice(t *testing.T) {
	loaded := load(t)
	assert.Equal(t, "12.4", loaded.Version())
	n, err := loaded.Devices()
	require.NoError(t, err)
	assert.Equal(t, 2, n)
	assert.NotNil(t, loaded.Launch())

	d, err := loaded.Open(1)
	require.NoError(t, err)
	defer func() { assert.NoError(t, d.Close()) }()
	assert.Equal(t, driver.Info{Number: 1, Name: "Card 11", Major: 76, Minor: 77, Memory: 3000}, d.Info())
	assert.NotNil(t, d.Stream())
	free, total, err := d.Memory()
	require.NoError(t, err)
	assert.Equal(t, []int64{1000, 3000}, []int64{free, total})
}

func TestMemory(t *testing.T) {
	d := open(t)
	device, err := d.Alloc(8)
	require.NoError(t, err)
	host, err := d.AllocHost(8)
	require.NoError(t, err)
	view := unsafe.Slice((*byte)(host), 8)
	copy(view, "dragoman")
	require.NoError(t, d.Download(host, device, 4))
	require.NoError(t, d.Wait())
	assert.Equal(t, "\x00\x00\x00\x00oman", string(view), "memory is zeroed")
	require.NoError(t, d.Upload(device, host, 8))
	clear(view)
	require.NoError(t, d.Download(host, device, 8))
	assert.Equal(t, "\x00\x00\x00\x00oman", string(view))
	require.NoError(t, d.Zero(device, 6))
	require.NoError(t, d.Download(host, device, 8))
	assert.Equal(t, "\x00\x00\x00\x00\x00\x00an", string(view))
	require.NoError(t, d.FreeHost(host))
	require.NoError(t, d.Free(device))

	_, err = d.Alloc(1001)
	assert.ErrorIs(t, err, driver.ErrMemory)
	assert.EqualError(t, err, "reserve 1001 bytes: CUDA_ERROR_OUT_OF_MEMORY (2)")
}

func TestGraph(t *testing.T) {
	d := open(t)
	called := 0
	g, err := d.Record(func() error { called++; return nil })
	require.NoError(t, err)
	require.NoError(t, g.Launch())
	require.NoError(t, g.Launch())
	assert.Equal(t, 1, called)
	require.NoError(t, g.Close())

	broken := errors.New("no such kernel")
	_, err = d.Record(func() error { return broken })
	assert.ErrorIs(t, err, broken)
	for _, function := range []string{"cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuGraphInstantiateWithFlags"} {
		t.Setenv("FAKE_CUDA_FAIL", function+":2")
		_, err = d.Record(func() error { return nil })
		assert.ErrorIs(t, err, driver.ErrMemory, function)
	}
}

func TestModule(t *testing.T) {
	d := open(t)
	m, err := d.LoadModule([]byte("add norm"))
	require.NoError(t, err)
	functions, err := m.Functions([]string{"norm", "add"})
	require.NoError(t, err)
	assert.Len(t, functions, 2)
	assert.NotNil(t, functions[1])
	_, err = m.Functions([]string{"add", "soft"})
	assert.EqualError(t, err, "find kernel soft: unknown error (500)")
	require.NoError(t, m.Close())

	t.Setenv("FAKE_CUDA_FAIL", "cuModuleLoadData:222")
	_, err = d.LoadModule([]byte("add norm"))
	assert.ErrorContains(t, err, "the kernels need compute capability 7.0 and a driver for CUDA 12.4, this is Card 10 (75.76) with CUDA 12.4")
}

func TestOpenFails(t *testing.T) {
	loaded := load(t)
	for _, number := range []int{-1, 2} {
		_, err := loaded.Open(number)
		assert.ErrorIs(t, err, driver.ErrNoDevice)
		assert.ErrorContains(t, err, "there are 2")
	}
	for _, function := range []string{"cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceGetAttribute",
		"cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuMemGetInfo_v2", "cuStreamCreate"} {
		t.Setenv("FAKE_CUDA_FAIL", function+":2")
		_, err := loaded.Open(0)
		assert.ErrorIs(t, err, driver.ErrMemory, function)
	}
}

func TestLoadFails(t *testing.T) {
	library, err := build()
	require.NoError(t, err)
	t.Setenv("FAKE_CUDA_FAIL", "cuInit:100")
	_, err = driver.Load(library)
	assert.ErrorIs(t, err, driver.ErrNoDriver)
	assert.ErrorContains(t, err, "CUDA_ERROR_NO_DEVICE")
	t.Setenv("FAKE_CUDA_FAIL", "cuDriverGetVersion:3")
	_, err = driver.Load(library)
	assert.ErrorIs(t, err, driver.ErrNoDriver)

	_, err = driver.Load(filepath.Join(t.TempDir(), "libcuda.so.1"))
	assert.ErrorIs(t, err, driver.ErrNoDriver)
	assert.ErrorContains(t, err, "install NVIDIA's driver")
}

func TestErrors(t *testing.T) {
	d := open(t)
	for code, want := range map[string]error{"2": driver.ErrMemory, "214": driver.ErrLost, "220": driver.ErrLost, "226": driver.ErrLost, "700": driver.ErrLost, "719": driver.ErrLost, "999": driver.ErrLost} {
		t.Setenv("FAKE_CUDA_FAIL", "cuStreamSynchronize:"+code)
		assert.ErrorIs(t, d.Wait(), want, code)
	}
	t.Setenv("FAKE_CUDA_FAIL", "cuStreamSynchronize:1")
	assert.NotErrorIs(t, d.Wait(), driver.ErrLost)
	assert.NotErrorIs(t, d.Wait(), driver.ErrMemory)
}

// open opens a device that is closed when the test ends.
func open(t *testing.T) *driver.Device {
	t.Helper()
	d, err := load(t).Open(0)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, d.Close()) })
	return d
}
