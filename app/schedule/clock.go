package schedule

import "container/heap"

// Clock divides a resource between flows by their weights (weighted fair queueing: Demers, Keshav and Shenker, "Analysis and
// Simulation of a Fair Queueing Algorithm", 1989). Each flow has a virtual time, which advances by cost / weight with all that it
// gets; the flow whose next piece has the smallest time is next. The clock has a virtual time of its own, for the mean of all
// flows: a flow that comes, or comes again, starts there, so that it gets its part from then on and nothing for the time when it
// wanted none. No flow starves: the time of the clock advances with all that is divided, and passes the time of every flow that
// waits.
type Clock[T any] struct {
	flows  heapOf[*Flow[T]] // flows that want something
	time   float64
	weight float64 // of the flows that want something
	count  uint64  // number of flows that ever came
}

// Flow is one consumer of a clock's resource.
type Flow[T any] struct {
	Of     T
	weight float64
	start  float64 // its virtual time
	next   float64 // its priority: start, advanced by the cost of its next piece
	number uint64  // breaks ties between equal times: the earliest flow is first
	index  int     // on the clock; outside if it wants nothing
}

// NewFlow returns a flow that wants nothing.
func NewFlow[T any](of T, weight float64) Flow[T] {
	return Flow[T]{Of: of, weight: weight, index: outside}
}

// outside is the index of an element that is in no heap.
const outside = -1

// Wants reports whether the flow wants something.
func (f *Flow[T]) Wants() bool { return f.index != outside }

func (f *Flow[T]) place() *int { return &f.index }

func (f *Flow[T]) before(g *Flow[T]) bool {
	return f.next < g.next || f.next == g.next && f.number < g.number
}

// Add adds a flow to those that want something. piece is the cost of its next piece, or 0 if that does not count.
func (c *Clock[T]) Add(f *Flow[T], piece float64) {
	f.start = max(f.start, c.time)
	f.number = c.count
	f.next = f.start + piece/f.weight
	c.count++
	c.weight += f.weight
	heap.Push(&c.flows, f)
}

// Remove removes a flow from those that want something.
func (c *Clock[T]) Remove(f *Flow[T]) {
	heap.Remove(&c.flows, f.index)
	c.weight -= f.weight
}

// Charge charges a flow for its usage, and sets the cost of its next piece.
func (c *Clock[T]) Charge(f *Flow[T], cost, piece float64) {
	c.time += cost / c.weight
	f.start += cost / f.weight
	c.Ask(f, piece)
}

// Correct charges a flow for the difference between the actual cost of a usage and its charge. The time of the clock advances
// with it, so a flow that was alone has no debt when others come. A flow that counts its next piece must ask for it again.
func (c *Clock[T]) Correct(f *Flow[T], more float64) {
	f.start += more / f.weight
	if c.weight > 0 {
		c.time += more / c.weight
	} else {
		c.time = max(c.time, f.start)
	}
	if f.Wants() {
		c.Ask(f, 0)
	}
}

// Ask sets the cost of the next piece of a flow.
func (c *Clock[T]) Ask(f *Flow[T], piece float64) {
	f.next = f.start + piece/f.weight
	heap.Fix(&c.flows, f.index)
}

// First returns the next flow, nil if none wants anything.
func (c *Clock[T]) First() *Flow[T] {
	if len(c.flows) == 0 {
		return nil
	}
	return c.flows[0]
}

// Owes reports whether a flow that wants nothing has had more than the others; otherwise it need not be remembered.
func (c *Clock[T]) Owes(f *Flow[T]) bool { return len(c.flows) > 0 && f.start > c.time }

// heaped is an element that knows its place in a heap.
type heaped[T any] interface {
	before(T) bool
	place() *int // outside for an element in no heap
}

// heapOf implements [heap.Interface], the next element first.
type heapOf[T heaped[T]] []T

func (h heapOf[T]) Len() int { return len(h) }

func (h heapOf[T]) Less(i, j int) bool { return h[i].before(h[j]) }

func (h heapOf[T]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	*h[i].place(), *h[j].place() = i, j
}

// Push implements [heap.Interface].
func (h *heapOf[T]) Push(x any) {
	e := x.(T)
	*e.place() = len(*h)
	*h = append(*h, e)
}

// Pop implements [heap.Interface].
func (h *heapOf[T]) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	clear((*h)[last:])
	*h = (*h)[:last]
	*e.place() = outside
	return e
}
