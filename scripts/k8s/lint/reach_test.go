package lint

import (
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// endpoint is a pod for NetworkPolicies.
type endpoint struct {
	labels    map[string]string
	namespace map[string]string // labels of its namespace; nil: the policies' own namespace
}

func endpointOf(labels map[string]string) endpoint { return endpoint{labels: labels} }

type port struct {
	name   string
	number int32
}

// allowed reports whether the policies, which are additive, let a pod open a connection to another one.
func allowed(policies []*networkingv1.NetworkPolicy, from, to endpoint, at port) bool {
	out, in := true, true // without a policy for a pod, everything is allowed
	for _, direction := range []struct {
		of   networkingv1.PolicyType
		pod  endpoint
		peer endpoint
		open *bool
	}{{networkingv1.PolicyTypeEgress, from, to, &out}, {networkingv1.PolicyTypeIngress, to, from, &in}} {
		for _, p := range policies {
			if direction.pod.namespace != nil || !slices.Contains(p.Spec.PolicyTypes, direction.of) || !selects(&p.Spec.PodSelector, direction.pod.labels) {
				continue
			}
			*direction.open = false
		}
		for _, p := range policies {
			if direction.pod.namespace != nil || !selects(&p.Spec.PodSelector, direction.pod.labels) {
				continue
			}
			if direction.of == networkingv1.PolicyTypeIngress {
				for _, rule := range p.Spec.Ingress {
					*direction.open = *direction.open || opens(rule.From, rule.Ports, direction.peer, at)
				}
				continue
			}
			for _, rule := range p.Spec.Egress {
				*direction.open = *direction.open || opens(rule.To, rule.Ports, direction.peer, at)
			}
		}
	}
	return out && in
}

// opens reports whether a rule allows a peer and a port.
func opens(peers []networkingv1.NetworkPolicyPeer, ports []networkingv1.NetworkPolicyPort, peer endpoint, at port) bool {
	return (len(peers) == 0 || slices.ContainsFunc(peers, func(p networkingv1.NetworkPolicyPeer) bool { return isPeer(p, peer) })) &&
		(len(ports) == 0 || slices.ContainsFunc(ports, func(p networkingv1.NetworkPolicyPort) bool {
			return p.Port == nil || *p.Port == intstr.FromString(at.name) || *p.Port == intstr.FromInt32(at.number)
		}))
}

func isPeer(p networkingv1.NetworkPolicyPeer, peer endpoint) bool {
	switch {
	case p.IPBlock != nil: // addresses outside the cluster
		return false
	case p.NamespaceSelector == nil && peer.namespace != nil, p.NamespaceSelector != nil && !selects(p.NamespaceSelector, peer.namespace):
		return false
	}
	return p.PodSelector == nil || selects(p.PodSelector, peer.labels)
}

func selects(selector *metav1.LabelSelector, of map[string]string) bool {
	s, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && s.Matches(labels.Set(of))
}
