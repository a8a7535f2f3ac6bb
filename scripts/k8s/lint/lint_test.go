// Package lint tests that the manifests of the service are consistent with each other and with the service, in ways that types
// cannot express and an API server would accept. Each rule stands for a failure of such manifests in a cluster.
package lint

import (
	"errors"
	"fmt"
	"slices"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"dragoman/app/config"
	"dragoman/scripts/k8s/manifests"
)

// serverContainer is the name of the service's container.
const serverContainer = "dragoman"

// pull is an init container that fetches a model.
type pull struct {
	corev1.Container
	settings config.Config // its parsed environment
}

// subject has the objects for the rules, and the faults found.
type subject struct {
	deployment *appsv1.Deployment
	template   *corev1.PodTemplateSpec
	pod        corev1.PodSpec
	pulls      []pull
	server     corev1.Container
	service    *corev1.Service
	budget     *policyv1.PodDisruptionBudget
	scaler     *autoscalingv2.HorizontalPodAutoscaler
	policies   []*networkingv1.NetworkPolicy
	monitors   []*monitoringv1.ServiceMonitor

	// settings returns the service's parsed environment.
	settings config.Config

	faults []error
}

// rules has the rules for a Deployment and the objects around it.
var rules = []func(*subject){
	selectors, ports, images, resources, environment, volumes, security,
	probes, termination, disruption, scaling, memory, observers,
}

// check returns all faults of a set, joined, or nil.
func check(set manifests.Set) error {
	if isFleet(set) {
		return checkFleet(set)
	}
	s, err := newSubject(set)
	if err != nil {
		return err
	}
	for _, rule := range rules {
		rule(s)
	}
	return errors.Join(s.faults...)
}

// newSubject finds the objects that every variant has. It fails if one is missing.
func newSubject(set manifests.Set) (*subject, error) {
	s := &subject{
		policies: manifests.All[*networkingv1.NetworkPolicy](set),
		monitors: manifests.All[*monitoringv1.ServiceMonitor](set),
	}
	var errs [5]error
	if s.deployment, errs[0] = manifests.One[*appsv1.Deployment](set); errs[0] == nil {
		s.template = &s.deployment.Spec.Template
		s.pod = s.template.Spec
		s.server, errs[1] = container(s.pod.Containers, serverContainer)
	}
	s.service, errs[2] = manifests.One[*corev1.Service](set)
	s.budget, errs[3] = manifests.One[*policyv1.PodDisruptionBudget](set)
	s.scaler, errs[4] = manifests.One[*autoscalingv2.HorizontalPodAutoscaler](set)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	var err error
	if s.settings, err = config.Parse(append(manifests.Environ(s.server), secrets(s.server)...)); err != nil {
		s.fail("container %s: %w", serverContainer, err)
	}
	for _, c := range s.pod.InitContainers {
		p := pull{Container: c}
		if p.settings, err = config.Parse(manifests.Environ(c)); err != nil {
			s.fail("container %s: %w", c.Name, err)
		}
		s.pulls = append(s.pulls, p)
	}
	return s, nil
}

// secrets are the variables from a Secret that the service needs to start.
func secrets(c corev1.Container) []string {
	if secretOf(c, "BROKER_URL") == "" {
		return nil
	}
	return []string{"BROKER_URL=redis://:password@broker:6379"}
}

// container returns the only container of a list, which must have this name.
func container(list []corev1.Container, name string) (corev1.Container, error) {
	if len(list) != 1 || list[0].Name != name {
		return corev1.Container{}, fmt.Errorf("there are %d containers, not only one called %q", len(list), name)
	}
	return list[0], nil
}

// containers returns all containers, init containers first.
func (s *subject) containers() []corev1.Container {
	return append(s.pod.InitContainers[:len(s.pulls):len(s.pulls)], s.server)
}

// models is the folder with the models: a repository, or the export of the only model.
func (s *subject) models() string {
	if len(s.settings.Repositories) > 0 {
		return s.settings.Repositories[0]
	}
	return s.settings.SaveWeights
}

func (s *subject) fail(format string, args ...any) {
	s.faults = append(s.faults, fmt.Errorf(format, args...))
}

// within reports whether all contains every pair of some, so that a selector with these pairs matches.
func within(some, all map[string]string) bool {
	for key, value := range some {
		if got, ok := all[key]; !ok || got != value {
			return false
		}
	}
	return len(some) > 0
}

func labelsOf(selector *metav1.LabelSelector) map[string]string {
	if selector == nil {
		return nil
	}
	return selector.MatchLabels
}

// The labels that distinguish pods: from other programs, other installs, other parts of a fleet.
const (
	application = "app.kubernetes.io/name"
	instance    = "app.kubernetes.io/instance"
	component   = "app.kubernetes.io/component"
)

// selectors must match the pods' labels, or no pod is balanced, spread or protected. They must have all labels that distinguish
// the pods.
func selectors(s *subject) {
	labels := s.deployment.Spec.Template.Labels
	check := func(what string, selector map[string]string) {
		if !within(selector, labels) {
			s.fail("%s selects %v, the pods have %v", what, selector, labels)
		}
		for _, label := range []string{application, instance, component} {
			if selector[label] == "" {
				s.fail("%s selects pods by %v, without %s", what, selector, label)
			}
		}
	}
	check("the Deployment", labelsOf(s.deployment.Spec.Selector))
	check("the Service", s.service.Spec.Selector)
	check("the PodDisruptionBudget", labelsOf(s.budget.Spec.Selector))
	for _, spread := range s.pod.TopologySpreadConstraints {
		check("the spread over "+spread.TopologyKey, labelsOf(spread.LabelSelector))
	}
	for _, policy := range s.policies {
		check("the NetworkPolicy", labelsOf(&policy.Spec.PodSelector))
	}
	for _, monitor := range s.monitors {
		selector := monitor.Spec.Selector.MatchLabels
		if !within(selector, s.service.Labels) || selector[application] == "" || selector[instance] == "" {
			s.fail("the ServiceMonitor selects %v, the Service has %v", selector, s.service.Labels)
		}
	}
}

// ports must be the service's listening ports.
func ports(s *subject) {
	numbers := []int{s.settings.Port, s.settings.GRPCPort}
	if s.settings.Role == config.Worker {
		numbers = numbers[:1]
	}
	var names []string
	for _, number := range numbers {
		i := slices.IndexFunc(s.server.Ports, func(p corev1.ContainerPort) bool { return int(p.ContainerPort) == number })
		if i < 0 {
			s.fail("the service listens on %d, its container has no such port", number)
			return
		}
		names = append(names, s.server.Ports[i].Name)
	}
	if len(s.service.Spec.Ports) != len(names) {
		s.fail("the Service has %d ports, not %d", len(s.service.Spec.Ports), len(names))
		return
	}
	for i, number := range numbers {
		if port := s.service.Spec.Ports[i]; port.TargetPort.StrVal != names[i] || int(port.Port) != number {
			s.fail("the Service's port %d leads to %q, not %d to %q", port.Port, port.TargetPort.String(), number, names[i])
		}
	}
	for _, policy := range s.policies {
		for _, rule := range policy.Spec.Ingress {
			var let []string
			for _, port := range rule.Ports {
				if port.Port != nil {
					let = append(let, port.Port.StrVal)
				}
			}
			if !slices.Equal(let, names) {
				s.fail("the NetworkPolicy lets in %q, not %q", let, names)
			}
		}
	}
	port := s.service.Spec.Ports[0]
	for _, monitor := range s.monitors {
		for _, endpoint := range monitor.Spec.Endpoints {
			if endpoint.Port != port.Name || endpoint.Path != "/metrics" {
				s.fail("the ServiceMonitor reads %s of port %q, not /metrics of %q", endpoint.Path, endpoint.Port, port.Name)
			}
		}
	}
}
