//go:build linux && (amd64 || arm64)

package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

// The figures of the 418M shape, counted by hand.
func TestWork(t *testing.T) {
	s := shape{model.Spec{
		VocabSize: 128112, DModel: 1024,
		Encoder: model.Stack{Layers: 12, FFN: 4096}, Decoder: model.Stack{Layers: 12, FFN: 4096},
	}, model.Footprint{RowToken: 49152, SourceToken: 49152}, 1}
	one := s.step(1, 1, 10)
	assert.InDelta(t, 307e6, one.Products, 1e6)
	assert.Equal(t, one.Products+(10+source)*49152, one.Bytes)
	assert.Equal(t, float64((10+source)*2*1024*12), one.Attention)
	beams := s.step(8, 40, 10)
	assert.Equal(t, 40*one.Products, beams.Products)
	assert.Equal(t, one.Products+8*(10+source)*49152, beams.Bytes, "beams share their past")
	assert.InDelta(t, 5.64e9, s.encode(1).Products, 1e7, "4.83 G, and 0.81 G for cross attention")
	s.weight = 4
	assert.Equal(t, 3*one.Products, s.step(1, 1, 10).Bytes-one.Bytes)
}

func TestLimit(t *testing.T) {
	p := peaks{Octets: 100, Floats: 10, Memory: 5}
	for _, test := range []struct {
		precision model.Precision
		work      work
		seconds   float64
		memory    bool
	}{
		{model.INT8, work{Bytes: 10, Products: 100, Attention: 5}, 2, true},
		{model.INT8, work{Bytes: 5, Products: 100, Attention: 5}, 1.5, false},
		{model.FP32, work{Bytes: 10, Products: 100, Attention: 5}, 10.5, false},
	} {
		seconds, memory := test.work.limit(test.precision, p)
		assert.InDelta(t, test.seconds, seconds, 1e-9)
		assert.Equal(t, test.memory, memory)
	}
}

// Events as ONNX Runtime 1.30 writes them, shortened; with one thread there is a text in
// place of what threads did.
func TestCollect(t *testing.T) {
	var events []event
	require.NoError(t, json.Unmarshal([]byte(`[
		{"cat": "Session", "dur": 900, "name": "session_initialization"},
		{"cat": "Node", "dur": 100, "args": {"op_name": "MatMulIntegerToFloat", "output_type_shape": [{"float": [2, 8]}]}},
		{"cat": "Node", "dur": 50, "args": {"op_name": "CachedAttention"}},
		{"cat": "Session", "dur": 170, "name": "SequentialExecutor::Execute"},
		{"cat": "Session", "dur": 200, "name": "model_run"},
		{"cat": "Node", "dur": 10, "args": {"op_name": "ProductInt8", "output_type_shape": [{"float": [2, 128]}]}},
		{"cat": "Node", "dur": 20, "args": {"op_name": "BestCandidatesInt8"}},
		{"cat": "Node", "dur": 30, "args": {"op_name": "AddNormQuantize"}},
		{"cat": "Node", "dur": 40, "args": {"op_name": "Gather"}},
		{"cat": "Session", "dur": 100, "name": "model_run"}]`), &events))
	assert.Equal(t, []profiled{
		{200e-6, parts{products: 100e-6, attention: 50e-6, runtimes: 50e-6}},
		{100e-6, parts{head: 30e-6, norm: 30e-6, other: 40e-6, runtimes: 0}},
	}, rounded(collect(events, 128)))
}

// rounded takes away what additions left in the last digits.
func rounded(runs []profiled) []profiled {
	for _, run := range runs {
		for name, s := range run.parts {
			run.parts[name] = seconds(int(s*1e6 + 0.5))
		}
	}
	return runs
}
