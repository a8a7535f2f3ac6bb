package hpa

import (
	"fmt"
	"time"

	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
)

// withSpecDefaults fills in what the API server and the controller would.
func withSpecDefaults(spec autoscaling.HorizontalPodAutoscalerSpec, downWindow time.Duration) autoscaling.HorizontalPodAutoscalerSpec {
	if spec.MinReplicas == nil {
		spec.MinReplicas = new(int32)
		*spec.MinReplicas = 1
	}
	if len(spec.Metrics) == 0 {
		utilization := int32(80)
		spec.Metrics = []autoscaling.MetricSpec{{
			Type: autoscaling.ResourceMetricSourceType,
			Resource: &autoscaling.ResourceMetricSource{
				Name:   core.ResourceCPU,
				Target: autoscaling.MetricTarget{Type: autoscaling.UtilizationMetricType, AverageUtilization: &utilization},
			},
		}}
	}
	if b := spec.Behavior; b != nil {
		b.ScaleUp = withRuleDefaults(b.ScaleUp, 0, []autoscaling.HPAScalingPolicy{
			{Type: autoscaling.PodsScalingPolicy, Value: 4, PeriodSeconds: 15},
			{Type: autoscaling.PercentScalingPolicy, Value: 100, PeriodSeconds: 15},
		})
		b.ScaleDown = withRuleDefaults(b.ScaleDown, downWindow, []autoscaling.HPAScalingPolicy{
			{Type: autoscaling.PercentScalingPolicy, Value: 100, PeriodSeconds: 15},
		})
	}
	return spec
}

func withRuleDefaults(r *autoscaling.HPAScalingRules, window time.Duration, policies []autoscaling.HPAScalingPolicy) *autoscaling.HPAScalingRules {
	if r == nil {
		r = &autoscaling.HPAScalingRules{}
	}
	if r.StabilizationWindowSeconds == nil {
		seconds := int32(window / time.Second)
		r.StabilizationWindowSeconds = &seconds
	}
	if r.SelectPolicy == nil {
		selected := autoscaling.MaxChangePolicySelect
		r.SelectPolicy = &selected
	}
	if len(r.Policies) == 0 {
		r.Policies = policies
	}
	return r
}

// validate refuses what the API server would refuse, as far as it matters here.
func validate(spec autoscaling.HorizontalPodAutoscalerSpec) error {
	if *spec.MinReplicas < 1 {
		return fmt.Errorf("minReplicas is %d: use 1 or more", *spec.MinReplicas)
	}
	if spec.MaxReplicas < *spec.MinReplicas {
		return fmt.Errorf("maxReplicas is %d, less than minReplicas, %d", spec.MaxReplicas, *spec.MinReplicas)
	}
	if spec.Behavior == nil {
		return nil
	}
	if err := validateRules(spec.Behavior.ScaleUp); err != nil {
		return fmt.Errorf("behavior.scaleUp: %w", err)
	}
	if err := validateRules(spec.Behavior.ScaleDown); err != nil {
		return fmt.Errorf("behavior.scaleDown: %w", err)
	}
	return nil
}

func validateRules(r *autoscaling.HPAScalingRules) error {
	const longestWindow = 3600
	if w := *r.StabilizationWindowSeconds; w < 0 || w > longestWindow {
		return fmt.Errorf("stabilizationWindowSeconds is %d: use 0 to %d", w, longestWindow)
	}
	switch s := *r.SelectPolicy; s {
	case autoscaling.MaxChangePolicySelect, autoscaling.MinChangePolicySelect, autoscaling.DisabledPolicySelect:
	default:
		return fmt.Errorf("selectPolicy is %q: use Max, Min or Disabled", s)
	}
	for i, p := range r.Policies {
		switch {
		case p.Type != autoscaling.PodsScalingPolicy && p.Type != autoscaling.PercentScalingPolicy:
			return fmt.Errorf("policy %d has the type %q: use Pods or Percent", i, p.Type)
		case p.Value <= 0:
			return fmt.Errorf("policy %d has the value %d: use 1 or more", i, p.Value)
		case p.PeriodSeconds <= 0 || time.Duration(p.PeriodSeconds)*time.Second > longestPeriod:
			return fmt.Errorf("policy %d has periodSeconds of %d: use 1 to %d", i, p.PeriodSeconds, int(longestPeriod/time.Second))
		}
	}
	return nil
}
