package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	kedav1alpha1 "github.com/kedacore/keda/v2/apis/keda/v1alpha1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"dragoman/scripts/k8s/manifests"
)

// selections returns the selectors of pods in a set, by the object that has them.
func selections(set manifests.Set) map[string]*metav1.LabelSelector {
	found := map[string]*metav1.LabelSelector{}
	for _, object := range set {
		name := fmt.Sprintf("%T %s", object, object.(metav1.Object).GetName())
		switch o := object.(type) {
		case *appsv1.Deployment:
			found[name] = o.Spec.Selector
			for _, spread := range o.Spec.Template.Spec.TopologySpreadConstraints {
				found[name+" over "+spread.TopologyKey] = spread.LabelSelector
			}
		case *appsv1.StatefulSet:
			found[name] = o.Spec.Selector
		case *corev1.Service:
			found[name] = &metav1.LabelSelector{MatchLabels: o.Spec.Selector}
		case *policyv1.PodDisruptionBudget:
			found[name] = o.Spec.Selector
		case *networkingv1.NetworkPolicy:
			found[name] = &o.Spec.PodSelector
			var peers []networkingv1.NetworkPolicyPeer
			for _, rule := range o.Spec.Ingress {
				peers = append(peers, rule.From...)
			}
			for _, rule := range o.Spec.Egress {
				peers = append(peers, rule.To...)
			}
			for i, peer := range peers {
				if peer.PodSelector != nil {
					found[fmt.Sprint(name, " peer ", i)] = peer.PodSelector
				}
			}
		}
	}
	return found
}

// pods returns the labels of a set's pods, by the object that makes them.
func pods(set manifests.Set) map[string]map[string]string {
	found := map[string]map[string]string{}
	for _, d := range manifests.All[*appsv1.Deployment](set) {
		found[d.Name] = d.Spec.Template.Labels
	}
	for _, s := range manifests.All[*appsv1.StatefulSet](set) {
		found[s.Name] = s.Spec.Template.Labels
	}
	return found
}

// names returns the kinds and names of a set's objects.
func names(set manifests.Set) map[string]bool {
	found := map[string]bool{}
	for _, object := range set {
		found[fmt.Sprintf("%T %s", object, object.(metav1.Object).GetName())] = true
	}
	return found
}

// assertApart fails if a set selects pods or Services of another one.
func assertApart(t *testing.T, set, other manifests.Set) {
	t.Helper()
	for what, selector := range selections(set) {
		for who, labels := range pods(other) {
			assert.False(t, selects(selector, labels), "%s selects pods of %s", what, who)
		}
	}
	for _, monitor := range manifests.All[*monitoringv1.ServiceMonitor](set) {
		for _, service := range manifests.All[*corev1.Service](other) {
			assert.False(t, selects(&monitor.Spec.Selector, service.Labels), "ServiceMonitor %s selects Service %s", monitor.Name, service.Name)
		}
	}
}

// assertWhole fails if an object refers to a name that the set does not have.
func assertWhole(t *testing.T, set manifests.Set) {
	t.Helper()
	names := map[string]bool{}
	for _, object := range set {
		names[fmt.Sprintf("%T %s", object, object.(metav1.Object).GetName())] = true
	}
	has := func(kind any, name string) {
		assert.True(t, names[fmt.Sprintf("%T %s", kind, name)], "there is no %T %s", kind, name)
	}
	for _, h := range manifests.All[*autoscalingv2.HorizontalPodAutoscaler](set) {
		has(&appsv1.Deployment{}, h.Spec.ScaleTargetRef.Name)
	}
	for _, o := range manifests.All[*kedav1alpha1.ScaledObject](set) {
		has(&appsv1.Deployment{}, o.Spec.ScaleTargetRef.Name)
	}
	for _, s := range manifests.All[*appsv1.StatefulSet](set) {
		has(&corev1.Service{}, s.Spec.ServiceName)
	}
	for _, d := range manifests.All[*appsv1.Deployment](set) {
		for _, v := range d.Spec.Template.Spec.Volumes {
			if v.PersistentVolumeClaim != nil {
				has(&corev1.PersistentVolumeClaim{}, v.PersistentVolumeClaim.ClaimName)
			}
		}
	}
	for what, selector := range selections(set) {
		matches := false
		for _, labels := range pods(set) {
			matches = matches || selects(selector, labels)
		}
		assert.True(t, matches, "%s selects none of its own pods", what)
	}
	for _, monitor := range manifests.All[*monitoringv1.ServiceMonitor](set) {
		for _, service := range manifests.All[*corev1.Service](set) {
			assert.Equal(t, service.Spec.Selector[component] != "broker", selects(&monitor.Spec.Selector, service.Labels), "ServiceMonitor and %s", service.Name)
		}
	}
}

// Two installs in a namespace have their own names, pods and Services, whether a prefix, a suffix or a label distinguishes them.
func TestInstallsAreApart(t *testing.T) {
	const (
		prefix = "namePrefix: second-\n"
		suffix = "nameSuffix: -other\n"
		label  = "labels:\n  - pairs: {app.kubernetes.io/instance: other}\n    includeSelectors: true\n"
	)
	fleet := []string{"base", "components/prometheus", "components/fleet", "components/redis"}
	for name, test := range map[string]struct {
		fields string
		parts  []string
	}{
		"gpu":                 {prefix, []string{"base", "components/prometheus", "components/network-policy"}},
		"cpu":                 {suffix, []string{"overlays/cpu", "components/jobs", "components/prometheus", "components/network-policy"}},
		"catalogue":           {prefix, []string{"overlays/catalogue"}},
		"fleet":               {prefix, fleet},
		"prefix and suffix":   {prefix + suffix, fleet},
		"prefix and instance": {prefix + label, fleet},
		"suffix and instance": {suffix + label, []string{"base", "components/prometheus", "components/network-policy"}},
	} {
		t.Run(name, func(t *testing.T) {
			first, second := combine(t, test.parts[0], test.parts[1:]...), overlay(t, test.fields, test.parts...)
			assert.NoError(t, check(second))
			assertWhole(t, first)
			assertWhole(t, second)
			assertApart(t, first, second)
			assertApart(t, second, first)
			taken := names(first)
			for name := range names(second) {
				assert.False(t, taken[name], name)
			}
		})
	}
}

// The same holds for one kustomization with both installs.
func TestInstallsOfOneKustomization(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"first", "second"} {
		folder := filepath.Join(dir, name)
		require.NoError(t, os.Mkdir(folder, 0o755))
		text := fmt.Sprintf("namePrefix: %s-\nresources:\n  - %s\n", name, relative(t, folder, "overlays/fleet"))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(text), 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte("resources: [first, second]\n"), 0o644))
	var parts [2]manifests.Set
	for _, object := range build(t, dir) {
		switch object.(metav1.Object).GetLabels()[instance] {
		case "first-dragoman":
			parts[0] = append(parts[0], object)
		case "second-dragoman":
			parts[1] = append(parts[1], object)
		default:
			t.Errorf("%T %s", object, object.(metav1.Object).GetName())
		}
	}
	assertWhole(t, parts[0])
	assertWhole(t, parts[1])
	assertApart(t, parts[0], parts[1])
	assertApart(t, parts[1], parts[0])
}

// README's second install of a fleet has a Secret and a query of its own.
func TestSecondInstallOfTheReadme(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(folder, "README.md"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(readme), "```yaml\n# second/")
	require.True(t, found)
	example, _, _ := strings.Cut(rest, "```")
	dir := t.TempDir()
	example = remote.ReplaceAllString("# "+example, relative(t, dir, "${1}"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "broker.env"), []byte("password=p\nfleet=f\nurl=redis://:p@second-dragoman-redis:6379\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(example), 0o644))
	second := build(t, dir)
	assert.NoError(t, check(second))
	assertWhole(t, second)
	assert.Contains(t, one[*kedav1alpha1.ScaledObject](t, second).Spec.Triggers[0].Metadata["query"], `{app_kubernetes_io_instance=~"second-dragoman"}`)
	secret := one[*corev1.Secret](t, second).Name
	assert.Contains(t, secret, "second-dragoman-broker")
	broker := one[*appsv1.StatefulSet](t, second)
	assert.Equal(t, secret+"/password", secretOf(broker.Spec.Template.Spec.Containers[0], "VALKEYCLI_AUTH"))
	assert.Contains(t, "redis://:p@"+broker.Spec.ServiceName+":6379", string(one[*corev1.Secret](t, second).Data["url"]))
}

// When a fleet replaces a service, or the reverse, they share only the Service of clients, which selects the pods of one of
// them, and the ServiceMonitor.
func TestServiceAndFleetAreApart(t *testing.T) {
	fleet := combine(t, "overlays/fleet")
	for _, name := range []string{"overlays/gpu", "overlays/node-cache", "overlays/cpu"} {
		service := combine(t, name)
		without := func(set manifests.Set) manifests.Set {
			var rest manifests.Set
			for _, object := range set {
				if _, shared := object.(*monitoringv1.ServiceMonitor); !shared {
					rest = append(rest, object)
				}
			}
			return rest
		}
		assertApart(t, without(service), without(fleet))
		assertApart(t, without(fleet), without(service))
		for _, set := range []manifests.Set{service, fleet} {
			assert.Equal(t, "api", named[*corev1.Service](t, set, "dragoman").Labels[component], "by which a move leaves it for the last step")
		}
	}
}

// README's commands name existing objects of a service or a fleet.
func TestReadmeNamesWhatThereIs(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(folder, "README.md"))
	require.NoError(t, err)
	there := map[string]bool{}
	for _, overlay := range []string{"overlays/gpu", "overlays/fleet"} {
		for _, object := range build(t, filepath.Join(folder, overlay)) {
			there[strings.ToLower(object.GetObjectKind().GroupVersionKind().Kind)+"/"+object.(metav1.Object).GetName()] = true
		}
	}
	found := regexp.MustCompile(`\b(?:deployment|statefulset|service|scaledobject)/[a-z-]+`).FindAllString(string(readme), -1)
	assert.GreaterOrEqual(t, len(found), 8)
	for _, name := range found {
		assert.True(t, there[name], name)
	}
}

// A tag of the images without CUDA is not a tag of the images with CUDA.
func TestImagesOfGatewaysAndWorkersChangeApart(t *testing.T) {
	set := overlay(t, "images:\n  - {name: ghcr.io/dragoman/dragoman, newTag: 1.2.3}\n  - {name: ghcr.io/dragoman/dragoman-cuda, newName: mirror/cuda}\n", "overlays/fleet")
	assert.Equal(t, "ghcr.io/dragoman/dragoman:1.2.3", named[*appsv1.Deployment](t, set, "dragoman-gateway").Spec.Template.Spec.Containers[0].Image)
	workers := named[*appsv1.Deployment](t, set, "dragoman-worker").Spec.Template.Spec
	assert.Equal(t, "mirror/cuda:0.1.0", workers.Containers[0].Image)
	assert.Equal(t, "mirror/cuda:0.1.0", workers.InitContainers[0].Image)
}

// The server converts an amount without quotes to a string, so each apply would change it again.
func TestAmountsAreStrings(t *testing.T) {
	var walk func(path string, value any, amounts bool)
	walk = func(path string, value any, amounts bool) {
		switch v := value.(type) {
		case map[string]any:
			for key, inner := range v {
				walk(path+"."+key, inner, key == "requests" || key == "limits")
			}
		case []any:
			for i, inner := range v {
				walk(fmt.Sprint(path, ".", i), inner, false)
			}
		case nil, string:
		default:
			assert.False(t, amounts, "%s is %v, not %q", path, v, fmt.Sprint(v))
		}
	}
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".yaml") {
			return err
		}
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, document := range regexp.MustCompile(`(?m)^---$`).Split(string(raw), -1) {
			var value any
			require.NoError(t, yaml.Unmarshal([]byte(document), &value), path)
			walk(path, value, false)
		}
		return nil
	}))
}

// kubectl apply -f reads each file of a folder.
func TestFolderIsManifests(t *testing.T) {
	for _, pattern := range []string{"*.yaml", "*.yml", "*.json"} {
		files, err := filepath.Glob(filepath.Join(folder, pattern))
		require.NoError(t, err)
		for _, file := range files {
			_, err := manifests.ReadFile(file)
			assert.NoError(t, err)
		}
	}
}
