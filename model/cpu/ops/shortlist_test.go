package ops_test

import (
	"math"
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

// bitsOf are the bits of a row.
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

// Only tokens that are allowed are candidates, and the sum is theirs.
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
