package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// handler handles an object that was ADDED, MODIFIED or DELETED.
type handler func(ctx context.Context, event string, object json.RawMessage) error

// watch calls handle for each object of a path, in each of its states, until ctx ends.
func (p *controlPlane) watch(ctx context.Context, path string, handle handler) {
	for ctx.Err() == nil {
		if err := p.watchOnce(ctx, path, handle); err != nil && ctx.Err() == nil {
			fmt.Println("cluster: watch", path, err)
		}
	}
}

// watchOnce ends with the server's answer, after some minutes.
func (p *controlPlane) watchOnce(ctx context.Context, path string, handle handler) error {
	r, err := http.NewRequestWithContext(ctx, "GET", p.address+path+"?watch=1", nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := p.client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	events := json.NewDecoder(resp.Body)
	for {
		var event struct {
			Type   string
			Object json.RawMessage
		}
		if err := events.Decode(&event); err != nil {
			return nil // the end of the answer
		}
		if event.Type == "ERROR" {
			return fmt.Errorf("%s", event.Object)
		}
		if err := handle(ctx, event.Type, event.Object); err != nil && ctx.Err() == nil && !strings.Contains(err.Error(), "404 ") {
			fmt.Println("cluster:", err)
		}
	}
}

var addresses atomic.Uint32

// kubelet makes each pod on a node ready at once, and ends it at once.
func (p *controlPlane) kubelet(ctx context.Context, event string, raw json.RawMessage) error {
	var pod corev1.Pod
	if err := json.Unmarshal(raw, &pod); err != nil {
		return err
	}
	if event == "DELETED" || pod.Spec.NodeName == "" {
		return nil
	}
	at := "/api/v1/namespaces/" + pod.Namespace + "/pods/" + pod.Name
	if pod.DeletionTimestamp != nil {
		none := int64(0)
		return p.call(ctx, "DELETE", at, "", metav1.DeleteOptions{GracePeriodSeconds: &none, Preconditions: &metav1.Preconditions{UID: &pod.UID}}, nil)
	}
	if pod.Status.Phase != corev1.PodPending {
		return nil
	}
	n := addresses.Add(1)
	now := metav1.Now()
	status := corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &now, PodIP: fmt.Sprintf("10.1.%d.%d", n>>8&255, n&255)}
	status.PodIPs = []corev1.PodIP{{IP: status.PodIP}}
	for _, kind := range []corev1.PodConditionType{corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		status.Conditions = append(status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	for _, c := range pod.Spec.Containers {
		started := true
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, Image: c.Image, Ready: true, Started: &started,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}})
	}
	return p.call(ctx, "PATCH", at+"/status", "application/strategic-merge-patch+json", map[string]any{"status": status}, nil)
}

// provision makes a volume for each claim.
func (p *controlPlane) provision(ctx context.Context, event string, raw json.RawMessage) error {
	var claim corev1.PersistentVolumeClaim
	if err := json.Unmarshal(raw, &claim); err != nil {
		return err
	}
	if event == "DELETED" || claim.Spec.VolumeName != "" || claim.DeletionTimestamp != nil {
		return nil
	}
	volume := corev1.PersistentVolume{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"}, ObjectMeta: metav1.ObjectMeta{Name: "of-" + string(claim.UID)},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes: claim.Spec.AccessModes, Capacity: claim.Spec.Resources.Requests,
			ClaimRef:               &corev1.ObjectReference{Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID},
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/none"}},
		},
	}
	err := p.call(ctx, "POST", "/api/v1/persistentvolumes", "", volume, nil)
	if err != nil && strings.Contains(err.Error(), "409 ") { // it was made at an earlier state of the claim
		return nil
	}
	return err
}

// addNode adds a node with GPUs and cores. It has the taint that providers give nodes with GPUs.
func (p *controlPlane) addNode(ctx context.Context, name, gpus, cores string) error {
	amounts := corev1.ResourceList{"cpu": resource.MustParse(cores), "memory": resource.MustParse("512Gi"), "ephemeral-storage": resource.MustParse("1Ti"),
		"pods": resource.MustParse("110")}
	node := corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: name,
		Labels: map[string]string{"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": "a"}}}
	if gpus != "0" {
		amounts["nvidia.com/gpu"] = resource.MustParse(gpus)
		node.Spec.Taints = []corev1.Taint{{Key: "nvidia.com/gpu", Value: "present", Effect: corev1.TaintEffectNoSchedule}}
	}
	if err := p.call(ctx, "POST", "/api/v1/nodes", "", node, nil); err != nil {
		return err
	}
	status := corev1.NodeStatus{Capacity: amounts, Allocatable: amounts, Conditions: []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "StandIn", LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()}}}
	return p.call(ctx, "PATCH", "/api/v1/nodes/"+name+"/status", "application/strategic-merge-patch+json", map[string]any{"status": status}, nil)
}

// metricsServer simulates metrics-server and prometheus-adapter: a test sets the metrics of a namespace's pods, the same for
// each pod.
type metricsServer struct {
	*httptest.Server
	mu     sync.Mutex
	values map[string]string // by namespace/name, such as default/dragoman_queue_tokens, or default/cpu
}

// set sets a metric of each pod in a namespace.
func (m *metricsServer) set(namespace, name, value string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[namespace+"/"+name] = value
}

func (m *metricsServer) of(namespace, name string) (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.values[namespace+"/"+name]
	return value, ok
}

// serveMetrics registers a stand-in for metrics with the API server, and waits until it works.
func (p *controlPlane) serveMetrics(ctx context.Context) (*metricsServer, error) {
	m := &metricsServer{values: map[string]string{}}
	m.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { m.answer(ctx, p, w, r) }))
	at, err := url.Parse(m.URL)
	if err != nil {
		return m, err
	}
	// A Service with the name of a host, because endpoints may not be on loopback.
	service := corev1.Service{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: metav1.ObjectMeta{Name: "metrics"},
		Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"}}
	if err := p.call(ctx, "POST", "/api/v1/namespaces/default/services", "", service, nil); err != nil {
		return m, err
	}
	for _, group := range []string{"metrics.k8s.io", "custom.metrics.k8s.io"} {
		registration := map[string]any{"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": "v1beta1." + group},
			"spec": map[string]any{"group": group, "version": "v1beta1", "groupPriorityMinimum": 100, "versionPriority": 100, "insecureSkipTLSVerify": true,
				"service": map[string]any{"namespace": "default", "name": "metrics", "port": json.Number(at.Port())}}}
		if err := p.call(ctx, "POST", "/apis/apiregistration.k8s.io/v1/apiservices", "", registration, nil); err != nil {
			return m, err
		}
		if err := p.wait(ctx, group, func() error { return p.get(ctx, "/apis/"+group+"/v1beta1", nil) }); err != nil {
			return m, err
		}
	}
	return m, nil
}

// answer returns the answer of either API: its resources, or a list with the values of pods.
func (m *metricsServer) answer(ctx context.Context, p *controlPlane, w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/") // apis GROUP v1beta1 namespaces NAMESPACE pods [* METRIC]
	if len(parts) == 3 {
		version := parts[1] + "/" + parts[2]
		list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}, GroupVersion: version}
		list.APIResources = []metav1.APIResource{{Name: "pods", Namespaced: true, Kind: "PodMetrics", Verbs: metav1.Verbs{"get", "list"}}}
		if parts[1] == "custom.metrics.k8s.io" {
			list.APIResources = []metav1.APIResource{{Name: "pods/any", Namespaced: true, Kind: "MetricValueList", Verbs: metav1.Verbs{"get"}}}
		}
		respond(w, list)
		return
	}
	if len(parts) < 6 {
		http.NotFound(w, r)
		return
	}
	namespace := parts[4]
	var pods corev1.PodList
	if err := p.get(ctx, "/api/v1/namespaces/"+namespace+"/pods?labelSelector="+url.QueryEscape(r.URL.Query().Get("labelSelector")), &pods); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	now := time.Now().UTC().Format(time.RFC3339)
	items := []any{}
	kind := "MetricValueList"
	for _, pod := range pods.Items {
		if pod.Status.Phase != corev1.PodRunning {
			continue
		}
		if parts[1] == "metrics.k8s.io" {
			kind = "PodMetricsList"
			cpu, _ := m.of(namespace, "cpu")
			if cpu == "" {
				cpu = "1m"
			}
			items = append(items, map[string]any{"metadata": map[string]any{"name": pod.Name, "namespace": namespace, "labels": pod.Labels}, "timestamp": now, "window": "30s",
				"containers": []any{map[string]any{"name": pod.Spec.Containers[0].Name, "usage": map[string]any{"cpu": cpu, "memory": "64Mi"}}}})
		} else if value, ok := m.of(namespace, path.Base(r.URL.Path)); ok {
			items = append(items, map[string]any{"describedObject": map[string]any{"kind": "Pod", "namespace": namespace, "name": pod.Name, "apiVersion": "/v1"},
				"metricName": path.Base(r.URL.Path), "timestamp": now, "value": value})
		}
	}
	respond(w, map[string]any{"apiVersion": parts[1] + "/" + parts[2], "kind": kind, "metadata": map[string]any{}, "items": items})
}

func respond(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client has gone
}
