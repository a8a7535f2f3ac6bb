package ops_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/x448/float16"

	"dragoman/model/onnx"
)

// heads are an operator's attributes.
type heads struct{ count, dim int }

func (h heads) width() int { return h.count * h.dim }

func (h heads) attrs(layer ...int) []onnx.Attr {
	attrs := []onnx.Attr{onnx.Int("heads", h.count), onnx.Int("head_dim", h.dim)}
	for _, l := range layer {
		attrs = append(attrs, onnx.Int("layer", l))
	}
	return attrs
}

// memory holds keys and values: [layers, rows, 2, capacity, width] in half or single precision.
type memory struct {
	layers, rows, capacity, width int
	half                          bool
	data                          []uint8
}

// newMemory returns memory full of numbers, so that wrong reads are noticed.
func newMemory(r *rand.Rand, layers, rows, capacity, width int, half bool) memory {
	m := memory{layers, rows, capacity, width, half, nil}
	for range layers * rows * 2 * capacity * width {
		x := float32(r.NormFloat64())
		if half {
			m.data = binary.LittleEndian.AppendUint16(m.data, float16.Fromfloat32(x).Bits())
		} else {
			m.data = binary.LittleEndian.AppendUint32(m.data, math.Float32bits(x))
		}
	}
	return m
}

func (m memory) clone() memory {
	m.data = slices.Clone(m.data)
	return m
}

func (m memory) size() int {
	if m.half {
		return 2
	}
	return 4
}

func (m memory) arg() arg { return octets(m.data, m.layers, m.rows, m.capacity, 2*m.width*m.size()) }

// bytes returns the numbers from column `from` to column `to` of a token: of its keys (part 0) or its values (part 1).
func (m memory) bytes(layer, row, part, token, from, to int) []uint8 {
	at := ((layer*m.rows+row)*2+part)*m.capacity + token
	return m.data[(at*m.width+from)*m.size() : (at*m.width+to)*m.size()]
}

func (m memory) read(layer, row, part, token, from, to int) []float64 {
	bytes := m.bytes(layer, row, part, token, from, to)
	x := make([]float64, to-from)
	for i := range x {
		if m.half {
			x[i] = float64(float16.Frombits(binary.LittleEndian.Uint16(bytes[2*i:])).Float32())
		} else {
			x[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(bytes[4*i:])))
		}
	}
	return x
}

// requireStored checks that a token has the keys and values from column `from` of row r of p on, and copies the token's contents
// from m, so that the memories can be compared.
func (m memory) requireStored(t *testing.T, stored memory, layer, row, token int, p product, r, from int) {
	t.Helper()
	for part := range 2 {
		for i, got := range stored.read(layer, row, part, token, 0, m.width) {
			want := p.at(r, from+part*m.width+i)
			size := math.Abs(float64(p.acc[r*p.width+from+part*m.width+i]))*2 + math.Abs(want)
			if m.half {
				size += math.Abs(want) * 0x1p-11 / 3e-7 // half a unit in the last of 11 bits
				want = max(-65504, min(65504, want))
			}
			requireNear(t, want, float32(got), 3e-7*size+0x1p-25, "column", i)
		}
		copy(m.bytes(layer, row, part, token, 0, m.width), stored.bytes(layer, row, part, token, 0, m.width))
	}
}

// place is the position of a token in the memory.
type place struct{ row, token int }

// requireAttended checks the attention of a row of queries.
func (m memory) requireAttended(t *testing.T, got []float32, h heads, layer int, p product, r int, places []place, d distances) {
	t.Helper()
	for head := range h.count {
		from, to := head*h.dim, (head+1)*h.dim
		query, keys, values := make([]float64, h.dim), make([][]float64, len(places)), make([][]float64, len(places))
		for i := range query {
			query[i] = p.at(r, from+i)
		}
		for i, at := range places {
			keys[i] = m.read(layer, at.row, 0, at.token, from, to)
			values[i] = m.read(layer, at.row, 1, at.token, from, to)
		}
		requireAttention(t, got[from:to], query, keys, values, d.bias(head, len(keys)-1, len(keys)))
	}
}

// requireAttention checks the attention of one head by its definition. Without bias, queries are scaled.
func requireAttention(t *testing.T, got []float32, query []float64, keys, values [][]float64, bias []float64) {
	t.Helper()
	scale := 1 / math.Sqrt(float64(len(query)))
	if bias != nil {
		scale = 1
	}
	scores, peak, size, largest := make([]float64, len(keys)), math.Inf(-1), 0.0, 0.0
	for i, key := range keys {
		magnitude := 0.0
		for j, q := range query {
			scores[i] += q * key[j] * scale
			magnitude += math.Abs(q*key[j]) * scale
			largest = max(largest, math.Abs(values[i][j]))
		}
		if bias != nil {
			scores[i] += bias[i]
			magnitude += math.Abs(bias[i])
		}
		peak, size = max(peak, scores[i]), max(size, magnitude)
	}
	want, total := make([]float64, len(query)), 0.0
	for i, score := range scores {
		weight := math.Exp(score - peak)
		total += weight
		for j, v := range values[i] {
			want[j] += weight * v
		}
	}
	for j := range want {
		requireNear(t, want[j]/total, got[j], (1e-6*size+4e-6)*largest+1e-30, "column", j)
	}
}
