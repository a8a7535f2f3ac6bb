package server

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/cli"
	"dragoman/app/config"
	"dragoman/app/engine"
	"dragoman/model"
	"dragoman/model/cpu/cputest"
	"dragoman/model/cuda"
	"dragoman/model/cuda/cudatest"
	"dragoman/model/export"
)

// fakeGPUs simulates GPUs: the same graphs and kernels run on the CPU.
type fakeGPUs struct {
	*cuda.Runtime
	count  int
	broken map[int]error // errors of Open, by the GPU's number
	lost   [4]atomic.Bool
	memory int64 // memory of each GPU in bytes; 0: unlimited. A model takes a GiB.

	mu     sync.Mutex // guards the rest
	opened []int
	live   [4]int64 // models on each
}

// Memory implements [gpuRuntime].
func (f *fakeGPUs) Memory(number int) (free, total int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	total = cmp.Or(f.memory, 1<<40)
	return total - f.live[number]<<30, total, nil
}

// load replaces loadGPUs.
func (f *fakeGPUs) load(library string) (_ gpuRuntime, err error) {
	f.Runtime, err = cuda.Load(library)
	return f, err
}

func (f *fakeGPUs) Devices() (int, error) {
	if f.count == 0 {
		return 0, fmt.Errorf("%w: no driver", cuda.ErrUnavailable)
	}
	return f.count, nil
}

func (f *fakeGPUs) Open(ctx context.Context, dir string, opts cuda.Options) (model.Model, error) {
	if err := f.broken[opts.Number]; err != nil {
		return nil, err
	}
	number := opts.Number
	host, err := cudatest.NewHost()
	if err != nil {
		return nil, err
	}
	opts.Machine, opts.Number = host, 0
	m, err := f.Runtime.Open(ctx, dir, opts)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opened = append(f.opened, number)
	f.live[number]++
	return &fakeGPU{m, f, number}, nil
}

type fakeGPU struct {
	model.Model
	gpus   *fakeGPUs
	number int
}

func (g *fakeGPU) Close() error {
	g.gpus.mu.Lock()
	defer g.gpus.mu.Unlock()
	g.gpus.live[g.number]--
	return g.Model.Close()
}

func (g *fakeGPU) NewBatch(limits model.Limits) (model.Batch, error) {
	b, err := g.Model.NewBatch(limits)
	return &fakeBatch{b, &g.gpus.lost[g.number]}, err
}

type fakeBatch struct {
	model.Batch
	lost *atomic.Bool
}

func (b *fakeBatch) Step(ctx context.Context, feeds []model.Feed, k int) (model.Candidates, error) {
	if b.lost.Load() {
		return model.Candidates{}, fmt.Errorf("%w: it fell off the bus", model.ErrLost)
	}
	return b.Batch.Step(ctx, feeds, k)
}

// serviceOn starts the service on GPUs, in the precision in which both backends round alike.
func serviceOn(t *testing.T, f *fakeGPUs, environ ...string) *running {
	p := &program{
		environ:     environment(append([]string{"DEVICE=cuda", "PRECISION=fp32", "BATCH_SIZE=16", "MAX_LENGTH_LIMIT=256"}, environ...)...),
		loadRuntime: loadRuntime, loadGPUs: f.load,
	}
	r := startProgram(t, p, func(http.Handler) {})
	t.Cleanup(func() {
		r.stop()
		assert.NoError(t, <-r.result)
	})
	return r
}

// get requests a page and returns its status and body.
func (r *running) get(t *testing.T, path string) (status int, body string) {
	resp, err := http.Get(r.url + path)
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(raw)
}

// sentencesOf returns sentences that the bundled model translates in a few steps each.
func sentencesOf(n int) []record {
	var list []record
	for i := range n {
		list = append(list, record{fmt.Sprint(i), fmt.Sprintf("Where is station number %d?", i+2)})
	}
	return list
}

func TestServiceOnGPUs(t *testing.T) {
	records := sentencesOf(20)
	var want []record
	t.Run("the CPU's translations", func(t *testing.T) { // ends now: a process has one ONNX Runtime
		var err error
		want, err = service(t).translated("en", "fr", records)
		require.NoError(t, err)
	})
	f := &fakeGPUs{count: 2}
	onGPUs := serviceOn(t, f)
	assert.Equal(t, []int{0, 1}, f.opened)
	got, err := onGPUs.translated("en", "fr", records)
	require.NoError(t, err)
	assert.Equal(t, want, got)

	_, metrics := onGPUs.get(t, "/metrics")
	assert.Contains(t, metrics, `dragoman_workers{model="bundled",version="1"} 2`)
	assert.Contains(t, metrics, `device="cuda"`)
	for worker := range 2 {
		assert.NotContains(t, metrics, fmt.Sprintf("dragoman_steps_total{model=\"bundled\",version=\"1\",worker=\"%d\"} 0\n", worker), "it has nothing to do")
	}
}

// One GPU is lost, then the other: requests survive the first loss, and after the second the service asks for a restart.
func TestServiceLosesItsGPUs(t *testing.T) {
	f := &fakeGPUs{count: 2}
	r := serviceOn(t, f, "CACHE_BYTES=0")
	records := sentencesOf(20)
	want, err := r.translated("en", "fr", records)
	require.NoError(t, err)

	f.lost[1].Store(true)
	got, err := r.translated("en", "fr", records)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	for _, path := range []string{"/healthz", "/readyz"} {
		status, _ := r.get(t, path)
		assert.Equal(t, 200, status, path)
	}
	_, metrics := r.get(t, "/metrics")
	assert.Contains(t, metrics, `dragoman_workers{model="bundled",version="1"} 2`)
	assert.Contains(t, metrics, `dragoman_workers_lost{model="bundled",version="1"} 1`)

	f.lost[0].Store(true)
	status, body, err := r.translate("en", "fr", records)
	require.NoError(t, err)
	assert.Equal(t, 503, status)
	assert.Contains(t, string(body), `"code":"stuck"`)
	for _, path := range []string{"/healthz", "/readyz"} {
		status, body := r.get(t, path)
		assert.Equal(t, 503, status, path)
		assert.Contains(t, body, "it fell off the bus")
	}
	_, metrics = r.get(t, "/metrics")
	assert.Contains(t, metrics, `dragoman_workers_lost{model="bundled",version="1"} 2`)
	assert.Contains(t, metrics, "dragoman_ready 0\n")
}

// TestBackends checks which device each model runs on, and the log lines about it.
func TestBackends(t *testing.T) {
	unavailable := fmt.Errorf("%w: it is full", cuda.ErrUnavailable)
	damaged := fmt.Errorf("the file is damaged")
	int8Folder := filepath.Join(t.TempDir(), "int8")
	_, err := export.Export(t.Context(), cputest.Bundled(), int8Folder, export.Options{Precision: model.INT8, Source: "test", Languages: []string{"en", "fr"}})
	require.NoError(t, err)
	both := map[int]error{0: unavailable, 1: unavailable}
	for _, test := range []struct {
		name    string
		gpus    *fakeGPUs
		environ []string
		on      config.Device // "": the service does not start
		opened  []int
		said    string // on stderr
	}{
		{"all there are", &fakeGPUs{count: 3}, []string{"DEVICE=auto"}, config.CUDA, []int{0, 1, 2}, ""},
		{"two workers on each", &fakeGPUs{count: 2}, []string{"DEVICE=cuda", "APP_WORKERS=2"}, config.CUDA, []int{0, 0, 1, 1}, ""},
		{"those that are named", &fakeGPUs{count: 4}, []string{"DEVICE=auto", "CUDA_DEVICES=3,1"}, config.CUDA, []int{3, 1}, ""},
		{"one does not work", &fakeGPUs{count: 2, broken: map[int]error{0: unavailable}}, []string{"DEVICE=auto"}, config.CUDA, []int{1},
			"a GPU is not used"},
		{"little memory", &fakeGPUs{count: 1}, []string{"DEVICE=cuda", "KV_MEMORY=80MiB"}, config.CUDA, []int{0}, `"rows":8,`},
		{"none", &fakeGPUs{}, []string{"DEVICE=auto"}, config.CPU, nil, "no driver"},
		{"none works", &fakeGPUs{count: 2, broken: both}, []string{"DEVICE=auto"}, config.CPU, nil, "GPU 1: the device cannot be used: it is full"},
		{"not wanted", &fakeGPUs{count: 2}, []string{"DEVICE=cpu"}, config.CPU, nil, ""},
		{"in 8 bits", &fakeGPUs{count: 2}, []string{"DEVICE=auto", "PRECISION=int8", "MODEL_WEIGHTS=" + int8Folder}, config.CPU, nil, ""},
		{"a folder in 8 bits", &fakeGPUs{count: 2}, []string{"DEVICE=auto", "MODEL_WEIGHTS=" + int8Folder}, config.CPU, nil, "which is for CPUs"},

		{"none, but wanted", &fakeGPUs{}, []string{"DEVICE=cuda"}, "", nil, "DEVICE=cuda: the device cannot be used: no driver"},
		{"none works, but wanted", &fakeGPUs{count: 2, broken: both}, []string{"DEVICE=cuda"}, "", nil, "it is full"},
		{"one that is named is missing", &fakeGPUs{count: 2}, []string{"CUDA_DEVICES=0,2"}, "", nil, "CUDA_DEVICES has 2, but there are 2 GPUs"},
		{"one that is named does not work", &fakeGPUs{count: 2, broken: map[int]error{1: unavailable}}, []string{"CUDA_DEVICES=0,1"}, "", []int{0},
			"CUDA_DEVICES: GPU 1: the device cannot be used: it is full"},
		{"damaged", &fakeGPUs{count: 2, broken: map[int]error{1: damaged}}, []string{"DEVICE=auto"}, "", []int{0}, "the file is damaged"},
		{"a folder in 8 bits, but GPUs wanted", &fakeGPUs{count: 2}, []string{"DEVICE=cuda", "MODEL_WEIGHTS=" + int8Folder}, "", nil,
			"export it with PRECISION=fp16 for GPUs"},
		{"too little memory", &fakeGPUs{count: 1}, []string{"DEVICE=cuda", "KV_MEMORY=1MiB"}, "", nil, "raise KV_MEMORY, or lower MAX_BEAMS"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var log bytes.Buffer
			environ := append(environment("PRECISION=fp32", "DEVICE=auto", "MAX_LENGTH_LIMIT=256"), test.environ...)
			if slices.Contains(test.environ, "MODEL_WEIGHTS="+int8Folder) && !slices.Contains(test.environ, "PRECISION=int8") {
				environ = append(environ, "PRECISION=auto")
			}
			p := &program{environ: environ, stderr: &log, loadRuntime: loadRuntime, loadGPUs: test.gpus.load}
			b, err := loaderOf(t, p).load(t.Context(), nil)
			assert.Equal(t, test.opened, test.gpus.opened)
			if test.on == "" {
				require.Error(t, err)
				assert.Contains(t, err.Error(), test.said)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, string(test.on), b.catalog.Index()[0].Device)
			assert.Len(t, b.catalog.Engines()[0].Stats, max(1, len(test.opened)))
			require.NoError(t, b.Close()) // also ends the log's writer
			assert.Contains(t, log.String(), test.said)
		})
	}
}

// pull exports for the device that serve will use, which may be on another machine.
func TestPullForGPUs(t *testing.T) {
	pull := func(gpus *fakeGPUs, environ ...string) *program {
		return &program{environ: environment(append(environ, "SAVE_WEIGHTS="+t.TempDir())...), stderr: new(bytes.Buffer),
			loadRuntime: loadRuntime, loadGPUs: gpus.load}
	}
	for _, test := range []struct {
		name    string
		gpus    *fakeGPUs
		environ []string
		want    model.Precision
	}{
		{"DEVICE=cuda without a GPU", &fakeGPUs{}, []string{"DEVICE=cuda"}, model.FP16},
		{"auto with a GPU", &fakeGPUs{count: 1}, []string{"DEVICE=auto"}, model.FP16},
		{"auto without a GPU", &fakeGPUs{}, []string{"DEVICE=auto"}, ""},
		{"auto without ONNX Runtime", &fakeGPUs{count: 1}, []string{"DEVICE=auto", "ONNXRUNTIME_LIB=/nowhere.so"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := pull(test.gpus, test.environ...)
			precision, err := loaderOf(t, p).pullPrecision()
			require.NoError(t, err)
			assert.Equal(t, test.want, precision)
		})
	}
	t.Run("DEVICE=cuda in single precision", func(t *testing.T) {
		p := pull(&fakeGPUs{}, "DEVICE=cuda", "PRECISION=fp32")
		cfg, log, err := cli.Configure(p.environ, p.stderr)
		require.NoError(t, err)
		dir, err := p.pull(t.Context(), cfg, log, cli.Repository{})
		require.NoError(t, err)
		m, err := model.ReadManifest(dir)
		require.NoError(t, err)
		assert.Equal(t, model.FP32, m.Precision)
	})
}

func TestFit(t *testing.T) {
	stateBytes := func(l model.Limits) int64 { return int64(l.Rows+1) * int64(l.MaxLength) * 10 }
	for _, test := range []struct {
		name                  string
		rows, beams           int
		memory                int64
		wantRows, wantLimited int
		err                   string
	}{
		{"no bound", 80, 8, 0, 80, 107, ""},
		{"fits", 80, 8, 108_000, 80, 107, ""},
		{"one row less", 80, 8, 107_999, 79, 106, ""},
		{"half", 80, 8, 41_500, 30, 40, ""},
		{"the beams of one sentence", 80, 8, 9000, 6, 8, ""},
		{"not even those", 80, 8, 8999, 0, 0, "KV_MEMORY is 8999 bytes, but a GPU reserves 9000"},
		{"more beams than rows", 4, 8, 0, 4, 8, ""},
		{"more beams than rows, and they fit", 4, 8, 9000, 4, 8, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := engine.Config{Rows: test.rows, MaxBeams: test.beams, MaxLength: 100, Memory: test.memory}
			limits, err := fit(stateBytes, &cfg)
			if test.err != "" {
				assert.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.wantRows, cfg.Rows)
			assert.Equal(t, model.Limits{Rows: test.wantLimited, MaxLength: 100}, limits)
			assert.Zero(t, cfg.Memory)
		})
	}
}
