package ops_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/onnx"
)

func shortlist(t *testing.T, shared int, ids []int64, offsets, slots []int32, allowed []uint8, rows int) error {
	t.Helper()
	_, err := call{
		op: "Shortlist", attrs: []onnx.Attr{onnx.Int("first", 3), onnx.Int("shared", shared), onnx.Int("width", 40)},
		inputs: []arg{int64s(ids...), int32s(offsets...), int32s(slots...), int64s(0, 0, 2, 3, 9), int32s(7, 39, 1, 39, 99, -1, 2, 30, 31),
			octets(allowed, rows, 5)},
		outputs: []onnx.DataType{onnx.Int32},
	}.try(t)
	return err
}

// bitsOf returns the bits of a row.
func bitsOf(row []uint8) (ids []int) {
	for id := range 8 * len(row) {
		if row[id/8]>>(id%8)&1 == 1 {
			ids = append(ids, id)
		}
	}
	return ids
}

func TestShortlist(t *testing.T) {
	allowed := slices.Repeat([]uint8{0xff}, 4*5)
	require.NoError(t, shortlist(t, 0, []int64{1, 0, 3, 77, 4, -5}, []int32{0, 2, 6}, []int32{2, 0}, allowed, 4))
	assert.Equal(t, []int{0, 1, 2, 3, 4, 5, 7, 39}, bitsOf(allowed[10:15]), "the first, the list, and some to make up eight")
	assert.Equal(t, []int{0, 1, 2, 3, 4, 30, 31, 39}, bitsOf(allowed[:5]), "what no token is does not count")
	assert.Len(t, bitsOf(allowed[5:10]), 40, "the rows of others are left alone")
	require.NoError(t, shortlist(t, 1, []int64{20}, []int32{0, 1}, []int32{3}, allowed, 4))
	assert.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 20}, bitsOf(allowed[15:]))
	require.NoError(t, shortlist(t, 1, []int64{20}, []int32{0, 1}, []int32{9}, nil, 0), "no rows: it is switched off")
	assert.ErrorContains(t, shortlist(t, 1, []int64{20}, []int32{0, 1}, []int32{4}, allowed, 4), "row 4 is none of 4")
}

// Only allowed tokens are candidates, and only they count for the sum.
func TestHeadWithShortlist(t *testing.T) {
	const rows, depth, width, k = 5, 8, 500, 4
	r := random(3)
	q, panels := make([]uint8, rows*depth), make([]int8, 32*2*64)
	for i := range q {
		q[i] = uint8(1 + r.IntN(255))
	}
	for i := range panels {
		panels[i] = int8(r.IntN(255) - 127)
	}
	sums, scales, bias := make([]int32, width), positive(r, width), normal(r, width, 1)
	at := func(token, i int) int8 { return panels[((token/16*2+i/4)*16+token%16)*4+i%4] }
	for token := range sums {
		for i := range depth {
			sums[token] += int32(at(token, i))
		}
	}
	rowScale := positive(r, rows)
	allowed := make([]uint8, 3*64)
	for i := range allowed {
		allowed[i] = uint8(r.IntN(256) & r.IntN(256))
	}
	clear(allowed[64:128])
	allowed[64+1] = 6 // two tokens, fewer than k
	slots, groups, wanted := []int32{2, 1}, []int32{0, 3, 7}, []int64{0, 2, 3, 4, 6}
	out := call{
		op: "BestCandidatesInt8", attrs: []onnx.Attr{onnx.Int("spare", 8)},
		inputs: []arg{octets(q, rows, depth), newArg(onnx.Int8, panels, []int{32, 2, 16, 4}), int32s(sums...), floats(scales, width), floats(rowScale, rows),
			int64s(k), {}, {}, floats(bias, width), octets(allowed, 3, 64), int32s(groups...), int32s(slots...), int64s(wanted...)},
		outputs: []onnx.DataType{onnx.Float32, onnx.Int64, onnx.Float32},
	}.run(t)
	val, idx, lse := out[0].([]float32), out[1].([]int64), out[2].([]float32)
	for row := range rows {
		mask := allowed[2*64 : 3*64]
		if wanted[row] >= 3 {
			mask = allowed[64:128]
		}
		type candidate struct {
			id    int
			logit float64
		}
		var list []candidate
		sum := 0.0
		for _, id := range bitsOf(mask) {
			if id >= width {
				continue
			}
			logit := float64(bias[id])
			for i := range depth {
				logit += float64(int(q[row*depth+i])-128) * float64(at(id, i)) * float64(scales[id]) / 127 * float64(rowScale[row])
			}
			list, sum = append(list, candidate{id, logit}), sum+math.Exp(logit)
		}
		slices.SortFunc(list, func(a, b candidate) int { return int(math.Copysign(1, b.logit-a.logit)) })
		assert.InDelta(t, math.Log(sum), lse[row], 1e-3)
		for i, c := range list[:min(k, len(list))] {
			assert.EqualValues(t, c.id, idx[row*k+i], "row %d, %d", row, i)
			assert.InDelta(t, c.logit-math.Log(sum), val[row*k+i], 1e-3)
		}
		for i := len(list); i < k; i++ {
			assert.Less(t, val[row*k+i], float32(-1e29), "no other")
		}
	}
}

// masked is an 8-bit head with different allowed tokens per row.
type masked struct {
	int8Product
	head
	allowed []uint8 // [rows, bytes]: a bit per output
	order   []int32
	places  []int32 // of a head that is also a table
}

func (m masked) bytes() int { return (m.vocab + 7) / 8 }

// only returns the head with some of the rows.
func (m masked) only(rows ...int) masked {
	some := m
	some.int8Product.x, some.head.x, some.head.scale, some.allowed = nil, nil, nil, nil
	for _, r := range rows {
		some.int8Product.x = append(some.int8Product.x, m.int8Product.x[r*m.depth:(r+1)*m.depth]...)
		some.head.x = append(some.head.x, m.head.x[r*m.head.width:(r+1)*m.head.width]...)
		some.head.scale = append(some.head.scale, m.head.scale[r])
		some.allowed = append(some.allowed, m.allowed[r*m.bytes():(r+1)*m.bytes()]...)
	}
	some.int8Product.rows, some.head.rows = len(rows), len(rows)
	return some
}

func (m masked) run(t *testing.T) best {
	t.Helper()
	c := m.int8Product.head(m.head)
	n := m.head.rows
	slots, groups, wanted := make([]int32, n), make([]int32, n+1), make([]int64, n)
	for i := range n {
		slots[i], groups[i+1], wanted[i] = int32(i), int32(i+1), int64(i)
	}
	c.inputs = append(c.inputs, make([]arg, 9-len(c.inputs))...)
	c.inputs = append(c.inputs, octets(m.allowed, n, m.bytes()), int32s(groups...), int32s(slots...), int64s(wanted...))
	if m.order != nil {
		c.inputs = append(c.inputs, int32s(m.order...))
	}
	if m.places != nil {
		c.inputs = append(c.inputs, int32s(m.places...))
	}
	out := c.run(t)
	return best{out[0].([]float32), out[1].([]int64), out[2].([]float32)}
}

// ordered returns the head with its outputs in another order.
func (m masked) ordered(order []int) masked {
	other := m
	other.w, other.int8Product.scale, other.allowed = slices.Clone(m.w), slices.Clone(m.int8Product.scale), make([]uint8, len(m.allowed))
	other.order = make([]int32, m.vocab)
	for to, from := range order {
		other.order[to] = int32(from)
		other.int8Product.scale[to] = m.int8Product.scale[from]
		copy(other.w[to*m.depth:(to+1)*m.depth], m.w[from*m.depth:(from+1)*m.depth])
		for r := range m.head.rows {
			bit := m.allowed[r*m.bytes()+from/8] >> (from % 8) & 1
			other.allowed[r*m.bytes()+to/8] |= bit << (to % 8)
		}
	}
	return other
}

// randomMask allows random outputs: none, all, runs of them, or single ones.
func randomMask(r *rand.Rand, vocab int) []uint8 {
	mask := make([]uint8, (vocab+7)/8)
	allow := func(first, end int) {
		for i := max(first, 0); i < min(end, vocab); i++ {
			mask[i/8] |= 1 << (i % 8)
		}
	}
	switch r.IntN(6) {
	case 0: // no tokens, which is not an error
	case 1:
		allow(0, vocab)
	case 2, 3:
		for range 1 + r.IntN(3) {
			first := r.IntN(vocab)
			allow(first, first+r.IntN(600))
		}
	default:
		for range 1 + r.IntN(60) {
			i := r.IntN(vocab)
			allow(i, i+1)
		}
	}
	return mask
}

// A row's allowed tokens decide its result, and other rows' allowed tokens do not: the result equals that of the row alone, and
// that beside a row with all tokens allowed. The order of the outputs only affects their sum, to which it adds that of others.
func TestHeadComputesWhatIsAllowed(t *testing.T) {
	for seed := range 40 {
		r := random(seed)
		rows, vocab := 1+r.IntN(9), []int{17, 190, 192, 200, 1000, 3001}[r.IntN(6)]
		k := min(1+r.IntN(12), vocab)
		p, h := newInt8Head(t, seed, rows, 37, vocab, k)
		m := masked{int8Product: p, head: h}
		for range rows - 1 {
			m.allowed = append(m.allowed, randomMask(r, vocab)...)
		}
		m.allowed = append(m.allowed, slices.Repeat([]uint8{0xff}, m.bytes())...)
		other := m.ordered(r.Perm(vocab))
		sums := m // without new logits, which are unrelated to the old ones
		sums.head.x, sums.head.table = nil, nil
		before, after := sums.run(t), sums.ordered(r.Perm(vocab)).run(t)
		require.Equal(t, before.ids, after.ids, "seed %d: other candidates in another order", seed)
		for i, lse := range after.lse {
			require.GreaterOrEqual(t, lse, before.lse[i]-0.01)
		}
		for _, m := range []masked{m, other} {
			together := m.run(t)
			for row := range rows {
				got := together.row(row, k)
				require.Equal(t, m.only(row).run(t).row(0, k), got, "seed %d: row %d is another alone", seed, row)
				require.Equal(t, m.only(rows-1, row).run(t).row(1, k), got, "seed %d: row %d", seed, row)
				bits := bitsOf(m.allowed[row*m.bytes() : (row+1)*m.bytes()])
				for i, id := range got.ids {
					output := int(id)
					if m.order != nil {
						output = slices.Index(m.order, int32(id))
					}
					if v := float64(got.logProbs[i]); v > -1e29 && !math.IsInf(v, 1) {
						require.Contains(t, bits, output, "seed %d: row %d has token %d, which is not allowed", seed, row, id)
					} else {
						require.LessOrEqual(t, len(bits), i, "seed %d: row %d lacks a candidate", seed, row)
					}
				}
			}
			all := p.best(t, h)
			require.Equal(t, all.row(rows-1, k).ids, together.row(rows-1, k).ids, "who may have all has what there is without masks")
			if m.order == nil {
				require.Equal(t, all.row(rows-1, k), together.row(rows-1, k))
			}
		}
	}
}

// With an order, the sum is about that of all outputs, whatever is allowed. An output that is not allowed hardly changes the sum,
// however likely it is: it is no sample, or the sample with the largest mass.
func TestHeadEstimatesExcluded(t *testing.T) {
	const vocab, depth = 8000, 37
	p, h := newInt8Head(t, 1, 1, depth, vocab, 4)
	h.x, h.table = nil, nil
	for i := range p.scale {
		p.scale[i] = 0.01
	}
	m := masked{int8Product: p, head: h, order: make([]int32, vocab), allowed: slices.Repeat([]uint8{0xff}, vocab/8)}
	for i := range m.order {
		m.order[i] = int32(i)
	}
	whole := m.run(t).lse[0]
	for _, excluded := range []int{200, 4000, 7000, 7990} {
		some := m
		some.allowed = slices.Clone(m.allowed)
		clear(some.allowed[(vocab-excluded)/8:])
		require.InDelta(t, whole, some.run(t).lse[0], 0.1, "without %d outputs", excluded)
		without := some
		without.order = nil
		require.Less(t, without.run(t).lse[0], some.run(t).lse[0])
		for output := vocab - excluded; output < vocab-1; output += 997 {
			likely := some
			likely.w = slices.Clone(some.w)
			for i := range depth {
				likely.w[output*depth+i] = int8(max(int(p.x[i])-128, -127))
			}
			require.InDelta(t, some.run(t).lse[0], likely.run(t).lse[0], 0.05, "output %d is likely", output)
		}
	}
}

// newTableHead returns an 8-bit head that is also a table of embeddings, with its places in order.
func newTableHead(t *testing.T, seed, rows, depth, vocab, k int) masked {
	p, h := newInt8Head(t, seed, rows, depth, vocab, k)
	h.width, h.x, h.table = depth, normal(random(seed), rows*depth, 1), nil
	return masked{int8Product: p, head: h, allowed: slices.Repeat([]uint8{0xff}, rows*((vocab+7)/8))}
}

// The logits of the best are computed again from the rows of their tokens, in whatever order these are.
func TestHeadThatIsATableInAnotherOrder(t *testing.T) {
	const vocab = 203
	for seed := range 20 {
		m := newTableHead(t, seed, 3, 24, vocab, 5)
		other := m.ordered(random(seed).Perm(vocab))
		other.places = make([]int32, vocab)
		for place, token := range other.order {
			other.places[token] = int32(place)
		}
		want, got := m.run(t), other.run(t)
		require.Equal(t, want.ids, got.ids)
		require.InDeltaSlice(t, want.lse, got.lse, 1e-4) // the sum is rounded in another order
		require.InDeltaSlice(t, want.logProbs, got.logProbs, 1e-4)
		for _, bad := range []int32{-1, vocab, math.MaxInt32} {
			other.places = slices.Repeat([]int32{bad}, vocab)
			for _, v := range other.run(t).logProbs {
				require.False(t, v <= 0, "%g would pass for a log-probability", v)
			}
		}
	}
}

// A damaged order gives no candidates that a search accepts, and no read outside of the embeddings.
func TestHeadWithDamagedOrder(t *testing.T) {
	p, h := newInt8Head(t, 1, 1, 37, 200, 4)
	m := masked{int8Product: p, head: h}
	for _, id := range []int32{-1, 200, math.MaxInt32, math.MinInt32} {
		m.order = slices.Repeat([]int32{id}, 200)
		for _, bits := range []uint8{0xff, 1} { // whole panels, and few outputs in each
			m.allowed = slices.Repeat([]uint8{bits}, 25)
			for _, v := range m.run(t).logProbs {
				require.False(t, v <= 0, "%g would pass for a log-probability", v)
			}
		}
	}
}
