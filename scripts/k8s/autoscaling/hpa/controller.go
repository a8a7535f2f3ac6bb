// Package hpa replays the arithmetic of Kubernetes' HorizontalPodAutoscaler
// controller (autoscaling/v2), without a cluster and without a clock. It answers
// one question: with this spec, and these pods with these metrics at this moment,
// how many replicas would the controller set?
//
// A sync goes through the same stages as in the controller (pkg/controller/podautoscaler
// of Kubernetes 1.33 or newer, with its default flags):
//
//  1. Each metric proposes a number of replicas: ceil(pods × value / target), none
//     within the tolerance, with pods that are not ready or have no metric counted
//     against any change.
//  2. The highest proposal counts. A metric without values is left out, unless the
//     number would fall: then nothing happens.
//  3. Stabilization: over the window of each direction the most careful proposal
//     counts.
//  4. Policies bound how many pods come or go in a period, and the bounds
//     minReplicas and maxReplicas hold.
//
// It replays metrics of resources and of pods, and policies of which the one that
// changes most is selected.
package hpa

import (
	"errors"
	"fmt"
	"time"

	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
)

// The defaults of kube-controller-manager's flags.
const (
	SyncPeriod             = 15 * time.Second // how often the controller looks at each autoscaler
	tolerance              = 0.1              // of value / target around 1
	cpuInitialization      = 5 * time.Minute  // after a pod's start, while CPU counts only once ready
	initialReadiness       = 30 * time.Second // a pod that turns unready this soon never was ready
	downscaleStabilization = 5 * time.Minute  // where the spec has no behavior
)

// Controller decides for one autoscaler. It remembers what it proposed and did, so
// each simulation needs its own. It is not safe for concurrent use.
type Controller struct {
	spec    autoscaling.HorizontalPodAutoscalerSpec
	metrics []metric

	proposals  []count // before stabilization
	ups, downs []count // pods that were added and removed
}

// count is a number of pods at a moment.
type count struct {
	pods int32
	at   time.Duration
}

// New returns a controller for a spec in which minReplicas is set, as are window and
// policies of both directions if there is a behavior. Metrics that it cannot replay are
// errors.
func New(spec autoscaling.HorizontalPodAutoscalerSpec) (*Controller, error) {
	c := &Controller{spec: spec}
	for _, s := range spec.Metrics {
		m, err := metricOf(s)
		if err != nil {
			return nil, err
		}
		c.metrics = append(c.metrics, m)
	}
	if b := spec.Behavior; b != nil {
		for _, r := range []*autoscaling.HPAScalingRules{b.ScaleUp, b.ScaleDown} {
			if r == nil || r.StabilizationWindowSeconds == nil || len(r.Policies) == 0 {
				return nil, errors.New("a behavior without a window or policies of one direction cannot be replayed")
			}
			if s := r.SelectPolicy; s != nil && *s != autoscaling.MaxChangePolicySelect {
				return nil, fmt.Errorf("selectPolicy %s cannot be replayed", *s)
			}
		}
	}
	return c, nil
}

// Snapshot is what the controller sees at a sync.
type Snapshot struct {
	Now      time.Duration // since any fixed moment; never goes back
	Replicas int32         // spec.replicas of the target, within the autoscaler's bounds
	Pods     []Pod
}

// Pod is what the controller knows of a pod.
type Pod struct {
	Phase        core.PodPhase // Pending until all init containers are done
	Terminating  bool          // has a deletion timestamp
	Ready        bool
	Started      time.Duration // status.startTime
	ReadyChanged time.Duration // when Ready changed last; Started, if it never did

	Requests map[core.ResourceName]int64 // of all containers, in thousandths
	Samples  map[string]Sample           // by the metric's name; without those that are missing
}

// Sample is a pod's value of a metric.
type Sample struct {
	Milli  int64         // value in thousandths
	At     time.Duration // when it was taken
	Window time.Duration // what it was averaged over
}

// Sync decides once and returns the replicas to set. An error means that metrics are
// missing, so that nothing changes.
func (c *Controller) Sync(s Snapshot) (int32, error) {
	if len(c.proposals) == 0 {
		c.proposals = append(c.proposals, count{s.Replicas, s.Now})
	}
	proposal, err := c.propose(s)
	if err != nil {
		return s.Replicas, err
	}
	replicas := c.normalize(s, proposal)
	switch {
	case replicas > s.Replicas:
		c.ups = append(c.ups, count{replicas - s.Replicas, s.Now})
	case replicas < s.Replicas:
		c.downs = append(c.downs, count{s.Replicas - replicas, s.Now})
	}
	return replicas, nil
}

// propose asks all metrics and returns the highest number.
func (c *Controller) propose(s Snapshot) (highest int32, err error) {
	valid := 0
	for _, m := range c.metrics {
		n, failed := m.replicas(s)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", m.name, failed))
			continue
		}
		valid++
		highest = max(highest, n)
	}
	if valid == 0 || highest < s.Replicas {
		return highest, err
	}
	return highest, nil
}

// Metrics are the names of the metrics that the spec asks for: that of the resource, or
// of the pods' metric.
func (c *Controller) Metrics() []string {
	names := make([]string, len(c.metrics))
	for i, m := range c.metrics {
		names[i] = m.name
	}
	return names
}
