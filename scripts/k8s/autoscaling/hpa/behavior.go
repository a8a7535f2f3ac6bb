package hpa

import (
	"math"
	"time"

	autoscaling "k8s.io/api/autoscaling/v2"
)

// normalize makes a proposal into what may be set now.
func (c *Controller) normalize(s Snapshot, desired int32) int32 {
	least, most := *c.spec.MinReplicas, c.spec.MaxReplicas
	if c.spec.Behavior == nil {
		stable := desired
		for _, p := range c.proposals {
			if p.at >= s.Now-downscaleStabilization {
				stable = max(stable, p.pods)
			}
		}
		c.proposals = append(c.proposals, count{desired, s.Now})
		return max(least, min(stable, most, max(2*s.Replicas, 4)))
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

// stabilize moves the replicas no further than all proposals of a direction's
// window agree: up to the lowest one of the window for growing, down to the highest
// one of the window for shrinking.
func (c *Controller) stabilize(now time.Duration, current, desired int32) int32 {
	up, down := desired, desired
	for _, p := range c.proposals {
		if p.at > now-window(c.spec.Behavior.ScaleUp) {
			up = min(up, p.pods)
		}
		if p.at > now-window(c.spec.Behavior.ScaleDown) {
			down = max(down, p.pods)
		}
	}
	c.proposals = append(c.proposals, count{desired, now})
	return min(max(current, up), down)
}

func window(r *autoscaling.HPAScalingRules) time.Duration {
	return time.Duration(*r.StabilizationWindowSeconds) * time.Second
}

// upLimit is the most replicas that the policies allow now. It can be less than
// there are, where policies are stricter than what was done before.
func (c *Controller) upLimit(now time.Duration, current int32) int32 {
	limit := int32(math.MinInt32)
	for _, p := range c.spec.Behavior.ScaleUp.Policies {
		start := c.replicasBefore(p, now, current)
		if p.Type == autoscaling.PodsScalingPolicy {
			limit = max(limit, start+p.Value)
		} else {
			limit = max(limit, int32(math.Ceil(float64(start)*(1+float64(p.Value)/100))))
		}
	}
	return limit
}

// downLimit is the fewest replicas that the policies allow now.
func (c *Controller) downLimit(now time.Duration, current int32) int32 {
	limit := int32(math.MaxInt32)
	for _, p := range c.spec.Behavior.ScaleDown.Policies {
		start := c.replicasBefore(p, now, current)
		if p.Type == autoscaling.PodsScalingPolicy {
			limit = min(limit, start-p.Value)
		} else {
			limit = min(limit, int32(float64(start)*(1-float64(p.Value)/100)))
		}
	}
	return limit
}

// replicasBefore are those that there were when a policy's period began.
func (c *Controller) replicasBefore(p autoscaling.HPAScalingPolicy, now time.Duration, current int32) int32 {
	since := now - time.Duration(p.PeriodSeconds)*time.Second
	for _, ch := range c.ups {
		if ch.at > since {
			current -= ch.pods
		}
	}
	for _, ch := range c.downs {
		if ch.at > since {
			current += ch.pods
		}
	}
	return current
}
