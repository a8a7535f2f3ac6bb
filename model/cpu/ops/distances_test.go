package ops_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/model/onnx"
)

// distances are score biases by the distance of tokens. With them queries are not scaled. The table is [heads, 2·reach+1] for
// the encoder and [reach+1, heads] for the decoder; nil: no biases.
type distances struct {
	table   []float32
	heads   int
	reach   int
	encoder bool
}

func newDistances(h heads, reach int, encoder bool) distances {
	columns := reach + 1
	if encoder {
		columns += reach
	}
	return distances{normal(random(reach), columns*h.count, 2), h.count, reach, encoder}
}

// bias returns the biases of a head's scores of the first n tokens, for a query at a position.
func (d distances) bias(head, query, n int) []float64 {
	if d.table == nil {
		return nil
	}
	bias := make([]float64, n)
	for key := range bias {
		distance := max(-d.reach, min(d.reach, key-query))
		if d.encoder {
			bias[key] = float64(d.table[head*(2*d.reach+1)+distance+d.reach])
		} else {
			bias[key] = float64(d.table[-distance*d.heads+head])
		}
	}
	return bias
}

// add adds the distances to an operator's call.
func (d distances) add(c call) call {
	switch {
	case d.table == nil:
		return c
	case d.encoder:
		c.inputs = append(c.inputs, floats(d.table, d.heads, 2*d.reach+1))
	default:
		c.inputs = append(c.inputs, floats(d.table, d.reach+1, d.heads))
	}
	c.attrs = append(c.attrs, onnx.Float("scale", 1))
	return c
}

func TestCachedAttentionDistances(t *testing.T) {
	for _, h := range append(headSizes, heads{16, 64}, heads{20, 8}) {
		for _, reach := range []int{0, 1, 7, 100} {
			t.Run(fmt.Sprintf("%dx%d reach=%d", h.count, h.dim, reach), func(t *testing.T) {
				s := newStep(h.dim, h, reach%2 == 0, 40, group{1, 0, false}, group{4, 33, false}, group{3, 0, true}, group{5, 17, false})
				s.distances = newDistances(h, reach, false)
				s.require(t)
			})
		}
	}
}

func TestSelfAttentionDistances(t *testing.T) {
	for _, h := range headSizes {
		for _, reach := range []int{0, 1, 7, 100} {
			t.Run(fmt.Sprintf("%dx%d reach=%d", h.count, h.dim, reach), func(t *testing.T) {
				sentences := lengthsOf(1, 5, 0, 17, 33)
				requireSelfAttention(t, h, newProduct(h.dim, countRows(sentences), 3*h.width()), sentences, newDistances(h, reach, true))
			})
		}
	}
}

// An attribute is the factor of the queries; its default is 1/√head_dim.
func TestScaleOfQueries(t *testing.T) {
	s := newSource(1, heads{2, 64}, false, 20, 2, 1)
	c := s.call()
	want := c.run(t)[0]
	c.attrs = append(c.attrs, onnx.Float("scale", 0.125))
	require.Equal(t, want, c.run(t)[0])
	c.attrs[len(c.attrs)-1] = onnx.Float("scale", 1)
	require.NotEqual(t, want, c.run(t)[0])
}
