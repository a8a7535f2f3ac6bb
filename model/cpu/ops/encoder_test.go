package ops_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/model/onnx"
)

// lengthsOf returns the groups of some sentences: group g has a row per token of sentence g.
func lengthsOf(tokens ...int) []group {
	groups := make([]group, len(tokens))
	for i, n := range tokens {
		groups[i].rows = n
	}
	return groups
}

func selfAttention(t *testing.T, h heads, p product, sentences []group, d distances) []float32 {
	t.Helper()
	acc, bias, scale := p.args()
	return d.add(call{op: "SelfAttention", attrs: h.attrs(), outputs: []onnx.DataType{onnx.Float32},
		inputs: []arg{acc, bias, int32s(offsets(sentences)...), scale}}).run(t)[0].([]float32)
}

func requireSelfAttention(t *testing.T, h heads, p product, sentences []group, d distances) {
	t.Helper()
	got, width := selfAttention(t, h, p, sentences, d), h.width()
	column := func(token, from int) []float64 {
		x := make([]float64, h.dim)
		for i := range x {
			x[i] = p.at(token, from+i)
		}
		return x
	}
	at := offsets(sentences)
	for s := range sentences {
		first, end := int(at[s]), int(at[s+1])
		for head := range h.count {
			var keys, values [][]float64
			for token := first; token < end; token++ {
				keys = append(keys, column(token, width+head*h.dim))
				values = append(values, column(token, 2*width+head*h.dim))
			}
			for token := first; token < end; token++ {
				from := token*width + head*h.dim
				requireAttention(t, got[from:from+h.dim], column(token, head*h.dim), keys, values, d.bias(head, token-first, end-first))
			}
		}
		if first < end {
			alone := selfAttention(t, h, p.slice(first, end), sentences[s:s+1], d)
			require.Equal(t, alone, got[first*width:end*width], "sentence %d depends on the others", s)
		}
	}
}

func TestSelfAttention(t *testing.T) {
	for _, h := range headSizes {
		for _, tokens := range [][]int{{1}, {17}, {3, 1, 16}, {5, 0, 9, 15, 33, 2, 1}} {
			t.Run(fmt.Sprintf("%dx%d %v", h.count, h.dim, tokens), func(t *testing.T) {
				sentences := lengthsOf(tokens...)
				p := newProduct(h.dim, countRows(sentences), 3*h.width())
				if len(tokens) == 3 {
					p.scale = nil
				}
				requireSelfAttention(t, h, p, sentences, distances{})
			})
		}
	}
}

func TestSelfAttentionLengths(t *testing.T) {
	for n := 1; n <= 200; n += 1 + n/16 {
		requireSelfAttention(t, heads{1, 8}, newProduct(n, n, 24), lengthsOf(n), distances{})
	}
}

// store is the input of StoreCross.
type store struct {
	p         product
	h         heads
	cross     memory
	sentences []group
	slots     []int32
}

func newStore(seed int, h heads, half bool, capacity int, tokens ...int) store {
	r := random(seed)
	s := store{h: h, sentences: lengthsOf(tokens...), cross: newMemory(r, 2, len(tokens)+2, capacity, h.width(), half)}
	s.p = newProduct(seed, countRows(s.sentences), 2*h.width())
	for _, slot := range r.Perm(len(tokens) + 2)[:len(tokens)] {
		s.slots = append(s.slots, int32(slot))
	}
	return s
}

func (s store) call(cross memory, after arg) call {
	acc, bias, scale := s.p.args()
	return call{op: "StoreCross", attrs: s.h.attrs(1), outputs: []onnx.DataType{onnx.Int32}, inputs: []arg{
		acc, bias, int32s(offsets(s.sentences)...), int32s(s.slots...), cross.arg(), scale, after}}
}

func (s store) require(t *testing.T, after arg) {
	t.Helper()
	stored, want := s.cross.clone(), s.cross.clone()
	require.Equal(t, []any{[]int32{1}}, s.call(stored, after).run(t))
	at := offsets(s.sentences)
	for i, slot := range s.slots {
		for token := range s.sentences[i].rows {
			want.requireStored(t, stored, 1, int(slot), token, s.p, int(at[i])+token, 0)
		}
	}
	require.Equal(t, want.data, stored.data, "nothing else in the memory is touched")
	alone := s.cross.clone()
	for i := range s.sentences {
		one := s
		one.p, one.sentences, one.slots = s.p.slice(int(at[i]), int(at[i+1])), s.sentences[i:i+1], s.slots[i:i+1]
		one.call(alone, after).run(t)
	}
	require.Equal(t, alone.data, stored.data, "a sentence depends on the others")
}

func TestStoreCross(t *testing.T) {
	for _, h := range headSizes {
		for _, half := range []bool{false, true} {
			for name, tokens := range map[string][]int{
				"one token": {1}, "full": {40}, "few": {3, 0, 17}, "many": {40, 1, 2, 39, 17, 16, 15, 4, 33},
			} {
				t.Run(fmt.Sprintf("%dx%d half=%t %s", h.count, h.dim, half, name), func(t *testing.T) {
					s, after := newStore(h.dim, h, half, 40, tokens...), arg{}
					if name == "few" {
						s.p.scale, after = nil, int32s(1)
					}
					s.require(t, after)
				})
			}
		}
	}
}

// A number too large for half precision becomes the largest one.
func TestStoreCrossSaturates(t *testing.T) {
	s := newStore(1, heads{1, 17}, true, 1, 1)
	clear(s.p.bias)
	s.p.scale[0] = 1
	values := []float32{65504, 65519.99, 65520, 65536, 1e9, huge, inf, -65520, -inf, zero, minus, 0x1p-24, 0x1p-25, 0x1.8p-25, -0x1p-24, tiny}
	copy(s.p.acc, values)
	require.Equal(t, []any{[]int32{1}}, s.call(s.cross, arg{}).run(t))
	got := s.cross.read(1, int(s.slots[0]), 0, 0, 0, len(values))
	require.Equal(t, []float64{65504, 65504, 65504, 65504, 65504, 65504, 65504, -65504, -65504, 0, 0, 0x1p-24, 0, 0x1p-24, -0x1p-24, 0}, got)
	require.False(t, math.Signbit(got[9]))
}
