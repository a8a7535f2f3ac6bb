package engine

import "container/heap"

// queue has the sentences that wait, and says which is next. What a worker can do is
// shared out twice (share.go), by what sentences cost: source tokens × beams when they are
// admitted, corrected by what they took when they leave (loop.settle).
//
//   - Between callers equally, however many requests, sentences and beams each has, so
//     that nobody is slowed down by more than others are there. What a caller marks as
//     low counts four times: others go first.
//   - Between the priorities of a caller, 16 to 4 to 1.
//
// The requests of a caller and a priority go one after the other, small ones first, by an
// order that they are given when they are let in (insider.orderOf): side by side all would end late. Sentences
// of a request go in their order. A large sentence is not passed for ever by smaller ones:
// the first that does not fit into the batch is waited for, and what becomes free is kept
// for it.
type queue struct {
	callers share[*callerQueue]
	known   map[string]*callerQueue // callers with a sentence that waits, and some more
	count   int                     // sequences that wait
	pushed  uint64                  // requests that ever waited
	turn    *requestQueue           // that the last head is of
}

// callerQueue are the requests of a caller, by priority.
type callerQueue struct {
	flow   flow[*callerQueue]
	levels share[*level]
	of     [High - Low + 1]level
}

// level are a caller's requests of a priority with sentences that wait, next one first.
type level struct {
	caller   *callerQueue
	flow     flow[*level]
	requests heapOf[*requestQueue]
}

// requestQueue are the sentences of a request, in order. Some wait no more, because
// others wanted them too.
type requestQueue struct {
	session   *local
	level     *level
	number    uint64 // decides where orders are equal: who came first
	index     int    // in the level, outside where none of it waits
	sequences []*sequence
}

func (r *requestQueue) place() *int { return &r.index }

// before says whether a request of a level goes before another one.
func (r *requestQueue) before(o *requestQueue) bool {
	return r.session.order < o.session.order || r.session.order == o.session.order && r.number < o.number
}

// chargeOf is how often what a request gets counts for its caller. High counts once, or
// all that anybody sends would be urgent.
func chargeOf(p Priority) float64 {
	if p == Low {
		return 4
	}
	return 1
}

func newQueue() *queue { return &queue{known: make(map[string]*callerQueue)} }

func (q *queue) len() int { return q.count }

// push adds a sequence behind those that a call waits for. It may wait for others, too.
func (q *queue) push(c *call, s *sequence) {
	r := c.queue
	if r == nil {
		r = &requestQueue{session: c.session, number: q.pushed, index: outside}
		q.pushed++
		c.queue = r
	}
	req := c.session.Request
	r.level = &q.caller(req.Caller).of[req.Priority-Low] // a new one where it was forgotten
	r.sequences = append(r.sequences, s)
	if !s.waits {
		s.waits = true
		q.count++
	}
	if r.index == outside {
		heap.Push(&r.level.requests, r)
	}
	caller := r.level.caller
	if !r.level.flow.wants() {
		caller.levels.add(&r.level.flow, s.work)
	}
	if !caller.flow.wants() {
		q.callers.add(&caller.flow, 0)
	}
}

// caller is the queue of a caller, which may be new.
func (q *queue) caller(name string) *callerQueue {
	c := q.known[name]
	if c == nil {
		c = &callerQueue{flow: flow[*callerQueue]{weight: 1, index: outside}}
		c.flow.of = c
		for i := range c.of {
			l := &c.of[i]
			l.caller, l.flow = c, flow[*level]{of: l, weight: (Low + Priority(i)).Weight(), index: outside}
		}
		q.known[name] = c
	}
	return c
}

// room says whether a sentence fits into the batch.
type room int

// A caller that is full waits, and others go on; where all is full, what becomes free is kept
// for the first.
const (
	fits room = iota
	callerFull
	full
)

// head is the sequence that is next of those that may be admitted now, nil where there is none or
// where it has to wait for room.
func (q *queue) head(may func(*sequence) bool, roomFor func(*sequence) room) *sequence {
	for c := q.callers.first(); c != nil; c = q.callers.first() {
		for l := c.of.levels.first(); l != nil; l = c.of.levels.first() {
			r, changed := l.of.first()
			if r == nil {
				c.of.levels.remove(l)
				continue
			}
			if changed {
				c.of.levels.ask(l, r.sequences[0].work)
				continue
			}
			if s := r.sequences[0]; !may(s) || roomFor(s) != fits {
				return q.among(may, roomFor)
			}
			q.turn = r
			return r.sequences[0]
		}
		q.idle(c.of)
	}
	return nil
}

// first is the request that is next, nil where none waits; changed says that it was another one,
// or another sentence of it, before.
func (l *level) first() (r *requestQueue, changed bool) {
	for len(l.requests) > 0 {
		r := l.requests[0]
		changed = r.skip() || changed
		if len(r.sequences) > 0 {
			return r, changed
		}
		heap.Pop(&l.requests)
	}
	return nil, true
}

// among looks through all callers for the first of whom something may be admitted, where
// that whose turn it is has to wait.
func (q *queue) among(may func(*sequence) bool, roomFor func(*sequence) room) *sequence {
	q.turn = nil
	var next *flow[*callerQueue]
	var has room
	for _, c := range q.callers.flows {
		if next != nil && !c.before(next) {
			continue
		}
		if r := c.of.firstOf(may); r != nil {
			if of := roomFor(r.waiting()); of != callerFull {
				next, has, q.turn = c, of, r
			}
		}
	}
	if q.turn == nil || has != fits {
		return nil
	}
	q.turn.skip()
	return q.turn.sequences[0]
}

// firstOf is a caller's first request whose next sentence may be admitted, nil where there is none.
func (c *callerQueue) firstOf(may func(*sequence) bool) (first *requestQueue) {
	var of *flow[*level]
	for _, l := range c.levels.flows {
		if of != nil && !l.before(of) {
			continue
		}
		for _, r := range l.of.requests {
			if of == l && !r.before(first) {
				continue
			}
			if s := r.waiting(); s != nil && may(s) {
				of, first = l, r
			}
		}
	}
	return first
}

// waiting is the first sequence that still waits, nil where none does.
func (r *requestQueue) waiting() *sequence {
	for _, s := range r.sequences {
		if s.waits {
			return s
		}
	}
	return nil
}

// skip leaves out what waits no more; skipped says that there was such a sequence first.
func (r *requestQueue) skip() (skipped bool) {
	for len(r.sequences) > 0 && !r.sequences[0].waits {
		r.sequences[0] = nil
		r.sequences, skipped = r.sequences[1:], true
	}
	return skipped
}

// charge counts the head, which is about to be admitted, for those whose turn it is.
func (q *queue) charge() {
	l, work := q.turn.level, q.turn.sequences[0].work
	c := l.caller
	c.levels.give(&l.flow, work)
	c.levels.ask(&l.flow, work) // and what it wants really, when it is its turn
	q.callers.give(&c.flow, work*chargeOf(q.turn.session.Request.Priority))
	q.callers.ask(&c.flow, 0)
}

// settle counts what a sentence of a caller took beyond the work that it was charged for,
// or less.
func (q *queue) settle(req Request, more float64) {
	c := q.known[req.Caller]
	if c == nil {
		return // nobody else waits
	}
	c.flow.start += more * chargeOf(req.Priority) / c.flow.weight
	if c.flow.wants() {
		q.callers.ask(&c.flow, 0)
	}
}

// remove takes a sequence, which waits, out.
func (q *queue) remove(s *sequence) {
	s.waits = false
	q.count--
}

// leave takes out all that a call waits for; it is not used any more.
func (q *queue) leave(c *call) {
	r := c.queue
	if r == nil || r.index == outside {
		return
	}
	l := r.level
	heap.Remove(&l.requests, r.index)
	if len(l.requests) > 0 {
		return
	}
	l.caller.levels.remove(&l.flow)
	if l.caller.levels.first() == nil {
		q.idle(l.caller)
	}
}

// idle lets a caller want nothing. What it has had is remembered while others have had
// less; callers that are remembered for nothing are forgotten.
func (q *queue) idle(c *callerQueue) {
	q.callers.remove(&c.flow)
	const some = 64
	if q.callers.first() == nil || len(q.known) > 2*len(q.callers.flows)+some {
		for name, other := range q.known {
			if !other.flow.wants() && (q.callers.first() == nil || other.flow.start <= q.callers.time) {
				delete(q.known, name)
			}
		}
	}
}
