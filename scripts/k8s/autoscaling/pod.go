package main

import "math"

// shape is how fast a pod is and what it uses. All times are seconds, memory is bytes.
//
// All sentences of the batch advance by one token a step, and a step takes longer the
// more of them there are. A pod is therefore a server that is shared by up to slots
// sentences, whose total speed grows with their number.
type shape struct {
	cores float64 // that a pod without a GPU was measured with, and requests; 0: it has a GPU
	slots int     // sentences that decode together: BATCH_SIZE over NUM_BEAMS
	// A decoder step of n sentences takes stepBase + n × stepSentence.
	stepBase, stepSentence float64
	// encodeToken is the encoder's time for a source token. The batch stands still.
	encodeToken float64
	// Cores that are busy on average while the encoder runs, and in a step of n
	// sentences: (cpuBase + n × cpuSentence) over the step's time.
	encodeCores, cpuBase, cpuSentence float64
	memoryBase, memoryBatch           float64 // when idle, and what a full batch takes beyond that
}

// cpu418M is the 418M shape in int8 with 5 beams on two cores. All figures come from
// docs/benchmarks.md: steps of 1 and 16 sentences take 17 and 84 ms on two threads
// (and 25.3 and 153.2 ms of CPU time), the encoder about 20 ms for 32 tokens, and
// the process grows from 780 to 1,010 MB.
var cpu418M = shape{cores: 2, slots: 16, stepBase: 0.0125, stepSentence: 0.00447, encodeToken: 0.020 / 32,
	encodeCores: 1.6, cpuBase: 0.01677, cpuSentence: 0.00853, memoryBase: 780e6, memoryBatch: 230e6}

// assumedGPU is a pod with a GPU. Nothing of it was measured. What matters is its form,
// which is that of small batches on GPUs: a step of one sentence takes nearly as long as
// one of 16, so the GPU looks busy long before it is full. One core feeds it.
var assumedGPU = shape{slots: 16, stepBase: 0.0055, stepSentence: 0.0001, encodeToken: 0.001 / 32,
	encodeCores: 1, cpuBase: 0.0055, cpuSentence: 0.0001, memoryBase: 1500e6, memoryBatch: 300e6}

// step is the time of a decoder step of n sentences.
func (s shape) step(n int) float64 { return s.stepBase + float64(n)*s.stepSentence }

// capacity is how many sentences of so many tokens a pod finishes in a second when its
// batch is always full.
func (s shape) capacity(tokens float64) float64 {
	n := float64(s.slots)
	return n / (tokens*s.step(s.slots) + n*tokens*s.encodeToken)
}

// request is a request of one sentence, by a caller of its own.
type request struct {
	arrived  float64 // seconds
	patience float64 // seconds after which its client leaves
	tells    bool    // the client says so in advance, with Request-Timeout
	tokens   int     // of the source and of the translation
}

// outcome is what became of a request.
type outcome int

const (
	answered outcome = iota
	refused          // 503 at once: too much waits
	late             // the client left before the answer
	killed           // the pod ended before the answer
	unserved         // there was no pod
)

// pod simulates the queue and the batch of one pod. It jumps from event to event: a
// sentence ends, its client leaves, time is over. Between them nothing changes but the
// number of steps that were made.
//
// The queue is first come, first served. That is what fair shares between callers come
// to where each of them has one sentence.
type pod struct {
	shape
	queueWait float64                                // QUEUE_WAIT; 0: no bound
	record    func(r request, o outcome, at float64) // takes outcomes as they come about

	now      float64
	steps    float64 // decoder steps since the beginning; fractions between two
	encoding float64 // seconds of encoder work before the next step
	batch    []decoding
	waiting  []request
	tokens   int // source tokens of waiting

	speed     throughput
	busy, cpu float64 // seconds of work, and core seconds, since the beginning
	highest   int     // sentences that the batch ever had: memory stays allocated
}

// decoding is a sentence of the batch.
type decoding struct {
	request
	end float64 // in steps of the pod
}

// memory is in bytes.
func (p *pod) memory() float64 {
	return p.memoryBase + p.memoryBatch*float64(p.highest)/float64(p.slots)
}

// offer hands over a request, at its arrival, up to which the pod is advanced first.
func (p *pod) offer(r request) {
	p.advance(r.arrived)
	switch {
	case len(p.batch) < p.slots:
		p.join(r)
	case p.refuses(r):
		p.record(r, refused, p.now)
	default:
		p.waiting = append(p.waiting, r)
		p.tokens += r.tokens
	}
}

// refuses decides as the service does: by the time that what waits takes at the recent
// speed, where any was measured. An empty queue takes every request.
func (p *pod) refuses(r request) bool {
	wait := p.queueWait
	if r.tells && (wait == 0 || r.patience < wait) {
		wait = r.patience
	}
	rate := p.speed.rate()
	return len(p.waiting) > 0 && wait > 0 && rate > 0 && float64(p.tokens+r.tokens) > rate*wait
}

// kill ends the pod: what is left in it is lost.
func (p *pod) kill() {
	for _, d := range p.batch {
		p.record(d.request, killed, p.now)
	}
	for _, r := range p.waiting {
		p.record(r, killed, p.now)
	}
	p.batch, p.waiting, p.tokens = nil, nil, 0
}

// advance computes until a time. It does nothing if that is over.
func (p *pod) advance(until float64) {
	for p.now < until {
		switch {
		case len(p.batch) == 0:
			p.now, p.encoding = until, 0
		case p.encoding > 0: // nobody leaves meanwhile
			d := min(p.encoding, until-p.now)
			p.encoding -= d
			p.work(d, p.encodeCores)
			p.now += d
		default:
			p.decode(until)
		}
	}
	p.giveUp()
}

// decode makes steps until a sentence ends, a client leaves or time is over.
func (p *pod) decode(until float64) {
	step := p.step(len(p.batch))
	cores := (p.cpuBase + float64(len(p.batch))*p.cpuSentence) / step
	at, leaves := until, false
	end := math.Inf(1)
	for i := range p.batch {
		d := &p.batch[i]
		end = min(end, d.end)
		if left := d.arrived + d.patience; left < at {
			at, leaves = max(left, p.now), true
		}
	}
	if t := p.now + (end-p.steps)*step; t <= at {
		p.work(t-p.now, cores)
		p.now, p.steps = t, end // exactly: no rounding error may keep a sentence from its end
		p.retire(answered, func(d *decoding) bool { return d.end <= p.steps })
		return
	}
	p.work(at-p.now, cores)
	p.steps += (at - p.now) / step
	p.now = at
	if leaves {
		p.retire(late, func(d *decoding) bool { return d.arrived+d.patience <= p.now })
	}
}

func (p *pod) work(seconds, cores float64) {
	p.busy += seconds
	p.cpu += seconds * cores
	if len(p.waiting) > 0 {
		p.speed.work(seconds)
	}
}

// retire takes sentences out of the batch, and fills it from the queue.
func (p *pod) retire(o outcome, over func(*decoding) bool) {
	for i := 0; i < len(p.batch); {
		d := &p.batch[i]
		if !over(d) {
			i++
			continue
		}
		p.record(d.request, o, p.now)
		last := len(p.batch) - 1 // takes its place: nobody asks for the order
		*d, p.batch = p.batch[last], p.batch[:last]
	}
	p.giveUp()
	for len(p.batch) < p.slots && len(p.waiting) > 0 {
		r := p.next()
		p.speed.tokens += float64(r.tokens)
		p.join(r)
	}
}

// next takes the oldest request from the queue.
func (p *pod) next() request {
	r := p.waiting[0]
	p.waiting = p.waiting[1:]
	p.tokens -= r.tokens
	return r
}

// join begins a sentence: the encoder first, for which all others stand still.
func (p *pod) join(r request) {
	p.encoding += float64(r.tokens) * p.encodeToken
	p.batch = append(p.batch, decoding{r, p.steps + float64(r.tokens)})
	p.highest = max(p.highest, len(p.batch))
}

// giveUp drops from the head of the queue what nobody waits for any more. All
// clients of a simulation are equally patient, so the head leaves first.
func (p *pod) giveUp() {
	for len(p.waiting) > 0 && p.waiting[0].arrived+p.waiting[0].patience <= p.now {
		r := p.next()
		p.record(r, late, r.arrived+r.patience)
	}
}

// throughput is how many source tokens join the batch per second while any wait, as the
// service measures it: what lies back by halfLife of work counts half.
type throughput struct{ tokens, seconds float64 }

const halfLife = 10 // seconds of work

func (t *throughput) work(seconds float64) {
	keep := math.Exp2(-seconds / halfLife)
	t.tokens *= keep
	t.seconds = t.seconds*keep + seconds
}

// rate is in tokens per second, 0 before anything was measured.
func (t *throughput) rate() float64 {
	if t.seconds == 0 {
		return 0
	}
	return t.tokens / t.seconds
}
