package hpa

import (
	"errors"
	"fmt"
	"math"

	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
)

var (
	// ErrNoMetrics means that no ready pod has a value.
	ErrNoMetrics = errors.New("no metrics of ready pods")
	// ErrNoRequest means that a utilization cannot be computed, because a pod does
	// not request the resource.
	ErrNoRequest = errors.New("a pod has no request")
	// ErrUnsupported means a metric that this package does not replay.
	ErrUnsupported = errors.New("only Resource, ContainerResource and Pods metrics are supported")
)

// metric is a metric of the spec. Either utilization or average is set.
type metric struct {
	name        string
	resource    core.ResourceName // "" for metrics of type Pods
	utilization int64             // target in percent of the request
	average     int64             // target in thousandths
}

func metricOf(spec autoscaling.MetricSpec) (metric, error) {
	var m metric
	var target autoscaling.MetricTarget
	switch {
	case spec.Type == autoscaling.ResourceMetricSourceType && spec.Resource != nil:
		m.resource, target = spec.Resource.Name, spec.Resource.Target
		m.name = string(m.resource)
	case spec.Type == autoscaling.ContainerResourceMetricSourceType && spec.ContainerResource != nil:
		m.resource, target = spec.ContainerResource.Name, spec.ContainerResource.Target
		m.name = string(m.resource)
	case spec.Type == autoscaling.PodsMetricSourceType && spec.Pods != nil:
		m.name, target = spec.Pods.Metric.Name, spec.Pods.Target
	default:
		return metric{}, fmt.Errorf("%w, not %q", ErrUnsupported, spec.Type)
	}
	if target.AverageUtilization != nil && m.resource != "" {
		m.utilization = int64(*target.AverageUtilization)
	}
	if target.AverageValue != nil {
		m.average = target.AverageValue.MilliValue()
	}
	if (m.utilization > 0) == (m.average > 0) {
		return metric{}, fmt.Errorf("%s needs either a target of averageValue or, for a resource, of averageUtilization, above 0", m.name)
	}
	return m, nil
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
func (c *Controller) replicas(s Snapshot, m metric) (int32, error) {
	g, err := c.group(s, m)
	if err != nil {
		return 0, err
	}
	if len(g.values) == 0 {
		return 0, fmt.Errorf("%w (%d starting, %d without a value)", ErrNoMetrics, len(g.unready), len(g.missing))
	}
	usage := m.ratio(g.values)
	upWithUnready := len(g.unready) > 0 && usage > 1
	if !upWithUnready && len(g.missing) == 0 {
		if c.within(usage) {
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
	if c.within(again) || turned {
		return s.Replicas, nil
	}
	n := ceil(again, len(values))
	if (again < 1 && n > s.Replicas) || (again > 1 && n < s.Replicas) {
		return s.Replicas, nil
	}
	return n, nil
}

// within says whether a ratio is too close to 1 to do anything. Each direction can
// have its own tolerance.
func (c *Controller) within(ratio float64) bool {
	down, up := c.cfg.Tolerance, c.cfg.Tolerance
	if b := c.cfg.Spec.Behavior; b != nil {
		if t := b.ScaleDown.Tolerance; t != nil {
			down = t.AsApproximateFloat64()
		}
		if t := b.ScaleUp.Tolerance; t != nil {
			up = t.AsApproximateFloat64()
		}
	}
	return 1-down <= ratio && ratio <= 1+up
}

func (c *Controller) group(s Snapshot, m metric) (grouped, error) {
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
		case m.resource == core.ResourceCPU && c.starting(pod, sample, s):
			g.unready = append(g.unready, value{0, request})
		default:
			g.values = append(g.values, value{sample.Milli, request})
		}
	}
	return g, nil
}

// starting says whether a pod's CPU is that of its start rather than of its work.
func (c *Controller) starting(pod *Pod, sample Sample, s Snapshot) bool {
	if pod.Started+c.cfg.CPUInitialization > s.Now {
		// It must be ready, and the sample must be of a time when it was.
		return !pod.Ready || sample.At < pod.ReadyChanged+sample.Window
	}
	// Later, what is unready and never was ready.
	return !pod.Ready && pod.Started+c.cfg.InitialReadiness > pod.ReadyChanged
}

func ceil(ratio float64, pods int) int32 { return int32(math.Ceil(ratio * float64(pods))) }
