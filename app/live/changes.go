package live

import "slices"

// changes is the log of changes for clients. Each change has the revision that is committed next; a client that has seen a
// revision is told the changes with later revisions.
type changes struct {
	revision  int64 // last committed one; 1 for a new session, whose clients have seen 0
	pending   bool  // there are changes after the last revision
	removed   []removal
	forgotten int64         // clients that have seen less than this are told everything
	announced chan struct{} // closed by the next announcement
}

// removal is a segment that was removed.
type removal struct{ id, revision int64 }

// mostRemoved is the maximum number of remembered removals.
const mostRemoved = 1024

func newChanges() changes { return changes{revision: 1, announced: make(chan struct{})} }

// note notes a change and returns its revision.
func (c *changes) note() int64 {
	c.pending = true
	return c.revision + 1
}

// remove notes that segments are removed.
func (c *changes) remove(gone []*segment) {
	for _, g := range gone {
		c.removed = append(c.removed, removal{g.id, c.note()})
	}
	if n := len(c.removed) - mostRemoved; n > 0 {
		c.forgotten = c.removed[n-1].revision
		c.removed = slices.Delete(c.removed, 0, n)
	}
}

// commit announces the noted changes to clients.
func (c *changes) commit() {
	if c.pending {
		c.pending = false
		c.revision++
		c.announce()
	}
}

// announce wakes all waiting clients.
func (c *changes) announce() {
	close(c.announced)
	c.announced = make(chan struct{})
}

// removedSince returns the ids of segments that were removed after a revision.
func (c *changes) removedSince(seen int64) (ids []int64) {
	for _, r := range c.removed {
		if r.revision > seen {
			ids = append(ids, r.id)
		}
	}
	return ids
}
