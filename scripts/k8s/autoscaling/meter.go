package main

import (
	"math"
	"time"

	core "k8s.io/api/core/v1"

	"dragoman/scripts/k8s/autoscaling/hpa"
)

// The metrics that pods have.
const (
	cpuMetric    = string(core.ResourceCPU)
	memoryMetric = string(core.ResourceMemory)
	queueTokens  = "dragoman_queue_tokens"
	occupancy    = "dragoman_batch_occupancy_ratio"
	gpuMetric    = "DCGM_FI_DEV_GPU_UTIL"
)

// source is how a metric gets from a pod to the autoscaler. All are seconds.
type source struct {
	every  int // between two scrapes
	window int // over which a scraped value is averaged; 0: the moment
	smooth int // of scraped values that the adapter averages; 0: the latest one
	delay  int // until a scraped value can be seen
}

// sources are the usual ways: metrics-server looks every 15 s at what kubelet
// averaged; Prometheus scrapes the service every 15 s; dcgm-exporter looks every 30 s
// at the GPU's last second. The adapter averages what Prometheus has of a minute,
// except for the queue, where the latest value counts.
var sources = map[string]source{
	cpuMetric:    {every: 15, window: 15, delay: 10},
	memoryMetric: {every: 15, delay: 10},
	queueTokens:  {every: 15},
	occupancy:    {every: 15, smooth: 60},
	gpuMetric:    {every: 30, window: 1, smooth: 60, delay: 15},
}

// meter keeps what was scraped of a pod.
type meter struct {
	busy, cpu [16]float64         // totals at the end of each of the last seconds
	scraped   map[string][]scrape // of each metric, the oldest first
}

// scrape is a value of a metric, in its own unit.
type scrape struct {
	at    int
	value float64
}

// observe accounts for a pod's second that ends at now.
func (m *meter) observe(now int, p *pod) {
	m.busy[now%len(m.busy)], m.cpu[now%len(m.cpu)] = p.busy, p.cpu
}

// scrape takes the values of a running pod that are due at now.
func (m *meter) scrape(now int, p *member, metrics []string) {
	if m.scraped == nil {
		m.scraped = map[string][]scrape{}
	}
	for _, name := range metrics {
		// Pods are not scraped all at once.
		if (now+7*p.id)%sources[name].every != 0 {
			continue
		}
		if value, ok := m.value(now, p, name); ok {
			const enough = 8 // for a minute of smoothing, and the delay
			kept := m.scraped[name]
			m.scraped[name] = append(kept[max(0, len(kept)-enough):], scrape{now, value})
		}
	}
}

// value is that of a metric at now; not ok where the pod does not have it yet.
func (m *meter) value(now int, p *member, name string) (value float64, ok bool) {
	window := max(1, sources[name].window)
	mean := func(totals [16]float64) float64 {
		return (totals[now%16] - totals[(now-window+16)%16]) / float64(window)
	}
	switch name {
	case cpuMetric:
		return mean(m.cpu), true
	case gpuMetric:
		return 100 * min(1, mean(m.busy)), true
	case memoryMetric:
		return p.pod.memory(), true
	case queueTokens: // the service's own metrics come with the model
		return float64(p.pod.tokens), p.isReady(float64(now))
	}
	return float64(len(p.pod.batch)) / float64(p.pod.slots), p.isReady(float64(now))
}

// visible are the samples that the autoscaler gets at now.
func (m *meter) visible(now int) map[string]hpa.Sample {
	samples := map[string]hpa.Sample{}
	for name, scrapes := range m.scraped {
		from := sources[name]
		if s, ok := smoothed(scrapes, now-from.delay, from.smooth); ok {
			samples[name] = hpa.Sample{
				Milli:  int64(math.Round(1000 * s.value)),
				At:     time.Duration(s.at) * time.Second,
				Window: time.Duration(from.window) * time.Second,
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
