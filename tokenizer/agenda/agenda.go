// Package agenda orders pairs of neighbours that may merge: by rank, then from left to right.
package agenda

// Entry is a pair: its rank, then the position of its left node, so that the smallest entry merges next.
type Entry uint64

// NewEntry returns the entry of a pair.
func NewEntry(rank int32, position int) Entry { return Entry(rank)<<32 | Entry(uint32(position)) }

// Rank returns the rank of the pair.
func (e Entry) Rank() int32 { return int32(e >> 32) }

// Position returns the position of the left node.
func (e Entry) Position() int { return int(uint32(e)) }

// Agenda is a binary heap, the smallest entry first. (container/heap would
// allocate for every entry pushed.)
type Agenda []Entry

// Init turns any slice into a heap.
func (a Agenda) Init() {
	for i := len(a)/2 - 1; i >= 0; i-- {
		a.down(i)
	}
}

// Push adds an entry.
func (a *Agenda) Push(e Entry) {
	*a = append(*a, e)
	h := *a
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if h[parent] <= e {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
}

// Pop removes and returns the smallest entry of a heap, which must not be empty.
func (a *Agenda) Pop() Entry {
	h := *a
	top, last := h[0], len(h)-1
	h[0] = h[last]
	*a = h[:last]
	if last > 0 {
		a.down(0)
	}
	return top
}

func (a Agenda) down(i int) {
	e := a[i]
	for {
		child := 2*i + 1
		if child >= len(a) {
			break
		}
		if child+1 < len(a) && a[child+1] < a[child] {
			child++
		}
		if a[child] >= e {
			break
		}
		a[i] = a[child]
		i = child
	}
	a[i] = e
}
