package ops_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// fuzzed turns bytes into numbers of all magnitudes, including NaN and infinities.
func fuzzed(data []byte) []float32 {
	x := make([]float32, 0, len(data)/2)
	for ; len(data) >= 2; data = data[2:] {
		x = append(x, math.Float32frombits(uint32(data[0])<<24|uint32(data[1])<<16))
	}
	return x
}

// finite reports whether all numbers of x, and their squares, are finite.
func finite(x []float32) bool {
	for _, v := range x {
		if !(math.Abs(float64(v)) < 1e15) {
			return false
		}
	}
	return true
}

func FuzzRows(f *testing.F) {
	f.Add([]byte{0x3f, 0x80}, uint8(1))
	f.Add([]byte("a row of numbers from the letters of a sentence"), uint8(3))
	f.Add([]byte{0x7f, 0xc0, 0xff, 0x80, 0, 0, 0x80, 0, 0, 1, 0x7f, 0x7f}, uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, rows uint8) {
		x := fuzzed(data)
		if rows == 0 || len(x) < int(rows) {
			return
		}
		width := len(x) / int(rows)
		x = x[:width*int(rows)]
		q, scale := quantize(t, x, int(rows), width)
		n := newNorm(1, int(rows), width)
		n.x = x
		total, y := n.run(t)
		for r := range int(rows) {
			from, to := r*width, (r+1)*width
			if finite(x[from:to]) {
				requireQuantized(t, doubles(x[from:to]), q[from:to], scale[r], 128, 127)
				n.require(t, r, total[from:to], y[from:to])
			}
		}
	})
}

func FuzzAttention(f *testing.F) {
	f.Add(1, uint8(2), uint8(8), uint8(4), uint8(17), true)
	f.Add(2, uint8(1), uint8(1), uint8(1), uint8(0), false)
	f.Add(3, uint8(3), uint8(33), uint8(7), uint8(63), true)
	f.Fuzz(func(t *testing.T, seed int, count, dim, rows, position uint8, half bool) {
		h := heads{1 + int(count)%3, 1 + int(dim)%40}
		position %= 64
		first := group{1 + int(rows)%8, int(position), false}
		s := newStep(seed, h, half, 64, first, group{1 + int(rows)%3, 0, true}, group{1, int(position) / 2, false})
		s.require(t)
		s.distances = newDistances(h, int(count)%20, false)
		s.require(t)
		newSource(seed, h, half, 64, first.rows, 1+int(count)%5).require(t)
		requireSelfAttention(t, h, newProduct(seed, first.rows+int(position), 3*h.width()), lengthsOf(first.rows, int(position)),
			newDistances(h, int(count)%20, true))
	})
}

func FuzzBestCandidates(f *testing.F) {
	f.Add([]byte{0x3f, 0x80, 0x3f, 0x80, 0xbf, 0x80}, uint16(1))
	f.Add([]byte("logits from the letters of a sentence, of which many are the same"), uint16(9))
	f.Add([]byte{0x7f, 0xc0, 0xff, 0x80, 0, 0, 0x80, 0, 0, 1, 0x7f, 0x7f}, uint16(2))
	f.Fuzz(func(t *testing.T, data []byte, k uint16) {
		h := head{acc: fuzzed(data), rows: 1, k: int(k)}
		h.vocab = len(h.acc)
		if h.k < 1 || h.k > h.vocab {
			return
		}
		if finite(h.acc) {
			h.require(t)
			return
		}
		got := h.run(t)
		for _, id := range got.ids {
			require.True(t, 0 <= id && id < int64(h.vocab), "id %d of %d", id, h.vocab)
		}
	})
}
