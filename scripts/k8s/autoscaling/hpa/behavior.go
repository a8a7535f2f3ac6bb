package hpa

import (
	"math"
	"slices"
	"time"

	autoscaling "k8s.io/api/autoscaling/v2"
)

// recommendation is a number of replicas before stabilization.
type recommendation struct {
	replicas int32
	at       time.Duration
}

// change is a number of pods that were added or removed.
type change struct {
	pods int32
	at   time.Duration
}

// normalize makes a proposal into what may be set now.
func (c *Controller) normalize(s Snapshot, desired int32) int32 {
	least, most := *c.cfg.Spec.MinReplicas, c.cfg.Spec.MaxReplicas
	if c.cfg.Spec.Behavior == nil {
		desired = c.stabilizeDown(s.Now, desired)
		return max(least, min(desired, most, doubled(s.Replicas)))
	}
	desired = c.stabilize(s.Now, s.Replicas, desired)
	switch {
	case desired > s.Replicas:
		return min(desired, most, max(s.Replicas, c.upLimit(s.Now, s.Replicas)))
	case desired < s.Replicas:
		return max(desired, least, min(s.Replicas, c.downLimit(s.Now, s.Replicas)))
	}
	return desired
}

// doubled is as far as a spec without behavior grows in one sync.
func doubled(replicas int32) int32 { return max(2*replicas, 4) }

// stabilizeDown is the stabilization of a spec without behavior: the highest
// proposal of the window.
func (c *Controller) stabilizeDown(now time.Duration, desired int32) int32 {
	cutoff := now - c.cfg.DownscaleStabilization
	stable := desired
	c.recommendations = slices.DeleteFunc(c.recommendations, func(r recommendation) bool { return r.at < cutoff })
	for _, r := range c.recommendations {
		stable = max(stable, r.replicas)
	}
	c.recommendations = append(c.recommendations, recommendation{desired, now})
	return stable
}

// stabilize moves the replicas no further than all proposals of a direction's
// window agree: up to the lowest one of the window for growing, down to the highest
// one of the window for shrinking.
func (c *Controller) stabilize(now time.Duration, current, desired int32) int32 {
	behavior := c.cfg.Spec.Behavior
	up, down := desired, desired
	upCutoff, downCutoff := now-window(behavior.ScaleUp), now-window(behavior.ScaleDown)
	c.recommendations = slices.DeleteFunc(c.recommendations, func(r recommendation) bool {
		return r.at < upCutoff && r.at < downCutoff
	})
	for _, r := range c.recommendations {
		if r.at > upCutoff {
			up = min(up, r.replicas)
		}
		if r.at > downCutoff {
			down = max(down, r.replicas)
		}
	}
	c.recommendations = append(c.recommendations, recommendation{desired, now})
	return min(max(current, up), down)
}

func window(r *autoscaling.HPAScalingRules) time.Duration {
	return time.Duration(*r.StabilizationWindowSeconds) * time.Second
}

// upLimit is the most replicas that the policies allow now. It can be less than
// there are, where policies are stricter than what was done before.
func (c *Controller) upLimit(now time.Duration, current int32) int32 {
	rules := c.cfg.Spec.Behavior.ScaleUp
	return c.limit(now, current, rules, true, func(p autoscaling.HPAScalingPolicy, start int32) int32 {
		if p.Type == autoscaling.PodsScalingPolicy {
			return start + p.Value
		}
		return int32(math.Ceil(float64(start) * (1 + float64(p.Value)/100)))
	})
}

// downLimit is the fewest replicas that the policies allow now.
func (c *Controller) downLimit(now time.Duration, current int32) int32 {
	rules := c.cfg.Spec.Behavior.ScaleDown
	return c.limit(now, current, rules, false, func(p autoscaling.HPAScalingPolicy, start int32) int32 {
		if p.Type == autoscaling.PodsScalingPolicy {
			return start - p.Value
		}
		return int32(float64(start) * (1 - float64(p.Value)/100))
	})
}

// limit applies each policy to the replicas that there were when its period began,
// and selects among the results: with Max the one that is furthest away.
func (c *Controller) limit(now time.Duration, current int32, rules *autoscaling.HPAScalingRules, up bool,
	apply func(p autoscaling.HPAScalingPolicy, start int32) int32) int32 {
	if *rules.SelectPolicy == autoscaling.DisabledPolicySelect {
		return current
	}
	highest := up == (*rules.SelectPolicy != autoscaling.MinChangePolicySelect)
	var limits []int32
	for _, p := range rules.Policies {
		since := now - time.Duration(p.PeriodSeconds)*time.Second
		start := current - podsSince(c.ups, since) + podsSince(c.downs, since)
		limits = append(limits, apply(p, start))
	}
	if highest {
		return slices.Max(limits)
	}
	return slices.Min(limits)
}

func podsSince(changes []change, since time.Duration) (pods int32) {
	for _, ch := range changes {
		if ch.at > since {
			pods += ch.pods
		}
	}
	return pods
}

// longestPeriod is the longest that the API server lets a policy look back.
const longestPeriod = 30 * time.Minute

// remember keeps a change for the policies.
func (c *Controller) remember(s Snapshot, replicas int32) {
	old := func(ch change) bool { return ch.at < s.Now-longestPeriod }
	switch {
	case replicas > s.Replicas:
		c.ups = append(slices.DeleteFunc(c.ups, old), change{replicas - s.Replicas, s.Now})
	case replicas < s.Replicas:
		c.downs = append(slices.DeleteFunc(c.downs, old), change{s.Replicas - replicas, s.Now})
	}
}
