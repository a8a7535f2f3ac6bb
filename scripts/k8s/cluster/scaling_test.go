package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// quick is a patch of an overlay that makes autoscalers follow their metrics at once, between two numbers of pods.
func quick(scaler string, least, most int) string {
	return fmt.Sprintf(`patches:
  - target: {kind: HorizontalPodAutoscaler, name: %s}
    patch: |
      - {op: replace, path: /spec/minReplicas, value: %d}
      - {op: replace, path: /spec/maxReplicas, value: %d}
      - {op: replace, path: /spec/behavior/scaleUp/policies, value: [{type: Pods, value: 10, periodSeconds: 1}]}
      - {op: replace, path: /spec/behavior/scaleDown, value: {stabilizationWindowSeconds: 0, policies: [{type: Pods, value: 10, periodSeconds: 1}]}}
`, scaler, least, most)
}

// load sets the metrics by which a service on GPUs scales.
func (s *space) load(gpu, queue, cpu string) {
	for name, value := range map[string]string{"DCGM_FI_DEV_GPU_UTIL": gpu, "dragoman_queue_tokens": queue, "cpu": cpu} {
		plane.metrics.set(s.name, name, value)
	}
}

func TestAutoscaling(t *testing.T) {
	node(t, "gpus", "8", "64")
	node(t, "cores", "0", "64")
	t.Run("queue", func(t *testing.T) {
		s := newSpace(t)
		s.load("90", "5000", "1")
		s.apply(overlay(t, quick("dragoman", 2, 6), "overlays/gpu"))
		s.replicas("dragoman", 6)
		s.finish("deployment/dragoman")
		s.load("5", "0", "10m")
		s.replicas("dragoman", 2)
	})
	t.Run("CPU", func(t *testing.T) {
		s := newSpace(t)
		s.load("", "", "2")
		s.apply(overlay(t, quick("dragoman", 1, 3), "overlays/cpu"))
		s.replicas("dragoman", 3)
		s.load("", "", "10m")
		s.replicas("dragoman", 1)
	})
	t.Run("gateways", func(t *testing.T) {
		s := newSpace(t)
		s.secret()
		s.load("", "", "2")
		s.apply(overlay(t, quick("dragoman-gateway", 2, 4), "overlays/fleet"))
		s.replicas("dragoman-gateway", 4)
	})
}

// On the smallest cluster, an update finishes and a node can be drained, after any earlier commands.
func TestUpdates(t *testing.T) {
	t.Run("one GPU, after a peak", func(t *testing.T) {
		node(t, "gpus", "1", "64")
		s := newSpace(t)
		s.load("100", "50000", "4")
		s.apply([]string{"-f", "k8s/deployment.yaml"})
		s.replicas("dragoman", 1)
		s.update("dragoman")
	})
	// README's number of GPUs exceeds the test's, so the update waits until the number is corrected.
	t.Run("fewer GPUs than pods", func(t *testing.T) {
		node(t, "gpus", "2", "64")
		s := newSpace(t)
		s.load("100", "50000", "4")
		s.apply(overlay(t, quick("dragoman", 1, 8), "base"))
		s.replicas("dragoman", 8)
		s.eventually("two pods run", func() error {
			if d := s.deployment("dragoman"); d.Status.ReadyReplicas != 2 {
				return fmt.Errorf("%+v", d.Status)
			}
			return nil
		})
		s.kubectl("set", "env", "deployment/dragoman", "QUEUE_WAIT=4s")
		readme, err := os.ReadFile(filepath.Join(root, "k8s/README.md"))
		require.NoError(t, err)
		command := regexp.MustCompile("`(kubectl patch hpa [^`]*)`").FindStringSubmatch(string(readme))
		require.NotNil(t, command)
		s.shell(command[1])
		s.finish("deployment/dragoman")
		s.replicas("dragoman", 2)
	})
	t.Run("quota for one pod", func(t *testing.T) {
		node(t, "cores", "0", "64")
		s := newSpace(t)
		s.load("", "", "10m")
		s.kubectl("create", "quota", "pods", "--hard=pods=1")
		s.apply([]string{"-k", "k8s/overlays/cpu"})
		s.finish("deployment/dragoman")
		s.update("dragoman")
	})
	t.Run("quota for the pods of a fleet", func(t *testing.T) {
		node(t, "gpus", "1", "64")
		node(t, "cores", "0", "64")
		s := newSpace(t)
		s.secret()
		s.load("", "", "10m")
		s.kubectl("create", "quota", "pods", "--hard=pods=4")
		s.apply([]string{"-k", "k8s/overlays/fleet"})
		s.finish("statefulset/dragoman-redis", "deployment/dragoman-worker")
		s.replicas("dragoman-gateway", 2)
		s.update("dragoman-worker")
		s.update("dragoman-gateway")
	})
}

// update changes the pods of a Deployment, and waits until all are new.
func (s *space) update(deployment string) {
	s.Helper()
	s.finish("deployment/" + deployment)
	s.kubectl("set", "env", "deployment/"+deployment, "LOG_LEVEL=debug")
	s.finish("deployment/" + deployment)
}

func TestDrain(t *testing.T) {
	for name, test := range map[string]struct {
		manifests   []string
		deployments []string
	}{
		"one pod":    {[]string{"-f", "k8s/deployment.yaml"}, []string{"deployment/dragoman"}},
		"as many":    {overlay(t, quick("dragoman", 2, 2), "overlays/gpu"), []string{"deployment/dragoman"}},
		"a fleet":    {[]string{"-k", "k8s/overlays/fleet"}, []string{"deployment/dragoman-worker", "deployment/dragoman-gateway", "statefulset/dragoman-redis"}},
		"files":      {overlay(t, "", "overlays/cpu", "components/jobs"), []string{"deployment/dragoman"}},
		"CPUs alone": {[]string{"-k", "k8s/overlays/cpu"}, []string{"deployment/dragoman"}},
	} {
		t.Run(name, func(t *testing.T) {
			nodes := []string{"a", "b"}
			for _, name := range nodes {
				node(t, name, "1", "64")
				node(t, "cores-"+name, "0", "64")
			}
			s := newSpace(t)
			s.secret()
			s.load("50", "0", "100m")
			s.apply(test.manifests)
			for _, d := range test.deployments {
				s.finish(d)
			}
			for _, name := range nodes {
				for _, prefix := range []string{"", "cores-"} {
					s.kubectl("drain", prefix+name, "--delete-emptydir-data", "--timeout="+patience.String())
				}
				for _, prefix := range []string{"", "cores-"} {
					s.kubectl("uncordon", prefix+name)
				}
				for _, d := range test.deployments {
					s.finish(d)
				}
			}
		})
	}
}

// One pod at a time has the files of jobs, and README's command keeps them when it removes the rest.
func TestJobs(t *testing.T) {
	node(t, "cores", "0", "64")
	s := newSpace(t)
	s.load("", "", "10m")
	manifests := overlay(t, "", "overlays/cpu", "components/jobs")
	most := s.watchPods()
	s.apply(manifests)
	s.update("dragoman")
	assert.Equal(t, 1, most())

	remove := example(t, "# keeps claims")
	keeping, all, _ := strings.Cut(strings.ReplaceAll(remove, "k8s/overlays/catalogue", manifests[1]), "\n")
	s.shell(keeping)
	assert.Equal(t, "persistentvolumeclaim/dragoman-data\n", s.kubectl("get", "pvc", "-o", "name"))
	s.eventually("only the claim is there", func() error {
		if got := s.kubectl("get", "all", "-o", "name"); strings.Contains(got, "dragoman") {
			return fmt.Errorf("there are %s", got)
		}
		return nil
	})
	s.apply(manifests)
	s.shell(all)
	assert.NotContains(t, s.kubectl("get", "pvc", "-o", "name"), "dragoman")
}

// watchPods counts the pods of the namespace. The returned function ends it and returns the maximum.
func (s *space) watchPods() func() int {
	ctx, stop := context.WithCancel(s.Context())
	var watching sync.WaitGroup
	there, most := map[string]bool{}, 0
	watching.Go(func() {
		plane.watch(ctx, "/api/v1/namespaces/"+s.name+"/pods", func(_ context.Context, event string, raw json.RawMessage) error {
			var pod corev1.Pod
			if err := json.Unmarshal(raw, &pod); err != nil {
				return err
			}
			there[pod.Name] = true
			if event == "DELETED" {
				delete(there, pod.Name)
			}
			most = max(most, len(there))
			return nil
		})
	})
	return func() int {
		stop()
		watching.Wait()
		return most
	}
}
