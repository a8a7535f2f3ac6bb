package ort

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// filled makes a cache whose row r holds the byte r+1 in its first used positions.
func filled(t *testing.T, rows, capacity, used int) *cache {
	t.Helper()
	c := newCache(2, 3, 5, 1)
	require.NoError(t, c.resize(rows, capacity, nil))
	t.Cleanup(c.free)
	for row := range rows {
		for i := range c.tensors {
			for h := range c.heads {
				for p := range used * c.position {
					c.tail(i, row)[h*c.headSize()+p] = byte(row + 1)
				}
			}
		}
	}
	return c
}

// owner is the value that the first n positions of a row hold in all tensors and
// heads; it fails if they differ.
func owner(t *testing.T, c *cache, row, n int) int {
	t.Helper()
	first := c.tail(0, row)[0]
	for i := range c.tensors {
		for h := range c.heads {
			for p := range n * c.position {
				require.Equal(t, first, c.tail(i, row)[h*c.headSize()+p])
			}
		}
	}
	return int(first) - 1
}

func TestPermute(t *testing.T) {
	for _, parents := range [][]int{
		{0, 1, 2, 3, 4}, {0, 0, 0, 0, 0}, {1, 0, 3, 2, 4}, {4, 3, 2, 1, 0},
		{1, 2, 3, 4, 0}, {1, 1, 0, 0, 2}, {4, 4, 4, 4, 4},
	} {
		checkPermute(t, parents)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		parents := make([]int, 1+rng.IntN(8))
		for i := range parents {
			parents[i] = rng.IntN(len(parents))
		}
		checkPermute(t, parents)
	}
}

func checkPermute(t *testing.T, parents []int) {
	t.Helper()
	const first, used = 2, 3
	c, spare := filled(t, first+len(parents)+1, 4, used), newCache(2, 3, 5, 1)
	require.NoError(t, spare.resize(len(parents), 7, nil))
	defer spare.free()
	c.permute(first, parents, used, spare)
	for row := range first {
		assert.Equal(t, row, owner(t, c, row, used))
	}
	for w, parent := range parents {
		assert.Equal(t, first+parent, owner(t, c, first+w, used), "%v: row %d", parents, w)
	}
	assert.Equal(t, first+len(parents), owner(t, c, first+len(parents), used))
}

func TestResizeKeepsWhatIsUsed(t *testing.T) {
	for name, c := range map[string]struct{ rows, capacity int }{
		"more rows": {9, 4}, "longer": {3, 40}, "both": {50, 9}, "shorter": {3, 3},
	} {
		t.Run(name, func(t *testing.T) {
			cache := filled(t, 3, 4, 3)
			epoch := cache.epoch
			require.NoError(t, cache.resize(c.rows, c.capacity, []int{3, 2, 1}))
			assert.Equal(t, c.capacity, cache.capacity)
			assert.GreaterOrEqual(t, cache.rows, c.rows)
			assert.Greater(t, cache.epoch, epoch)
			for row, n := range []int{3, 2, 1} {
				assert.Equal(t, row, owner(t, cache, row, n))
			}
		})
	}
}

// TestResizeReusesMemory gives an empty cache another shape without mapping anew.
func TestResizeReusesMemory(t *testing.T) {
	c := filled(t, 4, 8, 1)
	before := &c.tensors[0][0]
	require.NoError(t, c.resize(8, 4, nil))
	assert.Same(t, before, &c.tensors[0][0])
	assert.Equal(t, 8, c.rows)
	require.NoError(t, c.resize(8, 5, nil))
	assert.NotSame(t, before, &c.tensors[0][0])
}
