package schedule

import (
	"math"
	"time"
)

// Backlog describes the load that a request finds on arrival.
type Backlog struct {
	Ahead    float64       // work that is done before the request's, or beside it
	Speed    float64       // work per second while sentences wait; 0: unknown
	Sentence time.Duration // time of a sentence in the batch
	Full     bool          // the queue is full
}

// Time returns the duration of some work, 0 if the speed is unknown.
func (b Backlog) Time(work float64) time.Duration {
	if b.Speed <= 0 {
		return 0
	}
	return time.Duration(min(work/b.Speed, math.MaxInt32) * float64(time.Second))
}

// Inside are the admitted requests of an engine. Their remaining work determines how long another request would wait.
//
// Workers are shared fairly ([Queue]), so a request does not wait for all admitted work: until its last sentence is decoded,
// another caller gets at most as much done as the request's caller, and another request of that caller at most as much as the
// request itself, by their weights. Requests of the same caller and priority are done before the request or after it.
type Inside map[string]*insider

// insider is a caller with admitted requests.
type insider struct {
	requests map[*Request]bool
	entered  [High - Low + 1]float64 // work of the requests admitted since, by priority
}

// Patience limits how much later, smaller requests of its caller and priority may do before a request: this multiple of the
// request's own work. With a larger value small requests end sooner, and large ones later.
const Patience = 4

// Ask sets the order of a request among the requests of its caller and priority, and returns the work that would be done before
// its own, or beside it. A smaller request that comes later has the lower order as long as the work that was admitted between the
// two is less than Patience × the difference.
func (n Inside) Ask(r *Request) (ahead float64) {
	own := r.Left()
	r.Order = Patience * own
	var levels [High - Low + 1]float64
	if caller := n[r.Caller]; caller != nil {
		r.Order += caller.entered[r.Priority-Low]
		for other := range caller.requests {
			if other.Priority != r.Priority || other.Order <= r.Order {
				levels[other.Priority-Low] += other.Left()
			}
		}
	}
	ofLevel := levels[r.Priority-Low] + own
	byCaller := ofLevel
	for p := Low; p <= High; p++ {
		if p != r.Priority {
			byCaller += min(levels[p-Low], ofLevel*p.Weight()/r.Priority.Weight())
		}
	}
	total := byCaller
	for name, caller := range n {
		if name == r.Caller {
			continue
		}
		others, charge := 0.0, Low.charge()
		for other := range caller.requests {
			others += other.Left()
			charge = min(charge, other.Priority.charge())
		}
		total += min(others, byCaller*r.Priority.charge()/charge)
	}
	return total - own
}

// Enter adds a request that has asked.
func (n Inside) Enter(r *Request) {
	caller := n[r.Caller]
	if caller == nil {
		caller = &insider{requests: make(map[*Request]bool)}
		n[r.Caller] = caller
	}
	caller.requests[r] = true
	caller.entered[r.Priority-Low] += r.Left()
}

// Leave removes a request that has entered.
func (n Inside) Leave(r *Request) {
	caller := n[r.Caller]
	if delete(caller.requests, r); len(caller.requests) == 0 {
		delete(n, r.Caller)
	}
}

// WeightOfLane returns the weight of a lane, which has the work of one priority: High first.
func WeightOfLane(lane int) float64 { return (High - Priority(lane)).Weight() }

// AheadInLanes returns the work that is done before the work of a request in a lane, or beside it. More urgent
// lanes go first; less urgent ones get their share beside it.
func AheadInLanes(work [High - Low + 1]int64, lane int, own float64) (ahead float64) {
	for other, w := range work {
		if other <= lane {
			ahead += float64(w)
		} else {
			ahead += min(float64(w), (own+ahead)*WeightOfLane(other)/WeightOfLane(lane))
		}
	}
	return ahead
}
