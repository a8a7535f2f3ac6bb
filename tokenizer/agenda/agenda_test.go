package agenda

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAgenda(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var want []Entry
	var a Agenda
	for range 50 {
		want = append(want, NewEntry(rng.Int32N(10), rng.IntN(100)))
	}
	a = append(a, want[:25]...)
	a.Init()
	for _, e := range want[25:] {
		a.Push(e)
	}
	slices.Sort(want)
	for _, e := range want {
		require.Equal(t, e, a.Pop())
	}
	assert.Empty(t, a)
}

func TestEntry(t *testing.T) {
	e := NewEntry(math.MaxInt32-1, 1<<31-1)
	assert.Equal(t, int32(math.MaxInt32-1), e.Rank())
	assert.Equal(t, 1<<31-1, e.Position())
	assert.Less(t, NewEntry(3, 9), NewEntry(4, 0), "rank comes first")
	assert.Less(t, NewEntry(3, 0), NewEntry(3, 1), "then the left one")
}
