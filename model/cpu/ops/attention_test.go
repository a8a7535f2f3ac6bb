package ops_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/model/onnx"
)

var headSizes = []heads{{1, 1}, {3, 8}, {2, 11}, {9, 12}, {2, 64}, {2, 80}}

// group is a sentence of a step: rows at a position, or the first `rows` tokens of a
// prefix, all fed at once.
type group struct {
	rows, position int
	prefix         bool
}

// step is the input of CachedAttention.
type step struct {
	p         product
	h         heads
	kv        memory
	layer     int
	groups    []group
	rows      []int32
	positions []int64
	history   []int32 // [rows, width]
	width     int     // of the history
	distances
}

// newStep makes up a step: each row of the groups has a row of the memory, and its tokens are spread over the rows of its group.
func newStep(seed int, h heads, half bool, capacity int, groups ...group) step {
	r := random(seed)
	s := step{h: h, groups: groups, layer: 1, width: capacity + 3}
	first, kvRows := 0, r.Perm(countRows(groups)+2)
	for _, g := range groups {
		own := kvRows[first : first+g.rows]
		for i := range g.rows {
			row, position := own[i], g.position
			if g.prefix {
				row, position = own[0], i
			}
			s.addRow(r, row, position, own, g.prefix)
		}
		first += g.rows
	}
	s.p = newProduct(seed, first, 3*h.width())
	s.kv = newMemory(r, 2, len(kvRows), capacity, h.width(), half)
	return s
}

func (s *step) addRow(r *rand.Rand, row, position int, own []int, prefix bool) {
	s.rows, s.positions = append(s.rows, int32(row)), append(s.positions, int64(position))
	for t := range s.width {
		in := int32(-1) // memory after the position must not be read
		switch {
		case t == position, t < position && prefix:
			in = int32(row)
		case t < position:
			in = int32(own[r.IntN(len(own))])
		}
		s.history = append(s.history, in)
	}
}

func countRows(groups []group) int {
	n := 0
	for _, g := range groups {
		n += g.rows
	}
	return n
}

// offsets returns the start of each group, and the end of the last one.
func offsets(groups []group) []int32 {
	out := []int32{0}
	for _, g := range groups {
		out = append(out, out[len(out)-1]+int32(g.rows))
	}
	return out
}

// only returns the step with only group g.
func (s step) only(g int) step {
	from, to := int(offsets(s.groups)[g]), int(offsets(s.groups)[g+1])
	s.groups = s.groups[g : g+1]
	s.rows, s.positions = s.rows[from:to], s.positions[from:to]
	s.history = s.history[from*s.width : to*s.width]
	s.p = s.p.slice(from, to)
	return s
}

// rowOnly returns the step with only row r.
func (s step) rowOnly(r int) step {
	s.groups = []group{{rows: 1}}
	s.rows, s.positions = s.rows[r:r+1], s.positions[r:r+1]
	s.history = s.history[r*s.width : (r+1)*s.width]
	s.p = s.p.slice(r, r+1)
	return s
}

func (p product) slice(from, to int) product {
	p.acc = p.acc[from*p.width : to*p.width]
	if p.scale != nil {
		p.scale = p.scale[from:to]
	}
	p.rows = to - from
	return p
}

func (s step) call(kv memory) call {
	acc, bias, scale := s.p.args()
	return s.add(call{op: "CachedAttention", attrs: s.h.attrs(s.layer), outputs: []onnx.DataType{onnx.Float32}, inputs: []arg{
		acc, bias, int32s(s.rows...), int64s(s.positions...), newArg(onnx.Int32, s.history, []int{len(s.rows), s.width}),
		int32s(offsets(s.groups)...), kv.arg(), scale}})
}

// run runs the step on a copy of the memory.
func (s step) run(t *testing.T) ([]float32, memory) {
	t.Helper()
	kv := s.kv.clone()
	return s.call(kv).run(t)[0].([]float32), kv
}

// require runs the step and checks all results.
func (s step) require(t *testing.T) {
	t.Helper()
	got, stored := s.run(t)
	want, width := s.kv.clone(), s.h.width()
	for r, row := range s.rows {
		want.requireStored(t, stored, s.layer, int(row), int(s.positions[r]), s.p, r, width)
	}
	require.Equal(t, want.data, stored.data, "nothing else in the memory is touched")
	for r := range s.rows {
		var places []place
		for token := range int(s.positions[r]) + 1 {
			places = append(places, place{int(s.history[r*s.width+token]), token})
		}
		stored.requireAttended(t, got[r*width:(r+1)*width], s.h, s.layer, s.p, r, places, s.distances)
	}
	at := offsets(s.groups)
	for g := range s.groups {
		alone, _ := s.only(g).run(t)
		require.Equal(t, alone, got[int(at[g])*width:int(at[g+1])*width], "group %d depends on the others", g)
	}
	for r := range s.rows { // on a memory with the other rows' tokens
		alone := s.rowOnly(r).call(stored).run(t)[0]
		require.Equal(t, alone, got[r*width:(r+1)*width], "row %d depends on the others", r)
	}
	require.Equal(t, want.data, stored.data, "a row alone writes the same")
}

func TestCachedAttention(t *testing.T) {
	for _, h := range headSizes {
		for _, half := range []bool{false, true} {
			for name, groups := range map[string][]group{
				"first token": {{1, 0, false}},
				"greedy":      {{1, 5, false}},
				"prefix":      {{3, 0, true}},
				"beams":       {{5, 17, false}},
				"mixed": {{1, 0, false}, {4, 33, false}, {2, 0, true}, {1, 30, false}, {5, 1, false},
					{7, 15, false}, {1, 0, true}, {10, 16, false}, {5, 39, false}, {4, 2, false}},
			} {
				t.Run(fmt.Sprintf("%dx%d half=%t %s", h.count, h.dim, half, name), func(t *testing.T) {
					s := newStep(h.dim, h, half, 40, groups...)
					if name == "beams" {
						s.p.scale = nil
					}
					s.require(t)
				})
			}
		}
	}
}

func TestCachedAttentionLengths(t *testing.T) {
	for position := 0; position < 200; position += 1 + position/32 {
		newStep(position, heads{1, 12}, position%2 == 0, 200, group{2, position, false}).require(t)
	}
}

// source is the input of CrossAttention: sentence g's rows attend to the first
// lengths[g] tokens of row slots[g] of the memory.
type source struct {
	p              product
	h              heads
	cross          memory
	groups         []group
	slots, lengths []int32
}

func newSource(seed int, h heads, half bool, capacity int, rows ...int) source {
	r := random(seed)
	s := source{h: h}
	for g, slot := range r.Perm(len(rows) + 1)[:len(rows)] {
		s.groups = append(s.groups, group{rows: rows[g]})
		s.slots, s.lengths = append(s.slots, int32(slot)), append(s.lengths, int32(1+r.IntN(capacity)))
	}
	s.p = newProduct(seed, countRows(s.groups), h.width())
	s.cross = newMemory(r, 3, len(rows)+1, capacity, h.width(), half)
	return s
}

func (s source) only(g int) source {
	at := offsets(s.groups)
	s.p = s.p.slice(int(at[g]), int(at[g+1]))
	s.groups, s.slots, s.lengths = s.groups[g:g+1], s.slots[g:g+1], s.lengths[g:g+1]
	return s
}

func (s source) call() call {
	acc, bias, scale := s.p.args()
	return call{op: "CrossAttention", attrs: s.h.attrs(2), outputs: []onnx.DataType{onnx.Float32}, inputs: []arg{
		acc, bias, int32s(offsets(s.groups)...), int32s(s.slots...), int32s(s.lengths...), s.cross.arg(), scale}}
}

func (s source) require(t *testing.T) {
	t.Helper()
	before := s.cross.clone()
	got := s.call().run(t)[0].([]float32)
	require.Equal(t, before.data, s.cross.data, "the memory is only read")
	at, width := offsets(s.groups), s.h.width()
	for g, slot := range s.slots {
		var places []place
		for token := range int(s.lengths[g]) {
			places = append(places, place{int(slot), token})
		}
		for r := int(at[g]); r < int(at[g+1]); r++ {
			s.cross.requireAttended(t, got[r*width:(r+1)*width], s.h, 2, s.p, r, places, distances{})
		}
		alone := s.only(g).call().run(t)[0]
		for r := int(at[g]); r < int(at[g+1]); r++ {
			one := s.only(g)
			one.p, one.groups = s.p.slice(r, r+1), []group{{rows: 1}}
			require.Equal(t, one.call().run(t)[0], got[r*width:(r+1)*width], "row %d depends on the others", r)
		}
		require.Equal(t, alone, got[int(at[g])*width:int(at[g+1])*width], "sentence %d depends on the others", g)
	}
}

func TestCrossAttention(t *testing.T) {
	for _, h := range headSizes {
		for _, half := range []bool{false, true} {
			for name, rows := range map[string][]int{
				"greedy": {1}, "beams": {5}, "few": {1, 4, 2}, "many": {4, 1, 5, 4, 4, 1, 5, 4, 4, 4, 1},
			} {
				t.Run(fmt.Sprintf("%dx%d half=%t %s", h.count, h.dim, half, name), func(t *testing.T) {
					s := newSource(h.dim, h, half, 50, rows...)
					if name == "beams" {
						s.p.scale = nil
					}
					s.require(t)
				})
			}
		}
	}
}

func TestCrossAttentionLengths(t *testing.T) {
	s := newSource(1, heads{2, 8}, true, 200, 2)
	for length := int32(0); length < 200; length += 1 + length/32 {
		s.lengths[0] = length + 1
		s.require(t)
	}
}

// For all numbers, the weights add up to one, and the result lies between the values.
func TestAttentionEdges(t *testing.T) {
	for name, set := range map[string]func(s *source){
		"queries of zeros": func(s *source) { s.setQueries(0) },
		"large scores":     func(s *source) { s.setQueries(1e6) },
		"minus large":      func(s *source) { s.setQueries(-1e6) },
		"tiny":             func(s *source) { s.setQueries(tiny) },
		"memory of zeros":  func(s *source) { clear(s.cross.data) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, half := range []bool{false, true} {
				s := newSource(4, heads{2, 12}, half, 20, 3)
				set(&s)
				s.require(t)
			}
		})
	}
	t.Run("nan", func(t *testing.T) {
		s := newSource(4, heads{2, 12}, true, 20, 2, 2)
		s.p.acc[12] = nan // in the second head of the first row
		got := s.call().run(t)[0].([]float32)
		for i, v := range got {
			require.Equal(t, 12 <= i && i < 24, math.IsNaN(float64(v)), "column %d", i)
		}
	})
}

func (s *source) setQueries(x float32) {
	clear(s.p.bias)
	s.p.acc = filled(len(s.p.acc), x)
}

// Two rows with equal histories and queries have equal results, whichever rows of the memory hold their last tokens.
func TestCachedAttentionTies(t *testing.T) {
	s := newStep(1, heads{2, 64}, true, 40, group{2, 33, false})
	copy(s.history[s.width:], s.history[:33])
	copy(s.p.acc[s.p.width:], s.p.acc[:s.p.width])
	s.p.scale[1] = s.p.scale[0]
	got, _ := s.run(t)
	require.True(t, slices.Equal(got[:128], got[128:]))
}
