package lint

import (
	"path/filepath"
	"slices"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"dragoman/scripts/k8s/manifests"
)

// parts are the objects of a set that tests put faults into.
type parts struct {
	deployment *appsv1.Deployment
	pod        *corev1.PodSpec
	weights    *corev1.Container
	server     *corev1.Container
	service    *corev1.Service
	budget     *policyv1.PodDisruptionBudget
	scaler     *autoscalingv2.HorizontalPodAutoscaler
	policy     *networkingv1.NetworkPolicy
	monitor    *monitoringv1.ServiceMonitor
}

func partsOf(t *testing.T, set manifests.Set) parts {
	t.Helper()
	p := parts{
		deployment: one[*appsv1.Deployment](t, set), service: one[*corev1.Service](t, set),
		budget: one[*policyv1.PodDisruptionBudget](t, set), scaler: one[*autoscalingv2.HorizontalPodAutoscaler](t, set),
		policy: one[*networkingv1.NetworkPolicy](t, set), monitor: one[*monitoringv1.ServiceMonitor](t, set),
	}
	p.pod = &p.deployment.Spec.Template.Spec
	p.weights, p.server = &p.pod.InitContainers[0], &p.pod.Containers[0]
	return p
}

func one[T runtime.Object](t *testing.T, set manifests.Set) T {
	t.Helper()
	object, err := manifests.One[T](set)
	require.NoError(t, err)
	return object
}

// set changes a variable of a container; "" removes it.
func set(c *corev1.Container, name, value string) {
	c.Env = slices.DeleteFunc(slices.Clone(c.Env), func(v corev1.EnvVar) bool { return v.Name == name })
	if value != "" {
		c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: value})
	}
}

func of[T any](value T) *T { return &value }

// Every rule finds its faults.
func TestFaultsAreFound(t *testing.T) {
	sound := combine(t, "overlays/gpu", "components/node-cache")
	require.NoError(t, check(sound))
	for name, test := range faults() {
		t.Run(name, func(t *testing.T) {
			broken := sound.Copy()
			test.put(partsOf(t, broken))
			err := check(broken)
			require.Error(t, err)
			assert.ErrorContains(t, err, test.want)
		})
	}
}

// On CPUs the decoding state is in the pod's memory.
func TestFaultsOnCPUsAreFound(t *testing.T) {
	sound := combine(t, "overlays/cpu", "components/prometheus", "components/network-policy")
	require.NoError(t, check(sound))
	for name, test := range map[string]fault{
		"small memory": {func(p parts) { set(p.server, "KV_MEMORY", "3GiB") }, "KV_MEMORY of 3072 MiB and 1700 MiB for the rest do not fit into 4096 MiB"},
		"small state":  {func(p parts) { set(p.server, "KV_MEMORY", "256MiB") }, "the service does not start"},
	} {
		t.Run(name, func(t *testing.T) {
			broken := sound.Copy()
			test.put(partsOf(t, broken))
			assert.ErrorContains(t, check(broken), test.want)
		})
	}
}

// A catalogue has an init container per model.
func TestFaultsOfCataloguesAreFound(t *testing.T) {
	sound := combine(t, "overlays/catalogue", "components/prometheus", "components/network-policy")
	require.NoError(t, check(sound))
	first := func(p parts) *corev1.Container { return &p.pod.InitContainers[0] }
	for name, test := range map[string]fault{
		"one model twice":     {func(p parts) { p.pod.InitContainers[1].Args = first(p).Args }, "two init containers pull"},
		"another repository":  {func(p parts) { first(p).Args[3] = "/other" }, `not ["pull" `},
		"no name":             {func(p parts) { first(p).Args = first(p).Args[:4] }, `"--name" "NAME"]`},
		"one model besides":   {func(p parts) { set(p.server, "MODEL_WEIGHTS", "a/b") }, "use either"},
		"another precision":   {func(p parts) { set(first(p), "PRECISION", "fp32") }, "prepares"},
		"another image":       {func(p parts) { p.pod.InitContainers[1].Image += "1" }, "the export is for one version"},
		"read-only":           {func(p parts) { p.pod.InitContainers[1].VolumeMounts[0].ReadOnly = true }, "cannot write into /models"},
		"too much for models": {func(p parts) { set(p.server, "MODEL_MEMORY", "4GiB") }, "for the rest do not fit into 5120 MiB"},
		"too little":          {func(p parts) { set(p.server, "MODEL_MEMORY", "1GiB") }, "less than KV_MEMORY"},
	} {
		t.Run(name, func(t *testing.T) {
			broken := sound.Copy()
			test.put(partsOf(t, broken))
			assert.ErrorContains(t, check(broken), test.want)
		})
	}
}

func TestMissingObjects(t *testing.T) {
	sound := build(t, filepath.Join(folder, "overlays/gpu"))
	for _, object := range sound {
		rest := slices.DeleteFunc(sound.Copy(), func(o runtime.Object) bool {
			return o.GetObjectKind().GroupVersionKind() == object.GetObjectKind().GroupVersionKind()
		})
		switch object.(type) {
		case *networkingv1.NetworkPolicy, *monitoringv1.ServiceMonitor, *corev1.ConfigMap:
			assert.NoError(t, check(rest))
		default:
			assert.ErrorContains(t, check(rest), "there are 0 objects of type", "%T", object)
		}
	}
	assert.ErrorContains(t, check(nil), "there are 0 objects")
}

// fault is a fault in otherwise valid manifests.
type fault struct {
	put  func(p parts)
	want string
}

func faults() map[string]fault {
	all := map[string]fault{}
	for _, list := range []map[string]fault{faultsOfNetwork(), faultsOfContainers(), faultsOfSecurity(), faultsOfLife(), faultsOfScaling()} {
		for name, f := range list {
			all[name] = f
		}
	}
	return all
}

func faultsOfNetwork() map[string]fault {
	return map[string]fault{
		"deployment selects others":  {func(p parts) { p.deployment.Spec.Selector.MatchLabels["app.kubernetes.io/name"] = "x" }, "the Deployment selects"},
		"deployment of all installs": {func(p parts) { delete(p.deployment.Spec.Selector.MatchLabels, instance) }, "the Deployment selects pods by"},
		"service of all installs":    {func(p parts) { delete(p.service.Spec.Selector, instance) }, "the Service selects pods by"},
		"service of all components":  {func(p parts) { delete(p.service.Spec.Selector, component) }, "the Service selects pods by"},
		"budget of all components":   {func(p parts) { delete(p.budget.Spec.Selector.MatchLabels, component) }, "the PodDisruptionBudget selects pods by"},
		"spread of all installs": {func(p parts) {
			delete(p.pod.TopologySpreadConstraints[1].LabelSelector.MatchLabels, instance)
		}, "the spread over topology.kubernetes.io/zone selects pods by"},
		"policy of all installs":  {func(p parts) { delete(p.policy.Spec.PodSelector.MatchLabels, instance) }, "the NetworkPolicy selects pods by"},
		"monitor of all installs": {func(p parts) { delete(p.monitor.Spec.Selector.MatchLabels, instance) }, "the ServiceMonitor selects"},
		"service selects others":  {func(p parts) { p.service.Spec.Selector["tier"] = "x" }, "the Service selects"},
		"service selects all":     {func(p parts) { p.service.Spec.Selector = nil }, "the Service selects"},
		"budget selects none":     {func(p parts) { p.budget.Spec.Selector = nil }, "the PodDisruptionBudget selects"},
		"spread selects others": {func(p parts) {
			p.pod.TopologySpreadConstraints[0].LabelSelector.MatchLabels = map[string]string{"app": "dragoman"}
		}, "the spread over kubernetes.io/hostname selects"},
		"policy selects others":  {func(p parts) { p.policy.Spec.PodSelector.MatchLabels = map[string]string{"a": "b"} }, "the NetworkPolicy selects"},
		"monitor selects others": {func(p parts) { p.service.Labels = nil }, "the ServiceMonitor selects"},
		"another port":           {func(p parts) { set(p.server, "APP_PORT", "8080") }, "listens on 8080"},
		"target port":            {func(p parts) { p.service.Spec.Ports[0].TargetPort = intstr.FromString("web") }, `leads to "web"`},
		"service port":           {func(p parts) { p.service.Spec.Ports[0].Port = 80 }, "port 80 leads to"},
		"no service port":        {func(p parts) { p.service.Spec.Ports = nil }, "has 0 ports"},
		"policy port":            {func(p parts) { p.policy.Spec.Ingress[0].Ports[0].Port = nil }, "the NetworkPolicy lets in"},
		"monitor port":           {func(p parts) { p.monitor.Spec.Endpoints[0].Port = "metrics" }, `of port "metrics"`},
		"monitor path":           {func(p parts) { p.monitor.Spec.Endpoints[0].Path = "/" }, "reads / of"},
		"monitor slow":           {func(p parts) { p.monitor.Spec.Endpoints[0].Interval = "1m" }, `every "1m"`},
		"monitor waits":          {func(p parts) { p.monitor.Spec.Endpoints[0].ScrapeTimeout = "20s" }, `waits "20s"`},
	}
}

func faultsOfContainers() map[string]fault {
	amount := func(list corev1.ResourceList, name corev1.ResourceName, value string) {
		list[name] = resource.MustParse(value)
	}
	return map[string]fault{
		"jobs nowhere":     {func(p parts) { set(p.server, "JOB_FILE", "/data/jobs.db") }, `JOB_FILE="/data/jobs.db" is on no volume`},
		"glossaries unset": {func(p parts) { set(p.server, "GLOSSARY_FILE", "") }, `GLOSSARY_FILE="" is on no volume`},
		"jobs of many": {func(p parts) {
			set(p.server, "JOB_FILE", "/data/jobs.db")
			p.server.VolumeMounts = append(p.server.VolumeMounts, corev1.VolumeMount{Name: "models", MountPath: "/data"})
		}, `JOB_FILE="/data/jobs.db" is one process's`},
		"container's name":  {func(p parts) { p.server.Name = "server" }, `called "dragoman"`},
		"no init container": {func(p parts) { p.pod.InitContainers = nil }, "there are 0 init containers"},
		"other image":       {func(p parts) { p.weights.Image = "ghcr.io/dragoman/dragoman:0.0.9" }, "have the images"},
		"latest":            {func(p parts) { p.server.Image = "ghcr.io/dragoman/dragoman:latest" }, "has no version"},
		"no tag":            {func(p parts) { p.server.Image = "ghcr.io/dragoman/dragoman" }, "has no version"},
		"command":           {func(p parts) { p.server.Command = []string{"sh", "-c"} }, "has a command"},
		"subcommand":        {func(p parts) { p.weights.Args = []string{"fetch"} }, `not ["pull"]`},

		"no request":  {func(p parts) { delete(p.server.Resources.Requests, "cpu") }, "requests 0 of cpu"},
		"burstable":   {func(p parts) { amount(p.server.Resources.Limits, "memory", "8Gi") }, "its limit is 8Gi"},
		"half a GPU":  {func(p parts) { amount(p.server.Resources.Requests, "nvidia.com/gpu", "2") }, "other requests than limits"},
		"greedy init": {func(p parts) { amount(p.weights.Resources.Requests, "memory", "6Gi") }, "more than the service's 4Gi"},
		"small memory": {func(p parts) {
			for _, c := range []*corev1.Container{p.weights, p.server} {
				amount(c.Resources.Requests, "memory", "2Gi")
				amount(c.Resources.Limits, "memory", "2Gi")
			}
		}, "do not fit into 2048 MiB"},
		"no bound":    {func(p parts) { set(p.server, "KV_MEMORY", "") }, "KV_MEMORY of 0 MiB"},
		"small state": {func(p parts) { set(p.server, "KV_MEMORY", "800MiB") }, "the service does not start"},
		"no GPU": {func(p parts) {
			delete(p.server.Resources.Requests, "nvidia.com/gpu")
			delete(p.server.Resources.Limits, "nvidia.com/gpu")
		}, "runs with DEVICE=cuda and requests 0 GPUs"},
		"idle GPU": {func(p parts) {
			set(p.weights, "DEVICE", "auto")
			set(p.server, "DEVICE", "auto")
		}, "runs with DEVICE=auto and requests 1 GPUs"},
		"export for CPUs": {func(p parts) { set(p.weights, "DEVICE", "cpu") }, "the init container weights prepares"},
		"many beams":      {func(p parts) { set(p.server, "MAX_BEAMS", "100") }, "the service does not start"},

		"misspelt":      {func(p parts) { set(p.server, "KV_MEMROY", "1GiB") }, "sets KV_MEMROY"},
		"bad value":     {func(p parts) { set(p.server, "SHUTDOWN_TIMEOUT", "60") }, "container dragoman: "},
		"bad in init":   {func(p parts) { set(p.weights, "PRECISION", "int4") }, "container weights: "},
		"twice":         {func(p parts) { p.server.Env = append(p.server.Env, corev1.EnvVar{Name: "DEVICE", Value: "cpu"}) }, "sets DEVICE twice"},
		"another model": {func(p parts) { set(p.server, "MODEL_WEIGHTS", "facebook/m2m100_1.2B") }, "the init container weights prepares"},
		"a branch": {func(p parts) {
			set(p.weights, "MODEL_REVISION", "main")
			set(p.server, "MODEL_REVISION", "main")
		}, `MODEL_REVISION="main" is no commit`},
		"another revision": {func(p parts) { set(p.weights, "MODEL_REVISION", "v1") }, "the init container weights prepares"},
		"order of variables": {func(p parts) {
			for _, c := range []*corev1.Container{p.weights, p.server} {
				set(c, "MODEL_WEIGHTS", "facebook/m2m100_418M")
			}
		}, "are in \"/models/$"},
		"online": {func(p parts) { set(p.server, "HF_HUB_OFFLINE", "") }, "set HF_HUB_OFFLINE"},

		"no such volume":  {func(p parts) { p.pod.Volumes = p.pod.Volumes[:1] }, `mounts "tmp"`},
		"unused volume":   {func(p parts) { p.pod.Volumes = append(p.pod.Volumes, corev1.Volume{Name: "more"}) }, `nothing mounts the volume "more"`},
		"init read-only":  {func(p parts) { p.weights.VolumeMounts[0].ReadOnly = true }, "cannot write into /models/"},
		"no /tmp":         {func(p parts) { p.weights.VolumeMounts = p.weights.VolumeMounts[:1] }, "cannot write into /tmp"},
		"elsewhere":       {func(p parts) { p.server.VolumeMounts[0].MountPath = "/data" }, "does not find what the init container weights wrote"},
		"another volume":  {func(p parts) { p.server.VolumeMounts[0].Name = "tmp" }, "does not find what the init container weights wrote"},
		"writable models": {func(p parts) { p.server.VolumeMounts[0].ReadOnly = false }, "can write into /models"},
		"beside the mount": {func(p parts) {
			p.weights.VolumeMounts[0].MountPath, p.server.VolumeMounts[0].MountPath = "/mod", "/mod"
		}, "cannot write into /models/"},
	}
}

func faultsOfSecurity() map[string]fault {
	return map[string]fault{
		"no pod context":      {func(p parts) { p.pod.SecurityContext = nil }, "runAsNonRoot"},
		"no seccomp":          {func(p parts) { p.pod.SecurityContext.SeccompProfile = nil }, "seccompProfile.type"},
		"any user":            {func(p parts) { p.pod.SecurityContext.RunAsNonRoot = nil }, "runAsNonRoot"},
		"no group":            {func(p parts) { p.pod.SecurityContext.FSGroup = nil }, "cannot write into its volumes"},
		"token":               {func(p parts) { p.pod.AutomountServiceAccountToken = nil }, "a token for the API server"},
		"service links":       {func(p parts) { p.pod.EnableServiceLinks = nil }, "would set APP_PORT"},
		"host network":        {func(p parts) { p.pod.HostNetwork = true }, "hostNetwork=true"},
		"writable root":       {func(p parts) { p.server.SecurityContext.ReadOnlyRootFilesystem = of(false) }, "write into its root"},
		"escalation":          {func(p parts) { p.weights.SecurityContext.AllowPrivilegeEscalation = nil }, "allowPrivilegeEscalation=false"},
		"no context":          {func(p parts) { p.server.SecurityContext = nil }, "allowPrivilegeEscalation=false"},
		"privileged":          {func(p parts) { p.server.SecurityContext.Privileged = of(true) }, "privileged=true"},
		"capabilities":        {func(p parts) { p.server.SecurityContext.Capabilities.Drop = nil }, `capabilities.drop=["ALL"]`},
		"added":               {func(p parts) { p.weights.SecurityContext.Capabilities.Add = []corev1.Capability{"CHOWN"} }, `"CHOWN"`},
		"root":                {func(p parts) { p.server.SecurityContext.RunAsUser = of(int64(0)) }, "runAsUser=0"},
		"user of the image":   {func(p parts) { p.pod.SecurityContext.RunAsUser = nil }, "runs as the image's user"},
		"root that may not":   {func(p parts) { p.weights.SecurityContext.RunAsNonRoot = nil }, "runAsUser=0"},
		"root without a need": {func(p parts) { p.pod.Volumes[slices.IndexFunc(p.pod.Volumes, isModels)].HostPath = nil }, "runAsUser=0"},
	}
}

func isModels(v corev1.Volume) bool { return v.Name == "models" }

func faultsOfLife() map[string]fault {
	return map[string]fault{
		"no startup probe":      {func(p parts) { p.server.StartupProbe = nil }, "there is no startupProbe"},
		"startup in a hurry":    {func(p parts) { p.server.StartupProbe.FailureThreshold = 10 }, "startupProbe gives up after 20s"},
		"restart when busy":     {func(p parts) { p.server.LivenessProbe.HTTPGet.Path = "/readyz" }, "livenessProbe asks /readyz"},
		"liveness in a hurry":   {func(p parts) { p.server.LivenessProbe.FailureThreshold = 3 }, "livenessProbe gives up after 30s"},
		"readiness by liveness": {func(p parts) { p.server.ReadinessProbe.HTTPGet.Path = "/healthz" }, "readinessProbe asks /healthz"},
		"probe's port":          {func(p parts) { p.server.ReadinessProbe.HTTPGet.Port = intstr.FromInt32(80) }, `asks port "80"`},
		"probe by command":      {func(p parts) { p.server.ReadinessProbe.HTTPGet = nil }, "there is no readinessProbe by HTTP"},
		"no preStop":            {func(p parts) { p.server.Lifecycle = nil }, "preStop sleeps for 0s"},
		"preStop by shell": {func(p parts) {
			p.server.Lifecycle.PreStop = &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sleep", "10"}}}
		}, "preStop sleeps for 0s"},
		"long preStop":       {func(p parts) { p.server.Lifecycle.PreStop.Sleep.Seconds = 60 }, "the end take 2m6s"},
		"short grace":        {func(p parts) { p.pod.TerminationGracePeriodSeconds = of(int64(70)) }, "terminationGracePeriodSeconds is 1m10s"},
		"default grace":      {func(p parts) { p.pod.TerminationGracePeriodSeconds = nil }, "terminationGracePeriodSeconds is 0s"},
		"default drain":      {func(p parts) { set(p.server, "QUEUE_WAIT", "2m") }, "may wait for 2m0s"},
		"no drain of a node": {func(p parts) { p.budget.Spec.MaxUnavailable, p.budget.Spec.MinAvailable = nil, of(intstr.FromInt32(1)) }, "stops the drain"},
		"update needs a GPU": {func(p parts) {
			p.deployment.Spec.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{MaxSurge: of(intstr.FromInt32(1)), MaxUnavailable: of(intstr.FromInt32(0))}
		}, "waits for a place"},
		"update of all at once": {func(p parts) {
			p.deployment.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
		}, "ends all pods at once"},
		"no strategy": {func(p parts) { p.deployment.Spec.Strategy.RollingUpdate = nil }, "does not say how it is updated"},
	}
}

func faultsOfScaling() map[string]fault {
	return map[string]fault{
		"another target":   {func(p parts) { p.scaler.Spec.ScaleTargetRef.Name = "other" }, "scales Deployment other"},
		"old API":          {func(p parts) { p.scaler.Spec.ScaleTargetRef.APIVersion = "extensions/v1beta1" }, "of extensions/v1beta1"},
		"renamed":          {func(p parts) { p.deployment.Name = "translator" }, "not the Deployment"},
		"replicas":         {func(p parts) { p.deployment.Spec.Replicas = of(int32(2)) }, "sets replicas"},
		"more than most":   {func(p parts) { p.scaler.Spec.MinReplicas = of(int32(9)) }, "do not fit its maxReplicas, 1"},
		"zero":             {func(p parts) { p.scaler.Spec.MinReplicas = of(int32(0)) }, "do not fit"},
		"value":            {func(p parts) { p.scaler.Spec.Metrics[1].Pods.Target.Type = autoscalingv2.ValueMetricType }, "dragoman_queue_tokens has no averageValue"},
		"target of zero":   {func(p parts) { p.scaler.Spec.Metrics[0].Pods.Target.AverageValue = of(resource.MustParse("0")) }, "GPU_UTIL has no averageValue"},
		"no utilization":   {func(p parts) { p.scaler.Spec.Metrics[2].Resource.Target.AverageUtilization = nil }, "cpu has no averageUtilization"},
		"other resource":   {func(p parts) { p.scaler.Spec.Metrics[2].Resource.Name = "amd.com/gpu" }, "does not make"},
		"external":         {func(p parts) { p.scaler.Spec.Metrics[0] = autoscalingv2.MetricSpec{Type: "External"} }, "of type External"},
		"keeps idle pods":  {func(p parts) { p.scaler.Spec.Metrics[3].Resource.Target.AverageUtilization = of(int32(70)) }, "2 idle pods stay"},
		"default behavior": {func(p parts) { p.scaler.Spec.Behavior = nil }, "default behavior"},
		"gives up soon":    {func(p parts) { p.scaler.Spec.Behavior.ScaleDown.StabilizationWindowSeconds = of(int32(60)) }, "given up within 5 minutes"},
		"gives up all": {func(p parts) {
			p.scaler.Spec.Behavior.ScaleDown.Policies = []autoscalingv2.HPAScalingPolicy{{Type: "Percent", Value: 100, PeriodSeconds: 15}}
		}, "gives up 100 Percent within 15 s"},
	}
}
