package ops_test

import (
	"fmt"
	"math"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/onnx"
)

// int8Product is the input of ProductInt8.
type int8Product struct {
	rows, depth, width int
	positive           bool // x counts from 0, else from 128
	alpha              float32
	x                  []uint8
	w                  []int8 // [width, depth]
	scale              []float32
}

func newInt8Product(seed, rows, depth, width int, positive bool) int8Product {
	p := int8Product{rows: rows, depth: depth, width: width, positive: positive}
	r := random(seed)
	p.x, p.w, p.scale = make([]uint8, rows*depth), make([]int8, width*depth), positive32(r.Float32, width)
	for i := range p.x {
		p.x[i] = uint8(r.Uint32())
	}
	for i := range p.w {
		p.w[i] = int8(r.Uint32())
	}
	return p
}

// positive32 returns n scales.
func positive32(next func() float32, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = 0.001 + next()
	}
	return x
}

// matrix returns the inputs of the matrix.
func (p int8Product) matrix() []arg {
	panels, steps := (p.width+15)/16, (p.depth+3)/4
	packed, sums := make([]int8, panels*steps*64), make([]int32, p.width)
	for i, v := range p.w {
		c, d := i/p.depth, i%p.depth
		packed[((c/16*steps+d/4)*16+c%16)*4+d%4] = v
		sums[c] += int32(v)
	}
	return []arg{int8s(packed, panels, steps, 16, 4), int32s(sums...), floats(p.scale, p.width)}
}

func (p int8Product) call() call {
	attr := onnx.Int("positive", 0)
	if p.positive {
		attr = onnx.Int("positive", 1)
	}
	return call{op: "ProductInt8", attrs: []onnx.Attr{attr, onnx.Float("alpha", p.alpha)}, outputs: []onnx.DataType{onnx.Float32},
		inputs: append([]arg{octets(p.x, p.rows, p.depth)}, p.matrix()...)}
}

func (p int8Product) run(t testing.TB) []float32 {
	t.Helper()
	return p.call().run(t)[0].([]float32)
}

// require runs the operator. Sums are exact, so the results are equal to the last bit on every CPU and in every batch.
func (p int8Product) require(t testing.TB) {
	t.Helper()
	zero, unit := int64(128), float32(1.0/127)
	if p.positive {
		zero, unit = 0, 1.0/255
	}
	if p.alpha > 0 {
		zero, unit = 0, 1
	}
	want := make([]float32, p.rows*p.width)
	for i := range want {
		var sum int64
		x, w := p.x[i/p.width*p.depth:][:p.depth], p.w[i%p.width*p.depth:][:p.depth]
		for j := range x {
			sum += (int64(x[j]) - zero) * int64(w[j])
		}
		want[i] = float32(sum) * (p.scale[i%p.width] * unit)
	}
	require.Equal(t, want, p.run(t))
}

func TestProductInt8(t *testing.T) {
	for _, depth := range []int{1, 3, 4, 5, 64, 131} {
		for _, width := range []int{1, 15, 16, 17, 48, 49, 100} {
			for _, rows := range []int{0, 1, 2, 7, 8, 9, 17} {
				newInt8Product(rows, rows, depth, width, (rows+depth)%2 == 0).require(t)
			}
		}
	}
	t.Run("on several threads", func(t *testing.T) {
		newInt8Product(1, 1, 1030, 2049, false).require(t)
		newInt8Product(2, 40, 300, 500, true).require(t)
	})
	t.Run("rows in blocks", func(t *testing.T) {
		newInt8Product(3, 300, 2100, 50, false).require(t)
		newInt8Product(4, 601, 20, 300, true).require(t)
	})
	t.Run("by an alpha", func(t *testing.T) {
		p := newInt8Product(6, 5, 70, 40, false)
		p.alpha = 3
		p.require(t)
	})
	t.Run("no inputs", func(t *testing.T) { newInt8Product(5, 3, 0, 20, false).require(t) })
	t.Run("no outputs", func(t *testing.T) { newInt8Product(5, 3, 20, 0, false).require(t) })
}

// A row's result is the same alone and at any place of any batch.
func TestProductInt8Alone(t *testing.T) {
	all := newInt8Product(1, 35, 70, 130, false)
	want := all.run(t)
	for r := range all.rows {
		p := all
		p.rows, p.x = 1, all.x[r*all.depth:(r+1)*all.depth]
		require.Equal(t, want[r*all.width:(r+1)*all.width], p.run(t), "row %d", r)
	}
}

func FuzzProductInt8(f *testing.F) {
	f.Add([]byte{255, 0, 128, 127}, uint8(1), uint8(1), false)
	f.Add([]byte("rows of a matrix from the letters of a sentence, and others for the other matrix"), uint8(3), uint8(17), true)
	f.Fuzz(func(t *testing.T, data []byte, rows, width uint8, positive bool) {
		if rows == 0 {
			return
		}
		p := int8Product{rows: int(rows), depth: len(data) / int(rows), width: int(width), positive: positive}
		p.x, p.scale = data[:p.rows*p.depth], filled(p.width, 0.3)
		for i := range p.width * p.depth {
			p.w = append(p.w, int8(data[(i*7+i/3)%len(data)]))
		}
		p.require(t)
	})
}

// TestInt8Paths: all code paths of this CPU compute the same, and access only their memory.
func TestInt8Paths(t *testing.T) {
	t.Parallel()
	t.Run("optimized", func(t *testing.T) {
		requirePaths(t, buildFrom(t, "product_int8.c", "-O2").command())
	})
	t.Run("sanitizers", func(t *testing.T) {
		requirePaths(t, buildFrom(t, "product_int8.c", sanitizers(t)...).command())
	})
}

func requirePaths(t *testing.T, program *exec.Cmd) {
	t.Helper()
	out, err := program.CombinedOutput()
	require.NoError(t, err, string(out))
	t.Log("paths: ", strings.ReplaceAll(string(out), "\n", ", "))
	assert.Contains(t, string(out), "plain C")
}

// newInt8Head returns an 8-bit head, and a float head with the same results.
func newInt8Head(t *testing.T, seed, rows, depth, vocab, k int) (int8Product, head) {
	p := newInt8Product(seed, rows, depth, vocab, false)
	h := newHead(seed, rows, vocab, k).withTable(seed, 1+vocab%50)
	for i := range p.scale {
		p.scale[i] /= 8 * float32(math.Sqrt(float64(depth)))
	}
	h.acc = p.run(t)
	return p, h
}

func (p int8Product) head(h head) call {
	inputs := append([]arg{octets(p.x, p.rows, p.depth)}, p.matrix()...)
	inputs = append(inputs, floats(h.scale, h.rows), int64s(int64(h.k)))
	x, table := arg{}, arg{}
	if h.x != nil {
		x = floats(h.x, h.rows, h.width)
	}
	if h.table != nil {
		table = halves(h.table, h.vocab, h.width)
	}
	inputs = append(inputs, x, table)
	if h.bias != nil {
		inputs = append(inputs, floats(h.bias, h.vocab))
	}
	return call{op: "BestCandidatesInt8", attrs: []onnx.Attr{onnx.Int("spare", h.spare)}, inputs: inputs,
		outputs: []onnx.DataType{onnx.Float32, onnx.Int64, onnx.Float32}}
}

func (p int8Product) best(t *testing.T, h head) best {
	t.Helper()
	out := p.head(h).run(t)
	return best{out[0].([]float32), out[1].([]int64), out[2].([]float32)}
}

func TestBestCandidatesInt8(t *testing.T) {
	for _, vocab := range []int{1, 15, 16, 17, 191, 192, 193, 1000, 3001} {
		for _, rows := range []int{1, 2, 9} {
			for _, k := range []int{1, 10, 300} {
				if k > vocab {
					continue
				}
				t.Run(fmt.Sprintf("%dx%d k=%d", rows, vocab, k), func(t *testing.T) {
					p, h := newInt8Head(t, vocab+rows, rows, 37, vocab, k)
					if rows == 2 {
						h.x, h.table = nil, nil
					}
					requireInt8Head(t, p, h)
				})
			}
		}
	}
	t.Run("whole vocabulary", func(t *testing.T) {
		p, h := newInt8Head(t, 1, 4, 16, 128112, 10)
		requireInt8Head(t, p, h)
	})
	t.Run("rows in blocks", func(t *testing.T) {
		p, h := newInt8Head(t, 1, 300, 8, 700, 4)
		requireInt8Head(t, p, h)
	})
}

// requireInt8Head checks every row against BestCandidates, and alone.
func requireInt8Head(t *testing.T, p int8Product, h head) {
	t.Helper()
	got, want := p.best(t, h), h.run(t)
	require.Equal(t, want.ids, got.ids)
	for r, lse := range want.lse {
		_, _, tolerance := h.reference(r)
		requireNear(t, float64(lse), got.lse[r], tolerance, "log-sum-exp", r)
		for i, v := range want.row(r, h.k).logProbs {
			requireNear(t, float64(v), got.row(r, h.k).logProbs[i], 1e-4+tolerance+4e-6*math.Abs(float64(v)), "log-probability", i)
		}
	}
	for r := 0; r < p.rows; r += 1 + p.rows/10 {
		alone := p
		alone.rows, alone.x = 1, p.x[r*p.depth:(r+1)*p.depth]
		require.Equal(t, got.row(r, h.k), alone.best(t, h.row(r)), "row %d depends on the others", r)
	}
}

// Equal logits are ordered by id, whatever thread finds them first.
func TestBestCandidatesInt8Ties(t *testing.T) {
	p, h := newInt8Head(t, 1, 2, 300, 5000, 40)
	clear(p.w)
	h.x, h.table = nil, nil
	for range 20 {
		got := p.best(t, h)
		for i := range h.k {
			require.Equal(t, int64(i), got.ids[i])
		}
	}
}

// A row with a NaN has no candidates that a search accepts.
func TestBestCandidatesInt8NoNumbers(t *testing.T) {
	for _, k := range []int{1, 4} {
		p, h := newInt8Head(t, 1, 2, 30, 400, k)
		h.scale[0] = nan
		got := p.best(t, h)
		for _, v := range got.row(0, k).logProbs {
			require.False(t, v <= 0, "%g would pass for a log-probability", v)
		}
		alone := p
		alone.rows, alone.x = 1, p.x[p.depth:]
		require.Equal(t, alone.best(t, h.row(1)), got.row(1, k))
	}
}
