package schedule

import (
	"slices"
	"sort"
)

// Clock divides a resource between flows by their weights (weighted fair queueing: Demers, Keshav and Shenker, "Analysis and
// Simulation of a Fair Queueing Algorithm", 1989). Each flow has a virtual time, which advances by cost / weight with all that
// the flow gets; the flow whose next piece has the smallest time is next. The clock has a virtual time of its own, for the mean
// of all flows: a flow that comes, or comes again, starts at the clock's time, so that it gets its part from then on and nothing
// for the time when it wanted none. No flow starves: the time of the clock advances with all that is divided, and passes the time
// of every flow that waits.
type Clock[T any] struct {
	flows  list[*Flow[T]] // flows that want something
	time   float64
	weight float64 // sum over the flows that want something
	count  uint64  // number of flows that ever came
}

// Flow is one consumer of a clock's resource.
type Flow[T any] struct {
	Of     T
	Weight float64
	Wants  bool    // whether the flow is among the clock's flows
	start  float64 // its virtual time
	next   float64 // its priority: start, advanced by the cost of its next piece
	number uint64  // breaks ties between equal times: the earliest flow is first
}

func (f *Flow[T]) before(g *Flow[T]) bool {
	return f.next < g.next || f.next == g.next && f.number < g.number
}

// Add adds a flow to those that want something. piece is the cost of its next piece, or 0 if that does not count.
func (c *Clock[T]) Add(f *Flow[T], piece float64) {
	f.start = max(f.start, c.time)
	f.number = c.count
	f.next = f.start + piece/f.Weight
	c.count++
	c.weight += f.Weight
	f.Wants = true
	c.flows.insert(f)
}

// Remove removes a flow from those that want something.
func (c *Clock[T]) Remove(f *Flow[T]) {
	f.Wants = false
	c.flows.remove(f)
	c.weight -= f.Weight
}

// Charge charges a flow for its usage, and sets the cost of its next piece.
func (c *Clock[T]) Charge(f *Flow[T], cost, piece float64) {
	c.time += cost / c.weight
	f.start += cost / f.Weight
	c.Ask(f, piece)
}

// Correct charges a flow for the difference between the actual cost of a usage and its charge. The time of the clock advances
// with the charge, so a flow that was alone has no debt when others come. A flow that counts its next piece must ask for it
// again.
func (c *Clock[T]) Correct(f *Flow[T], more float64) {
	f.start += more / f.Weight
	if c.weight > 0 {
		c.time += more / c.weight
	} else {
		c.time = max(c.time, f.start)
	}
	if f.Wants {
		c.Ask(f, 0)
	}
}

// Ask sets the cost of the next piece of a flow.
func (c *Clock[T]) Ask(f *Flow[T], piece float64) {
	c.flows.remove(f)
	f.next = f.start + piece/f.Weight
	c.flows.insert(f)
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

// list holds elements in their order; no two are equal.
type list[T ordered[T]] []T

type ordered[T any] interface{ before(T) bool }

func (l list[T]) place(e T) int {
	return sort.Search(len(l), func(i int) bool { return !l[i].before(e) })
}

func (l *list[T]) insert(e T) { *l = slices.Insert(*l, l.place(e), e) }

func (l *list[T]) remove(e T) {
	i := l.place(e)
	*l = slices.Delete(*l, i, i+1)
}
