package lint

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"dragoman/app/config"
)

// The time of a pod's end beyond preStop and SHUTDOWN_TIMEOUT: truncated answers get a second to be sent, remaining traces five.
const ending = 6 * time.Second

// probes must request the right paths, with patience.
func probes(s *subject) {
	start := "/readyz"
	if s.settings.Role == config.Gateway {
		start = "/healthz" // a gateway is ready when Redis and a worker are available
	}
	for _, want := range []struct {
		name  string
		probe *corev1.Probe
		path  string
		// patience returns the minimum time until a probe has failed for good.
		patience time.Duration
	}{
		// Packing the matrices of a model takes up to 15 s, and disks can be slow.
		{"startupProbe", s.server.StartupProbe, start, 2 * time.Minute},
		{"readinessProbe", s.server.ReadinessProbe, "/readyz", 5 * time.Second},
		// A restart costs more than a minute of patience.
		{"livenessProbe", s.server.LivenessProbe, "/healthz", time.Minute},
	} {
		if want.probe == nil || want.probe.HTTPGet == nil {
			s.fail("there is no %s by HTTP", want.name)
			continue
		}
		get := want.probe.HTTPGet
		if get.Path != want.path {
			s.fail("%s asks %s, not %s", want.name, get.Path, want.path)
		}
		if !hasPort(s.server, get.Port) {
			s.fail("%s asks port %q, which the container has not", want.name, get.Port.String())
		}
		patience := time.Duration(want.probe.FailureThreshold) * time.Duration(want.probe.PeriodSeconds) * time.Second
		if patience < want.patience {
			s.fail("%s gives up after %s, less than %s", want.name, patience, want.patience)
		}
	}
}

func hasPort(c corev1.Container, port intstr.IntOrString) bool {
	for _, p := range c.Ports {
		if port.Type == intstr.String && p.Name == port.StrVal || port.Type == intstr.Int && p.ContainerPort == port.IntVal {
			return true
		}
	}
	return false
}

// termination must leave the service time to finish its requests, and its clients time to send no more.
func termination(s *subject) {
	var pause time.Duration
	if l := s.server.Lifecycle; l != nil && l.PreStop != nil && l.PreStop.Sleep != nil {
		pause = time.Duration(l.PreStop.Sleep.Seconds) * time.Second
	}
	if pause < 5*time.Second && s.settings.Role != config.Worker { // no client sends to workers
		s.fail("preStop sleeps for %s: proxies need about 5 s to learn that a pod leaves", pause)
	}
	if s.settings.ShutdownTimeout < s.settings.QueueWait {
		s.fail("SHUTDOWN_TIMEOUT is %s, but what was accepted may wait for %s", s.settings.ShutdownTimeout, s.settings.QueueWait)
	}
	need := pause + s.settings.ShutdownTimeout + ending
	var grace time.Duration
	if seconds := s.pod.TerminationGracePeriodSeconds; seconds != nil {
		grace = time.Duration(*seconds) * time.Second
	}
	if grace < need {
		s.fail("terminationGracePeriodSeconds is %s, preStop, SHUTDOWN_TIMEOUT and the end take %s", grace, need)
	}
}

// disruption must leave a way to drain a node and to finish an update.
func disruption(s *subject) {
	if s.budget.Spec.MinAvailable != nil || s.budget.Spec.MaxUnavailable == nil || s.budget.Spec.MaxUnavailable.IntValue() < 1 {
		s.fail("the PodDisruptionBudget stops the drain of a node with the only pod")
	}
	strategy := s.deployment.Spec.Strategy
	if strategy.Type == appsv1.RecreateDeploymentStrategyType {
		if s.settings.JobFile == config.JobsOff {
			s.fail("an update ends all pods at once, and there is no file of one process")
		}
		return
	}
	update := strategy.RollingUpdate
	if update == nil || update.MaxSurge == nil || update.MaxUnavailable == nil {
		s.fail("the Deployment does not say how it is updated")
		return
	}
	if update.MaxUnavailable.IntValue() < 1 {
		s.fail("an update waits for a place for one more pod: a GPU, or what a quota leaves")
	}
}
