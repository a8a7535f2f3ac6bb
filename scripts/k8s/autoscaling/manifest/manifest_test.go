package manifest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"

	"dragoman/scripts/k8s/autoscaling/hpa"
	"dragoman/scripts/k8s/autoscaling/manifest"
	"dragoman/scripts/k8s/manifests"
)

// What ships can be read, and the replayed controller takes it.
func TestShippedManifest(t *testing.T) {
	s, err := manifest.Read("../../../../k8s/deployment.yaml")
	require.NoError(t, err)
	c, err := hpa.New(hpa.Config{Spec: s.Autoscaler})
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"DCGM_FI_DEV_GPU_UTIL", "dragoman_queue_tokens", "cpu", "memory"}, c.Metrics())
	assert.Positive(t, s.Requests[core.ResourceCPU])
	assert.Positive(t, s.Requests[core.ResourceMemory])
	assert.Positive(t, s.PreStop)
}

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: dragoman}
spec:
  selector: {}
  template:
    spec:
      terminationGracePeriodSeconds: 60
      containers:
        - name: dragoman
          env:
            - {name: SHUTDOWN_TIMEOUT, value: 40s}
            - {name: QUEUE_WAIT, value: 5s}
            - {name: OTHER, value: x}
          resources:
            requests: {cpu: 1500m, memory: 1Ki}
          lifecycle:
            preStop:
              sleep: {seconds: 5}
`

const scaler = `---
apiVersion: v1
kind: Service
metadata: {name: other}
---
# a comment
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: dragoman}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: dragoman}
  maxReplicas: 3
`

// parse reads manifests from a text.
func parse(text string) (*manifest.Shipped, error) {
	set, err := manifests.Decode([]byte(text))
	if err != nil {
		return nil, err
	}
	return manifest.Of(set)
}

func TestOf(t *testing.T) {
	s, err := parse(deployment + scaler)
	require.NoError(t, err)
	assert.Equal(t, int32(3), s.Autoscaler.MaxReplicas)
	assert.Equal(t, map[core.ResourceName]int64{"cpu": 1500, "memory": 1024_000}, s.Requests)
	assert.Equal(t, []time.Duration{5 * time.Second, 40 * time.Second, 60 * time.Second, 5 * time.Second},
		[]time.Duration{s.PreStop, s.Shutdown, s.Grace, s.QueueWait})
}

func TestDefaults(t *testing.T) {
	text := deployment
	for _, line := range []string{"      terminationGracePeriodSeconds: 60\n",
		"          env:\n            - {name: SHUTDOWN_TIMEOUT, value: 40s}\n            - {name: QUEUE_WAIT, value: 5s}\n            - {name: OTHER, value: x}\n",
		"          lifecycle:\n            preStop:\n              sleep: {seconds: 5}\n"} {
		require.Contains(t, text, line)
		text = strings.Replace(text, line, "", 1)
	}
	s, err := parse(text + scaler)
	require.NoError(t, err)
	assert.Equal(t, []time.Duration{0, 30 * time.Second, 30 * time.Second, 30 * time.Second},
		[]time.Duration{s.PreStop, s.Shutdown, s.Grace, s.QueueWait})
}

func TestManifestsThatAreRefused(t *testing.T) {
	for name, test := range map[string]struct{ old, new, want string }{
		"an unknown field":         {"maxReplicas: 3", "maxReplica: 3", `unknown field "spec.maxReplica"`},
		"an unknown field of pods": {"preStop:", "prestop:", `unknown field`},
		"an older version":         {"autoscaling/v2", "autoscaling/v1", `"autoscaling/v1"`},
		"no autoscaler":            {scaler, "", "0 objects of type"},
		"no deployment":            {deployment, "", "0 objects of type"},
		"for another deployment":   {"name: dragoman}\n  maxReplicas", "name: other}\n  maxReplicas", `"other"`},
		"another container":        {"- name: dragoman", "- name: sidecar", `container "sidecar"`},
		"not YAML":                 {"spec:", "spec: [", "document 1"},
		"no duration":              {"value: 40s", "value: forty", "SHUTDOWN_TIMEOUT"},
		"no time to drain":         {"value: 40s", "value: 56s", "preStop of 5s and SHUTDOWN_TIMEOUT of 56s do not fit"},
	} {
		t.Run(name, func(t *testing.T) {
			text := deployment + scaler
			require.Contains(t, text, test.old)
			_, err := parse(strings.Replace(text, test.old, test.new, 1))
			require.Error(t, err)
			assert.Contains(t, err.Error(), test.want)
		})
	}
	_, err := parse(deployment + "---\n" + deployment + scaler)
	assert.ErrorContains(t, err, "2 objects of type *v1.Deployment")
	_, err = manifest.Read("missing.yaml")
	assert.ErrorContains(t, err, "missing.yaml")
}
