package fleet

import (
	"time"

	"dragoman/app/schedule"
)

// submitted is work that was submitted and has no result yet, by queue and lane: source tokens × beams.
type submitted map[string][len(laneNames)]int64

// add adds work; negative work is subtracted. A queue without work has no entry.
func (s submitted) add(queue string, lane int, work int64) {
	lanes := s[queue]
	if lanes[lane] += work; lanes == ([len(laneNames)]int64{}) {
		delete(s, queue)
		return
	}
	s[queue] = lanes
}

// workOf returns the work of gateways.
func workOf(gateways map[string]gatewayStatus) submitted {
	sum := make(submitted)
	for _, g := range gateways {
		for queue, lanes := range g.Work {
			for lane, work := range lanes {
				sum.add(queue, lane, work)
			}
		}
	}
	return sum
}

// load is the work of a queue, and the capacity of the workers that take from the queue.
type load struct {
	copies, rows int                   // copies of the model, and their rows together
	speed        float64               // work per second
	sentence     time.Duration         // time of a sentence in the batch
	waiting      [len(laneNames)]int64 // work of all gateways
	bound        int64                 // the most work that may wait
}

// load returns the load of a queue. The caller must hold mu.
func (g *Gateway) load(queue string) load {
	l := load{waiting: g.fleet.others[queue]}
	for lane, own := range g.ledger.work[queue] {
		l.waiting[lane] += own
	}
	for _, w := range g.fleet.workers {
		if q, ok := w.Queues[queue]; ok && !q.Leaving {
			l.copies += max(1, q.Copies)
			l.rows += q.Rows
			l.speed += q.WorkPerSecond
			l.sentence = max(l.sentence, time.Duration(q.SentenceTime*float64(time.Second)))
		}
	}
	l.bound = int64(g.cfg.Tokens) * int64(max(1, l.copies))
	return l
}

// work returns the work of all lanes.
func (l load) work() int64 { return l.waiting[0] + l.waiting[1] + l.waiting[2] }

// backlog returns what a request with some work of its own finds in front of a lane.
func (l load) backlog(lane int, own float64) schedule.Backlog {
	return schedule.Backlog{Ahead: schedule.AheadInLanes(l.waiting, lane, own), Speed: l.speed, Sentence: l.sentence, Full: l.work() >= l.bound}
}

// rowWork is the source tokens per row that a request may submit: twice those of a usual sentence, so that some sentences wait.
const rowWork = 64

// window returns the work that each of several requests may have in the queue: the requests share the bound.
func (l load) window(short, requests int) int64 {
	alone := max(int64(schedule.Window(short, l.copies)), rowWork*int64(l.rows))
	return min(alone, l.bound/int64(max(1, requests)))
}

// laneOf returns the lane for a sentence of a request with some tokens in flight. More tokens than short make the lane less
// urgent.
func laneOf(p schedule.Priority, tokens, short int) int {
	lane := int(schedule.High - p)
	if tokens > short {
		lane = min(lane+1, len(laneNames)-1)
	}
	return lane
}
