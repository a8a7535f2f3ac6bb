package spm

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMergeLongEqualsShort merges random words of every length with the scan and
// with the heap.
func TestMergeLongEqualsShort(t *testing.T) {
	for _, ref := range references(t)[1:] { // the bundled model once, and the variants
		model, err := Parse(ref.file)
		require.NoError(t, err)
		if model.unigram != nil {
			continue
		}
		rng := rand.New(rand.NewPCG(1, 2))
		merged := 0
		for length := range 200 {
			var word strings.Builder
			for range length {
				word.WriteString(model.Piece(rng.Int32N(int32(model.Size()))))
			}
			ws := new(workspace)
			ws.nodes = model.merges.split(nil, []byte(word.String()))
			for i := range ws.nodes {
				model.merges.refresh(ws.nodes, i, i+1)
			}
			before := len(ws.nodes)
			short := model.merges.mergeShort(slices.Clone(ws.nodes))
			long := model.merges.mergeLong(ws)
			require.Equal(t, symbols(short), symbols(long), "%q", word.String())
			merged += before - len(short)
		}
		assert.Greater(t, merged, 1000, "%s: few merges were compared", ref.name)
	}
}

func symbols(nodes []node) []symbol {
	out := make([]symbol, len(nodes))
	for i, n := range nodes {
		out[i] = n.symbol
	}
	return out
}
