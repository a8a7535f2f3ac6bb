package ops_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/x448/float16"

	"dragoman/model/onnx"
)

// matrix is a depth × width matrix, by columns. For half precision its numbers are rounded to it.
type matrix struct {
	values       []float32 // [width, depth]
	depth, width int
	half         bool
}

func newMatrix(seed, depth, width int, half bool) matrix {
	m := matrix{normal(random(seed), depth*width, 1), depth, width, half}
	for i, v := range m.values {
		if half {
			m.values[i] = float16.Fromfloat32(v).Float32()
		}
	}
	return m
}

// arg is the matrix in panels of 32 columns.
func (m matrix) arg() arg {
	panels := (m.width + 31) / 32
	values, small := make([]float32, panels*m.depth*32), make([]float16.Float16, panels*m.depth*32)
	for i := range m.width {
		for k := range m.depth {
			at := (i/32*m.depth+k)*32 + i%32
			values[at] = m.values[i*m.depth+k]
			small[at] = float16.Fromfloat32(values[at])
		}
	}
	if m.half {
		return halves(small, panels, m.depth, 32)
	}
	return floats(values, panels, m.depth, 32)
}

// op returns the name of an operator on the matrix.
func (m matrix) op(name string) string {
	if m.half {
		return name + "F16"
	}
	return name + "F32"
}

// multiplication is x·w, or max(0, x·w + bias).
type multiplication struct {
	x    []float32 // [rows, depth]
	rows int
	w    matrix
	bias []float32 // nil: none
}

func newMultiplication(seed, rows, depth, width int, half, relu bool) multiplication {
	m := multiplication{x: normal(random(seed+1), rows*depth, 1), rows: rows, w: newMatrix(seed, depth, width, half)}
	if relu {
		m.bias = normal(random(seed+2), width, 1)
	}
	return m
}

func (m multiplication) call() call {
	c := call{op: m.w.op("Product"), attrs: []onnx.Attr{onnx.Int("width", m.w.width)}, outputs: []onnx.DataType{onnx.Float32},
		inputs: []arg{floats(m.x, m.rows, m.w.depth), m.w.arg()}}
	if m.bias != nil {
		c.op, c.inputs = m.w.op("ProductRelu"), append(c.inputs, floats(m.bias, m.w.width))
	}
	return c
}

func (m multiplication) run(t testing.TB) []float32 {
	t.Helper()
	return m.call().run(t)[0].([]float32)
}

// slice returns the product of a range of rows.
func (m multiplication) slice(from, to int) multiplication {
	m.x, m.rows = m.x[from*m.w.depth:to*m.w.depth], to-from
	return m
}

// require checks every output against its definition.
func (m multiplication) require(t testing.TB, got []float32) {
	t.Helper()
	require.Len(t, got, m.rows*m.w.width)
	for r := range m.rows {
		x := m.x[r*m.w.depth : (r+1)*m.w.depth]
		for i := range m.w.width {
			want, size := 0.0, 0.0
			for k, w := range m.w.values[i*m.w.depth : (i+1)*m.w.depth] {
				want += float64(x[k]) * float64(w)
				size += math.Abs(float64(x[k]) * float64(w))
			}
			if m.bias != nil {
				size += math.Abs(float64(m.bias[i]))
				want = max(0, want+float64(m.bias[i]))
			}
			requireNear(t, want, got[r*m.w.width+i], 1e-7*size*(2+math.Sqrt(float64(m.w.depth)))+1e-37, "output", r*m.w.width+i)
		}
	}
}

func TestFloatProduct(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {3, 31}, {16, 32}, {17, 33}, {64, 100}, {257, 65}, {1000, 16}, {1024, 200}} {
		for rows := range 30 {
			half, relu := rows%2 == 1, rows%3 == 1
			t.Run(fmt.Sprintf("%dx%dx%d half=%t relu=%t", rows, size[0], size[1], half, relu), func(t *testing.T) {
				m := newMultiplication(rows, rows, size[0], size[1], half, relu)
				m.require(t, m.run(t))
			})
		}
	}
}

// A row's result is the same to the last bit for any number of other rows with any contents.
func TestFloatProductIsInvariant(t *testing.T) {
	const most = 100
	for _, size := range [][2]int{{5, 40}, {256, 96}, {1024, 63}} {
		for _, half := range []bool{false, true} {
			for _, relu := range []bool{false, true} {
				t.Run(fmt.Sprintf("%dx%d half=%t relu=%t", size[0], size[1], half, relu), func(t *testing.T) {
					m := newMultiplication(1, most, size[0], size[1], half, relu)
					all := m.run(t)
					for rows := 1; rows < most; rows += 1 + rows/20 {
						first := (rows * 7) % (most - rows)
						got := m.slice(first, first+rows).run(t)
						require.Equal(t, all[first*size[1]:(first+rows)*size[1]], got, "%d rows", rows)
					}
				})
			}
		}
	}
}

// A NaN or an infinity gives results that are not finite, and affects no other results.
func TestFloatProductNoNumbers(t *testing.T) {
	for _, bad := range []float32{nan, inf, -inf} {
		for _, relu := range []bool{false, true} {
			m := newMultiplication(1, 14, 40, 70, false, relu)
			want := m.run(t)
			m.x = slices.Clone(m.x)
			m.x[3*40+11] = bad
			got := m.run(t)
			for i := range got {
				switch v := float64(got[i]); {
				case i/70 != 3:
					require.Equal(t, want[i], got[i], "output %d", i)
				case bad != bad:
					require.True(t, math.IsNaN(v), "output %d is %g", i, v)
				default:
					require.True(t, math.IsInf(v, 0) || relu && v == 0, "output %d is %g", i, v)
				}
			}
		}
	}
}

// embedding looks tokens up.
type embedding struct {
	table     matrix // a column for each token
	positions []float32
	ids, pos  []int64
}

const lastPosition = 9

func newEmbedding(seed, rows, width, tokens int, half bool) embedding {
	r := random(seed)
	e := embedding{table: newMatrix(seed, width, tokens, half), positions: normal(r, (lastPosition+1)*width, 1)}
	for range rows {
		e.ids, e.pos = append(e.ids, int64(r.IntN(tokens))), append(e.pos, int64(r.IntN(lastPosition+1)))
	}
	return e
}

func (e embedding) call() call {
	return call{op: e.table.op("Embed"), attrs: []onnx.Attr{onnx.Int("width", e.table.width), onnx.Float("scale", 3)},
		outputs: []onnx.DataType{onnx.Float32},
		inputs:  []arg{e.table.arg(), int64s(e.ids...), floats(e.positions, lastPosition+1, e.table.depth), int64s(e.pos...)}}
}

// rowwise returns the call with a table in halves that has a row per token.
func (e embedding) rowwise() call {
	c, rows := e.call(), make([]float16.Float16, 0, len(e.table.values))
	for _, v := range e.table.values {
		rows = append(rows, float16.Fromfloat32(v))
	}
	c.op, c.attrs[0] = "EmbedRows", onnx.Int("width", e.table.depth)
	c.inputs[0] = halves(rows, e.table.width, e.table.depth)
	return c
}

func TestEmbed(t *testing.T) {
	for _, half := range []bool{false, true} {
		for _, size := range [][2]int{{1, 1}, {17, 33}, {256, 100}, {1024, 64}} {
			for _, rows := range rowCount {
				e := newEmbedding(rows, rows, size[0], size[1], half)
				got := e.call().run(t)[0].([]float32)
				require.Len(t, got, rows*size[0])
				if half {
					require.Equal(t, got, e.rowwise().run(t)[0])
				}
				for i, v := range got {
					r, k := i/size[0], i%size[0]
					position := float64(e.positions[int(e.pos[r])*size[0]+k])
					want := float64(e.table.values[int(e.ids[r])*size[0]+k])*3 + position
					requireNear(t, want, v, 4e-7*(math.Abs(want)+math.Abs(position)), "element", i)
				}
				plain := e.call()
				plain.inputs[2], plain.inputs[3] = arg{}, arg{}
				for i, v := range plain.run(t)[0].([]float32) {
					want := float64(e.table.values[int(e.ids[i/size[0]])*size[0]+i%size[0]]) * 3
					requireNear(t, want, v, 4e-7*math.Abs(want), "element without positions", i)
				}
			}
		}
	}
}

func FuzzFloatProduct(f *testing.F) {
	f.Add(1, uint8(1), uint16(1), uint8(1), []byte{0x3f, 0x80})
	f.Add(2, uint8(13), uint16(70), uint8(45), []byte("numbers from the letters of a sentence"))
	f.Add(3, uint8(40), uint16(3), uint8(255), []byte{0x7f, 0xc0, 0xff, 0x80, 0, 0, 0x80, 0, 0, 1, 0x7f, 0x7f})
	f.Fuzz(func(t *testing.T, seed int, rows uint8, depth uint16, width uint8, data []byte) {
		n, k := 1+int(rows)%64, 1+int(depth)%600
		m := newMultiplication(seed, n, k, 1+int(width), seed%2 == 0, seed%3 == 0)
		values := fuzzed(data)
		copy(m.x, values)
		got := m.run(t)
		if finite(values) {
			m.require(t, got)
		}
		last := m.slice(n-1, n).run(t)
		for i, v := range last { // compares bits: NaN equals nothing
			require.Equal(t, math.Float32bits(got[(n-1)*m.w.width+i]), math.Float32bits(v), "output %d depends on other rows", i)
		}
	})
}
