package lint

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"

	"dragoman/app/config"
)

// project returns compose's view of compose.yaml with an environment.
func project(t *testing.T, environ ...string) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{filepath.Join(folder, "..", "compose.yaml")}, cli.WithEnv(environ))
	require.NoError(t, err)
	p, err := options.LoadProject(t.Context())
	require.NoError(t, err)
	return p
}

// settingsOf parses a service's environment as the program does, and returns the names of its variables.
func settingsOf(t *testing.T, s types.ServiceConfig) (config.Config, []string) {
	t.Helper()
	var environ, names []string
	for name, value := range s.Environment {
		require.NotNil(t, value, name)
		environ, names = append(environ, name+"="+*value), append(names, name)
	}
	settings, err := config.Parse(environ)
	require.NoError(t, err)
	return settings, names
}

func TestCompose(t *testing.T) {
	p := project(t)
	gateway, ofGateway := settingsOf(t, p.Services["gateway"])
	worker, ofWorker := settingsOf(t, p.Services["worker"])
	assert.Equal(t, config.Gateway, gateway.Role)
	assert.Equal(t, config.Worker, worker.Role)
	assert.Equal(t, gateway.BrokerURL, worker.BrokerURL)
	assert.Equal(t, "/usr/local/share/dragoman/bundled", worker.Weights, "as in the Dockerfile")
	var known []string
	for _, v := range config.Variables() {
		known = append(known, v.Name)
	}
	assert.Subset(t, known, append(ofGateway, ofWorker...))

	for _, s := range []types.ServiceConfig{p.Services["gateway"], p.Services["worker"]} {
		assert.Equal(t, "cpu", s.Build.Target, s.Name)
		assert.True(t, s.ReadOnly, s.Name)
		require.NotNil(t, s.StopGracePeriod, s.Name)
		assert.GreaterOrEqual(t, int64(*s.StopGracePeriod), int64(worker.ShutdownTimeout+ending), s.Name)
		assert.Equal(t, "service_healthy", s.DependsOn["redis"].Condition, s.Name)
	}
	assert.Empty(t, p.Services["worker"].ContainerName, "it can be scaled")
	assert.Empty(t, p.Services["worker"].Ports, "it can be scaled")
	require.Len(t, p.Services["gateway"].Ports, 2)
	for i, port := range []int{gateway.Port, gateway.GRPCPort} {
		assert.EqualValues(t, port, p.Services["gateway"].Ports[i].Target)
		assert.Equal(t, "127.0.0.1", p.Services["gateway"].Ports[i].HostIP)
	}
	assert.Empty(t, p.Services["redis"].Ports)
}

func TestComposeTakesAnotherModel(t *testing.T) {
	p := project(t, "MODEL_WEIGHTS=facebook/m2m100_418M", "REDIS_PASSWORD=other")
	worker, _ := settingsOf(t, p.Services["worker"])
	assert.Equal(t, "facebook/m2m100_418M", worker.Weights)
	assert.Equal(t, "redis://:other@redis:6379", worker.BrokerURL)
	assert.Equal(t, "other", *p.Services["redis"].Environment["VALKEYCLI_AUTH"])
}

// Redis has the same settings as on Kubernetes.
func TestComposeHasTheSameRedis(t *testing.T) {
	set := one[*appsv1.StatefulSet](t, build(t, filepath.Join(folder, "overlays/fleet")))
	pod := set.Spec.Template.Spec.Containers[0]
	here := project(t).Services["redis"]
	assert.Equal(t, pod.Args, []string(here.Command))
	assert.Equal(t, pod.Command, []string(here.Entrypoint))
	assert.Equal(t, fmt.Sprint(*set.Spec.Template.Spec.SecurityContext.RunAsUser), here.User)
	assert.Equal(t, pod.Image, here.Image)
	gateway, _ := settingsOf(t, project(t).Services["gateway"])
	assert.EqualValues(t, 256<<20, gateway.JobStorage, "half of --maxmemory")
	assert.Equal(t, append([]string{"CMD"}, pod.ReadinessProbe.Exec.Command...), []string(here.HealthCheck.Test))
}

// Redis gets any password without a quote, and not as an argument.
func TestRedisGetsItsPassword(t *testing.T) {
	pod := one[*appsv1.StatefulSet](t, build(t, filepath.Join(folder, "overlays/fleet"))).Spec.Template.Spec.Containers[0]
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, pod.Args[0]), []byte("#!/bin/sh\necho \"$@\"\ncat\n"), 0o700))
	cmd := exec.Command(pod.Command[0], append(pod.Command[1:], pod.Args...)...)
	cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "VALKEYCLI_AUTH=a $HOME `id` *"}
	out, err := cmd.Output()
	require.NoError(t, err)
	assert.Equal(t, "--dir /data --appendonly yes --appendfsync everysec --save  --maxmemory 512mb --maxmemory-policy noeviction -\n"+
		"requirepass \"a $HOME `id` *\"\n", string(out))
}
