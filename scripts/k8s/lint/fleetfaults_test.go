package lint

import (
	"slices"
	"strings"
	"testing"

	kedav1alpha1 "github.com/kedacore/keda/v2/apis/keda/v1alpha1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"dragoman/scripts/k8s/manifests"
)

// named returns the object of a type with a name.
func named[T interface {
	runtime.Object
	metav1.Object
}](t *testing.T, set manifests.Set, name string) T {
	t.Helper()
	found := slices.DeleteFunc(manifests.All[T](set), func(o T) bool { return o.GetName() != name })
	require.Len(t, found, 1, name)
	return found[0]
}

// The rules for a service hold for gateways and for workers.
func TestFleetIsWhatItSays(t *testing.T) {
	all := variants(t)
	for name, test := range map[string]struct {
		image, volume string // of workers
		gpu, broker   bool
	}{
		"overlays/fleet":      {"-cuda:0.1.0", "emptyDir", true, true},
		"fleet, node cache":   {"-cuda:0.1.0", "hostPath", true, true},
		"fleet, other broker": {"-cuda:0.1.0", "hostPath", true, false},
		"cpu, fleet":          {":0.1.0", "claim", false, true},
		"catalogue, fleet":    {":0.1.0", "claim", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			set := all[name]
			workers, gateways := named[*appsv1.Deployment](t, set, "dragoman-worker"), named[*appsv1.Deployment](t, set, "dragoman-gateway")
			worker, gateway := workers.Spec.Template.Spec, gateways.Spec.Template.Spec
			assert.Equal(t, "ghcr.io/dragoman/dragoman"+test.image, worker.Containers[0].Image)
			assert.Equal(t, "ghcr.io/dragoman/dragoman:0.1.0", gateway.Containers[0].Image)
			assert.Equal(t, test.volume, kindOf(worker.Volumes, "models"))
			assert.Equal(t, "", kindOf(gateway.Volumes, "models"))
			gpus := worker.Containers[0].Resources.Limits["nvidia.com/gpu"]
			assert.Equal(t, test.gpu, !gpus.IsZero())
			assert.NotContains(t, gateways.String(), "nvidia")

			assert.Len(t, manifests.All[*autoscalingv2.HorizontalPodAutoscaler](set), 1, "KEDA makes that of workers")
			named[*autoscalingv2.HorizontalPodAutoscaler](t, set, "dragoman-gateway")
			assert.Equal(t, "gateway", named[*corev1.Service](t, set, "dragoman").Spec.Selector[component], "clients come to gateways")
			assert.Len(t, manifests.All[*policyv1.PodDisruptionBudget](set), map[bool]int{true: 3, false: 2}[test.broker])
			assert.Len(t, manifests.All[*appsv1.StatefulSet](set), map[bool]int{true: 1, false: 0}[test.broker])
			assert.Empty(t, manifests.All[*corev1.Secret](set), "a password that everybody knows")
		})
	}
}

// All workers may be unavailable at once.
func TestFleetDownToZero(t *testing.T) {
	set := combine(t, "overlays/fleet").Copy()
	one[*kedav1alpha1.ScaledObject](t, set).Spec.MinReplicaCount = of(int32(0))
	assert.NoError(t, check(set))
}

func TestFaultsOfFleetsAreFound(t *testing.T) {
	sound := combine(t, "overlays/fleet")
	require.NoError(t, check(sound))
	for name, test := range faultsOfFleets() {
		t.Run(name, func(t *testing.T) {
			broken := sound.Copy()
			test.put(fleetOf(t, broken))
			err := check(broken)
			require.Error(t, err)
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func TestMissingObjectsOfFleets(t *testing.T) {
	sound := combine(t, "overlays/fleet")
	for _, object := range sound {
		rest := slices.DeleteFunc(sound.Copy(), func(o runtime.Object) bool {
			return o.GetObjectKind() != nil && o.(metav1.Object).GetName() == object.(metav1.Object).GetName() &&
				o.GetObjectKind().GroupVersionKind() == object.GetObjectKind().GroupVersionKind()
		})
		switch object.(type) {
		case *corev1.ConfigMap:
			assert.NoError(t, check(rest))
		default:
			assert.Error(t, check(rest), "%T %s", object, object.(metav1.Object).GetName())
		}
	}
}

// fleetParts are the objects of a fleet that tests put faults into.
type fleetParts struct {
	workers, gateways             *appsv1.Deployment
	worker, gateway, redis        *corev1.Container
	ofWorkers, ofClients, ofRedis *corev1.Service
	scaler                        *kedav1alpha1.ScaledObject
	trigger                       map[string]string
	broker                        *appsv1.StatefulSet
	monitor                       *monitoringv1.ServiceMonitor
	budget                        *policyv1.PodDisruptionBudget // of workers
	policy                        func(name string) *networkingv1.NetworkPolicy
}

func fleetOf(t *testing.T, set manifests.Set) fleetParts {
	t.Helper()
	p := fleetParts{
		workers: named[*appsv1.Deployment](t, set, "dragoman-worker"), gateways: named[*appsv1.Deployment](t, set, "dragoman-gateway"),
		ofWorkers: named[*corev1.Service](t, set, "dragoman-worker"), ofClients: named[*corev1.Service](t, set, "dragoman"),
		ofRedis: named[*corev1.Service](t, set, "dragoman-redis"),
		scaler:  one[*kedav1alpha1.ScaledObject](t, set), broker: one[*appsv1.StatefulSet](t, set), monitor: one[*monitoringv1.ServiceMonitor](t, set),
		budget: named[*policyv1.PodDisruptionBudget](t, set, "dragoman-worker"),
		policy: func(name string) *networkingv1.NetworkPolicy { return named[*networkingv1.NetworkPolicy](t, set, name) },
	}
	p.worker, p.gateway = &p.workers.Spec.Template.Spec.Containers[0], &p.gateways.Spec.Template.Spec.Containers[0]
	p.redis, p.trigger = &p.broker.Spec.Template.Spec.Containers[0], p.scaler.Spec.Triggers[0].Metadata
	return p
}

// fleetFault is a fault in otherwise valid manifests of a fleet.
type fleetFault struct {
	put  func(p fleetParts)
	want string
}

func faultsOfFleets() map[string]fleetFault {
	argument := func(c *corev1.Container, name, value string) { c.Args[slices.Index(c.Args, name)+1] = value }
	unlabel := func(labels map[string]string) { delete(labels, component) }
	return map[string]fleetFault{
		"workers serve":   {func(p fleetParts) { set(p.worker, "ROLE", "all") }, "workers have ROLE=all"},
		"no broker":       {func(p fleetParts) { set(p.gateway, "BROKER_URL", "") }, "ROLE=gateway needs BROKER_URL"},
		"two brokers":     {func(p fleetParts) { set(p.gateway, "BROKER_URL", "redis://other") }, `gateways from ""`},
		"two fleets":      {func(p fleetParts) { set(p.worker, "BROKER_PREFIX", "other") }, "workers have BROKER_PREFIX=other"},
		"other version":   {func(p fleetParts) { p.gateway.Image += "1" }, "may not understand each other"},
		"gateway's model": {func(p fleetParts) { set(p.gateway, "MODEL_WEIGHTS", "a/b") }, "gateways name models"},
		"gateway pulls": {func(p fleetParts) {
			p.gateways.Spec.Template.Spec.InitContainers = p.workers.Spec.Template.Spec.InitContainers
		}, "gateways have init containers"},
		"gateway's /tmp":   {func(p fleetParts) { p.gateway.VolumeMounts[0].ReadOnly = true }, "cannot write tokenizers' files"},
		"gateway's memory": {func(p fleetParts) { set(p.gateway, "REQUEST_MEMORY", "1GiB") }, "a gateway has 2048 MiB"},
		"gateway in a hurry": {func(p fleetParts) { p.gateway.StartupProbe.HTTPGet.Path = "/readyz" },
			"startupProbe asks /readyz, not /healthz"},
		"gateway's preStop": {func(p fleetParts) { p.gateway.Lifecycle = nil }, "preStop sleeps for 0s"},
		"worker's grace":    {func(p fleetParts) { p.workers.Spec.Template.Spec.TerminationGracePeriodSeconds = of(int64(60)) }, "terminationGracePeriodSeconds is 1m0s"},

		"Deployment of all":  {func(p fleetParts) { unlabel(p.workers.Spec.Selector.MatchLabels) }, "the Deployment of dragoman-worker selects pods of dragoman-gateway"},
		"clients of workers": {func(p fleetParts) { unlabel(p.ofClients.Spec.Selector) }, "the Service of dragoman-gateway selects pods of dragoman-worker"},
		"budget of all":      {func(p fleetParts) { unlabel(p.budget.Spec.Selector.MatchLabels) }, "the PodDisruptionBudget of dragoman-worker selects"},
		"workers' address":   {func(p fleetParts) { p.ofWorkers.Spec.ClusterIP = "" }, "the Service of workers has an address"},

		"sum of sums": {func(p fleetParts) { p.trigger["query"] = "sum(dragoman_fleet_waiting_tokens)" }, "each gateway has the sum"},
		"other install": {func(p fleetParts) {
			p.trigger["query"] = strings.Replace(p.trigger["query"], ".*", "other", 1)
		}, `{app_kubernetes_io_instance=~"dragoman"}`},
		"no instance":      {func(p fleetParts) { p.monitor.Spec.TargetLabels = nil }, "the instance that the trigger asks for"},
		"no threshold":     {func(p fleetParts) { p.trigger["threshold"] = "0" }, "threshold is"},
		"in all":           {func(p fleetParts) { p.scaler.Spec.Triggers[0].MetricType = autoscalingv2.ValueMetricType }, "for each worker"},
		"silence is empty": {func(p fleetParts) { delete(p.trigger, "ignoreNullValues") }, "takes no answer for an empty queue"},
		"by CPU":           {func(p fleetParts) { p.scaler.Spec.Triggers[0].Type = "cpu" }, "other triggers"},
		"no fallback":      {func(p fleetParts) { p.scaler.Spec.Fallback = nil }, "does not keep the workers"},
		"soon to zero":     {func(p fleetParts) { p.scaler.Spec.CooldownPeriod = of(int32(30)) }, "given up within 5 minutes"},
		"scales others":    {func(p fleetParts) { p.scaler.Spec.ScaleTargetRef.Name = "dragoman" }, "scales Deployment dragoman of"},
		"least and most":   {func(p fleetParts) { p.scaler.Spec.MinReplicaCount = of(int32(9)) }, "do not fit its maxReplicas"},
		"default behavior": {func(p fleetParts) { p.scaler.Spec.Advanced = nil }, "default behavior"},

		"no file":             {func(p fleetParts) { argument(p.redis, "--appendonly", "no") }, `--appendonly "no"`},
		"eviction":            {func(p fleetParts) { argument(p.redis, "--maxmemory-policy", "allkeys-lru") }, "not noeviction"},
		"file elsewhere":      {func(p fleetParts) { argument(p.redis, "--dir", "/tmp") }, "on no claim"},
		"no password":         {func(p fleetParts) { p.redis.Command = nil }, `password from the Secret ""`},
		"visible password":    {func(p fleetParts) { p.redis.Args = append(p.redis.Args, "--requirepass", "$(VALKEYCLI_AUTH)") }, "is an argument"},
		"moved at will":       {func(p fleetParts) { p.broker.Spec.Template.Annotations = nil }, "no disruption budget"},
		"another secret":      {func(p fleetParts) { set(p.worker, "FLEET_SECRET", "") }, "workers have FLEET_SECRET"},
		"all memory":          {func(p fleetParts) { argument(p.redis, "--maxmemory", "1024mb") }, "does not fit into 1Gi"},
		"burstable":           {func(p fleetParts) { p.redis.Resources.Limits["memory"] = resource.MustParse("8Gi") }, "its limit is 8Gi"},
		"root":                {func(p fleetParts) { p.broker.Spec.Template.Spec.SecurityContext.RunAsUser = of(int64(0)) }, "runAsUser=0"},
		"no probes":           {func(p fleetParts) { p.redis.ReadinessProbe = nil }, "Redis has no probes"},
		"full of jobs":        {func(p fleetParts) { set(p.gateway, "JOB_STORAGE", "") }, "JOB_STORAGE of 2048 MiB"},
		"Service of no Redis": {func(p fleetParts) { p.ofRedis.Spec.Selector["a"] = "b" }, "does not lead to Redis"},

		"Redis for all":    {func(p fleetParts) { p.policy("dragoman-redis").Spec.Ingress[0].From = nil }, "other pods reach Redis at redis: true"},
		"Redis for nobody": {func(p fleetParts) { p.policy("dragoman-redis").Spec.Ingress = nil }, "workers reach Redis at redis: false"},
		"Redis goes out":   {func(p fleetParts) { p.policy("dragoman-redis").Spec.PolicyTypes = []networkingv1.PolicyType{"Ingress"} }, "Redis reach other pods at http: true"},
		"workers without Redis": {func(p fleetParts) {
			p.policy("dragoman-to-redis").Spec.PodSelector.MatchExpressions[0].Values = []string{"gateway"}
		}, "workers reach Redis at redis: false"},
		"workers for clients": {func(p fleetParts) {
			p.policy("dragoman-worker").Spec.Ingress[0].From[0].NamespaceSelector.MatchLabels = nil
		}, "clients reach workers at http: true"},
		"workers unseen": {func(p fleetParts) { p.policy("dragoman-worker").Spec.Ingress = nil }, "Prometheus reach workers at http: false"},
		"no clients":     {func(p fleetParts) { p.policy("dragoman-gateway").Spec.Ingress[0].From[0].NamespaceSelector = nil }, "clients reach gateways at http: false"},
		"monitor of some": {func(p fleetParts) { p.ofWorkers.Labels["app.kubernetes.io/name"] = strings.ToUpper("worker") },
			"the ServiceMonitor selects"},
	}
}
