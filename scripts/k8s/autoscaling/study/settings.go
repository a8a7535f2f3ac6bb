package study

import (
	"fmt"
	"strings"

	autoscaling "k8s.io/api/autoscaling/v2"
)

// Setting is a line of what ships.
type Setting struct{ Name, Value string }

// Settings describes the autoscaler of the manifest.
func (s *Study) Settings() []Setting {
	spec := s.shipped.Autoscaler
	least := int32(1)
	if spec.MinReplicas != nil {
		least = *spec.MinReplicas
	}
	out := []Setting{{"replicas", fmt.Sprintf("%d to %d", least, spec.MaxReplicas)}}
	for _, m := range spec.Metrics {
		out = append(out, Setting{nameOf(m), describe(m)})
	}
	if spec.Behavior != nil {
		out = append(out, Setting{"scaling up", rules(spec.Behavior.ScaleUp)}, Setting{"scaling down", rules(spec.Behavior.ScaleDown)})
	}
	return out
}

// describe says what a metric's target is.
func describe(m autoscaling.MetricSpec) string {
	var target autoscaling.MetricTarget
	switch {
	case m.Resource != nil:
		target = m.Resource.Target
	case m.ContainerResource != nil:
		target = m.ContainerResource.Target
	case m.Pods != nil:
		target = m.Pods.Target
	}
	switch {
	case target.AverageUtilization != nil:
		return fmt.Sprintf("%d%% of the request", *target.AverageUtilization)
	case target.AverageValue != nil:
		return target.AverageValue.String() + " on average"
	}
	return "no target that the simulation knows"
}

// rules says how fast the autoscaler may go in a direction.
func rules(r *autoscaling.HPAScalingRules) string {
	if r == nil {
		return "Kubernetes' defaults"
	}
	var parts []string
	for _, p := range r.Policies {
		unit := "%"
		if p.Type == autoscaling.PodsScalingPolicy {
			unit = " pods"
			if p.Value == 1 {
				unit = " pod"
			}
		}
		parts = append(parts, fmt.Sprintf("%d%s in %d s", p.Value, unit, p.PeriodSeconds))
	}
	text := strings.Join(parts, " or ")
	if r.SelectPolicy != nil && len(parts) > 1 {
		text += fmt.Sprintf(" (%s)", *r.SelectPolicy)
	}
	if r.StabilizationWindowSeconds != nil {
		text += fmt.Sprintf(", window of %d s", *r.StabilizationWindowSeconds)
	}
	return strings.TrimPrefix(text, ", ")
}
