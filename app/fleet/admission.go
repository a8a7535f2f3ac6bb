package fleet

import (
	"time"

	"dragoman/app/engine"
)

// laneOf is where a sentence waits, the most urgent lane first: what belongs to many tokens is less urgent.
func (g *Gateway) laneOf(p engine.Priority, tokens int) int {
	at := int(engine.High - p)
	if tokens > g.cfg.Short {
		at = min(at+1, len(laneNames)-1)
	}
	return at
}

// backlog is what a request finds in a queue; mu is held.
func (g *Gateway) backlog(queue string, req engine.Request) (b engine.Backlog) {
	at, own, work, c := g.laneOf(req.Priority, req.Tokens), req.Work(req.Tokens), g.waiting(queue), g.capacity(queue)
	for other, w := range work {
		if other <= at {
			b.Ahead += float64(w)
		} else { // what is less urgent gets its share beside it
			b.Ahead += min(float64(w), (own+b.Ahead)*shares[other]/shares[at])
		}
	}
	b.Full = work[0]+work[1]+work[2] >= g.bound(c)
	b.Speed, b.Sentence = c.speed, c.sentence
	return b
}

// submitted is work that was submitted and has no result yet, by queue and lane: source tokens × beams.
type submitted map[string][len(laneNames)]int64

// add adds work, or takes it away again; a queue without any is not there.
func (s submitted) add(queue string, lane int, work int64) {
	lanes := s[queue]
	if lanes[lane] += work; lanes == ([len(laneNames)]int64{}) {
		delete(s, queue)
		return
	}
	s[queue] = lanes
}

// capacity is what workers have for a queue, all together.
type capacity struct {
	copies, rows int           // of the model; rows that they decode together
	speed        float64       // work per second
	sentence     time.Duration // that one takes
}

// capacity is that of the workers that take from a queue; mu is held.
func (g *Gateway) capacity(queue string) (c capacity) {
	for _, w := range g.fleet.workers {
		if q, ok := w.Queues[queue]; ok && !q.Leaving {
			c.copies += max(1, q.Copies)
			c.rows += q.Rows
			c.speed += q.WorkPerSecond
			c.sentence = max(c.sentence, time.Duration(q.SentenceTime*float64(time.Second)))
		}
	}
	return c
}

// waiting is the work that all gateways have submitted to a queue and wait for, by lane; mu is held.
func (g *Gateway) waiting(queue string) [3]int64 {
	work := g.fleet.others[queue]
	for lane, own := range g.work[queue] {
		work[lane] += own
	}
	return work
}

// isIdle says whether nobody takes from a queue.
func (g *Gateway) isIdle(queue string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.capacity(queue).copies == 0
}

// bound is the most work that may wait in a queue.
func (g *Gateway) bound(c capacity) int64 { return int64(g.cfg.Tokens) * int64(max(1, c.copies)) }

// window is the work that one request may have in a queue; mu is held. Requests share what may wait.
func (g *Gateway) window(queue string) int64 {
	c := g.capacity(queue)
	alone := max(int64(engine.Window(g.cfg.Short, c.copies)), rowWork*int64(c.rows))
	return min(alone, g.bound(c)/int64(max(1, g.admission.Inside)))
}

// rowWork is the source tokens for each row: twice what a sentence has, so that some wait.
const rowWork = 64
