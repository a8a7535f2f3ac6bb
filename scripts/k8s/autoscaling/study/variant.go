// Package study asks the questions of docs/autoscaling.md: it runs the simulation with
// what ships and with alternatives to it, over several days each.
package study

import (
	"fmt"
	"slices"

	autoscaling "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Edit changes a copy of the autoscaler's spec.
type Edit func(spec *autoscaling.HorizontalPodAutoscalerSpec) error

// edited returns a copy of a spec with changes.
func edited(spec autoscaling.HorizontalPodAutoscalerSpec, edits ...Edit) (autoscaling.HorizontalPodAutoscalerSpec, error) {
	out := *spec.DeepCopy()
	for _, edit := range edits {
		if err := edit(&out); err != nil {
			return out, err
		}
	}
	return out, nil
}

// nameOf is a metric's name, as in package cluster.
func nameOf(m autoscaling.MetricSpec) string {
	switch {
	case m.Resource != nil:
		return string(m.Resource.Name)
	case m.ContainerResource != nil:
		return string(m.ContainerResource.Name)
	case m.Pods != nil:
		return m.Pods.Metric.Name
	}
	return string(m.Type)
}

// only keeps the metrics of these names. All of them must be there.
func only(names ...string) Edit {
	return func(spec *autoscaling.HorizontalPodAutoscalerSpec) error {
		spec.Metrics = slices.DeleteFunc(spec.Metrics, func(m autoscaling.MetricSpec) bool {
			return !slices.Contains(names, nameOf(m))
		})
		if len(spec.Metrics) != len(names) {
			return fmt.Errorf("the autoscaler has %d of the metrics %q", len(spec.Metrics), names)
		}
		return nil
	}
}

// without drops a metric, if it is there.
func without(name string) Edit {
	return func(spec *autoscaling.HorizontalPodAutoscalerSpec) error {
		spec.Metrics = slices.DeleteFunc(spec.Metrics, func(m autoscaling.MetricSpec) bool { return nameOf(m) == name })
		return nil
	}
}

// with adds a metric of pods, with a mean value per pod as its target, or changes its target.
func with(name, average string) Edit {
	return func(spec *autoscaling.HorizontalPodAutoscalerSpec) error {
		target, err := resource.ParseQuantity(average)
		if err != nil {
			return fmt.Errorf("target of %s: %w", name, err)
		}
		for i := range spec.Metrics {
			if m := spec.Metrics[i].Pods; m != nil && m.Metric.Name == name {
				m.Target.AverageValue = &target
				return nil
			}
		}
		spec.Metrics = append(spec.Metrics, autoscaling.MetricSpec{
			Type: autoscaling.PodsMetricSourceType,
			Pods: &autoscaling.PodsMetricSource{
				Metric: autoscaling.MetricIdentifier{Name: name},
				Target: autoscaling.MetricTarget{Type: autoscaling.AverageValueMetricType, AverageValue: &target},
			},
		})
		return nil
	}
}

// utilization changes the target of a resource, in percent.
func utilization(name string, percent int32) Edit {
	return func(spec *autoscaling.HorizontalPodAutoscalerSpec) error {
		for i := range spec.Metrics {
			if m := spec.Metrics[i].Resource; m != nil && string(m.Name) == name {
				m.Target.AverageUtilization = &percent
				return nil
			}
		}
		return fmt.Errorf("the autoscaler has no metric %s", name)
	}
}

// atLeast changes minReplicas.
func atLeast(n int32) Edit {
	return func(spec *autoscaling.HorizontalPodAutoscalerSpec) error {
		spec.MinReplicas = &n
		return nil
	}
}

// downWindow changes the stabilization window of scaling down, in seconds.
func downWindow(seconds int32) Edit {
	return func(spec *autoscaling.HorizontalPodAutoscalerSpec) error {
		if spec.Behavior == nil || spec.Behavior.ScaleDown == nil {
			return fmt.Errorf("the autoscaler has no behavior for scaling down")
		}
		spec.Behavior.ScaleDown.StabilizationWindowSeconds = &seconds
		return nil
	}
}

// growth replaces the rules of scaling up: a window in seconds and a number of pods, or
// as many as there are, in a period of seconds, whichever is more.
func growth(window, pods, period int32) Edit {
	return func(spec *autoscaling.HorizontalPodAutoscalerSpec) error {
		if spec.Behavior == nil {
			return fmt.Errorf("the autoscaler has no behavior")
		}
		most := autoscaling.MaxChangePolicySelect
		spec.Behavior.ScaleUp = &autoscaling.HPAScalingRules{
			StabilizationWindowSeconds: &window,
			SelectPolicy:               &most,
			Policies: []autoscaling.HPAScalingPolicy{
				{Type: autoscaling.PodsScalingPolicy, Value: pods, PeriodSeconds: period},
				{Type: autoscaling.PercentScalingPolicy, Value: 100, PeriodSeconds: period},
			},
		}
		return nil
	}
}

// plain is an autoscaler without behavior, with Kubernetes' own.
func plain(spec *autoscaling.HorizontalPodAutoscalerSpec) error {
	spec.Behavior = nil
	return nil
}
