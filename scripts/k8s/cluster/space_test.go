package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

// space is the namespace of a test.
type space struct {
	*testing.T
	name string
}

var spaces atomic.Int32

// newSpace makes a namespace, which is deleted with its contents after the test.
func newSpace(t *testing.T) *space {
	t.Helper()
	return spaceOf(t, fmt.Sprint("test-", spaces.Add(1)))
}

// spaceOf is newSpace with a name.
func spaceOf(t *testing.T, name string) *space {
	t.Helper()
	s := &space{T: t, name: name}
	s.kubectl("create", "namespace", s.name)
	t.Cleanup(func() {
		_, err := plane.kubectl(context.Background(), s.name, "delete", "namespace", s.name, "--wait=false")
		assert.NoError(t, err)
	})
	return s
}

// node adds a node until the test ends.
func node(t *testing.T, name, gpus, cores string) {
	t.Helper()
	require.NoError(t, plane.addNode(t.Context(), name, gpus, cores))
	t.Cleanup(func() {
		_, err := plane.kubectl(context.Background(), "default", "delete", "node", name)
		assert.NoError(t, err)
	})
}

// kubectl runs kubectl, which must succeed, and returns its output.
func (s *space) kubectl(args ...string) string {
	s.Helper()
	out, err := plane.kubectl(s.Context(), s.name, args...)
	require.NoError(s, err)
	return out
}

// apply applies manifests strictly, given as -k or -f with a path.
func (s *space) apply(manifests []string, options ...string) string {
	s.Helper()
	out := s.kubectl(append(append([]string{"apply", "--validate=strict"}, manifests...), options...)...)
	require.NotContains(s, out, "Warning")
	return out
}

// finish waits until Deployments and StatefulSets have all their pods.
func (s *space) finish(names ...string) {
	s.Helper()
	for _, name := range names {
		s.kubectl("rollout", "status", name, "--timeout="+patience.String())
	}
}

// eventually waits until there is no error.
func (s *space) eventually(what string, ask func() error) {
	s.Helper()
	require.NoError(s, plane.wait(s.Context(), what, ask))
}

// get reads objects at a path of the namespace, such as pods of v1, or apis/apps/v1.
func (s *space) get(group, path string, answer any) error {
	return plane.get(s.Context(), "/"+group+"/namespaces/"+s.name+"/"+path, answer)
}

func (s *space) pods() []corev1.Pod {
	s.Helper()
	var list corev1.PodList
	require.NoError(s, s.get("api/v1", "pods", &list))
	return list.Items
}

func (s *space) deployment(name string) appsv1.Deployment {
	s.Helper()
	var d appsv1.Deployment
	require.NoError(s, s.get("apis/apps/v1", "deployments/"+name, &d))
	return d
}

// replicas waits until an autoscaler that reads its metrics has set a number.
func (s *space) replicas(name string, want int32) {
	s.Helper()
	s.eventually(fmt.Sprint(name, " has ", want, " replicas"), func() error {
		var h autoscalingv2.HorizontalPodAutoscaler
		if err := s.get("apis/autoscaling/v2", "horizontalpodautoscalers/"+name, &h); err != nil {
			return err
		}
		for _, c := range h.Status.Conditions {
			if c.Type == autoscalingv2.ScalingActive && c.Status == corev1.ConditionTrue && h.Status.DesiredReplicas == want && *s.deployment(name).Spec.Replicas == want {
				return nil
			}
		}
		return fmt.Errorf("%+v", h.Status)
	})
}

// shell runs commands of README.md in the root of the repository.
func (s *space) shell(text string) {
	s.Helper()
	out, err := plane.shell(s.Context(), s.name, "bash", "-euc", text)
	require.NoError(s, err)
	s.Log(out)
}

// secret is the Secret of a fleet.
func (s *space) secret() {
	s.Helper()
	s.kubectl("create", "secret", "generic", "dragoman-broker", "--from-literal=password=p", "--from-literal=url=redis://:p@dragoman-redis:6379")
}

// overlay writes a kustomization of k8s/ with fields of its own, and returns the arguments that apply it.
func overlay(t *testing.T, fields string, parts ...string) []string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	text := fmt.Sprintf("%s\nresources:\n  - %s\ncomponents:\n", fields, relative(t, dir, parts[0]))
	for _, part := range parts[1:] {
		text += "  - " + relative(t, dir, part) + "\n"
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o644))
	return []string{"-k", dir}
}

func relative(t *testing.T, dir, part string) string {
	t.Helper()
	path, err := filepath.Rel(dir, filepath.Join(root, "k8s", part))
	require.NoError(t, err)
	return path
}

var remote = regexp.MustCompile(`https://github\.com/dragoman/dragoman//k8s/(\S+)\?ref=\S+`)

// example returns the only block of README.md that contains a text.
func example(t *testing.T, text string) string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(root, "k8s/README.md"))
	require.NoError(t, err)
	var found []string
	for _, match := range regexp.MustCompile("(?s)```[a-z]+\n(.*?)```").FindAllStringSubmatch(string(readme), -1) {
		if strings.Contains(match[1], text) {
			found = append(found, match[1])
		}
	}
	require.Len(t, found, 1, text)
	return found[0]
}

// exampleOverlay writes an overlay of README.md, with its addresses in this tree.
func exampleOverlay(t *testing.T, text string, files map[string]string) []string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	kustomization := remote.ReplaceAllStringFunc(example(t, text), func(address string) string {
		return relative(t, dir, remote.FindStringSubmatch(address)[1])
	})
	require.NotContains(t, kustomization, "https:")
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(kustomization), 0o644))
	return []string{"-k", dir}
}

// objects parses kubectl's output with -o json by kind and name, without fields that depend on the namespace or the time.
func objects(t *testing.T, out string) map[string]map[string]any {
	t.Helper()
	var list struct{ Items []map[string]any }
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	all := map[string]map[string]any{}
	for _, object := range list.Items {
		metadata := object["metadata"].(map[string]any)
		name := fmt.Sprint(object["kind"], " ", metadata["name"])
		object["metadata"] = map[string]any{"labels": metadata["labels"]}
		delete(object, "status")
		if spec, ok := object["spec"].(map[string]any); ok {
			for _, field := range []string{"clusterIP", "clusterIPs", "replicas", "volumeName"} {
				delete(spec, field)
			}
		}
		all[name] = object
	}
	return all
}
