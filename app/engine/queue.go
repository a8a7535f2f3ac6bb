package engine

// queue has the sentences that wait, and says which is next. What a worker can do is
// shared out twice (share.go), by what sentences cost: source tokens × beams.
//
//   - Between callers equally, however many requests, sentences and beams each has, so
//     that nobody is slowed down by more than others are there. What a caller marks as
//     low counts four times: others go first.
//   - Between the requests of a caller by their priorities, 16 to 4 to 1, so that a short
//     request gets in beside a long one. Of requests that come at the same time the
//     higher priority goes first, then the smaller sentence.
//
// Sentences of a request go in their order. A large sentence is not passed for ever by
// smaller ones: the first that does not fit into the batch is waited for, and what becomes
// free is kept for it.
type queue struct {
	callers share[*callerQueue]
	known   map[string]*callerQueue // callers with a sentence that waits, and some more
	count   int                     // sequences that wait
	turn    *requestQueue           // that the last head is of
}

// callerQueue are the requests of a caller.
type callerQueue struct {
	flow     flow[*callerQueue]
	requests share[*requestQueue]
}

// requestQueue are the sentences of a request, in order. Some wait no more, because
// others wanted them too.
type requestQueue struct {
	session   *session
	caller    *callerQueue
	flow      flow[*requestQueue]
	sequences []*sequence
}

// weightOf is how a caller's requests share what it gets.
func weightOf(p Priority) float64 {
	switch p {
	case High:
		return 16
	case Low:
		return 1
	}
	return 4
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
		r = newRequestQueue(c.session)
		c.queue = r
	}
	if caller := q.caller(c.session.request.Caller); r.caller != caller { // it was forgotten
		r.caller, r.flow.start = caller, 0
	}
	r.sequences = append(r.sequences, s)
	if !s.waits {
		s.waits = true
		q.count++
	}
	if !r.flow.wants() {
		r.caller.requests.add(&r.flow, s.work)
	}
	if !r.caller.flow.wants() {
		q.callers.add(&r.caller.flow, 0)
	}
}

// caller is the queue of a caller, which may be new.
func (q *queue) caller(name string) *callerQueue {
	c := q.known[name]
	if c == nil {
		c = &callerQueue{flow: flow[*callerQueue]{weight: 1, index: outside}}
		c.flow.of = c
		q.known[name] = c
	}
	return c
}

func newRequestQueue(s *session) *requestQueue {
	r := &requestQueue{session: s}
	r.flow = flow[*requestQueue]{of: r, weight: weightOf(s.request.Priority), index: outside}
	return r
}

// head is the sequence that is next, nil when none waits. Sentences of long requests
// that take more rows than room are left out.
func (q *queue) head(room int) *sequence {
	for c := q.callers.first(); c != nil; c = q.callers.first() {
		for r := c.of.requests.first(); r != nil; r = c.of.requests.first() {
			switch skipped := r.of.skip(); {
			case len(r.of.sequences) == 0:
				c.of.requests.remove(r)
			case skipped:
				c.of.requests.ask(r, r.of.sequences[0].work)
			case r.of.mayAdmit(r.of.sequences[0], room):
				q.turn = r.of
				return r.of.sequences[0]
			default:
				return q.among(room)
			}
		}
		q.idle(c.of)
	}
	return nil
}

// among looks through all requests for the first whose head may be admitted, where that
// whose turn it is has to wait.
func (q *queue) among(room int) *sequence {
	q.turn = nil
	var next *flow[*callerQueue]
	for _, c := range q.callers.flows {
		if next != nil && !c.before(next) {
			continue
		}
		var first *flow[*requestQueue]
		for _, r := range c.of.requests.flows {
			head := r.of.waiting()
			if head != nil && r.of.mayAdmit(head, room) && (first == nil || r.before(first)) {
				first = r
			}
		}
		if first != nil {
			next, q.turn = c, first.of
		}
	}
	if q.turn == nil {
		return nil
	}
	q.turn.skip()
	return q.turn.sequences[0]
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

// mayAdmit says whether a sequence of the request may take its rows.
func (r *requestQueue) mayAdmit(s *sequence, room int) bool {
	return s.cost.rows <= room || !r.session.long()
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
	r := q.turn
	c, work := r.caller, r.sequences[0].work
	c.requests.give(&r.flow, work)
	c.requests.ask(&r.flow, work) // and what it wants really, when it is its turn
	q.callers.give(&c.flow, work*chargeOf(r.session.request.Priority))
	q.callers.ask(&c.flow, 0)
}

// remove takes a sequence, which waits, out.
func (q *queue) remove(s *sequence) {
	s.waits = false
	q.count--
}

// leave takes out all that a call waits for; it is not used any more.
func (q *queue) leave(c *call) {
	r := c.queue
	if r == nil || !r.flow.wants() {
		return
	}
	r.caller.requests.remove(&r.flow)
	if r.caller.requests.first() == nil {
		q.idle(r.caller)
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
