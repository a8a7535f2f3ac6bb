package initcontainer

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"dragoman/scripts/k8s/manifests"
)

// pod simulates a pod of the manifests on this machine.
type pod struct {
	spec    corev1.PodSpec
	volumes map[string]string // folders, by the names of the volumes
	hub     string            // HF_ENDPOINT
}

// newPod makes a pod of a Deployment. Folders that it shares with other pods of the node are below node, at their paths.
func newPod(t *testing.T, set manifests.Set, node, hub string) *pod {
	t.Helper()
	deployment, err := manifests.One[*appsv1.Deployment](set)
	require.NoError(t, err)
	p := &pod{spec: deployment.Spec.Template.Spec, volumes: map[string]string{}, hub: hub}
	for _, v := range p.spec.Volumes {
		switch {
		case v.EmptyDir != nil:
			// kubelet makes it writable for all
			p.volumes[v.Name] = readableTempDir(t)
			require.NoError(t, os.Chmod(p.volumes[v.Name], 0o777))
		case v.HostPath != nil && *v.HostPath.Type == corev1.HostPathDirectoryOrCreate:
			// kubelet makes it writable only for root
			p.volumes[v.Name] = filepath.Join(node, v.HostPath.Path)
			require.NoError(t, os.MkdirAll(p.volumes[v.Name], 0o755))
		default:
			require.Fail(t, "a volume of a kind that is not known here", v.Name)
		}
	}
	return p
}

// command returns a container of the pod, ready to start. Its environment has only the variables of the manifest, the hub's
// address, extra variables, and those of a container runtime.
func (p *pod) command(t *testing.T, c corev1.Container, extra ...string) *exec.Cmd {
	t.Helper()
	temporary := "/nonexistent" // a read-only root has no folder for temporary files
	var environ []string
	for _, v := range manifests.Environ(c) {
		name, value, _ := strings.Cut(v, "=")
		for _, mount := range c.VolumeMounts {
			if rest, inside := strings.CutPrefix(value, mount.MountPath+"/"); inside {
				value = filepath.Join(p.volumes[mount.Name], rest)
				break
			}
		}
		environ = append(environ, name+"="+value)
	}
	for _, mount := range c.VolumeMounts {
		if mount.MountPath == "/tmp" {
			temporary = p.volumes[mount.Name]
		}
	}
	environ = append(environ, "HF_ENDPOINT="+p.hub, "TMPDIR="+temporary, "HOME=/", "HOSTNAME=dragoman-0",
		"GRPC_PORT=0") // each pod has its own, but processes of one machine share it

	program, args := filepath.Join(image, "dragoman"), c.Args
	uid, gid := manifests.User(p.spec, c)
	cmd := exec.Command(program, args...)
	switch {
	case os.Getuid() != 0:
		// All files belong to this user, who has no capabilities.
	case uid == 0:
		// Without capabilities, which the manifests drop, permissions also bind root.
		drop := []string{"--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "--", program}
		cmd = exec.Command("setpriv", append(drop, args...)...)
	default:
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	cmd.Dir = "/"
	cmd.Env = append(environ, extra...)
	cmd.WaitDelay = 10 * time.Second
	t.Cleanup(func() {
		if cmd.Process != nil && cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return cmd
}

// weights and server are the pod's containers.
func (p *pod) weights() corev1.Container { return p.spec.InitContainers[0] }
func (p *pod) server() corev1.Container  { return p.spec.Containers[0] }

// saved returns the folder of the exported model.
func (p *pod) saved(t *testing.T) string {
	t.Helper()
	for _, v := range manifests.Environ(p.weights()) {
		if path, ok := strings.CutPrefix(v, "SAVE_WEIGHTS=/models/"); ok {
			return filepath.Join(p.volumes["models"], path)
		}
	}
	require.Fail(t, "SAVE_WEIGHTS is not below /models")
	return ""
}

// readableTempDir returns a temporary folder that other users may read.
func readableTempDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	return dir
}

// readOnly removes the write permission from a tree, like a read-only mount, and restores it at the end of the test, which
// removes the tree.
func readOnly(t *testing.T, dir string) {
	t.Helper()
	change := func(clear, set fs.FileMode) {
		require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			return os.Chmod(path, info.Mode().Perm()&^clear|set)
		}))
	}
	change(0o222, 0)
	t.Cleanup(func() { change(0, 0o200) })
}

// state has the files below a folder, by path: size, time of change and inode.
type state map[string][3]int64

// files returns the state of a folder without the files that a start may write as a record.
func files(t *testing.T, dir string) state {
	t.Helper()
	found := state{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == ".dragoman.checked" {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		stat := info.Sys().(*syscall.Stat_t)
		found[path] = [3]int64{info.Size(), info.ModTime().UnixNano(), int64(stat.Ino)}
		return nil
	}))
	return found
}
