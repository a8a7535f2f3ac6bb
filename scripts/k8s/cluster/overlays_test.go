package cluster

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// variants are the manifests of k8s/ and combinations of components, as arguments of kubectl apply.
func variants(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{
		"deployment.yaml":  {"-f", "k8s/deployment.yaml"},
		"folder":           {"-f", "k8s/"},
		"cpu, jobs":        overlay(t, "", "overlays/cpu", "components/jobs", "components/network-policy"),
		"gpu, jobs":        overlay(t, "", "overlays/gpu", "components/jobs", "components/node-cache"),
		"shared, no GPU":   overlay(t, "", "base", "components/shared-volume", "components/no-gpu-metric"),
		"catalogue, fleet": overlay(t, "", "overlays/catalogue", "components/prometheus", "components/fleet", "components/redis"),
		"example":          exampleOverlay(t, "namespace: translation", nil),
	}
	overlays, err := filepath.Glob(filepath.Join(root, "k8s/overlays/*"))
	require.NoError(t, err)
	require.NotEmpty(t, overlays)
	for _, dir := range overlays {
		all[filepath.Base(dir)] = []string{"-k", dir}
	}
	return all
}

// The server accepts each variant under strict validation. A second apply changes nothing, and server-side apply has no
// conflicts.
func TestApply(t *testing.T) {
	for name, manifests := range variants(t) {
		t.Run(name, func(t *testing.T) {
			s := newSpace(t)
			if name == "example" {
				s = spaceOf(t, "translation")
			}
			all := func(out, is string) {
				for line := range strings.Lines(out) {
					// kubectl always sends a selector with patchStrategy "replace".
					if same := strings.TrimPrefix(line, "poddisruptionbudget.policy/"); same == line || is != "unchanged" {
						assert.Regexp(t, is+"\n$", line)
					}
				}
			}
			all(s.apply(manifests), "created")
			all(s.apply(manifests), "unchanged")
			all(s.apply(manifests, "--server-side"), "serverside-applied")
		})
	}
	// The server validates strictly on request.
	s := newSpace(t)
	_, err := plane.kubectl(t.Context(), s.name, append([]string{"apply", "--validate=strict"}, overlay(t, `patches:
  - target: {kind: Deployment}
    patch: |
      - {op: add, path: /spec/template/spec/containers/0/prots, value: []}
`, "base")...)...)
	assert.ErrorContains(t, err, `unknown field "spec.template.spec.containers[0].prots"`)
}

// Each variant applied over another one has the same result as in a new namespace.
func TestApplyOverOthers(t *testing.T) {
	all := variants(t)
	maps.DeleteFunc(all, func(name string, _ []string) bool {
		return !slices.Contains([]string{"deployment.yaml", "cpu, jobs", "gpu", "node-cache", "catalogue", "fleet"}, name)
	})
	fresh := map[string]map[string]map[string]any{}
	for name, manifests := range all {
		fresh[name] = objects(t, newSpace(t).apply(manifests, "-o", "json"))
	}
	s := newSpace(t)
	last := ""
	over := func(name string) {
		got := objects(t, s.apply(all[name], "-o", "json"))
		assert.ElementsMatch(t, slices.Collect(maps.Keys(fresh[name])), slices.Collect(maps.Keys(got)))
		for object, want := range fresh[name] {
			assert.Equal(t, want, got[object], "%s over %s: %s", name, last, object)
		}
		last = name
	}
	names := slices.Sorted(maps.Keys(all))
	for i, name := range names { // name, other, name, other: both orders of each pair
		over(name)
		for _, other := range names[i+1:] {
			over(other)
			over(name)
		}
	}
}
