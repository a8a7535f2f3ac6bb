package pod

import "math"

// fifo is a queue of requests in a ring that grows.
type fifo struct {
	ring []Request // its length is a power of two
	head int
	n    int
}

func (f *fifo) len() int { return f.n }

func (f *fifo) push(r Request) {
	if f.n == len(f.ring) {
		f.grow()
	}
	f.ring[(f.head+f.n)&(len(f.ring)-1)] = r
	f.n++
}

// peek returns the oldest request; there must be one.
func (f *fifo) peek() Request { return f.ring[f.head] }

// pop removes and returns the oldest request; there must be one.
func (f *fifo) pop() Request {
	r := f.ring[f.head]
	f.head = (f.head + 1) & (len(f.ring) - 1)
	f.n--
	return r
}

func (f *fifo) grow() {
	ring := make([]Request, max(64, 2*len(f.ring)))
	for i := range f.n {
		ring[i] = f.ring[(f.head+i)&(len(f.ring)-1)]
	}
	f.ring, f.head = ring, 0
}

// speed is how many source tokens join the batch per second while any wait, as the
// service measures it: what lies back by halfLife of work counts half.
type speed struct{ tokens, seconds float64 }

const halfLife = 10 // seconds of work

func (s *speed) work(seconds float64) {
	keep := math.Exp2(-seconds / halfLife)
	s.tokens *= keep
	s.seconds = s.seconds*keep + seconds
}

func (s *speed) admit(tokens int) { s.tokens += float64(tokens) }

// rate is in tokens per second, 0 before anything was measured.
func (s *speed) rate() float64 {
	if s.seconds == 0 {
		return 0
	}
	return s.tokens / s.seconds
}
