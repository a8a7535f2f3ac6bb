package live

import "slices"

// changes is the log of what clients see. Each change has the revision that is committed next; a client
// that has seen a revision is told what has a later one.
type changes struct {
	revision  int64 // that was committed last; 1 for a new session, whose clients have seen 0
	pending   bool  // something has changed since
	removed   []removal
	forgotten int64         // clients that have seen less than this are told everything
	announced chan struct{} // closed by the next announcement
}

// removal is a segment that is not there any more.
type removal struct{ id, revision int64 }

// mostRemoved is how many of those are remembered.
const mostRemoved = 1024

func newChanges() changes { return changes{revision: 1, announced: make(chan struct{})} }

// note notes that something changes and returns the revision of that.
func (c *changes) note() int64 {
	c.pending = true
	return c.revision + 1
}

// remove notes that segments are gone.
func (c *changes) remove(gone []*segment) {
	for _, g := range gone {
		c.removed = append(c.removed, removal{g.id, c.note()})
	}
	if n := len(c.removed) - mostRemoved; n > 0 {
		c.forgotten = c.removed[n-1].revision
		c.removed = slices.Delete(c.removed, 0, n)
	}
}

// commit tells clients what was noted.
func (c *changes) commit() {
	if c.pending {
		c.pending = false
		c.revision++
		c.announce()
	}
}

// announce wakes all clients that wait.
func (c *changes) announce() {
	close(c.announced)
	c.announced = make(chan struct{})
}

// removedSince are the segments that are gone since a revision.
func (c *changes) removedSince(seen int64) (ids []int64) {
	for _, r := range c.removed {
		if r.revision > seen {
			ids = append(ids, r.id)
		}
	}
	return ids
}
