package engine

import (
	"cmp"
	"container/heap"
	"time"
)

// queue orders the sentences that wait. Each has a due time, fixed when it comes:
// its arrival, plus half of aging for each priority below the highest. The
// earliest is next. That one rule gives all that is wanted:
//
//   - within a priority the first to come is the first to go;
//   - a higher priority goes first, and has a head start of at most aging;
//   - nothing starves: nothing that comes more than aging later overtakes, however
//     much of it there is.
//
// Only the head may leave by pop, so a large sentence is never passed by smaller
// ones: what becomes free is kept for it. The bounds of the queue are the
// mailbox's.
type queue struct {
	aging time.Duration
	heap  byDue
	count uint64 // of all that ever came
}

func (q *queue) len() int { return len(q.heap) }

// push adds a sequence that comes at now.
func (q *queue) push(s *sequence, p Priority, now time.Time) {
	s.due, s.number = q.due(p, now), q.count
	q.count++
	heap.Push(&q.heap, s)
}

// raise moves a sequence, which waits, to where it would stand if it came at now
// with priority p, unless that is further back.
func (q *queue) raise(s *sequence, p Priority, now time.Time) {
	if due := q.due(p, now); due.Before(s.due) {
		s.due = due
		heap.Fix(&q.heap, s.index)
	}
}

// head is the sequence that is next, nil when none waits.
func (q *queue) head() *sequence {
	if len(q.heap) == 0 {
		return nil
	}
	return q.heap[0]
}

// remove takes a sequence, which waits, out.
func (q *queue) remove(s *sequence) { heap.Remove(&q.heap, s.index) }

func (q *queue) due(p Priority, now time.Time) time.Time {
	return now.Add(time.Duration(High-p) * q.aging / time.Duration(High-Low))
}

// byDue implements [heap.Interface].
type byDue []*sequence

func (h byDue) Len() int { return len(h) }

func (h byDue) Less(i, j int) bool {
	return cmp.Or(h[i].due.Compare(h[j].due), cmp.Compare(h[i].number, h[j].number)) < 0
}

func (h byDue) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements [heap.Interface].
func (h *byDue) Push(x any) {
	s := x.(*sequence)
	s.index = len(*h)
	*h = append(*h, s)
}

// Pop implements [heap.Interface].
func (h *byDue) Pop() any {
	last := len(*h) - 1
	s := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	s.index = outside
	return s
}
