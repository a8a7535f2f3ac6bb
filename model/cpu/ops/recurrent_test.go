package ops_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/model/onnx"
)

// The states of each sequence equal those of the sequence alone, while sentences join and leave, beams fork, and prefixes are
// fed at once.
func TestSsru(t *testing.T) {
	const capacity, rows = 5, 4
	for _, width := range []int{2, 6, 32, 40, 256} {
		for _, half := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d/half=%v", width, half), func(t *testing.T) {
				token := 8 * width
				if half {
					token /= 2
				}
				kv := make([]uint8, 2*rows*capacity*token) // two layers, of which the second is used
				for i := range kv {
					kv[i] = 0xff // no numbers
				}
				// By step: token positions, rows of the memory, histories and the rows of each sentence.
				steps := []struct {
					positions []int64
					rows      []int32
					history   [][capacity]int32
					groups    []int32
					parents   []int // rows of the previous step, or, if negative, of this one: -1 is row 0; 100: none
				}{
					{[]int64{0, 1, 0}, []int32{2, 2, 0}, [][capacity]int32{{2}, {2, 2}, {0}}, []int32{0, 2, 3}, []int{100, -1, 100}},
					{[]int64{2, 2, 1}, []int32{2, 3, 0}, [][capacity]int32{{2, 2, 2}, {2, 2, 3}, {0, 0}}, []int32{0, 2, 3}, []int{1, 1, 2}},
					{[]int64{3, 3}, []int32{2, 3}, [][capacity]int32{{2, 2, 3, 2}, {2, 2, 3, 3}}, []int32{0, 2}, []int{1, 1}},
				}
				var before [][]float64
				for s, step := range steps {
					p := newProduct(s+1, len(step.rows), 2*width)
					acc, bias, scale := p.args()
					var history []int32
					for _, h := range step.history {
						history = append(history, h[:]...)
					}
					got := call{
						op: "Ssru", attrs: []onnx.Attr{onnx.Int("layer", 1), onnx.Int("heads", 1), onnx.Int("head_dim", width)},
						inputs: []arg{acc, bias, int32s(step.rows...), int64s(step.positions...), newArg(onnx.Int32, history, []int{len(step.rows), capacity}),
							int32s(step.groups...), octets(kv, 2, rows, capacity, token), scale},
						outputs: []onnx.DataType{onnx.Float32},
					}.run(t)[0].([]float32)
					var states [][]float64
					for r := range step.rows {
						parent := make([]float64, width)
						if q := step.parents[r]; q < 0 {
							parent = states[-q-1]
						} else if q < 100 {
							parent = before[q]
						}
						state := make([]float64, width)
						for i := range state {
							gate := 1 / (1 + math.Exp(-p.at(r, width+i)))
							state[i] = gate*parent[i] + (1-gate)*p.at(r, i)
							assert.InDelta(t, max(0, state[i]), got[r*width+i], 1e-5, "step %d, row %d, %d", s, r, i)
						}
						states = append(states, state)
					}
					before = states
				}
				assert.EqualValues(t, 0xff, kv[0], "the other layer is left alone")
			})
		}
	}
}

func TestSsruRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		width, token     int
		position         int64
		row, parent, end int32
		message          string
	}{
		"odd and half": {3, 12, 0, 0, 0, 1, "a state of 3 numbers has no halves"},
		"token":        {4, 12, 0, 0, 0, 1, "bytes per token"},
		"row":          {4, 16, 0, 7, 0, 1, "no room for token 0 in row 7"},
		"position":     {4, 16, 9, 0, 0, 1, "no room for token 9"},
		"history":      {4, 16, 1, 0, 9, 1, "leaves the 1 rows of the memory"},
		"groups":       {4, 16, 0, 0, 0, 3, "do not rise"},
	} {
		t.Run(name, func(t *testing.T) {
			acc, bias, scale := newProduct(1, 1, 2*test.width).args()
			_, err := call{
				op: "Ssru", attrs: []onnx.Attr{onnx.Int("layer", 0), onnx.Int("heads", 1), onnx.Int("head_dim", test.width)},
				inputs: []arg{acc, bias, int32s(test.row), int64s(test.position), newArg(onnx.Int32, []int32{test.parent, 0}, []int{1, 2}),
					int32s(0, test.end), octets(make([]uint8, 2*test.token), 1, 1, 2, test.token), scale},
				outputs: []onnx.DataType{onnx.Float32},
			}.try(t)
			assert.ErrorContains(t, err, test.message)
		})
	}
}

// With an alpha numbers are rounded by it, whatever the rest of the row, and larger ones are clipped.
func TestQuantizeByAlpha(t *testing.T) {
	x := []float32{0, 1, -1, 0.25, 0.75, 100, -100, 2.5}
	for range 3 { // a whole vector, and a remainder
		x = append(x, x...)
	}
	x = x[:35]
	attrs := []onnx.Attr{onnx.Float("alpha", 2)}
	out := call{op: "Quantize", attrs: attrs, inputs: []arg{floats(x, 1, len(x))}, outputs: []onnx.DataType{onnx.Uint8, onnx.Float32}}.run(t)
	for i, q := range out[0].([]uint8) {
		want := math.RoundToEven(float64(min(max(2*x[i], -127), 127)))
		assert.EqualValues(t, 127+want, q, "%v", x[i])
	}
	assert.Equal(t, []float32{1}, out[1])
	p := product{acc: x, bias: make([]float32, len(x)), scale: []float32{1}, rows: 1, width: len(x)}
	acc, bias, scale := p.args()
	out = call{op: "ReluQuantize", attrs: attrs, inputs: []arg{acc, bias, scale}, outputs: []onnx.DataType{onnx.Uint8, onnx.Float32}}.run(t)
	for i, q := range out[0].([]uint8) {
		assert.EqualValues(t, 127+math.RoundToEven(float64(min(max(2*x[i], 0), 127))), q, "%v", x[i])
	}
	for _, bad := range []float32{nan, inf} {
		x[3] = bad
		out := call{op: "Quantize", attrs: attrs, inputs: []arg{floats(x, 1, len(x))}, outputs: []onnx.DataType{onnx.Uint8, onnx.Float32}}.run(t)
		assert.True(t, math.IsNaN(float64(out[1].([]float32)[0])), "what is no number stays none")
	}
}

func TestEmbedInt8(t *testing.T) {
	const tokens, width = 35, 6
	r := random(1)
	panels := make([]int8, (tokens+15)/16*2*64)
	for i := range panels {
		panels[i] = int8(r.IntN(255) - 127)
	}
	scales, positions, ids := positive(r, tokens), normal(r, 3*width, 1), []int64{0, 34, 16, 15}
	in := func(ids []int64, at ...int64) []arg {
		return []arg{newArg(onnx.Int8, panels, []int{3, 2, 16, 4}), floats(scales, tokens), int64s(ids...), floats(positions, 3, width), int64s(at...)}
	}
	attrs := []onnx.Attr{onnx.Int("width", width), onnx.Float("scale", 2)}
	got := call{op: "EmbedInt8", attrs: attrs, inputs: in(ids, 0, 1, 2, 0), outputs: []onnx.DataType{onnx.Float32}}.run(t)[0].([]float32)
	for row, id := range ids {
		for i := range width {
			q := panels[((int(id)/16*2+i/4)*16+int(id)%16)*4+i%4]
			assert.InDelta(t, float32(q)*scales[id]*2+positions[[]int{0, 1, 2, 0}[row]*width+i], got[row*width+i], 1e-4, "%d, %d", id, i)
		}
	}
	order := r.Perm(tokens)
	ordered, places := make([]int8, len(panels)), make([]int32, tokens)
	shuffled, at := make([]float32, tokens), func(row, i int) int { return ((row/16*2+i/4)*16+row%16)*4 + i%4 }
	for place, token := range order {
		places[token], shuffled[place] = int32(place), scales[token]
		for i := range width {
			ordered[at(place, i)] = panels[at(token, i)]
		}
	}
	inputs := in(ids, 0, 1, 2, 0)
	inputs[0], inputs[1] = newArg(onnx.Int8, ordered, []int{3, 2, 16, 4}), floats(shuffled, tokens)
	elsewhere := call{op: "EmbedInt8", attrs: attrs, inputs: append(slices.Clone(inputs), int32s(places...)), outputs: []onnx.DataType{onnx.Float32}}
	assert.Equal(t, got, elsewhere.run(t)[0])
	for _, bad := range []int32{-1, tokens} {
		elsewhere.inputs[5] = int32s(slices.Repeat([]int32{bad}, tokens)...)
		_, err := elsewhere.try(t)
		assert.ErrorContains(t, err, "of 35")
	}
	for _, bad := range [][2]int64{{35, 0}, {-1, 0}, {0, 3}, {0, -1}} {
		_, err := call{op: "EmbedInt8", attrs: attrs, inputs: in([]int64{bad[0]}, bad[1]), outputs: []onnx.DataType{onnx.Float32}}.try(t)
		assert.ErrorContains(t, err, "no embedding of token")
	}
}
