package live

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestChanges(t *testing.T) {
	c := newChanges()
	announced := c.announced
	c.commit()
	assert.EqualValues(t, 1, c.revision, "nothing has changed")
	assert.EqualValues(t, 2, c.note())
	assert.EqualValues(t, 2, c.note(), "with the first")
	c.commit()
	c.commit()
	assert.EqualValues(t, 2, c.revision)
	_, open := <-announced
	assert.False(t, open)
}

// Of segments that are gone so many are remembered; who has seen less than that is told everything.
func TestRemovals(t *testing.T) {
	c := newChanges()
	remove := func(ids ...int64) {
		var gone []*segment
		for _, id := range ids {
			gone = append(gone, &segment{id: id})
		}
		c.remove(gone)
		c.commit()
	}
	remove(7, 8)
	remove(9)
	assert.Equal(t, []int64{7, 8, 9}, c.removedSince(1))
	assert.Equal(t, []int64{9}, c.removedSince(2))
	assert.Empty(t, c.removedSince(3))
	assert.Zero(t, c.forgotten)
	remove(make([]int64, mostRemoved)...)
	assert.EqualValues(t, 3, c.forgotten)
	assert.Len(t, c.removed, mostRemoved)
}
