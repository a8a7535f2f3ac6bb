package engine

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
