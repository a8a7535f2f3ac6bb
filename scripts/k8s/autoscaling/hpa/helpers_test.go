package hpa

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func ptr[T any](v T) *T { return &v }

// cpu is the metric of CPU in percent of the request.
func cpu(percent int32) autoscaling.MetricSpec { return utilization(core.ResourceCPU, percent) }

func utilization(name core.ResourceName, percent int32) autoscaling.MetricSpec {
	return autoscaling.MetricSpec{
		Type: autoscaling.ResourceMetricSourceType,
		Resource: &autoscaling.ResourceMetricSource{
			Name:   name,
			Target: autoscaling.MetricTarget{Type: autoscaling.UtilizationMetricType, AverageUtilization: &percent},
		},
	}
}

// average is a metric of pods with a mean value as its target.
func average(name, quantity string) autoscaling.MetricSpec {
	q := resource.MustParse(quantity)
	return autoscaling.MetricSpec{
		Type: autoscaling.PodsMetricSourceType,
		Pods: &autoscaling.PodsMetricSource{
			Metric: autoscaling.MetricIdentifier{Name: name},
			Target: autoscaling.MetricTarget{Type: autoscaling.AverageValueMetricType, AverageValue: &q},
		},
	}
}

// spec is an autoscaler of 1 to 1000 replicas.
func spec(metrics ...autoscaling.MetricSpec) autoscaling.HorizontalPodAutoscalerSpec {
	return autoscaling.HorizontalPodAutoscalerSpec{MinReplicas: ptr(int32(1)), MaxReplicas: 1000, Metrics: metrics}
}

// rules are those of a direction.
func rules(window int32, policies ...autoscaling.HPAScalingPolicy) *autoscaling.HPAScalingRules {
	return &autoscaling.HPAScalingRules{StabilizationWindowSeconds: &window, Policies: policies}
}

func pods(value, seconds int32) autoscaling.HPAScalingPolicy {
	return autoscaling.HPAScalingPolicy{Type: autoscaling.PodsScalingPolicy, Value: value, PeriodSeconds: seconds}
}

func percent(value, seconds int32) autoscaling.HPAScalingPolicy {
	return autoscaling.HPAScalingPolicy{Type: autoscaling.PercentScalingPolicy, Value: value, PeriodSeconds: seconds}
}

// now is late enough that pods which started at 0 are long past their start.
const now = time.Hour

// old is a ready pod that started long ago, with values of metrics in thousandths, and a
// request of one core.
func old(samples map[string]int64) Pod {
	p := Pod{
		Phase:        core.PodRunning,
		Ready:        true,
		ReadyChanged: 10 * time.Second,
		Requests:     map[core.ResourceName]int64{core.ResourceCPU: 1000, core.ResourceMemory: 1000},
		Samples:      map[string]Sample{},
	}
	for name, milli := range samples {
		p.Samples[name] = Sample{Milli: milli, At: now - time.Second, Window: 15 * time.Second}
	}
	return p
}

// busy is an old pod with a value of one metric, in thousandths.
func busy(name string, milli int64) Pod { return old(map[string]int64{name: milli}) }

// changed returns a pod with a change.
func changed(p Pod, change func(*Pod)) Pod {
	change(&p)
	return p
}

func pending(p Pod) Pod {
	return changed(p, func(p *Pod) { p.Phase, p.Ready, p.Samples = core.PodPending, false, nil })
}

// unready is a pod that never was ready.
func unready(p Pod) Pod {
	return changed(p, func(p *Pod) { p.Ready, p.ReadyChanged = false, p.Started })
}

func terminating(p Pod) Pod { return changed(p, func(p *Pod) { p.Terminating = true }) }

func failed(p Pod) Pod { return changed(p, func(p *Pod) { p.Phase = core.PodFailed }) }

func newController(t *testing.T, spec autoscaling.HorizontalPodAutoscalerSpec) *Controller {
	t.Helper()
	c, err := New(spec)
	require.NoError(t, err)
	return c
}
