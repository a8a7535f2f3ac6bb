package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	instance  = "app.kubernetes.io/instance"
	component = "app.kubernetes.io/component"
)

// The Services, autoscalers and budgets of two installs in a namespace select only their own pods.
func TestTwoInstalls(t *testing.T) {
	node(t, "gpus", "4", "64")
	node(t, "cores", "0", "64")
	none := "secretGenerator:" // the start of the fleet's part in the example
	first, rest, _ := strings.Cut(example(t, none), "# The rest is for fleets.")
	require.NotEmpty(t, rest)
	single := strings.Replace(first[strings.Index(first, "namePrefix"):strings.Index(first, "resources")], "\n", "", 1)
	for name, test := range map[string]struct {
		first, second []string
		deployments   []string
		scalers       []string
	}{
		"services": {
			[]string{"-k", "k8s/overlays/gpu"}, overlay(t, single, "overlays/gpu"),
			[]string{"deployment/dragoman"}, []string{"dragoman"},
		},
		"fleets": {
			[]string{"-k", "k8s/overlays/fleet"},
			exampleOverlay(t, none, map[string]string{"broker.env": "password=p\nfleet=f\nurl=redis://:p@second-dragoman-redis:6379\n"}),
			[]string{"statefulset/dragoman-redis", "deployment/dragoman-worker", "deployment/dragoman-gateway"}, []string{"dragoman-gateway"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSpace(t)
			s.secret()
			for metric, value := range map[string]string{"DCGM_FI_DEV_GPU_UTIL": "10", "dragoman_queue_tokens": "0"} {
				plane.metrics.set(s.name, metric, value)
			}
			s.apply(test.first)
			s.apply(test.second)
			for _, d := range test.deployments {
				s.finish(d, strings.Replace(d, "/", "/second-", 1))
			}
			s.ownEndpoints()
			for _, scaler := range test.scalers {
				for _, name := range []string{scaler, "second-" + scaler} {
					s.eventually(name+" reads its metrics", func() error { return s.scales(name) })
				}
			}
			for _, pod := range s.pods() {
				s.evict(pod.Name)
			}
			for _, d := range test.deployments {
				s.finish(d, strings.Replace(d, "/", "/second-", 1))
			}
			s.ownEndpoints()
		})
	}
}

// ownEndpoints waits until each Service has the endpoints of all pods of its instance and component. Other endpoints fail the
// test.
func (s *space) ownEndpoints() {
	s.Helper()
	s.eventually("endpoints", func() error {
		var services corev1.ServiceList
		var endpoints discoveryv1.EndpointSliceList
		if err := errors.Join(s.get("api/v1", "services", &services), s.get("apis/discovery.k8s.io/v1", "endpointslices", &endpoints)); err != nil {
			return err
		}
		of := map[string]corev1.Pod{}
		for _, pod := range s.pods() {
			if pod.DeletionTimestamp == nil {
				of[pod.Name] = pod
			}
		}
		for _, service := range services.Items {
			led := 0
			for _, slice := range endpoints.Items {
				if slice.Labels[discoveryv1.LabelServiceName] != service.Name {
					continue
				}
				for _, e := range slice.Endpoints {
					pod, ok := of[e.TargetRef.Name]
					if !ok {
						return fmt.Errorf("Service %s leads to the pod %s, which has gone", service.Name, e.TargetRef.Name)
					}
					require.Equal(s, service.Labels[instance], pod.Labels[instance], "Service %s leads to %s", service.Name, pod.Name)
					require.Equal(s, service.Spec.Selector[component], pod.Labels[component], "Service %s leads to %s", service.Name, pod.Name)
					led++
				}
			}
			want := 0
			for _, pod := range of {
				if pod.Labels[instance] == service.Labels[instance] && pod.Labels[component] == service.Spec.Selector[component] {
					want++
				}
			}
			if led != want || led == 0 {
				return fmt.Errorf("Service %s leads to %d pods, not %d", service.Name, led, want)
			}
		}
		return nil
	})
}

// scales returns nil if an autoscaler reads its metrics. It fails the test if another autoscaler scales the same pods.
func (s *space) scales(name string) error {
	var h autoscalingv2.HorizontalPodAutoscaler
	if err := s.get("apis/autoscaling/v2", "horizontalpodautoscalers/"+name, &h); err != nil {
		return err
	}
	for _, c := range h.Status.Conditions {
		require.NotEqual(s, "AmbiguousSelector", c.Reason, c.Message)
		if c.Type == autoscalingv2.ScalingActive && c.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return fmt.Errorf("%+v", h.Status.Conditions)
}

// evict evicts a pod, as a drain does, as soon as its budget allows it.
func (s *space) evict(pod string) {
	s.Helper()
	s.eventually("eviction of "+pod, func() error {
		err := plane.call(s.Context(), "POST", "/api/v1/namespaces/"+s.name+"/pods/"+pod+"/eviction", "",
			policyv1.Eviction{TypeMeta: metav1.TypeMeta{APIVersion: "policy/v1", Kind: "Eviction"}, ObjectMeta: metav1.ObjectMeta{Name: pod}}, nil)
		if err != nil {
			require.NotContains(s, err.Error(), "more than one PodDisruptionBudget")
		}
		return err
	})
}

// README's commands move clients from a service to a fleet and back. At any time the Service has a ready pod and no worker.
// Afterwards nothing is left of the first install.
func TestMove(t *testing.T) {
	node(t, "gpus", "4", "64")
	node(t, "cores", "0", "64")
	s := newSpace(t)
	s.secret()
	service, fleet := []string{"-k", "k8s/overlays/gpu"}, []string{"-k", "k8s/overlays/fleet"}
	s.apply(service)
	s.finish("deployment/dragoman")
	s.ownEndpoints()

	gaps := s.watchEndpoints("dragoman")
	s.shell(example(t, "# to a fleet"))
	s.ownEndpoints()
	s.hasOnly(fleet)
	s.shell(example(t, "# back to one service"))
	s.ownEndpoints()
	s.hasOnly(service)
	assert.Empty(t, gaps())
}

// hasOnly fails if the namespace has objects of an install that the manifests do not have. Objects that are being deleted may
// still be there.
func (s *space) hasOnly(manifests []string) {
	s.Helper()
	want := strings.Fields(s.kubectl(append(slices.Clone([]string{"apply", "--dry-run=client", "-o", "name"}), manifests...)...))
	slices.Sort(want)
	s.eventually("nothing is left", func() error {
		got := strings.Fields(s.kubectl("get", "deployments,statefulsets,services,hpa,pdb,networkpolicies,scaledobjects,servicemonitors,configmaps",
			"-l", "app.kubernetes.io/name in (dragoman, dragoman-redis)", "-o", "name"))
		slices.Sort(got)
		if !slices.Equal(want, got) {
			return fmt.Errorf("there are %q, not %q", got, want)
		}
		return nil
	})
}

// watchEndpoints fails if a Service loses its last ready pod or gets a worker, until the returned function is called.
func (s *space) watchEndpoints(service string) func() []string {
	ctx, stop := context.WithCancel(s.Context())
	var mu sync.Mutex
	var gaps []string
	ready, armed := map[string]int{}, false
	var watching sync.WaitGroup
	watching.Go(func() {
		plane.watch(ctx, "/apis/discovery.k8s.io/v1/namespaces/"+s.name+"/endpointslices", func(_ context.Context, event string, raw json.RawMessage) error {
			var slice discoveryv1.EndpointSlice
			if err := json.Unmarshal(raw, &slice); err != nil || slice.Labels[discoveryv1.LabelServiceName] != service {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			ready[slice.Name] = 0
			all := 0
			for _, e := range slice.Endpoints {
				if event != "DELETED" && (e.Conditions.Ready == nil || *e.Conditions.Ready) {
					ready[slice.Name]++
				}
				if strings.HasPrefix(e.TargetRef.Name, "dragoman-worker") {
					gaps = append(gaps, "leads to "+e.TargetRef.Name)
				}
			}
			for _, n := range ready {
				all += n
			}
			if armed && all == 0 {
				gaps = append(gaps, "leads to no pod: "+string(raw))
			}
			armed = armed || all > 0
			return nil
		})
	})
	return func() []string {
		stop()
		watching.Wait()
		return gaps
	}
}
