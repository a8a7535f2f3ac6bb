package hpa

import (
	"errors"
	"fmt"
	"math"
	"time"

	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
)

var (
	// ErrNoMetrics means that no ready pod has a value.
	ErrNoMetrics = errors.New("no metrics of ready pods")
	// ErrNoRequest means that a utilization cannot be computed, because a pod does
	// not request the resource.
	ErrNoRequest = errors.New("a pod has no request")
)

// metric is a metric of the spec. Either utilization or average is set.
type metric struct {
	name        string
	resource    core.ResourceName // "" for metrics of type Pods
	utilization int64             // target in percent of the request
	average     int64             // target in thousandths
}

func metricOf(spec autoscaling.MetricSpec) (metric, error) {
	switch {
	case spec.Resource != nil && spec.Resource.Target.AverageUtilization != nil:
		name := spec.Resource.Name
		return metric{name: string(name), resource: name, utilization: int64(*spec.Resource.Target.AverageUtilization)}, nil
	case spec.Pods != nil && spec.Pods.Target.AverageValue != nil:
		return metric{name: spec.Pods.Metric.Name, average: spec.Pods.Target.AverageValue.MilliValue()}, nil
	}
	return metric{}, fmt.Errorf("a metric of type %q without averageUtilization or averageValue cannot be replayed", spec.Type)
}

// value is a pod's use of a metric, in thousandths, and its request.
type value struct{ milli, request int64 }

// ratio is the mean value over the target. Both divisions are of whole numbers, as
// in the controller: it sees whole percents and whole thousandths.
func (m metric) ratio(values []value) float64 {
	var sum, requests int64
	for _, v := range values {
		sum += v.milli
		requests += v.request
	}
	if m.utilization > 0 {
		return float64(sum*100/requests) / float64(m.utilization)
	}
	return float64(sum/int64(len(values))) / float64(m.average)
}

// assumed is what a pod without a metric counts as before a scale-down: all of its
// request, or the target.
func (m metric) assumed(request int64) value {
	if m.utilization > 0 {
		return value{request * max(100, m.utilization) / 100, request}
	}
	return value{m.average, request}
}

// grouped are the pods, as a metric sees them.
type grouped struct {
	values  []value // of pods that count
	unready []value // pods that are starting; their values do not count
	missing []value // pods that run without a value
}

// replicas is the number that one metric proposes.
func (m metric) replicas(s Snapshot) (int32, error) {
	g, err := m.group(s)
	if err != nil {
		return 0, err
	}
	if len(g.values) == 0 {
		return 0, fmt.Errorf("%w (%d starting, %d without a value)", ErrNoMetrics, len(g.unready), len(g.missing))
	}
	usage := m.ratio(g.values)
	upWithUnready := len(g.unready) > 0 && usage > 1
	if !upWithUnready && len(g.missing) == 0 {
		if tolerated(usage) {
			return s.Replicas, nil
		}
		return ceil(usage, len(g.values)), nil
	}

	// Some pods are unknown. They are assumed to be such that less changes.
	values := g.values
	for _, pod := range g.missing {
		switch {
		case usage < 1:
			values = append(values, m.assumed(pod.request))
		case usage > 1:
			values = append(values, value{0, pod.request})
		}
	}
	if upWithUnready {
		values = append(values, g.unready...)
	}
	again := m.ratio(values)
	turned := (usage < 1 && again > 1) || (usage > 1 && again < 1)
	if tolerated(again) || turned {
		return s.Replicas, nil
	}
	n := ceil(again, len(values))
	if (again < 1 && n > s.Replicas) || (again > 1 && n < s.Replicas) {
		return s.Replicas, nil
	}
	return n, nil
}

func tolerated(ratio float64) bool { return 1-tolerance <= ratio && ratio <= 1+tolerance }

func (m metric) group(s Snapshot) (grouped, error) {
	var g grouped
	for i := range s.Pods {
		pod := &s.Pods[i]
		request := pod.Requests[m.resource]
		if m.utilization > 0 && request <= 0 {
			return g, fmt.Errorf("%w for %s", ErrNoRequest, m.resource)
		}
		if pod.Terminating || pod.Phase == core.PodFailed {
			continue
		}
		sample, found := pod.Samples[m.name]
		switch {
		case pod.Phase == core.PodPending:
			g.unready = append(g.unready, value{0, request})
		case !found:
			g.missing = append(g.missing, value{0, request})
		case m.resource == core.ResourceCPU && pod.starting(sample, s.Now):
			g.unready = append(g.unready, value{0, request})
		default:
			g.values = append(g.values, value{sample.Milli, request})
		}
	}
	return g, nil
}

// starting says whether a pod's CPU is that of its start rather than of its work.
func (p *Pod) starting(sample Sample, now time.Duration) bool {
	if p.Started+cpuInitialization > now {
		// It must be ready, and the sample must be of a time when it was.
		return !p.Ready || sample.At < p.ReadyChanged+sample.Window
	}
	// Later, what is unready and never was ready.
	return !p.Ready && p.Started+initialReadiness > p.ReadyChanged
}

func ceil(ratio float64, pods int) int32 { return int32(math.Ceil(ratio * float64(pods))) }
