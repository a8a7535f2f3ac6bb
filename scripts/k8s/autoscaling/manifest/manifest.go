// Package manifest reads from k8s/deployment.yaml what a simulation of it needs, so that
// the simulation is always that of the file that ships.
package manifest

import (
	"fmt"
	"time"

	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"

	"dragoman/scripts/k8s/manifests"
)

// Shipped is what a manifest says.
type Shipped struct {
	Autoscaler autoscaling.HorizontalPodAutoscalerSpec
	Requests   map[core.ResourceName]int64 // of the container "dragoman", in thousandths
	PreStop    time.Duration               // sleep before SIGTERM; 0 without one
	Shutdown   time.Duration               // SHUTDOWN_TIMEOUT, or the service's default
	Grace      time.Duration               // terminationGracePeriodSeconds
	QueueWait  time.Duration               // QUEUE_WAIT, or the service's default
}

const (
	container        = "dragoman"
	defaultShutdown  = 30 * time.Second
	defaultGrace     = 30 * time.Second
	defaultQueueWait = 30 * time.Second
)

// Read reads a file of manifests, among which there are one Deployment and one
// HorizontalPodAutoscaler. Fields that these types do not have are errors.
func Read(path string) (*Shipped, error) {
	set, err := manifests.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the manifests: %w", err)
	}
	s, err := Of(set)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Of is Read of manifests that were read.
func Of(set manifests.Set) (*Shipped, error) {
	deployment, err := manifests.One[*apps.Deployment](set)
	if err != nil {
		return nil, err
	}
	scaler, err := manifests.One[*autoscaling.HorizontalPodAutoscaler](set)
	if err != nil {
		return nil, err
	}
	return shipped(deployment, scaler)
}

func shipped(d *apps.Deployment, scaler *autoscaling.HorizontalPodAutoscaler) (*Shipped, error) {
	target := scaler.Spec.ScaleTargetRef
	if target.Kind != "Deployment" || target.Name != d.Name {
		return nil, fmt.Errorf("the autoscaler is for the %s %q, the Deployment is %q", target.Kind, target.Name, d.Name)
	}
	s := &Shipped{Autoscaler: scaler.Spec, Requests: map[core.ResourceName]int64{}, Shutdown: defaultShutdown, Grace: defaultGrace, QueueWait: defaultQueueWait}
	spec := d.Spec.Template.Spec
	if g := spec.TerminationGracePeriodSeconds; g != nil {
		s.Grace = time.Duration(*g) * time.Second
	}
	for i := range spec.Containers {
		c := &spec.Containers[i]
		if c.Name != container {
			return nil, fmt.Errorf("there is a container %q, which the simulation knows nothing of", c.Name)
		}
		if err := s.read(c); err != nil {
			return nil, fmt.Errorf("container %s: %w", c.Name, err)
		}
	}
	if s.PreStop+s.Shutdown > s.Grace {
		return nil, fmt.Errorf("preStop of %s and SHUTDOWN_TIMEOUT of %s do not fit into terminationGracePeriodSeconds, %s: "+
			"requests in flight would be lost", s.PreStop, s.Shutdown, s.Grace)
	}
	return s, nil
}

func (s *Shipped) read(c *core.Container) error {
	for name, quantity := range c.Resources.Requests {
		s.Requests[name] = quantity.MilliValue()
	}
	if l := c.Lifecycle; l != nil && l.PreStop != nil && l.PreStop.Sleep != nil {
		s.PreStop = time.Duration(l.PreStop.Sleep.Seconds) * time.Second
	}
	durations := map[string]*time.Duration{"SHUTDOWN_TIMEOUT": &s.Shutdown, "QUEUE_WAIT": &s.QueueWait}
	for _, v := range c.Env {
		into, ok := durations[v.Name]
		if !ok {
			continue
		}
		var err error
		if *into, err = time.ParseDuration(v.Value); err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	return nil
}
