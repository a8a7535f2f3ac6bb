package engine

import "container/heap"

// share divides a resource between flows by their weights (weighted fair queueing: Demers, Keshav and Shenker, "Analysis and
// Simulation of a Fair Queueing Algorithm", 1989). Each flow has a virtual time, which advances by cost / weight with all that it
// gets; the flow whose next piece has the smallest time is next. The share has a virtual time of its own, for the mean of all
// flows: a flow that comes, or comes again, starts there, so that it gets its part from then on and nothing for the time when it
// wanted none. No flow starves: the time of the share advances with all that is divided, and passes the time of every flow that
// waits.
type share[T any] struct {
	flows  heapOf[*flow[T]] // flows that want something
	time   float64
	weight float64 // of the flows that want something
	count  uint64  // number of flows that ever came
}

// flow is one consumer of a share.
type flow[T any] struct {
	of     T
	weight float64
	start  float64 // its virtual time
	next   float64 // its priority: start, advanced by the cost of its next piece
	number uint64  // breaks ties between equal times: the earliest flow is first
	index  int     // in the share; outside if it wants nothing
}

func (f *flow[T]) wants() bool { return f.index != outside }

func (f *flow[T]) place() *int { return &f.index }

func (f *flow[T]) before(g *flow[T]) bool {
	return f.next < g.next || f.next == g.next && f.number < g.number
}

// add adds a flow to those that want something. piece is the cost of its next piece, or 0 if that does not count.
func (s *share[T]) add(f *flow[T], piece float64) {
	f.start = max(f.start, s.time)
	f.number = s.count
	f.next = f.start + piece/f.weight
	s.count++
	s.weight += f.weight
	heap.Push(&s.flows, f)
}

// remove removes a flow from those that want something.
func (s *share[T]) remove(f *flow[T]) {
	heap.Remove(&s.flows, f.index)
	s.weight -= f.weight
}

// give charges a flow for its usage.
func (s *share[T]) give(f *flow[T], cost float64) {
	f.start += cost / f.weight
	s.time += cost / s.weight
}

// ask sets the cost of the next piece of a flow.
func (s *share[T]) ask(f *flow[T], piece float64) {
	f.next = f.start + piece/f.weight
	heap.Fix(&s.flows, f.index)
}

// first returns the next flow, nil if none wants anything.
func (s *share[T]) first() *flow[T] {
	if len(s.flows) == 0 {
		return nil
	}
	return s.flows[0]
}
