package lint

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"

	"dragoman/scripts/k8s/manifests"
)

// folder is k8s/ of the repository. address is its URL, for builds from elsewhere.
const (
	folder  = "../../../k8s"
	address = "https://github.com/dragoman/dragoman//k8s/"
)

var remote = regexp.MustCompile(regexp.QuoteMeta(address) + `(\S+)\?ref=\S+`)

func build(t *testing.T, dir string) manifests.Set {
	t.Helper()
	set, err := manifests.Build(dir)
	require.NoError(t, err)
	return set
}

// combine builds an overlay of components on a folder, as a user would write it.
func combine(t *testing.T, base string, components ...string) manifests.Set {
	t.Helper()
	return overlay(t, "", append([]string{base}, components...)...)
}

// overlay builds an overlay with additional fields.
func overlay(t *testing.T, fields string, parts ...string) manifests.Set {
	t.Helper()
	dir := t.TempDir()
	var text strings.Builder
	fmt.Fprintf(&text, "%sresources:\n  - %s\ncomponents:\n", fields, relative(t, dir, parts[0]))
	for _, c := range parts[1:] {
		fmt.Fprintf(&text, "  - %s\n", relative(t, dir, c))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text.String()), 0o644))
	return build(t, dir)
}

// relative returns the path of a folder in k8s/ relative to dir: kustomize takes only relative paths.
func relative(t *testing.T, dir, name string) string {
	t.Helper()
	absolute, err := filepath.Abs(filepath.Join(folder, name))
	require.NoError(t, err)
	path, err := filepath.Rel(dir, absolute)
	require.NoError(t, err)
	return path
}

// built caches the variants, whose build takes seconds.
var built map[string]manifests.Set

// variants returns all manifests of the folder, by name. TestVariants checks that each component is in at least one. Tests must
// change only copies.
func variants(t *testing.T) map[string]manifests.Set {
	if built != nil {
		return built
	}
	deployment, err := manifests.ReadFile(filepath.Join(folder, "deployment.yaml"))
	require.NoError(t, err)
	built = map[string]manifests.Set{
		"deployment.yaml":     deployment,
		"base":                build(t, filepath.Join(folder, "base")),
		"overlays/cpu":        build(t, filepath.Join(folder, "overlays/cpu")),
		"overlays/gpu":        build(t, filepath.Join(folder, "overlays/gpu")),
		"overlays/node-cache": build(t, filepath.Join(folder, "overlays/node-cache")),
		"overlays/catalogue":  build(t, filepath.Join(folder, "overlays/catalogue")),

		"base, no adapter":       combine(t, "base", "components/no-custom-metrics"),
		"base, no dcgm-exporter": combine(t, "base", "components/no-gpu-metric"),
		"base, shared volume":    combine(t, "base", "components/shared-volume"),
		"cpu, node cache":        combine(t, "overlays/cpu", "components/node-cache"),
		"cpu, shared, watched": combine(t, "overlays/cpu", "components/shared-volume", "components/prometheus",
			"components/network-policy", "dashboards"),
		"overlays/fleet":      build(t, filepath.Join(folder, "overlays/fleet")),
		"fleet, node cache":   combine(t, "overlays/fleet", "components/node-cache"),
		"fleet, other broker": combine(t, "base", "components/node-cache", "components/prometheus", "components/fleet"),
		"cpu, fleet":          combine(t, "overlays/cpu", "components/fleet", "components/redis", "components/prometheus", "components/shared-volume"),
		"catalogue, fleet":    combine(t, "overlays/catalogue", "components/prometheus", "components/fleet", "components/redis"),

		"cpu, jobs":       combine(t, "overlays/cpu", "components/jobs"),
		"gpu, jobs":       combine(t, "overlays/gpu", "components/jobs", "components/node-cache"),
		"gpu, node cache": combine(t, "overlays/gpu", "components/node-cache"),
	}
	return built
}

func TestManifestsFitTogether(t *testing.T) {
	for name, set := range variants(t) {
		t.Run(name, func(t *testing.T) { assert.NoError(t, check(set)) })
	}
}

// The base must equal the file, and each folder must be part of a variant.
func TestVariants(t *testing.T) {
	file, err := os.ReadFile(filepath.Join(folder, "deployment.yaml"))
	require.NoError(t, err)
	base, err := os.ReadFile(filepath.Join(folder, "base", "deployment.yaml"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(file, base), "k8s/deployment.yaml is no link to base/deployment.yaml any more: make it one again")

	source, err := os.ReadFile("variants_test.go")
	require.NoError(t, err)
	for _, pattern := range []string{"overlays/*", "components/*", "dashboards"} {
		dirs, err := filepath.Glob(filepath.Join(folder, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, dirs)
		for _, dir := range dirs {
			name, err := filepath.Rel(folder, dir)
			require.NoError(t, err)
			assert.Contains(t, string(source), `"`+name+`"`, "is built by no test")
		}
	}
}

func TestOverlaysChangeWhatTheySay(t *testing.T) {
	all := variants(t)
	for name, test := range map[string]struct {
		metrics []string // of the autoscaler
		image   string   // its name without dragoman, and its tag
		gpu     bool
		volume  string // the kind of the models' volume
	}{
		"deployment.yaml":        {[]string{"DCGM_FI_DEV_GPU_UTIL", "dragoman_queue_tokens", "cpu", "memory"}, "-cuda:0.1.0", true, "emptyDir"},
		"overlays/gpu":           {[]string{"DCGM_FI_DEV_GPU_UTIL", "dragoman_queue_tokens", "cpu", "memory"}, "-cuda:0.1.0", true, "emptyDir"},
		"overlays/cpu":           {[]string{"cpu", "memory"}, ":0.1.0", false, "emptyDir"},
		"overlays/node-cache":    {[]string{"DCGM_FI_DEV_GPU_UTIL", "dragoman_queue_tokens", "cpu", "memory"}, "-cuda:0.1.0", true, "hostPath"},
		"overlays/catalogue":     {[]string{"cpu", "memory"}, ":0.1.0", false, "claim"},
		"base, no adapter":       {[]string{"cpu", "memory"}, "-cuda:0.1.0", true, "emptyDir"},
		"base, no dcgm-exporter": {[]string{"dragoman_queue_tokens", "cpu", "memory"}, "-cuda:0.1.0", true, "emptyDir"},
		"base, shared volume":    {[]string{"DCGM_FI_DEV_GPU_UTIL", "dragoman_queue_tokens", "cpu", "memory"}, "-cuda:0.1.0", true, "claim"},
		"cpu, node cache":        {[]string{"cpu", "memory"}, ":0.1.0", false, "hostPath"},
	} {
		t.Run(name, func(t *testing.T) {
			deployment, err := manifests.One[*appsv1.Deployment](all[name])
			require.NoError(t, err)
			scaler, err := manifests.One[*autoscalingv2.HorizontalPodAutoscaler](all[name])
			require.NoError(t, err)
			pod := deployment.Spec.Template.Spec

			assert.Equal(t, test.metrics, metricsOf(scaler))
			assert.EqualValues(t, 1, scaler.Spec.MaxReplicas, "there may be one GPU, or place for one pod")
			assert.Equal(t, "ghcr.io/dragoman/dragoman"+test.image, pod.Containers[0].Image)
			assert.Equal(t, test.gpu, strings.Contains(fmt.Sprint(deployment), "nvidia.com/gpu"))
			assert.Equal(t, test.gpu, strings.Contains(fmt.Sprint(deployment), "NVIDIA_VISIBLE_DEVICES"))
			assert.Contains(t, manifests.Environ(pod.Containers[0]), "DEVICE="+map[bool]string{true: "cuda", false: "cpu"}[test.gpu])
			assert.Equal(t, test.volume, kindOf(pod.Volumes, "models"))
		})
	}
}

func metricsOf(scaler *autoscalingv2.HorizontalPodAutoscaler) []string {
	var names []string
	for _, m := range scaler.Spec.Metrics {
		if m.Pods != nil {
			names = append(names, m.Pods.Metric.Name)
		} else {
			names = append(names, string(m.Resource.Name))
		}
	}
	return names
}

// kindOf returns the kind of a volume; "": several kinds at once.
func kindOf(volumes []corev1.Volume, name string) string {
	for _, v := range volumes {
		switch source := v.VolumeSource; {
		case v.Name != name:
		case source == corev1.VolumeSource{EmptyDir: source.EmptyDir}:
			return "emptyDir"
		case source == corev1.VolumeSource{HostPath: source.HostPath}:
			return "hostPath"
		case source == corev1.VolumeSource{PersistentVolumeClaim: source.PersistentVolumeClaim}:
			return "claim"
		}
	}
	return ""
}

func TestMonitoringIsThere(t *testing.T) {
	set := build(t, filepath.Join(folder, "overlays/gpu"))
	assert.Len(t, manifests.All[*monitoringv1.ServiceMonitor](set), 1)
	assert.Len(t, manifests.All[*networkingv1.NetworkPolicy](set), 1)

	dashboard, err := manifests.One[*corev1.ConfigMap](set)
	require.NoError(t, err)
	assert.Equal(t, "1", dashboard.Labels["grafana_dashboard"])
	want, err := os.ReadFile(filepath.Join(folder, "dashboards/dragoman.json"))
	require.NoError(t, err)
	assert.JSONEq(t, string(want), dashboard.Data["dragoman.json"])
	// kubectl apply keeps a copy in an annotation, whose limit is 256 KiB.
	assert.Less(t, len(want), 200<<10)
}

// The README's example builds the same from the folder as from its address.
func TestExampleOverlay(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(folder, "README.md"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(readme), "```yaml\n")
	require.True(t, found)
	example, _, _ := strings.Cut(rest, "```")
	require.Contains(t, example, address)

	dir := t.TempDir()
	example = remote.ReplaceAllString(example, relative(t, dir, "${1}"))
	require.NotContains(t, example, "https://")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(example), 0o644))
	set := build(t, dir)
	assert.NoError(t, check(set))
	scaler := one[*autoscalingv2.HorizontalPodAutoscaler](t, set)
	assert.Equal(t, "translation", scaler.Namespace)
	assert.EqualValues(t, 2, *scaler.Spec.MinReplicas)
	assert.Len(t, scaler.Spec.Metrics, 4, "a patch of one field leaves the others")
	deployment := one[*appsv1.Deployment](t, set)
	assert.Equal(t, "registry.example.com/dragoman-cuda:0.1.0", deployment.Spec.Template.Spec.InitContainers[0].Image)
}

func TestNoObjectHasANamespace(t *testing.T) {
	for name, set := range variants(t) {
		for _, d := range manifests.All[*appsv1.Deployment](set) {
			assert.Empty(t, d.Namespace, name)
		}
		for _, p := range manifests.All[*policyv1.PodDisruptionBudget](set) {
			assert.Empty(t, p.Namespace, name)
		}
	}
}
