package ort

import "slices"

// cache holds attention keys and values for the rows of a batch: for every layer
// two tensors [rows, heads, capacity, dim], contiguous, of which the leading
// rows are in use. It serves as KV cache (a row per beam, capacity in target
// tokens) and as cross-attention memory (a row per sentence, capacity in source
// tokens).
type cache struct {
	tensors  []buffer // keys and values of layer 0, of layer 1, …
	heads    int
	position int // bytes of one position of one head
	rows     int // allocated
	capacity int // positions of a row
	epoch    int // counts the resizes: what is bound to an older one is stale
}

// newCache makes an empty cache; grow gives it room.
func newCache(layers, heads, headDim, elemSize int) *cache {
	return &cache{tensors: make([]buffer, 2*layers), heads: heads, position: headDim * elemSize}
}

// headSize is the number of bytes of one head of a row.
func (c *cache) headSize() int { return c.capacity * c.position }

// rowSize is the number of bytes of a row in one tensor.
func (c *cache) rowSize() int { return c.heads * c.headSize() }

// tail is tensor i from a row on.
func (c *cache) tail(i, row int) buffer { return c.tensors[i][row*c.rowSize():] }

// resize gives the cache room for rows of the given capacity. The first len(used)
// rows keep their first used[row] positions; what the rest holds means nothing
// but is finite. It does nothing when there is room and the capacity is the same.
func (c *cache) resize(rows, capacity int, used []int) error {
	if rows <= c.rows && capacity == c.capacity {
		return nil
	}
	if size := c.heads * capacity * c.position; len(used) == 0 && rows*size <= len(c.tensors[0]) {
		c.rows, c.capacity = len(c.tensors[0])/size, capacity
		c.epoch++
		return nil
	}
	next := &cache{tensors: make([]buffer, len(c.tensors)), heads: c.heads, position: c.position,
		rows: max(rows, c.rows), capacity: capacity, epoch: c.epoch + 1}
	for i := range next.tensors {
		var err error
		if next.tensors[i], err = newBuffer(next.rows * next.rowSize()); err != nil {
			next.free()
			return err
		}
	}
	for row, n := range used {
		next.copyRow(row, c, row, n)
	}
	c.free()
	*c = *next
	return nil
}

// copyRow copies the first n positions of a row of from into row to, in every
// tensor. The capacities may differ.
func (c *cache) copyRow(to int, from *cache, row, n int) {
	for i := range c.tensors {
		dst, src := c.tail(i, to), from.tail(i, row)
		for h := range c.heads {
			copy(dst[h*c.headSize():][:n*c.position], src[h*from.headSize():][:n*from.position])
		}
	}
}

// permute makes row first+w the former row first+parents[w], for the first n
// positions of each.
func (c *cache) permute(first int, parents []int, n int, spare *cache) {
	// A row that is not a parent of itself but of others is saved before
	// anything is overwritten.
	for w, parent := range parents {
		if parent != w && slices.Contains(parents, w) {
			spare.copyRow(w, c, first+w, n)
		}
	}
	for w, parent := range parents {
		switch {
		case parent == w:
		case parents[parent] == parent: // it stays where it is
			c.copyRow(first+w, c, first+parent, n)
		default:
			c.copyRow(first+w, spare, parent, n)
		}
	}
}

// free releases the tensors.
func (c *cache) free() {
	for i, t := range c.tensors {
		t.free()
		c.tensors[i] = nil
	}
}
