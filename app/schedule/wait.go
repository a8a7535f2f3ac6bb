package schedule

import (
	"iter"
	"maps"
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

// Admission admits requests, or refuses them before any work is done for them. Its account has their places.
type Admission struct {
	Account
	Wait time.Duration // maximum time that others may delay a request; 0: no limit but its deadline
}

// Verdict is the answer to a request.
type Verdict struct {
	Admitted bool
	Wait     time.Duration // until others have been served
	Needs    time.Duration // without others
}

// Enter admits a request of a caller, which must give its place back ([Account.Hold]). own is its work, and left the time until
// its deadline. A request that needs more than that is too large.
func (a *Admission) Enter(caller string, own float64, b Backlog, left time.Duration) Verdict {
	v := Verdict{Wait: b.Time(b.Ahead), Needs: b.Time(own) + b.Sentence}
	v.Admitted = v.Needs <= left && v.Wait <= left-v.Needs && (a.Wait == 0 || v.Wait <= a.Wait) && !b.Full && a.Room(caller, 1) == Fits
	if v.Admitted {
		a.Hold(caller, 1)
	}
	return v
}

// Inside are the admitted requests of an engine. Their remaining work determines how long another request would wait.
//
// Workers are shared fairly ([Queue]), so a request does not wait for all admitted work: until its last sentence is decoded,
// another caller gets at most as much done as its own caller, and another request of its caller at most as much as the request
// itself, by their weights. Requests of its caller and its priority are done before it or after it.
type Inside[R Waiting] struct{ callers map[string]*insider[R] }

// Waiting is a request of an engine.
type Waiting interface {
	comparable
	Place() *Request
	Left() float64 // work that is not admitted to a batch yet
}

// insider is a caller with admitted requests.
type insider[R Waiting] struct {
	requests map[R]bool
	entered  [High - Low + 1]float64 // work of the requests admitted since, by priority
}

// Patience is the multiple of its own work that a request lets later, smaller requests of its caller and priority do before it.
// With a larger value small requests end sooner, and large ones later.
const Patience = 4

// Ask sets the order of a request among the requests of its caller and priority, and returns the work that would be done before
// its own, or beside it. A smaller request that comes later has the lower order as long as the work that was admitted between
// both is less than Patience × the difference.
func (n *Inside[R]) Ask(request R) (ahead float64) {
	own, r := request.Left(), request.Place()
	r.Order = Patience * own
	var levels [High - Low + 1]float64
	if caller := n.callers[r.Caller]; caller != nil {
		r.Order += caller.entered[r.Priority-Low]
		for other := range caller.requests {
			if o := other.Place(); o.Priority != r.Priority || o.Order <= r.Order {
				levels[o.Priority-Low] += other.Left()
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
	for name, caller := range n.callers {
		if name == r.Caller {
			continue
		}
		others, charge := 0.0, Low.charge()
		for other := range caller.requests {
			others += other.Left()
			charge = min(charge, other.Place().Priority.charge())
		}
		total += min(others, byCaller*r.Priority.charge()/charge)
	}
	return total - own
}

// Enter adds a request that has asked.
func (n *Inside[R]) Enter(request R) {
	r := request.Place()
	caller := n.callers[r.Caller]
	if caller == nil {
		caller = &insider[R]{requests: make(map[R]bool)}
		if n.callers == nil {
			n.callers = make(map[string]*insider[R])
		}
		n.callers[r.Caller] = caller
	}
	caller.requests[request] = true
	caller.entered[r.Priority-Low] += request.Left()
}

// Leave removes a request that has entered.
func (n *Inside[R]) Leave(request R) {
	name := request.Place().Caller
	caller := n.callers[name]
	if delete(caller.requests, request); len(caller.requests) == 0 {
		delete(n.callers, name)
	}
}

// All returns the requests.
func (n *Inside[R]) All() iter.Seq[R] {
	return func(yield func(R) bool) {
		for _, caller := range n.callers {
			for request := range maps.Keys(caller.requests) {
				if !yield(request) {
					return
				}
			}
		}
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
