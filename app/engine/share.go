package engine

import "container/heap"

// share divides something between flows by their weights (weighted fair queueing:
// Demers, Keshav and Shenker, "Analysis and Simulation of a Fair Queueing Algorithm",
// 1989). Each flow has a time of its own, which goes on by cost / weight with all that
// it gets, and the one whose next piece has the least time is next. What they all have
// had is kept in a time of the share's own: a flow that comes, or comes again, starts
// there, so that it gets its part of what is divided from then on and nothing for the
// time when it wanted none. Nobody starves: the share's time goes on with all that is
// divided, and passes that of whoever waits.
type share[T any] struct {
	flows  heapOf[*flow[T]] // that want something
	time   float64
	weight float64 // of the flows that want something
	count  uint64  // of flows that ever came
}

// flow is one that wants something of a share.
type flow[T any] struct {
	of     T
	weight float64
	start  float64 // its time
	next   float64 // the time that decides: start, and what its next piece would add
	number uint64  // decides where times are equal: who came first
	index  int     // in the share, outside where it wants nothing
}

func (f *flow[T]) wants() bool { return f.index != outside }

func (f *flow[T]) place() *int { return &f.index }

func (f *flow[T]) before(g *flow[T]) bool {
	return f.next < g.next || f.next == g.next && f.number < g.number
}

// add lets a flow want something. piece is the cost of what it wants next, as far as
// that counts.
func (s *share[T]) add(f *flow[T], piece float64) {
	f.start = max(f.start, s.time)
	f.number = s.count
	f.next = f.start + piece/f.weight
	s.count++
	s.weight += f.weight
	heap.Push(&s.flows, f)
}

// remove lets a flow want nothing any more.
func (s *share[T]) remove(f *flow[T]) {
	heap.Remove(&s.flows, f.index)
	s.weight -= f.weight
}

// give counts what a flow got.
func (s *share[T]) give(f *flow[T], cost float64) {
	f.start += cost / f.weight
	s.time += cost / s.weight
}

// ask says which piece a flow wants next.
func (s *share[T]) ask(f *flow[T], piece float64) {
	f.next = f.start + piece/f.weight
	heap.Fix(&s.flows, f.index)
}

// first is the flow that is next, nil where none wants anything.
func (s *share[T]) first() *flow[T] {
	if len(s.flows) == 0 {
		return nil
	}
	return s.flows[0]
}
