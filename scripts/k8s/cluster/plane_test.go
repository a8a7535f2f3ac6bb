// Package cluster tests the manifests on a real control plane: etcd, kube-apiserver, kube-controller-manager and kube-scheduler,
// on loopback. Stand-ins replace kubelets, storage and metrics; nothing runs in a container.
//
//	make cluster-test
package cluster

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const token = "loopback"

// patience bounds every wait. On an idle machine each wait takes seconds.
const patience = 3 * time.Minute

// plane is the control plane of all tests.
var plane *controlPlane

type controlPlane struct {
	programs string // folder of build.sh
	work     string // certificates, data and kubeconfigs; removed at the end
	address  string // https://127.0.0.1:port
	client   *http.Client
	metrics  *metricsServer

	processes []*exec.Cmd // in the order in which they were started
	standIns  sync.WaitGroup
	stop      context.CancelFunc
}

func TestMain(m *testing.M) {
	// The children end with the thread that started them (Pdeathsig), so it must exist as long as the program.
	runtime.LockOSThread()
	programs := os.Getenv("CLUSTER")
	if programs == "" {
		fmt.Println("cluster: skipped: CLUSTER is no folder of build.sh: make cluster-test")
		return
	}
	os.Exit(func() int {
		p, err := start(programs)
		defer p.end()
		if err != nil {
			fmt.Fprintln(os.Stderr, "cluster:", err)
			return 1
		}
		plane = p
		return m.Run()
	}())
}

// start starts the processes and stand-ins, and waits for them. The caller must end the result, also after an error.
func start(programs string) (*controlPlane, error) {
	ctx, stop := context.WithCancel(context.Background())
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // the server's own certificate, on loopback
	p := &controlPlane{programs: programs, stop: stop, client: &http.Client{Transport: transport}}
	var err error
	if p.work, err = os.MkdirTemp("", "cluster-"); err != nil {
		return p, err
	}
	ports, err := freePorts(3)
	if err != nil {
		return p, err
	}
	etcd, peer := fmt.Sprintf("http://127.0.0.1:%d", ports[0]), fmt.Sprintf("http://127.0.0.1:%d", ports[1])
	p.address = fmt.Sprintf("https://127.0.0.1:%d", ports[2])
	if err := errors.Join(p.writeKey("sa.key"), p.write("tokens.csv", token+`,admin,admin,"system:masters"`+"\n"), p.write("admin.conf", p.kubeconfig("default"))); err != nil {
		return p, err
	}
	if err := p.run("etcd", "--data-dir", p.file("etcd"), "--unsafe-no-fsync", "--log-level=warn",
		"--listen-client-urls="+etcd, "--advertise-client-urls="+etcd, "--listen-peer-urls="+peer,
		"--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer); err != nil {
		return p, err
	}
	if err := p.run("kube-apiserver", "--etcd-servers="+etcd, "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", ports[2]),
		"--cert-dir="+p.file("certs"), "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.96.0.0/16",
		"--authorization-mode=AlwaysAllow", "--anonymous-auth=false", "--token-auth-file="+p.file("tokens.csv"),
		"--service-account-issuer=https://127.0.0.1", "--service-account-key-file="+p.file("sa.key"), "--service-account-signing-key-file="+p.file("sa.key"),
		// Without the node lifecycle controller, nodes would keep the taint of new nodes.
		"--disable-admission-plugins=TaintNodesByCondition"); err != nil {
		return p, err
	}
	if err := p.wait(ctx, "kube-apiserver", func() error { return p.get(ctx, "/readyz", nil) }); err != nil {
		return p, err
	}
	if err := p.run("kube-controller-manager", "--kubeconfig="+p.file("admin.conf"), "--leader-elect=false", "--secure-port=0",
		"--controllers=*,-node-lifecycle-controller", "--service-account-private-key-file="+p.file("sa.key"),
		"--horizontal-pod-autoscaler-sync-period=1s", "--horizontal-pod-autoscaler-initial-readiness-delay=1s", "--horizontal-pod-autoscaler-cpu-initialization-period=1s",
		"--pvclaimbinder-sync-period=1s", "--kube-api-qps=500", "--kube-api-burst=1000"); err != nil {
		return p, err
	}
	if err := p.run("kube-scheduler", "--kubeconfig="+p.file("admin.conf"), "--leader-elect=false", "--secure-port=0"); err != nil {
		return p, err
	}
	for _, definition := range []string{"keda.sh_scaledobjects.yaml", "monitoring.coreos.com_servicemonitors.yaml"} {
		if _, err := p.kubectl(ctx, "default", "create", "-f", filepath.Join(programs, "crds", definition)); err != nil {
			return p, err
		}
	}
	if _, err := p.kubectl(ctx, "default", "wait", "--for=condition=Established", "crd", "--all", "--timeout="+patience.String()); err != nil {
		return p, err
	}
	p.standIns.Go(func() { p.watch(ctx, "/api/v1/pods", p.kubelet) })
	p.standIns.Go(func() { p.watch(ctx, "/api/v1/persistentvolumeclaims", p.provision) })
	p.metrics, err = p.serveMetrics(ctx)
	return p, err
}

// end stops all processes of start.
func (p *controlPlane) end() {
	p.stop()
	p.standIns.Wait()
	if p.metrics != nil {
		p.metrics.Close()
	}
	for i := len(p.processes) - 1; i >= 0; i-- {
		c := p.processes[i]
		// The data is discarded, so a kill is enough.
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	_ = os.RemoveAll(p.work)
}

func (p *controlPlane) file(name string) string { return filepath.Join(p.work, name) }

func (p *controlPlane) write(name, content string) error {
	return os.WriteFile(p.file(name), []byte(content), 0o600)
}

func (p *controlPlane) writeKey(name string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return p.write(name, string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})))
}

// kubeconfig returns the administrator's configuration, with a default namespace.
func (p *controlPlane) kubeconfig(namespace string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: %q, insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: %s}}]
contexts: [{name: c, context: {cluster: c, user: u, namespace: %s}}]
current-context: c
`, p.address, token, namespace)
}

// run starts a program. Its output is in logs/ of its folder.
func (p *controlPlane) run(name string, args ...string) error {
	logs := filepath.Join(p.programs, "logs")
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(logs, name))
	if err != nil {
		return err
	}
	defer out.Close()
	c := exec.Command(filepath.Join(p.programs, name), args...)
	c.Stdout, c.Stderr, c.Dir = out, out, p.work
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		return err
	}
	p.processes = append(p.processes, c)
	return nil
}

// wait repeats a call until it returns no error, and reports the last error.
func (p *controlPlane) wait(ctx context.Context, what string, ask func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ask()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: not within %s: %w (logs are in %s)", what, patience, err, filepath.Join(p.programs, "logs"))
		case <-tick.C:
		}
	}
}

// kubectl runs kubectl in a namespace, and returns its output, including warnings.
func (p *controlPlane) kubectl(ctx context.Context, namespace string, args ...string) (string, error) {
	return p.shell(ctx, namespace, filepath.Join(p.programs, "kubectl"), args...)
}

// shell runs a program in the root of the repository, with kubectl in its PATH, for a namespace.
func (p *controlPlane) shell(ctx context.Context, namespace, program string, args ...string) (string, error) {
	config := p.file(namespace + ".conf")
	if err := os.WriteFile(config, []byte(p.kubeconfig(namespace)), 0o600); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = root
	c.Env = append(os.Environ(), "KUBECONFIG="+config, "PATH="+p.programs+":"+os.Getenv("PATH"), "HOME="+p.work)
	out, err := c.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
	return string(out), err
}

// root is the root of the repository.
var root = func() string {
	path, err := filepath.Abs("../../..")
	if err != nil {
		panic(err)
	}
	return path
}()

// call sends a request to the API server, with body as JSON, and decodes the answer. contentType is "" for application/json.
func (p *controlPlane) call(ctx context.Context, method, path, contentType string, body, answer any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, p.address+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", contentType)
	if contentType == "" {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := p.client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %.500s", method, path, resp.Status, text)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}

func (p *controlPlane) get(ctx context.Context, path string, answer any) error {
	return p.call(ctx, "GET", path, "", nil, answer)
}

// freePorts returns ports of loopback that were free a moment ago.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
