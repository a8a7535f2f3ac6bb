package main

import (
	"math"
	"slices"
)

// result is what came of a day. A request that was lost counts in percentiles with the
// whole time that its client was ready to wait.
type result struct {
	requests int
	outcomes [unserved + 1]int
	p95, p99 float64 // seconds
	podHours float64 // from creation to end
	changes  int     // syncs that added or removed pods
	minutes  []minute
}

// share of the requests that had one of some outcomes, in percent.
func (r *result) share(outcomes ...outcome) float64 {
	n := 0
	for _, o := range outcomes {
		n += r.outcomes[o]
	}
	return 100 * float64(n) / float64(max(1, r.requests))
}

// lost is the percentage of requests without an answer in time.
func (r *result) lost() float64 { return r.share(refused, late, killed, unserved) }

// minute is one of the day.
type minute struct {
	at       float64 // seconds of the day, its beginning
	rate     float64 // requests per second that arrived
	needed   float64 // pods that these would keep full
	replicas int32   // wanted, at its end
	ready    int     // pods, at its end
	p95      float64 // seconds, of the requests that ended in it
	refused  int
	late     int // with all others that were lost

	arrived   int
	latencies []float64
}

// tally adds up a day.
type tally struct {
	capacity  float64 // requests per second and pod
	res       result
	latencies histogram
	minutes   []minute
}

// minute returns that of a moment. What ends after the end belongs to the last one.
func (t *tally) minute(at float64) *minute {
	return &t.minutes[min(int(at)/60, len(t.minutes)-1)]
}

func (t *tally) arrived(at float64) {
	t.res.requests++
	t.minute(at).arrived++
}

func (t *tally) record(r request, o outcome, at float64) {
	latency := at - r.arrived
	if o != answered {
		latency = r.patience
	}
	t.res.outcomes[o]++
	t.latencies.add(latency)
	m := t.minute(at)
	m.latencies = append(m.latencies, latency)
	switch o {
	case answered:
	case refused:
		m.refused++
	default:
		m.late++
	}
}

// second notes the state at the end of a second.
func (t *tally) second(now int, replicas int32, members []*member) {
	t.res.podHours += float64(len(members)) / 3600
	m := t.minute(float64(now - 1))
	m.replicas, m.ready = replicas, 0
	for _, member := range members {
		if member.isReady(float64(now)) && !member.terminating(float64(now)) {
			m.ready++
		}
	}
}

func (t *tally) result() *result {
	r := t.res
	r.p95, r.p99 = t.latencies.quantile(0.95), t.latencies.quantile(0.99)
	for i := range t.minutes {
		m := &t.minutes[i]
		m.at = float64(60 * i)
		m.rate = float64(m.arrived) / 60
		m.needed = m.rate / t.capacity
		if n := len(m.latencies); n > 0 {
			slices.Sort(m.latencies)
			m.p95 = m.latencies[rank(n, 0.95)]
		}
		m.latencies = nil
	}
	r.minutes = t.minutes
	return &r
}

// rank is the place of a quantile among n sorted values.
func rank(n int, q float64) int { return max(0, int(math.Ceil(q*float64(n)))-1) }

// histogram counts latencies in classes that are 1% wide: a day on GPUs has millions.
type histogram struct {
	counts [1200]int
	total  int
}

const (
	shortestLatency = 1e-3 // seconds
	class           = 1.01
)

func (h *histogram) add(seconds float64) {
	i := int(math.Log(max(seconds, shortestLatency)/shortestLatency) / math.Log(class))
	h.counts[min(i, len(h.counts)-1)]++
	h.total++
}

// quantile is exact to 1%; 0 of nothing.
func (h *histogram) quantile(q float64) float64 {
	left := rank(h.total, q)
	for i, n := range h.counts {
		if left < n {
			return shortestLatency * math.Pow(class, float64(i)+0.5)
		}
		left -= n
	}
	return 0
}
