package schedule

// Queue holds the waiting sentences of a worker and decides which one is next. It divides the capacity of the worker twice
// ([Clock]), by the cost of sentences: source tokens × beams at admission, corrected by the actual cost when they leave
// ([Queue.Settle]).
//
//   - Between callers equally, however many requests, sentences and beams each has, so
//     the slowdown of a caller depends only on the number of other callers. Work at low
//     priority counts four times: other callers go first.
//   - Between the priorities of a caller, 16 to 4 to 1.
//
// The requests of a caller and a priority go one after the other, small ones first, by an order assigned at admission
// ([Inside.Enter]): if they went side by side, all would end late. Sentences of a request go in their order. Smaller sentences do
// not pass a large one for ever: room that becomes free is kept for the first sentence that does not fit into the batch.
type Queue[S Item] struct {
	callers Clock[*callerQueue[S]]
	known   map[string]*callerQueue[S] // callers with a waiting sentence, and some more
	count   int                        // waiting sentences
	pushed  uint64                     // number of requests that have ever waited
	turn    *Line[S]                   // the request of the last head
}

// callerQueue holds the requests of a caller, by priority.
type callerQueue[S Item] struct {
	flow   Flow[*callerQueue[S]]
	levels Clock[*level[S]]
	of     [High - Low + 1]level[S]
}

// level holds a caller's requests of a priority with waiting sentences, the next one first.
type level[S Item] struct {
	caller   *callerQueue[S]
	flow     Flow[*level[S]]
	requests list[*Line[S]]
}

// Line holds the sentences of a request, in order. Some do not wait any more, because another request with the same sentence had
// them admitted.
type Line[S Item] struct {
	*Request
	level     *level[S]
	number    uint64 // breaks ties between equal orders: the earliest request is first; 0 before it is in a queue
	queued    bool   // in its level
	sentences []S
}

// before reports whether a request goes before another one of its level.
func (l *Line[S]) before(o *Line[S]) bool {
	return l.Order < o.Order || l.Order == o.Order && l.number < o.number
}

// NewQueue returns an empty queue.
func NewQueue[S Item]() *Queue[S] { return &Queue[S]{known: make(map[string]*callerQueue[S])} }

// Len returns the number of waiting sentences.
func (q *Queue[S]) Len() int { return q.count }

// Push adds a sentence at the end of a line. The sentence may already wait in other lines.
func (q *Queue[S]) Push(r *Line[S], item S) {
	if r.number == 0 {
		q.pushed++
		r.number = q.pushed
	}
	s := item.Scheduled()
	r.level = &q.caller(r.Caller).of[r.Priority-Low] // a new level if the caller was forgotten
	r.sentences = append(r.sentences, item)
	if !s.Waits {
		s.Waits = true
		q.count++
	}
	if !r.queued {
		r.queued = true
		r.level.requests.insert(r)
	}
	caller := r.level.caller
	if !r.level.flow.Wants {
		caller.levels.Add(&r.level.flow, s.Work())
	}
	if !caller.flow.Wants {
		q.callers.Add(&caller.flow, 0)
	}
}

// caller returns the queue of a caller, which may be new.
func (q *Queue[S]) caller(name string) *callerQueue[S] {
	c := q.known[name]
	if c == nil {
		c = new(callerQueue[S])
		c.flow = Flow[*callerQueue[S]]{Of: c, Weight: 1}
		for i := range c.of {
			l := &c.of[i]
			l.caller, l.flow = c, Flow[*level[S]]{Of: l, Weight: (Low + Priority(i)).Weight()}
		}
		q.known[name] = c
	}
	return c
}

// Room tells whether a sentence may join the batch.
type Room int

const (
	// Fits means that the sentence may join.
	Fits Room = iota
	// Rests means that it is not the turn of the sentence's group: other sentences of the caller may join.
	Rests
	// CallerFull means that the sentence's caller has to wait, and other callers may continue.
	CallerFull
	// Full means that the batch is full: room that becomes free is kept for the sentence.
	Full
)

// Head returns the next sentence that may be admitted now, or the zero S if there is none, or if the next one has to wait for
// room.
func (q *Queue[S]) Head(room func(*Sentence) Room) (none S) {
	q.sort()
	for _, c := range q.callers.flows {
		switch r, has := c.Of.firstOf(room); {
		case r == nil || has == CallerFull:
		case has == Full:
			return none
		default:
			q.turn = r
			r.skip()
			return r.sentences[0]
		}
	}
	return none
}

// sort removes sentences that do not wait any more from the head of the queue, and counts the size of the sentence that is then
// the head.
func (q *Queue[S]) sort() {
	for c := q.callers.First(); c != nil; c = q.callers.First() {
		for l := c.Of.levels.First(); l != nil; l = c.Of.levels.First() {
			switch r, changed := l.Of.first(); {
			case r == nil:
				c.Of.levels.Remove(l)
			case changed:
				c.Of.levels.Ask(l, r.sentences[0].Scheduled().Work())
			default:
				return
			}
		}
		q.idle(c.Of)
	}
}

// first returns the next request, nil if none waits. changed tells whether the first sentence of the request is another one than
// in the last call.
func (l *level[S]) first() (r *Line[S], changed bool) {
	for len(l.requests) > 0 {
		r := l.requests[0]
		changed = r.skip() || changed
		if len(r.sentences) > 0 {
			return r, changed
		}
		l.remove(r)
	}
	return nil, true
}

// remove removes a request.
func (l *level[S]) remove(r *Line[S]) {
	r.queued = false
	l.requests.remove(r)
}

// firstOf returns the caller's first request whose next sentence does not rest, and its room; nil if there is none.
func (c *callerQueue[S]) firstOf(room func(*Sentence) Room) (*Line[S], Room) {
	for _, l := range c.levels.flows {
		for _, r := range l.Of.requests {
			if s := r.waiting(); s != nil {
				if has := room(s); has != Rests {
					return r, has
				}
			}
		}
	}
	return nil, Rests
}

// waiting returns the first sentence that still waits, nil if none does.
func (l *Line[S]) waiting() *Sentence {
	for _, item := range l.sentences {
		if s := item.Scheduled(); s.Waits {
			return s
		}
	}
	return nil
}

// skip removes leading sentences that do not wait any more. It reports whether there were any.
func (l *Line[S]) skip() (skipped bool) {
	for len(l.sentences) > 0 && !l.sentences[0].Scheduled().Waits {
		clear(l.sentences[:1])
		l.sentences, skipped = l.sentences[1:], true
	}
	return skipped
}

// Charge charges the head, which is about to be admitted, to its level and its caller.
func (q *Queue[S]) Charge() {
	l, work := q.turn.level, q.turn.sentences[0].Scheduled().Work()
	c := l.caller
	c.levels.Charge(&l.flow, work, work) // the actual next piece is set when it is its turn
	q.callers.Charge(&c.flow, work*q.turn.Priority.charge(), 0)
}

// Settle charges the difference between the actual cost of a sentence and its charged work.
func (q *Queue[S]) Settle(r *Request, more float64) {
	if c := q.known[r.Caller]; c != nil { // otherwise no other caller waits
		q.callers.Correct(&c.flow, more*r.Priority.charge())
	}
}

// Remove removes a waiting sentence.
func (q *Queue[S]) Remove(s *Sentence) {
	s.Waits = false
	q.count--
}

// Leave removes the sentences of a line, which is not used any more.
func (q *Queue[S]) Leave(r *Line[S]) {
	if !r.queued {
		return
	}
	l := r.level
	l.remove(r)
	if len(l.requests) > 0 {
		return
	}
	l.caller.levels.Remove(&l.flow)
	if l.caller.levels.First() == nil {
		q.idle(l.caller)
	}
}

// idle marks a caller as wanting nothing. Its usage is remembered while others have had less; callers with no usage to remember
// are deleted.
func (q *Queue[S]) idle(c *callerQueue[S]) {
	q.callers.Remove(&c.flow)
	const some = 64
	if q.callers.First() == nil || len(q.known) > 2*len(q.callers.flows)+some {
		for name, other := range q.known {
			if !other.flow.Wants && !q.callers.Owes(&other.flow) {
				delete(q.known, name)
			}
		}
	}
}
