// Package cluster simulates a Deployment under a HorizontalPodAutoscaler for some
// hours: requests arrive and are spread over the ready pods, metrics are scraped and
// come late, the autoscaler syncs every 15 s, pods take their time to start and drain
// before they end. All randomness comes from the seed.
package cluster

import (
	"fmt"

	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"

	"dragoman/scripts/k8s/autoscaling/pod"
	"dragoman/scripts/k8s/autoscaling/traffic"
)

// Config is a simulation. Times are seconds.
type Config struct {
	// Spec is the autoscaler's. With Fixed there is none, and always so many pods.
	Spec  autoscaling.HorizontalPodAutoscalerSpec
	Fixed int32

	Shape    pod.Shape
	Limits   pod.Limits
	Requests map[core.ResourceName]int64 // of a pod, in thousandths
	Start    Start
	Stop     Stop
	Sources  map[string]Source // of metrics, by their name; nil: DefaultSources

	Load     Load
	Lengths  traffic.Lengths
	Patience float64 // after which a client leaves; 0: 10
	Telling  float64 // share of clients that say so in advance

	From, Until int // seconds of the day
	Series      bool
	Seed        uint64
}

// Load is the rate of requests per second at a moment.
type Load interface {
	Rate(at float64) float64
}

// Start is how long a pod takes from its creation to being ready.
type Start struct {
	Name    string
	Pending float64 // until its container runs: a node, the image, the init container
	Loading float64 // from then on, until it is ready
}

// Jitter is the most by which a start is longer or shorter than usual, as a share.
const Jitter = 0.1

// Stop is how a pod ends: it is taken out of the Service in Unlisted seconds, serves on
// for PreStop, and has Shutdown from then on for what it has accepted.
type Stop struct{ Unlisted, PreStop, Shutdown float64 }

// Source is how a metric gets from a pod to the autoscaler.
type Source struct {
	Every  int // seconds between two scrapes
	Window int // seconds over which a scraped value is averaged; 0: the moment
	Smooth int // seconds of scraped values that the adapter averages; 0: the latest one
	Delay  int // seconds until a scraped value can be seen
}

// The metrics that pods have.
const (
	CPU         = string(core.ResourceCPU)
	Memory      = string(core.ResourceMemory)
	QueueTokens = "dragoman_queue_tokens"
	Occupancy   = "dragoman_batch_occupancy_ratio"
	GPU         = "DCGM_FI_DEV_GPU_UTIL"
)

// DefaultSources are the usual ways: metrics-server looks every 15 s at what kubelet
// averaged; Prometheus scrapes the service every 15 s; dcgm-exporter looks every 30 s
// at the GPU's last second. The adapter averages what Prometheus has of a minute,
// except for the queue, where the latest value counts.
func DefaultSources() map[string]Source {
	return map[string]Source{
		CPU:         {Every: 15, Window: 15, Delay: 10},
		Memory:      {Every: 15, Delay: 10},
		QueueTokens: {Every: 15},
		Occupancy:   {Every: 15, Smooth: 60},
		GPU:         {Every: 30, Window: 1, Smooth: 60, Delay: 15},
	}
}

func (c Config) withDefaults() Config {
	if c.Patience == 0 {
		c.Patience = 10
	}
	if c.Sources == nil {
		c.Sources = DefaultSources()
	}
	if c.Limits == (pod.Limits{}) {
		c.Limits = pod.DefaultLimits()
	}
	if c.Stop == (Stop{}) {
		c.Stop = Stop{Unlisted: 1, PreStop: 10, Shutdown: 60}
	}
	return c
}

func (c Config) validate() error {
	if err := c.Shape.Validate(); err != nil {
		return err
	}
	switch {
	case c.Load == nil:
		return fmt.Errorf("no load")
	case c.From < 0 || c.Until <= c.From:
		return fmt.Errorf("a simulation from second %d to %d: the end must be later", c.From, c.Until)
	case c.Patience <= 0 || c.Telling < 0 || c.Telling > 1:
		return fmt.Errorf("clients wait for %g s and a share of %g says so: use more than 0, and 0 to 1", c.Patience, c.Telling)
	case c.Lengths.Mean < 1:
		return fmt.Errorf("sentences of %g tokens: use 1 or more", c.Lengths.Mean)
	case c.Start.Pending < 0 || c.Start.Loading < 0:
		return fmt.Errorf("a pod starts in %g + %g s: use 0 or more", c.Start.Pending, c.Start.Loading)
	case c.Fixed < 0:
		return fmt.Errorf("%d fixed pods: use 1 or more, or 0 for the autoscaler", c.Fixed)
	}
	for name, s := range c.Sources {
		if _, ok := DefaultSources()[name]; !ok {
			return fmt.Errorf("a source of the metric %s, which pods of the simulation do not have", name)
		}
		if s.Every < 1 || s.Window < 0 || s.Window >= ringSeconds || s.Smooth < 0 || s.Delay < 0 {
			return fmt.Errorf("metric %s is scraped every %d s, averaged over %d s and %d s, and seen after %d s: "+
				"use 1 or more, 0 to %d, and 0 or more", name, s.Every, s.Window, s.Smooth, s.Delay, ringSeconds-1)
		}
	}
	return nil
}
