package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/catalog"
	"dragoman/app/config"
	"dragoman/app/translate"
	"dragoman/model"
	"dragoman/model/cuda"
)

// fullGPUs simulates GPUs of which only the memory matters.
type fullGPUs struct {
	gpuRuntime
	rooms  map[int]room
	opens  map[int]error // errors, by GPU
	takes  int64         // memory of each model opened
	closed int
}

func (f *fullGPUs) Memory(number int) (free, total int64, err error) {
	r, ok := f.rooms[number]
	if !ok {
		return 0, 0, fmt.Errorf("%w: GPU %d", cuda.ErrUnavailable, number)
	}
	return r.free, r.total, nil
}

func (f *fullGPUs) Open(_ context.Context, _ string, opts cuda.Options) (model.Model, error) {
	if err := f.opens[opts.Number]; err != nil {
		return nil, err
	}
	r := f.rooms[opts.Number]
	r.free -= f.takes
	f.rooms[opts.Number] = r
	return &modelOnGPU{on: opts.Number, gpus: f}, nil
}

type modelOnGPU struct {
	model.Model
	on   int
	gpus *fullGPUs
}

func (m *modelOnGPU) Close() error {
	m.gpus.closed++
	return nil
}

func TestPlacement(t *testing.T) {
	const gib = 1 << 30
	full := fmt.Errorf("%w: %w", cuda.ErrUnavailable, cuda.ErrMemory)
	lost := fmt.Errorf("%w: it fell off the bus", cuda.ErrUnavailable)
	damaged := errors.New("damaged")
	for _, test := range []struct {
		name    string
		workers int
		gpus    fullGPUs
		want    int // the GPU; -1: none
		err     string
		is      error // may be nil
		free    int64 // bytes of a NoRoomError; 0: another error
	}{
		{"the most free memory", 1, fullGPUs{rooms: map[int]room{0: {0, 6 * gib, 8 * gib}, 1: {1, 7 * gib, 16 * gib}}}, 1, "", nil, 0},
		{"the first of equal ones", 1, fullGPUs{rooms: map[int]room{0: {0, 6 * gib, 8 * gib}, 1: {1, 6 * gib, 8 * gib}}}, 0, "", nil, 0},
		{"one cannot be used", 1, fullGPUs{rooms: map[int]room{1: {1, 6 * gib, 8 * gib}}}, 1, "", nil, 0},
		{"one cannot be opened", 1, fullGPUs{rooms: map[int]room{0: {0, 6 * gib, 8 * gib}, 1: {1, 7 * gib, 8 * gib}}, opens: map[int]error{1: lost}}, 0, "", nil, 0},
		{"one is fuller than it seemed", 1, fullGPUs{rooms: map[int]room{0: {0, 6 * gib, 8 * gib}, 1: {1, 7 * gib, 8 * gib}}, opens: map[int]error{1: full}}, 0, "", nil, 0},
		{"all are full", 1, fullGPUs{rooms: map[int]room{0: {0, 2 * gib, 8 * gib}, 1: {1, 3 * gib, 8 * gib}}}, -1,
			"it needs 3.5 GiB of a device's memory (cuda), but no more than 3.0 GiB is free", nil, 3 * gib},
		{"all turn out to be full", 1, fullGPUs{rooms: map[int]room{0: {0, 4 * gib, 8 * gib}}, opens: map[int]error{0: full}}, -1, "4.0 GiB is free", nil, 4 * gib},
		{"no room for the batches", 1, fullGPUs{rooms: map[int]room{0: {0, 4 * gib, 8 * gib}}, takes: 3 * gib}, -1, "4.0 GiB is free", nil, 4 * gib},
		{"two workers need twice as much", 2, fullGPUs{rooms: map[int]room{0: {0, 6 * gib, 8 * gib}}}, -1, "it needs 7.0 GiB", nil, 6 * gib},
		{"too large", 1, fullGPUs{rooms: map[int]room{0: {0, 2 * gib, 3 * gib}}}, -1, "GPU 0: the model needs 3.5 GiB of memory, but the GPU has 3.0 GiB", errElsewhere, 0},
		{"none can be used", 1, fullGPUs{}, -1, "GPU 1", errElsewhere, 0},
		{"a file is damaged", 1, fullGPUs{rooms: map[int]room{0: {0, 6 * gib, 8 * gib}}, opens: map[int]error{0: damaged}}, -1, "damaged", damaged, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := &gpuBackend{log: slog.New(slog.DiscardHandler), runtime: &test.gpus, numbers: []int{0, 1}, place: true}
			models, err := placement{g, gib, 2 * gib}.open(t.Context(), config.Config{Workers: test.workers}, "dir")
			if test.want < 0 {
				require.ErrorContains(t, err, test.err)
				if full, ok := errors.AsType[*catalog.NoRoomError](err); assert.Equal(t, test.free > 0, ok, "%v", err) && ok {
					assert.Equal(t, test.free, full.Free)
				}
				if test.is != nil {
					assert.ErrorIs(t, err, test.is)
				}
				return
			}
			require.NoError(t, err)
			require.Len(t, models, test.workers)
			assert.Equal(t, test.want, models[0].(*modelOnGPU).on)
			assert.Zero(t, test.gpus.closed)
		})
	}
}

// repositoryOnGPUs serves a repository of models on GPUs, each with its configuration.
func repositoryOnGPUs(t *testing.T, f *fakeGPUs, models map[string]string) *translation {
	dir := t.TempDir()
	for name, config := range models {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o755))
		require.NoError(t, os.Symlink(exported, filepath.Join(dir, name, "1")))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name, "config.yaml"), []byte(config), 0o644))
	}
	p := &program{
		environ: environment("DEVICE=cuda", "MAX_LENGTH_LIMIT=256", "BATCH_SIZE=16", "MODEL_REPOSITORY="+dir, "MODEL_MEMORY=1GiB"),
		stderr:  io.Discard, loadRuntime: loadRuntime, loadGPUs: f.load,
	}
	s, err := loaderOf(t, p).load(t.Context(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

// translateWith translates a sentence with a model.
func translateWith(t *testing.T, s *translation, name string) error {
	_, err := s.service.Translate(t.Context(), translate.Request{
		Model: name, From: "en", To: []string{"fr"}, Records: []translate.Record{{ID: "1", Text: "Where is the station?"}},
	})
	return err
}

// TestModelsOnGPUs loads three models onto two GPUs with room for one each.
func TestModelsOnGPUs(t *testing.T) {
	f := &fakeGPUs{count: 2, memory: 3 << 29}
	s := repositoryOnGPUs(t, f, map[string]string{"a": "beams: 1", "b": "beams: 2", "c": "beams: 3"}) // all are different
	for _, name := range []string{"a", "b", "a", "c", "a", "b"} {
		require.NoError(t, translateWith(t, s, name))
	}
	assert.Equal(t, []int{0, 1, 1, 1}, f.opened, "a stays: it is never the one that was used the longest ago")
	for _, status := range s.catalog.Index() {
		assert.Equal(t, status.Name != "c", status.State == catalog.Ready, status.Name)
		assert.Less(t, status.Bytes, int64(64<<20), "it is the host's memory that counts")
	}
}

// If no model can be unloaded from a GPU, the request is refused; the model is not broken, and the others continue.
func TestGPUWithoutRoom(t *testing.T) {
	f := &fakeGPUs{count: 1, memory: 3 << 29}
	s := repositoryOnGPUs(t, f, map[string]string{"a": "pinned: true", "b": "beams: 2"})
	require.NoError(t, translateWith(t, s, "a"))
	for range 2 {
		var full *catalog.MemoryError
		require.ErrorAs(t, translateWith(t, s, "b"), &full)
		assert.EqualValues(t, 1<<29, full.Limit)
		assert.Contains(t, full.Error(), "(cuda), but no more than 512 MiB is free")
	}
	assert.NoError(t, translateWith(t, s, "a"))
	assert.Equal(t, []int{0}, f.opened)
}
