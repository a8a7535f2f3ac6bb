package pod

import "math"

// Request is a request of one sentence.
type Request struct {
	Arrived  float64 // seconds
	Patience float64 // seconds after which its client leaves
	Tells    bool    // the client says so in advance, with Request-Timeout
	Source   int32   // tokens
	Target   int32   // tokens, so many steps
}

// Outcome is what became of a request.
type Outcome int

// The outcomes.
const (
	Answered Outcome = iota
	Refused          // 503 at once: too much waits
	Late             // the client left before the answer
	Killed           // the pod ended before the answer
	Unserved         // there was no pod; set by callers
)

// Sink takes outcomes in the order in which they come about. at is when.
type Sink interface {
	Record(r Request, o Outcome, at float64)
}

// Pod is the queue and the batch of one pod. It is not safe for concurrent use.
type Pod struct {
	shape  Shape
	limits Limits
	sink   Sink

	now      float64
	steps    float64 // decoder steps since the beginning; fractions between two
	encoding float64 // seconds of encoder work before the next step
	batch    []decoding
	waiting  fifo
	tokens   int // source tokens of waiting

	speed   speed
	usage   Usage
	highest int // sentences that the batch ever had: memory stays allocated
}

// decoding is a sentence of the batch.
type decoding struct {
	Request
	end float64 // in steps of the pod
}

// New returns an idle pod, at a time. The shape must be valid.
func New(shape Shape, limits Limits, sink Sink, now float64) *Pod {
	return &Pod{shape: shape, limits: limits, sink: sink, now: now, batch: make([]decoding, 0, shape.Slots)}
}

// Usage are totals since the pod began.
type Usage struct {
	Busy float64 // seconds in which the model computed anything
	CPU  float64 // core seconds
	Rows float64 // sentences of the batch × seconds
}

// Usage returns the totals up to the last Advance.
func (p *Pod) Usage() Usage { return p.usage }

// QueueTokens are the source tokens that wait, dragoman_queue_tokens.
func (p *Pod) QueueTokens() int { return p.tokens }

// Memory is in bytes.
func (p *Pod) Memory() float64 {
	return p.shape.MemoryBase + p.shape.MemoryBatch*float64(p.highest)/float64(p.shape.Slots)
}

// Sentences are those of the batch.
func (p *Pod) Sentences() int { return len(p.batch) }

// Idle says that nothing waits or runs.
func (p *Pod) Idle() bool { return len(p.batch) == 0 }

// Offer hands over a request, at its arrival, up to which the pod is advanced first.
func (p *Pod) Offer(r Request) {
	p.Advance(r.Arrived)
	switch {
	case len(p.batch) < p.shape.Slots:
		p.join(r)
	case p.refuses(r):
		p.sink.Record(r, Refused, p.now)
	default:
		p.waiting.push(r)
		p.tokens += int(r.Source)
	}
}

// refuses decides as the service does: by tokens, and by the time that what waits
// takes at the speed of late, where any was measured. A queue with nothing in it
// takes every request.
func (p *Pod) refuses(r Request) bool {
	if p.waiting.len() == 0 {
		return false
	}
	ahead := p.tokens + int(r.Source)
	if ahead > p.limits.QueueTokens {
		return true
	}
	wait := p.limits.QueueWait
	if r.Tells && (wait == 0 || r.Patience < wait) {
		wait = r.Patience
	}
	rate := p.speed.rate()
	return wait > 0 && rate > 0 && float64(ahead) > rate*wait
}

// Kill ends the pod: what is left in it is lost.
func (p *Pod) Kill() {
	for _, d := range p.batch {
		p.sink.Record(d.Request, Killed, p.now)
	}
	for p.waiting.len() > 0 {
		p.sink.Record(p.waiting.pop(), Killed, p.now)
	}
	p.batch, p.tokens = p.batch[:0], 0
}

// Advance computes until a time. It does nothing if that is over.
func (p *Pod) Advance(until float64) {
	for p.now < until {
		switch {
		case len(p.batch) == 0:
			p.now, p.encoding = until, 0
		case p.encoding > 0:
			p.encode(until)
		default:
			p.decode(until)
		}
	}
	p.giveUp()
}

// encode spends time in the encoder; nobody leaves meanwhile.
func (p *Pod) encode(until float64) {
	d := min(p.encoding, until-p.now)
	p.encoding -= d
	p.spend(d, p.shape.EncodeCores)
	p.now += d
}

// decode makes steps until a sentence ends, a client leaves or time is over.
func (p *Pod) decode(until float64) {
	step := p.shape.Step(len(p.batch))
	at, leaves := until, false
	end := math.Inf(1)
	for i := range p.batch {
		d := &p.batch[i]
		end = min(end, d.end)
		if left := d.Arrived + d.Patience; left < at {
			at, leaves = max(left, p.now), true
		}
	}
	if t := p.now + (end-p.steps)*step; t <= at {
		p.work(t-p.now, (end - p.steps), t)
		p.steps = end // exactly: no rounding error may keep a sentence from its end
		p.finish()
		return
	}
	p.work(at-p.now, (at-p.now)/step, at)
	if leaves {
		p.leave()
	}
}

// work accounts for some decoding.
func (p *Pod) work(seconds, steps, at float64) {
	p.spend(seconds, p.shape.cores(len(p.batch)))
	p.steps += steps
	p.now = at
}

func (p *Pod) spend(seconds, cores float64) {
	p.usage.Busy += seconds
	p.usage.CPU += seconds * cores
	p.usage.Rows += seconds * float64(len(p.batch))
	if p.waiting.len() > 0 {
		p.speed.work(seconds)
	}
}

// finish takes out of the batch what has reached its end.
func (p *Pod) finish() {
	p.retire(Answered, func(d *decoding) bool { return d.end <= p.steps })
}

// leave takes out of the batch what nobody waits for any more.
func (p *Pod) leave() {
	p.retire(Late, func(d *decoding) bool { return d.Arrived+d.Patience <= p.now })
}

func (p *Pod) retire(o Outcome, over func(*decoding) bool) {
	for i := 0; i < len(p.batch); {
		d := &p.batch[i]
		if !over(d) {
			i++
			continue
		}
		p.sink.Record(d.Request, o, p.now)
		last := len(p.batch) - 1 // takes its place: nobody asks for the order
		*d, p.batch = p.batch[last], p.batch[:last]
	}
	p.admit()
}

// admit fills the batch from the queue.
func (p *Pod) admit() {
	p.giveUp()
	for len(p.batch) < p.shape.Slots && p.waiting.len() > 0 {
		r := p.waiting.pop()
		p.tokens -= int(r.Source)
		p.speed.admit(int(r.Source))
		p.join(r)
	}
}

// join begins a sentence: the encoder first, for which all others stand still.
func (p *Pod) join(r Request) {
	p.encoding += float64(r.Source) * p.shape.EncodeToken
	p.batch = append(p.batch, decoding{r, p.steps + float64(r.Target)})
	p.highest = max(p.highest, len(p.batch))
}

// giveUp drops from the head of the queue what nobody waits for any more. All
// clients of a simulation are equally patient, so the head leaves first.
func (p *Pod) giveUp() {
	for p.waiting.len() > 0 {
		r := p.waiting.peek()
		if r.Arrived+r.Patience > p.now {
			return
		}
		p.waiting.pop()
		p.tokens -= int(r.Source)
		p.sink.Record(r, Late, r.Arrived+r.Patience)
	}
}
