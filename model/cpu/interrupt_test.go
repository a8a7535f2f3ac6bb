package cpu_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	onnxruntime "github.com/yalue/onnxruntime_go"

	"dragoman/model/cpu"
	"dragoman/model/cpu/cputest"
	"dragoman/model/onnx"
)

// TestInterruptedOpen ends the opening of a model at each step of making its prepacked
// weights. Nothing unfinished stays, and the model is not opened without them.
func TestInterruptedOpen(t *testing.T) {
	dir := export(t)
	for _, at := range []string{
		"making prepacked weights", "packed a graph file=encoder.onnx", "packed a graph file=decoder.onnx",
	} {
		t.Run(at, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			log := &watch{at: at, do: cancel}
			_, err := cputest.Runtime(t).Open(ctx, dir, cpu.Options{Log: slog.New(log)})
			assert.ErrorIs(t, err, context.Canceled)
			assert.False(t, log.saw("no prepacked weights"), log.messages)
			for name := range folders(t, dir) {
				assert.NotContains(t, name, ".work-")
			}
		})
	}
}

// TestInterruptedSession makes ONNX Runtime load a graph again and again: it ends only
// when ONNX Runtime itself has seen that it is to stop.
func TestInterruptedSession(t *testing.T) {
	g := onnx.NewGraph("nothing")
	g.Output(g.Op("Identity", []string{g.Input("x", onnx.Float32, onnx.Fixed(1))}), onnx.Float32, onnx.Fixed(1))
	graph := g.Marshal()
	ctx, cancel := context.WithCancel(t.Context())
	var refused error
	_, err := cputest.Runtime(t).Session(ctx, func(o *onnxruntime.SessionOptions) (*onnxruntime.DynamicAdvancedSession, error) {
		cancel()
		for {
			s, err := onnxruntime.NewDynamicAdvancedSessionWithONNXData(graph, nil, nil, o)
			if refused = err; err != nil {
				return nil, err
			}
			require.NoError(t, s.Destroy())
		}
	})
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorContains(t, refused, "cancel")

	made := false
	ctx, cancel = context.WithCancel(t.Context())
	_, err = cputest.Runtime(t).Session(ctx, func(o *onnxruntime.SessionOptions) (*onnxruntime.DynamicAdvancedSession, error) {
		s, err := onnxruntime.NewDynamicAdvancedSessionWithONNXData(graph, nil, nil, o)
		made = err == nil
		cancel()
		return s, err
	})
	assert.True(t, made)
	assert.ErrorIs(t, err, context.Canceled, "too late for ONNX Runtime")

	_, err = cputest.Runtime(t).Session(ctx, nil)
	assert.ErrorIs(t, err, context.Canceled, "not even begun")
}

// TestInterruptedWait ends the wait for another process that makes prepacked weights.
func TestInterruptedWait(t *testing.T) {
	dir := export(t)
	root := filepath.Join(dir, "prepacked")
	require.NoError(t, os.Mkdir(root, 0o755))
	other := flock.New(filepath.Join(root, ".lock"))
	require.NoError(t, other.Lock())
	defer other.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	log := &watch{at: "waiting for another process", do: cancel}
	_, err := cputest.Runtime(t).Open(ctx, dir, cpu.Options{Log: slog.New(log)})
	assert.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, folders(t, dir))
}

// TestUnfinishedGoesAway: what a killed process left goes with the next start, also where
// that finds prepacked weights made by another, but not while somebody may work in it.
func TestUnfinishedGoesAway(t *testing.T) {
	dir := export(t)
	root := filepath.Dir(filepath.Dir(prepackedFile(t, dir, "prepack.json")))
	left := filepath.Join(root, ".work-1")
	require.NoError(t, os.Mkdir(left, 0o755))

	other := flock.New(filepath.Join(root, ".lock"))
	require.NoError(t, other.Lock())
	open(t, dir, cpu.Options{})
	assert.DirExists(t, left, "it may be another's")

	require.NoError(t, other.Unlock())
	open(t, dir, cpu.Options{})
	assert.NoDirExists(t, left)
}
