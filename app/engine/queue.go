package engine

import "container/heap"

// queue holds the waiting sentences and decides which one is next. It divides the capacity of a worker twice (share.go), by the
// cost of sentences: source tokens × beams at admission, corrected by the actual cost when they leave (loop.settle).
//
//   - Between callers equally, however many requests, sentences and beams each has, so
//     the slowdown of a caller depends only on the number of other callers. Work at low
//     priority counts four times: other callers go first.
//   - Between the priorities of a caller, 16 to 4 to 1.
//
// The requests of a caller and a priority go one after the other, small ones first, by an order assigned at admission
// (insider.orderOf): side by side all would end late. Sentences of a request go in their order. Smaller sentences do not pass a
// large one for ever: room that becomes free is kept for the first sentence that does not fit into the batch.
type queue struct {
	callers share[*callerQueue]
	known   map[string]*callerQueue // callers with a waiting sentence, and some more
	count   int                     // waiting sequences
	pushed  uint64                  // number of requests that have ever waited
	turn    *requestQueue           // the request of the last head
}

// callerQueue holds the requests of a caller, by priority.
type callerQueue struct {
	flow   flow[*callerQueue]
	levels share[*level]
	of     [High - Low + 1]level
}

// level holds a caller's requests of a priority with waiting sentences, the next one first.
type level struct {
	caller   *callerQueue
	flow     flow[*level]
	requests heapOf[*requestQueue]
}

// requestQueue holds the sentences of a request, in order. Some do not wait any more, because another request with the same
// sentence had them admitted.
type requestQueue struct {
	session   *local
	level     *level
	number    uint64 // breaks ties between equal orders: the earliest request is first
	index     int    // in the level; outside if none of its sentences waits
	sequences []*sequence
}

func (r *requestQueue) place() *int { return &r.index }

// before reports whether a request goes before another one of its level.
func (r *requestQueue) before(o *requestQueue) bool {
	return r.session.order < o.session.order || r.session.order == o.session.order && r.number < o.number
}

// chargeOf returns the factor by which the work of a request counts for its caller. High counts once: a discount would make every
// request urgent.
func chargeOf(p Priority) float64 {
	if p == Low {
		return 4
	}
	return 1
}

func newQueue() *queue { return &queue{known: make(map[string]*callerQueue)} }

func (q *queue) len() int { return q.count }

// push adds a sequence behind the others of a call. It may already wait for other calls.
func (q *queue) push(c *call, s *sequence) {
	r := c.queue
	if r == nil {
		r = &requestQueue{session: c.session, number: q.pushed, index: outside}
		q.pushed++
		c.queue = r
	}
	req := c.session.Request
	r.level = &q.caller(req.Caller).of[req.Priority-Low] // a new level if the caller was forgotten
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

// caller returns the queue of a caller, which may be new.
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

// room tells whether a sentence fits into the batch.
type room int

// A caller that is full waits, and others continue. If the batch is full, room that becomes free is kept for the first sentence.
const (
	fits room = iota
	callerFull
	full
)

// head returns the next sequence that may be admitted now, or nil if there is none or it has to wait for room.
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

// first returns the next request, nil if none waits. changed tells whether its first sentence is not the one of the last call.
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

// among returns the sequence of the first caller that may have one admitted, when the caller whose turn it is has to wait.
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

// firstOf returns the caller's first request whose next sentence may be admitted, nil if there is none.
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

// waiting returns the first sequence that still waits, nil if none does.
func (r *requestQueue) waiting() *sequence {
	for _, s := range r.sequences {
		if s.waits {
			return s
		}
	}
	return nil
}

// skip removes leading sequences that do not wait any more. It reports whether there were any.
func (r *requestQueue) skip() (skipped bool) {
	for len(r.sequences) > 0 && !r.sequences[0].waits {
		r.sequences[0] = nil
		r.sequences, skipped = r.sequences[1:], true
	}
	return skipped
}

// charge charges the head, which is about to be admitted, to its level and its caller.
func (q *queue) charge() {
	l, work := q.turn.level, q.turn.sequences[0].work
	c := l.caller
	c.levels.give(&l.flow, work)
	c.levels.ask(&l.flow, work) // the actual next piece is set when it is its turn
	q.callers.give(&c.flow, work*chargeOf(q.turn.session.Request.Priority))
	q.callers.ask(&c.flow, 0)
}

// settle charges the difference between the actual cost of a sentence and its charged work.
func (q *queue) settle(req Request, more float64) {
	c := q.known[req.Caller]
	if c == nil {
		return // no other caller waits
	}
	c.flow.start += more * chargeOf(req.Priority) / c.flow.weight
	if c.flow.wants() {
		q.callers.ask(&c.flow, 0)
	}
}

// remove removes a waiting sequence.
func (q *queue) remove(s *sequence) {
	s.waits = false
	q.count--
}

// leave removes the sequences of a call, which is not used any more.
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

// idle marks a caller as wanting nothing. Its usage is remembered while others have had less; callers with no usage to remember
// are deleted.
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
