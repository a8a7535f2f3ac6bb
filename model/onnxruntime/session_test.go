package onnxruntime_test

import (
	"context"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/modeltest"
	"dragoman/model/onnx"
	"dragoman/model/onnxruntime"
)

// identity configures a session whose output y is its input x, a vector.
func identity(t *testing.T) (*onnxruntime.API, onnxruntime.Setup) {
	t.Helper()
	api, err := onnxruntime.Load(modeltest.Library())
	require.NoError(t, err)
	t.Cleanup(api.Close)
	g := onnx.NewGraph("identity")
	g.NamedNode("", "Identity", []string{g.Input("x", onnx.Float32, onnx.Named("N"))}, []string{"y"})
	g.Output("y", onnx.Float32, onnx.Named("N"))
	return api, onnxruntime.Setup{Graph: g.Marshal(), Threads: 1}
}

// TestInterruptedSession makes ONNX Runtime load a graph repeatedly, until ONNX Runtime itself notices the cancellation.
func TestInterruptedSession(t *testing.T) {
	api, setup := identity(t)
	ctx, cancel := context.WithCancel(t.Context())
	var refused error
	_, err := api.Interrupted(ctx, setup, func(again func() (*onnxruntime.Session, error)) (*onnxruntime.Session, error) {
		cancel()
		for {
			s, err := again()
			if refused = err; err != nil {
				return nil, err
			}
			s.Close()
		}
	})
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorContains(t, refused, "cancel")

	made := false
	ctx, cancel = context.WithCancel(t.Context())
	_, err = api.Interrupted(ctx, setup, func(again func() (*onnxruntime.Session, error)) (*onnxruntime.Session, error) {
		s, err := again()
		made = err == nil
		cancel()
		return s, err
	})
	assert.True(t, made)
	assert.ErrorIs(t, err, context.Canceled, "too late for ONNX Runtime")

	_, err = api.Interrupted(ctx, setup, nil)
	assert.ErrorIs(t, err, context.Canceled, "not even begun")
}

// TestBinding: after success or failure, one tensor per name stays.
func TestBinding(t *testing.T) {
	api, setup := identity(t)
	s, err := api.NewSession(t.Context(), setup)
	require.NoError(t, err)
	defer s.Close()
	b, err := s.NewBinding()
	require.NoError(t, err)
	defer b.Close()
	numbers := []float32{3, 5, 0, 0}
	var pinner runtime.Pinner // ONNX Runtime keeps the addresses
	pinner.Pin(&numbers[0])
	defer pinner.Unpin()
	x, y := unsafe.Pointer(&numbers[0]), unsafe.Pointer(&numbers[2])

	b.Input("x", x, onnx.Float32, 1)
	b.Output("y", y, onnx.Float32, 1)
	first := b.Bound("x")
	require.NoError(t, b.Run())
	assert.Equal(t, []float32{3, 5, 3, 0}, numbers)
	b.Input("x", x, onnx.Float32, 1)
	assert.Equal(t, first, b.Bound("x"), "nothing has changed")

	b.Input("x", x, onnx.Float32, 2)
	b.Output("y", y, onnx.Float32, 2)
	second := b.Bound("x")
	assert.NotEqual(t, first, second)
	require.NoError(t, b.Run())
	assert.Equal(t, []float32{3, 5, 3, 5}, numbers)

	b.Input("x", x, onnx.Float32, -1)
	assert.Equal(t, second, b.Bound("x"))
	b.Input("x", x, onnx.Float32, 1)
	assert.Equal(t, second, b.Bound("x"), "the first error stays")
	assert.ErrorContains(t, b.Run(), "bind x [-1]: ")
	b.Close()

	b, err = s.NewBinding()
	require.NoError(t, err)
	defer b.Close()
	b.Input("z", x, onnx.Float32, 1)
	assert.Nil(t, b.Bound("z"))
	assert.ErrorContains(t, b.Run(), "bind z [1]: ")
}
