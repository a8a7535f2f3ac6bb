// Package hpa replays the arithmetic of Kubernetes' HorizontalPodAutoscaler
// controller (autoscaling/v2), without a cluster and without a clock. It answers
// one question: with this spec, and these pods with these metrics at this moment,
// how many replicas would the controller set?
//
// A sync goes through the same stages as in the controller (pkg/controller/podautoscaler
// of Kubernetes 1.33 or newer):
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
// Resource, ContainerResource and Pods metrics are supported; Object and External
// ones are refused.
package hpa

import (
	"fmt"
	"time"

	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
)

// SyncPeriod is how often the controller looks at each autoscaler, unless its
// --horizontal-pod-autoscaler-sync-period says otherwise.
const SyncPeriod = 15 * time.Second

// Config is what a [Controller] works with. Zero values stand for the defaults of
// kube-controller-manager.
type Config struct {
	Spec autoscaling.HorizontalPodAutoscalerSpec

	Tolerance              float64       // of value / target around 1; 0: 0.1
	CPUInitialization      time.Duration // after a pod's start, while CPU counts only once ready; 0: 5 min
	InitialReadiness       time.Duration // a pod that turns unready this soon never was ready; 0: 30 s
	DownscaleStabilization time.Duration // where the spec has no window; 0: 5 min
}

func (c Config) withDefaults() Config {
	if c.Tolerance == 0 {
		c.Tolerance = 0.1
	}
	if c.CPUInitialization == 0 {
		c.CPUInitialization = 5 * time.Minute
	}
	if c.InitialReadiness == 0 {
		c.InitialReadiness = 30 * time.Second
	}
	if c.DownscaleStabilization == 0 {
		c.DownscaleStabilization = 5 * time.Minute
	}
	c.Spec = withSpecDefaults(*c.Spec.DeepCopy(), c.DownscaleStabilization)
	return c
}

// Controller decides for one autoscaler. It remembers what it proposed and did, so
// each simulation needs its own. It is not safe for concurrent use.
type Controller struct {
	cfg     Config
	metrics []metric

	started         bool
	recommendations []recommendation // before stabilization
	ups, downs      []change         // that were carried out
}

// New returns a controller for a spec, or an error that says what the API server
// would refuse in it, or what is not supported here.
func New(cfg Config) (*Controller, error) {
	cfg = cfg.withDefaults()
	if err := validate(cfg.Spec); err != nil {
		return nil, fmt.Errorf("autoscaler of %s: %w", cfg.Spec.ScaleTargetRef.Name, err)
	}
	c := &Controller{cfg: cfg}
	for i, spec := range cfg.Spec.Metrics {
		m, err := metricOf(spec)
		if err != nil {
			return nil, fmt.Errorf("metric %d of the autoscaler: %w", i, err)
		}
		c.metrics = append(c.metrics, m)
	}
	return c, nil
}

// Snapshot is what the controller sees at a sync.
type Snapshot struct {
	Now      time.Duration // since any fixed moment; never goes back
	Replicas int32         // spec.replicas of the target
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
	Samples  map[string]Sample           // by the metric's name; what lacks is missing
}

// Sample is a pod's value of a metric.
type Sample struct {
	Milli  int64         // value in thousandths
	At     time.Duration // when it was taken
	Window time.Duration // what it was averaged over
}

// Decision is what came of a sync.
type Decision struct {
	Replicas int32   // to set
	Proposal int32   // before stabilization and policies; 0 where metrics were not asked
	Metric   string  // that proposed it
	Invalid  []error // of metrics that were left out
}

// Sync decides once. An error means that no number could be computed; Replicas is
// what they were then.
func (c *Controller) Sync(s Snapshot) (Decision, error) {
	if !c.started {
		c.started = true
		c.recommendations = append(c.recommendations, recommendation{s.Replicas, s.Now})
	}
	d := Decision{Replicas: s.Replicas}
	least, most := *c.cfg.Spec.MinReplicas, c.cfg.Spec.MaxReplicas
	switch {
	case s.Replicas == 0: // scaled to zero by hand: autoscaling is off
	case s.Replicas > most:
		d.Replicas = most
	case s.Replicas < least:
		d.Replicas = least
	default:
		if err := c.propose(s, &d); err != nil {
			return d, err
		}
		d.Replicas = c.normalize(s, d.Proposal)
	}
	c.remember(s, d.Replicas)
	return d, nil
}

// propose asks all metrics and keeps the highest number.
func (c *Controller) propose(s Snapshot, d *Decision) error {
	for _, m := range c.metrics {
		n, err := c.replicas(s, m)
		if err != nil {
			d.Invalid = append(d.Invalid, fmt.Errorf("%s: %w", m.name, err))
			continue
		}
		// Equal proposals: the first metric is named, as in the controller.
		if d.Metric == "" || n > d.Proposal {
			d.Proposal, d.Metric = n, m.name
		}
	}
	invalid := len(d.Invalid)
	if invalid == len(c.metrics) || (invalid > 0 && d.Proposal < s.Replicas) {
		return fmt.Errorf("%d of %d metrics are invalid, the first one: %w", invalid, len(c.metrics), d.Invalid[0])
	}
	return nil
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

// Bounds are minReplicas and maxReplicas.
func (c *Controller) Bounds() (least, most int32) {
	return *c.cfg.Spec.MinReplicas, c.cfg.Spec.MaxReplicas
}
