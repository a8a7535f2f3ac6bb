package initcontainer

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/source/hubtest"
	"dragoman/scripts/k8s/manifests"
)

const (
	repo   = "facebook/m2m100_418M"                     // as in the manifests
	commit = "55c2e61bbf05dfb8d7abccdc3fae6fc8512fd636" // likewise
	large  = "model.safetensors"
	cut    = 40 << 20 // bytes of the model that the first container gets
)

// The init container is killed during the download. Kubelet restarts it until it succeeds, and it continues where it was. After
// that it does nothing. Then the service serves from the volume, which is read-only for it.
func TestInitContainerGoesOnAfterItWasKilled(t *testing.T) {
	set, err := onCPUs()
	require.NoError(t, err)
	hub := hubtest.New(t, repo, checkpoint)
	hub.Push(commit, checkpoint)
	hub.Fail(hubtest.Fault{File: large, StallAfter: cut})
	p := newPod(t, set, "", hub.Endpoint)
	partial := filepath.Join(p.saved(t), ".dragoman-download", large+".partial")

	first := p.command(t, p.weights())
	require.NoError(t, first.Start())
	require.Eventually(t, func() bool {
		info, err := os.Stat(partial)
		return err == nil && info.Size() == cut
	}, 20*time.Second, 5*time.Millisecond, "the download does not come to where it is cut")
	require.NoError(t, first.Process.Signal(syscall.SIGKILL))
	require.Error(t, first.Wait(), "killed")
	require.EqualValues(t, cut, hub.Sent(large))
	require.NoFileExists(t, filepath.Join(p.saved(t), model.ManifestFile))

	complete(t, p)
	assert.EqualValues(t, len(checkpoint[large]), hub.Sent(large), "no byte twice")
	assert.True(t, slices.ContainsFunc(hub.Requests(), func(r hubtest.Request) bool {
		return r.File == large && r.Range == fmt.Sprintf("bytes=%d-", cut)
	}), "it asks for the rest")
	m, err := model.ReadManifest(p.saved(t))
	require.NoError(t, err)
	assert.Equal(t, repo+"@"+commit, m.Source)
	assert.Equal(t, model.INT8, m.Precision)

	asked, before := len(hub.Requests()), files(t, p.saved(t))
	complete(t, p)
	assert.Len(t, hub.Requests(), asked, "nothing is left to ask for")
	assert.Equal(t, before, files(t, p.saved(t)), "nor to write")

	readOnly(t, p.volumes["models"])
	s := p.serve(t)
	assert.NoError(t, s.probe(s.container.ReadinessProbe))
	assert.NoError(t, s.probe(s.container.LivenessProbe))
	s.translate(t)
	assert.NotContains(t, s.lines(), `"level":"WARN"`)
	s.stop(t)
	assert.Equal(t, before, files(t, p.saved(t)))
	assert.Len(t, hub.Requests(), asked, "the service does not ask the hub")
}

// Two pods that come to a node at the same time fetch the model once, and a third one finds it. All map the same files, so the
// model is in memory once.
func TestPodsOfANodeShareTheModel(t *testing.T) {
	set, err := nodeCache(t)
	require.NoError(t, err)
	hub := hubtest.New(t, repo, checkpoint)
	hub.Push(commit, checkpoint)
	node := readableTempDir(t)
	pods := []*pod{newPod(t, set, node, hub.Endpoint), newPod(t, set, node, hub.Endpoint), newPod(t, set, node, hub.Endpoint)}
	saved := pods[0].saved(t)

	one, two := pods[0].command(t, pods[0].weights()), pods[1].command(t, pods[1].weights())
	require.NoError(t, one.Start())
	require.NoError(t, two.Start())
	require.NoError(t, one.Wait())
	require.NoError(t, two.Wait())
	assert.EqualValues(t, len(checkpoint[large]), hub.Sent(large), "one fetches, the other waits")

	asked, before := len(hub.Requests()), files(t, saved)
	complete(t, pods[2])
	assert.Len(t, hub.Requests(), asked)
	assert.Equal(t, before, files(t, saved))

	a, b := pods[0].serve(t), pods[2].serve(t)
	a.translate(t)
	b.translate(t)
	assert.NotContains(t, a.lines()+b.lines(), `"level":"WARN"`)
	mapped := a.mapped(t, saved)
	assert.Equal(t, mapped, b.mapped(t, saved))
	assert.True(t, slices.ContainsFunc(slices.Collect(maps.Keys(mapped)), func(path string) bool {
		return strings.HasSuffix(path, "/weights.bin")
	}), "%v", mapped)
	a.stop(t)
	b.stop(t)
	assert.Equal(t, before, files(t, saved), "the services leave the folder alone")
}

// The hub does not know the repository: the container prints that in one line and fails. Kubelet shows the line and retries.
func TestInitContainerFailsWithALine(t *testing.T) {
	set, err := onCPUs()
	require.NoError(t, err)
	hub := hubtest.New(t, "facebook/another", checkpoint)
	p := newPod(t, set, "", hub.Endpoint)
	cmd := p.command(t, p.weights())
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	last := lines[len(lines)-1]
	assert.True(t, strings.HasPrefix(last, "dragoman: "), "%s", out)
	assert.Contains(t, last, repo)
	assert.Equal(t, 1, cmd.ProcessState.ExitCode())

	// The service does not start without the model, and does not try to fetch it.
	asked := len(hub.Requests())
	readOnly(t, p.volumes["models"])
	serve := p.command(t, p.server(), "APP_HOST=127.0.0.1", "APP_PORT=0")
	out, err = serve.CombinedOutput()
	require.Error(t, err)
	assert.Equal(t, 1, serve.ProcessState.ExitCode(), "%s", out)
	assert.Contains(t, string(out), p.volumes["models"])
	assert.Len(t, hub.Requests(), asked)
}

// A pod on a node whose GPU cannot be used: the model is fetched and exported for GPUs, which needs none. The service prints in
// one line what is missing, and does not silently use the CPU.
func TestPodWithoutItsGPU(t *testing.T) {
	set, err := onGPUs()
	require.NoError(t, err)
	hub := hubtest.New(t, repo, checkpoint)
	hub.Push(commit, checkpoint)
	p := newPod(t, set, "", hub.Endpoint)
	complete(t, p)
	m, err := model.ReadManifest(p.saved(t))
	require.NoError(t, err)
	assert.Equal(t, model.FP16, m.Precision)

	serve := p.command(t, p.server(), "APP_HOST=127.0.0.1", "APP_PORT=0")
	out, err := serve.CombinedOutput()
	require.Error(t, err)
	assert.Equal(t, 1, serve.ProcessState.ExitCode(), "%s", out)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	assert.Contains(t, lines[len(lines)-1], "dragoman: DEVICE=cuda: the device cannot be used")
}

// complete runs a pod's init container to its end.
func complete(t *testing.T, p *pod) {
	t.Helper()
	cmd := p.command(t, p.weights())
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.Output()
	require.NoError(t, err, "%s", log.String())
	assert.Equal(t, p.saved(t)+"\n", string(out), "it says where the model is")
	assert.NotContains(t, log.String(), `"level":"WARN"`)
}

// Facts about the overlay that the tests above rely on.
func TestNodeCacheIsAFolderOfTheNode(t *testing.T) {
	set, err := nodeCache(t)
	require.NoError(t, err)
	node := readableTempDir(t)
	p := newPod(t, set, node, "http://127.0.0.1:1")
	assert.Equal(t, filepath.Join(node, "/var/lib/dragoman/models"), p.volumes["models"])
	uid, gid := manifests.User(p.spec, p.weights())
	assert.Equal(t, [2]int64{0, 0}, [2]int64{uid, gid})
	uid, _ = manifests.User(p.spec, p.server())
	assert.EqualValues(t, 65532, uid)
}
