package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/cpu/cputest"
	"dragoman/model/cuda/cudatest"
	"dragoman/model/cuda/driver"
)

// frail is a machine with configurable faults.
type frail struct {
	Machine
	free     int64 // free bytes; -1: unlimited
	taken    map[unsafe.Pointer]int64
	most     int64 // peak of allocated bytes
	total    int64
	uploads  error
	recorded int
	// recording, unless it is nil, is called for each recording.
	recording func()
	records   error
	waits     error
}

func (f *frail) Available() (int64, error) { return f.free, nil }

func (f *frail) Alloc(n int64) (unsafe.Pointer, error) {
	if f.free >= 0 && f.total+n > f.free {
		return nil, fmt.Errorf("%w: %d bytes", ErrMemory, n)
	}
	p, err := f.Machine.Alloc(n)
	f.taken[p] = n
	f.total += n
	f.most = max(f.most, f.total)
	return p, err
}

// release accounts for freed memory.
func (f *frail) release(p unsafe.Pointer) {
	f.total -= f.taken[p]
	delete(f.taken, p)
}

func (f *frail) freeDevice(p unsafe.Pointer) error {
	f.release(p)
	return f.Machine.Free(p)
}

func (f *frail) Upload(to, from unsafe.Pointer, n int64) error {
	if f.uploads != nil {
		return f.uploads
	}
	return f.Machine.Upload(to, from, n)
}

func (f *frail) Wait() error { return f.waits }

func (f *frail) Record(run func() error) (driver.Recording, error) {
	f.recorded++
	if f.recording != nil {
		f.recording()
	}
	if f.records != nil {
		return nil, f.records
	}
	return f.Machine.Record(run)
}

// frailMachine is frail as a machine, whose method free has the name of a field of frail.
type frailMachine struct{ *frail }

func (f frailMachine) Free(p unsafe.Pointer) error { return f.freeDevice(p) }

func TestMain(m *testing.M) { os.Exit(cputest.Run(m)) }

var loaded = sync.OnceValues(func() (*Runtime, error) { return Load(cputest.Library()) })

// onHost is the machine of the tests.
func onHost(t testing.TB) Machine {
	t.Helper()
	h, err := cudatest.NewHost()
	require.NoError(t, err)
	return h
}

// openFrail opens the bundled model on a frail machine.
func openFrail(t *testing.T, opts Options) (*Model, *frail) {
	t.Helper()
	cputest.Runtime(t)
	r, err := loaded()
	require.NoError(t, err)
	opts.Machine = onHost(t)
	m, err := r.Open(t.Context(), cputest.Exported(t, cputest.Bundled(), model.FP32), opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	f := &frail{Machine: m.machine, free: -1, taken: map[unsafe.Pointer]int64{}}
	m.machine = frailMachine{f}
	return m, f
}

var (
	sources = [][]int64{{8027, 50, 2}}
	prefix  = []model.Feed{{Tokens: []int64{2, 8057}}}
	next    = []model.Feed{{Tokens: []int64{5}, Parents: []int{0}}}
)

func TestMemoryIsBounded(t *testing.T) {
	m, f := openFrail(t, Options{NoGraphs: true})
	limits := model.Limits{Rows: 7, MaxLength: 33}
	b, err := m.NewBatch(limits)
	require.NoError(t, err)
	assert.LessOrEqual(t, f.most, m.StateBytes(limits))
	assert.Greater(t, f.most, m.StateBytes(limits)*9/10)
	before := f.total
	require.NoError(t, b.Join(t.Context(), sources))
	_, err = b.Step(t.Context(), prefix, 1)
	require.NoError(t, err)
	assert.Equal(t, before, f.total, "it takes no more later")
	require.NoError(t, b.Close())
	assert.Zero(t, f.total, "all is given back")
}

func TestTooLittleMemory(t *testing.T) {
	m, f := openFrail(t, Options{NoGraphs: true})
	limits := model.Limits{Rows: 7, MaxLength: 33}
	f.free = m.StateBytes(limits) - 1
	_, err := m.NewBatch(limits)
	assert.ErrorIs(t, err, ErrMemory)
	assert.ErrorContains(t, err, "the state of 7 rows of 33 tokens takes")
	assert.ErrorContains(t, err, "lower BATCH_SIZE or MAX_LENGTH_LIMIT")

	need := m.StateBytes(limits)
	for free := int64(0); free < need; free += need/9 + 1 { // another process takes it in between
		f.free = free
		m.machine = lyingMachine{frailMachine{f}}
		_, err = m.NewBatch(limits)
		assert.ErrorIs(t, err, ErrMemory)
		assert.Zero(t, f.total, "all is given back")
		m.machine = frailMachine{f}
	}
}

// lyingMachine has less memory than it reports.
type lyingMachine struct{ frailMachine }

func (lyingMachine) Available() (int64, error) { return 1 << 60, nil }

// TestOutOfMemoryRefusesNewcomers: the batch continues without the new sentences.
func TestOutOfMemoryRefusesNewcomers(t *testing.T) {
	m, f := openFrail(t, Options{NoGraphs: true})
	b, err := m.NewBatch(model.Limits{Rows: 2, MaxLength: 8})
	require.NoError(t, err)
	defer b.Close()
	require.NoError(t, b.Join(t.Context(), sources))
	f.uploads = fmt.Errorf("%w: none left", ErrMemory)
	err = b.Join(t.Context(), sources)
	assert.ErrorIs(t, err, ErrMemory)
	assert.ErrorIs(t, err, model.ErrInput)
	f.uploads = nil
	assert.Equal(t, 1, b.Len())
	_, err = b.Step(t.Context(), prefix, 1)
	require.NoError(t, err)
	require.NoError(t, b.Join(t.Context(), sources), "its slot is free again")
}

func TestFailureBreaksTheBatch(t *testing.T) {
	m, f := openFrail(t, Options{NoGraphs: true})
	for name, use := range map[string]func(b model.Batch) error{
		"join": func(b model.Batch) error { return b.Join(t.Context(), sources) },
		"step": func(b model.Batch) error { _, err := b.Step(t.Context(), prefix, 1); return err },
	} {
		t.Run(name, func(t *testing.T) {
			b, err := m.NewBatch(model.Limits{Rows: 2, MaxLength: 8})
			require.NoError(t, err)
			require.NoError(t, b.Join(t.Context(), sources))
			f.uploads = errors.New("fell off the bus")
			assert.ErrorContains(t, use(b), "fell off the bus")
			f.uploads = nil
			assert.ErrorContains(t, b.Join(t.Context(), sources), "the batch is broken")
			_, err = b.Step(t.Context(), prefix, 1)
			assert.ErrorContains(t, err, "the batch is broken")
			assert.NoError(t, b.Close())
		})
	}
}

// TestLostDevice: ONNX Runtime's error does not say that the device is gone.
func TestLostDevice(t *testing.T) {
	m, f := openFrail(t, Options{NoGraphs: true})
	b, err := m.NewBatch(model.Limits{Rows: 2, MaxLength: 8})
	require.NoError(t, err)
	require.NoError(t, b.Join(t.Context(), sources))
	f.uploads, f.waits = errors.New("kernel launch failed"), &driver.Error{Doing: "wait", Code: 700, Name: "CUDA_ERROR_ILLEGAL_ADDRESS"}
	_, err = b.Step(t.Context(), prefix, 1)
	assert.ErrorIs(t, err, model.ErrLost)
	assert.ErrorContains(t, err, "kernel launch failed")
	assert.ErrorIs(t, b.Close(), model.ErrLost)
	f.uploads, f.waits = nil, nil
}

// TestPanic: a panic on the model's thread continues on the caller's, which can recover.
func TestPanic(t *testing.T) {
	m, _ := openFrail(t, Options{NoGraphs: true})
	defer func() {
		p, ok := recover().(*model.Panic)
		require.True(t, ok)
		assert.Equal(t, "help", p.Value)
		assert.Contains(t, string(p.Stack), "cuda.cry(", "where it happened")
		assert.NoError(t, m.thread.do(func() error { return nil }), "the thread goes on")
	}()
	_ = m.thread.do(cry)
}

func cry() error { panic("help") }

// TestEncoderWarmsUp: its output is not read.
func TestEncoderWarmsUp(t *testing.T) {
	m, f := openFrail(t, Options{NoGraphs: true})
	step := func(warm bool) model.Candidates {
		b, err := m.newBatch(model.Limits{Rows: 2, MaxLength: 8}, false)
		require.NoError(t, err)
		defer func() { assert.NoError(t, b.Close()) }()
		require.NoError(t, b.Join(t.Context(), sources))
		if warm {
			f.free = 1 << 40
			defer func() { f.free = -1 }()
			require.NoError(t, m.do(b.backend.encoding.warmUp))
			assert.Contains(t, b.backend.encoding.program.bound, shape{rows: encoderTokens(m.Spec())})
		}
		c, err := b.Step(t.Context(), prefix, 3)
		require.NoError(t, err)
		return c
	}
	want := step(false)
	want.IDs, want.LogProbs = slices.Clone(want.IDs), slices.Clone(want.LogProbs)
	got := step(true)
	assert.Equal(t, want.IDs, got.IDs)
	assert.Equal(t, want.LogProbs, got.LogProbs)
}

// TestRecordingHasTheDeviceToItself: opening and closing sessions waits for the device, which spoils a recording.
func TestRecordingHasTheDeviceToItself(t *testing.T) {
	m, f := openFrail(t, Options{})
	f.recording = func() {
		assert.False(t, m.runtime.sessions.TryLock())
		assert.True(t, m.runtime.sessions.TryRLock(), "others may record, too")
		m.runtime.sessions.RUnlock()
	}
	b, err := m.NewBatch(model.Limits{Rows: 1, MaxLength: 8})
	require.NoError(t, err)
	assert.NoError(t, b.Close())
	assert.NotZero(t, f.recorded)
}

func TestStepsAreRecorded(t *testing.T) {
	m, f := openFrail(t, Options{})
	b, err := m.NewBatch(model.Limits{Rows: 3, MaxLength: 8})
	require.NoError(t, err)
	defer b.Close()
	assert.Equal(t, len(buckets(maxRows(3))), f.recorded, "once for each number of rows")
	require.NoError(t, b.Join(t.Context(), sources))
	_, err = b.Step(t.Context(), prefix, 1)
	require.NoError(t, err)
	assert.Equal(t, len(buckets(maxRows(3))), f.recorded)
}

func TestStepsThatCannotBeRecorded(t *testing.T) {
	var log bytes.Buffer
	m, f := openFrail(t, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	f.records = errors.New("not today")
	b, err := m.NewBatch(model.Limits{Rows: 1, MaxLength: 8})
	require.NoError(t, err)
	defer b.Close()
	assert.Contains(t, log.String(), "a step cannot be recorded")
	assert.Contains(t, log.String(), "not today")
	require.NoError(t, b.Join(t.Context(), sources))
	_, err = b.Step(t.Context(), prefix, 1)
	require.NoError(t, err)
	_, err = b.Step(t.Context(), next, 1)
	require.NoError(t, err)
	assert.Equal(t, len(buckets(maxRows(1))), f.recorded, "it is tried once for each number of rows")
}

func TestBuckets(t *testing.T) {
	last := 0
	for n := 1; n <= 2*mostRows; n++ {
		b := bucket(n)
		assert.GreaterOrEqual(t, b, n)
		assert.Equal(t, b, bucket(b))
		assert.GreaterOrEqual(t, b, last, "it never falls")
		last = b
		assert.Zero(t, tokensBucket(n)%32)
		assert.GreaterOrEqual(t, tokensBucket(n), n)
	}
	assert.Equal(t, []int{32, 16, 8, 4, 2, 1}, buckets(32))
	assert.Len(t, buckets(mostRows), 20)
}
