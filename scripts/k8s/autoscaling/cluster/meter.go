package cluster

import (
	"math"
	"time"

	"dragoman/scripts/k8s/autoscaling/hpa"
	"dragoman/scripts/k8s/autoscaling/pod"
)

// ringSeconds is how far a meter looks back for averages.
const ringSeconds = 64

// watched is a metric that the autoscaler asks for.
type watched struct {
	name string
	Source
}

// meter keeps what a pod did in each of the last seconds, and what was scraped of it.
type meter struct {
	last    pod.Usage
	busy    [ringSeconds]float64 // seconds
	cpu     [ringSeconds]float64 // core seconds
	scraped [][]scrape           // of each watched metric, the oldest first
}

// scrape is a value of a metric, in its own unit.
type scrape struct {
	at    int
	value float64
}

// enough scraped values are kept for any window of an adapter up to eight minutes.
const enough = 32

// observe accounts for a pod's second that ends at now.
func (m *meter) observe(now int, q *pod.Pod) {
	u := q.Usage()
	m.busy[now%ringSeconds] = u.Busy - m.last.Busy
	m.cpu[now%ringSeconds] = u.CPU - m.last.CPU
	m.last = u
}

// scrape takes the values of a running pod that are due at now.
func (m *meter) scrape(now int, p *member, metrics []watched, slots int) {
	if m.scraped == nil {
		m.scraped = make([][]scrape, len(metrics))
	}
	for i, w := range metrics {
		// Pods are not scraped all at once.
		if (now+7*p.id)%w.Every != 0 {
			continue
		}
		value, ok := m.value(now, p, w, slots)
		if !ok {
			continue
		}
		kept := m.scraped[i]
		if len(kept) == enough {
			kept = append(kept[:0], kept[1:]...)
		}
		m.scraped[i] = append(kept, scrape{now, value})
	}
}

// value is that of a metric at now; not ok where the pod does not have it yet.
func (m *meter) value(now int, p *member, w watched, slots int) (value float64, ok bool) {
	switch w.name {
	case CPU:
		return mean(&m.cpu, now, w.Window), true
	case GPU:
		return 100 * min(1, mean(&m.busy, now, w.Window)), true
	case Memory:
		return p.queue.Memory(), true
	}
	// The service's own metrics of the queue come with the model.
	if !p.isReady(float64(now)) {
		return 0, false
	}
	if w.name == QueueTokens {
		return float64(p.queue.QueueTokens()), true
	}
	return float64(p.queue.Sentences()) / float64(slots), true
}

// mean is that of the last seconds up to now, at least of one.
func mean(ring *[ringSeconds]float64, now, seconds int) float64 {
	seconds = max(1, seconds)
	sum := 0.0
	for i := range seconds {
		sum += ring[(now-i+ringSeconds)%ringSeconds]
	}
	return sum / float64(seconds)
}

// visible are the samples that the autoscaler gets at now.
func (m *meter) visible(now int, metrics []watched) map[string]hpa.Sample {
	samples := make(map[string]hpa.Sample, len(metrics))
	for i, scrapes := range m.scraped {
		w := metrics[i]
		if s, ok := smoothed(scrapes, now-w.Delay, w.Smooth); ok {
			samples[w.name] = hpa.Sample{
				Milli:  int64(math.Round(1000 * s.value)),
				At:     time.Duration(s.at) * time.Second,
				Window: time.Duration(w.Window) * time.Second,
			}
		}
	}
	return samples
}

// smoothed is the latest of the values up to a moment, or the mean of those of the last
// seconds up to then, with the time of the latest one; not ok where there is none.
func smoothed(scrapes []scrape, until, seconds int) (s scrape, ok bool) {
	n := 0
	for i := len(scrapes) - 1; i >= 0; i-- {
		one := scrapes[i]
		if one.at > until {
			continue
		}
		if n > 0 && one.at <= until-seconds {
			break
		}
		if n == 0 {
			s.at = one.at
		}
		s.value += one.value
		n++
	}
	if n == 0 {
		return scrape{}, false
	}
	s.value /= float64(n)
	return s, true
}
