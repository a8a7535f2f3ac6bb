package cpu_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	onnxruntime "github.com/yalue/onnxruntime_go"

	"dragoman/model"
	"dragoman/model/cpu"
	"dragoman/model/cpu/cputest"
	"dragoman/model/onnx"
)

func TestInterruptedOpen(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := cputest.Runtime(t).Open(ctx, export(t), cpu.Options{Verify: model.VerifyNever})
	assert.ErrorIs(t, err, context.Canceled)
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
