package cluster

import (
	"math"
	"slices"

	"dragoman/scripts/k8s/autoscaling/hpa"
	"dragoman/scripts/k8s/autoscaling/pod"
)

// Result is what came of a simulation. A request that was lost counts in percentiles
// with the whole time that its client was ready to wait.
type Result struct {
	Requests int
	Refused  int // 503
	Late     int // no answer within the clients' patience
	Killed   int // in a pod that ended
	Unserved int // no pod was ready

	P50, P95, P99 float64 // seconds

	PodHours  float64 // from creation to end
	LoadHours float64 // that the load would have taken in pods that are always full
	Ups       int     // syncs that added pods
	Downs     int     // syncs that removed some
	Most      int32   // replicas
	Blind     int     // syncs without a decision, for lack of metrics

	Minutes []Minute // with Config.Series
}

// Lost is the share of requests without an answer in time.
func (r *Result) Lost() float64 {
	if r.Requests == 0 {
		return 0
	}
	return float64(r.Refused+r.Late+r.Killed+r.Unserved) / float64(r.Requests)
}

// Minute is one of the day.
type Minute struct {
	At       float64 // seconds of the day, its beginning
	Rate     float64 // requests per second that arrived
	Needed   float64 // pods that these would keep full
	Replicas int32   // wanted, at its end
	Ready    int     // pods, at its end
	P95      float64 // seconds, of the requests that ended in it
	Refused  int
	Late     int // with all others that were lost
	Queue    int // tokens that wait in all pods, at its end
}

// tally adds up a run. It is the sink of all pods.
type tally struct {
	cfg       *Config
	capacity  float64 // sentences per second and pod
	res       Result
	latencies histogram
	minutes   []minute
}

// minute gathers what a Minute is made of.
type minute struct {
	Minute
	arrived   int
	latencies []float64
}

func newTally(cfg *Config) *tally {
	t := &tally{cfg: cfg, capacity: cfg.Shape.Capacity(cfg.Lengths.Mean, cfg.Lengths.Mean)}
	if cfg.Series {
		t.minutes = make([]minute, (cfg.Until-cfg.From+59)/60)
	}
	return t
}

// needed is the number of full pods that the load takes at a moment.
func (t *tally) needed(at float64) float64 { return t.cfg.Load.Rate(at) / t.capacity }

// minute returns that of a moment, nil without a series. What ends after the end
// belongs to the last one.
func (t *tally) minute(at float64) *minute {
	if len(t.minutes) == 0 {
		return nil
	}
	i := int(at-float64(t.cfg.From)) / 60
	return &t.minutes[min(max(i, 0), len(t.minutes)-1)]
}

func (t *tally) arrived(at float64) {
	t.res.Requests++
	if m := t.minute(at); m != nil {
		m.arrived++
	}
}

// Record is that of [pod.Sink].
func (t *tally) Record(r pod.Request, o pod.Outcome, at float64) {
	latency := at - r.Arrived
	if o != pod.Answered {
		latency = r.Patience
	}
	switch o {
	case pod.Refused:
		t.res.Refused++
	case pod.Late:
		t.res.Late++
	case pod.Killed:
		t.res.Killed++
	case pod.Unserved:
		t.res.Unserved++
	}
	t.latencies.add(latency)
	m := t.minute(at)
	if m == nil {
		return
	}
	m.latencies = append(m.latencies, latency)
	switch o {
	case pod.Answered:
	case pod.Refused:
		m.Refused++
	default:
		m.Late++
	}
}

// scaled notes a decision.
func (t *tally) scaled(from int32, d hpa.Decision) {
	switch {
	case d.Replicas > from:
		t.res.Ups++
	case d.Replicas < from:
		t.res.Downs++
	}
}

// blind notes a sync without a decision.
func (t *tally) blind(error) { t.res.Blind++ }

// second notes the state at the end of a second.
func (t *tally) second(now int, replicas int32, members []*member) {
	t.res.PodHours += float64(len(members)) / 3600
	t.res.LoadHours += t.needed(float64(now-1)) / 3600
	t.res.Most = max(t.res.Most, replicas)
	m := t.minute(float64(now - 1))
	if m == nil || now%60 != 0 {
		return
	}
	m.Replicas, m.Ready, m.Queue = replicas, 0, 0
	for _, member := range members {
		m.Queue += member.queue.QueueTokens()
		if member.isReady(float64(now)) && !member.terminating(float64(now)) {
			m.Ready++
		}
	}
}

func (t *tally) result() *Result {
	r := t.res
	r.P50, r.P95, r.P99 = t.latencies.quantile(0.5), t.latencies.quantile(0.95), t.latencies.quantile(0.99)
	for i := range t.minutes {
		m := &t.minutes[i]
		m.At = float64(t.cfg.From + 60*i)
		m.Rate = float64(m.arrived) / 60
		m.Needed = m.Rate / t.capacity
		if n := len(m.latencies); n > 0 {
			slices.Sort(m.latencies)
			m.P95 = m.latencies[rank(n, 0.95)]
		}
		r.Minutes = append(r.Minutes, m.Minute)
	}
	return &r
}

// rank is the place of a quantile among n sorted values.
func rank(n int, q float64) int { return max(0, int(math.Ceil(q*float64(n)))-1) }

// histogram counts latencies in classes that are 1% wide.
type histogram struct {
	counts [classes]int
	total  int
}

const (
	classes  = 1200
	shortest = 1e-3 // seconds
	class    = 1.01
	lnClass  = 0.009950330853168083 // ln(class)
)

func (h *histogram) add(seconds float64) {
	i := int(math.Log(max(seconds, shortest)/shortest) / lnClass)
	h.counts[min(i, classes-1)]++
	h.total++
}

// quantile is exact to 1%; 0 of nothing.
func (h *histogram) quantile(q float64) float64 {
	if h.total == 0 {
		return 0
	}
	left := rank(h.total, q)
	for i, n := range h.counts {
		if left < n {
			return shortest * math.Pow(class, float64(i)+0.5)
		}
		left -= n
	}
	return shortest * math.Pow(class, classes)
}
