package initcontainer

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// server is the service's container of a pod.
type server struct {
	cmd       *exec.Cmd
	container corev1.Container
	url       string

	mu  sync.Mutex // guards log
	log []string   // log lines so far
}

// serve starts the service on a port of its own and waits until it has passed its
// startup probe.
func (p *pod) serve(t *testing.T) *server {
	t.Helper()
	s := &server{cmd: p.command(t, p.server(), "APP_HOST=127.0.0.1", "APP_PORT=0"), container: p.server()}
	stderr, err := s.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, s.cmd.Start())
	address := make(chan string, 1)
	go s.read(stderr, address)
	select {
	case a, listens := <-address:
		require.True(t, listens, "it ended: %s", s.lines())
		s.url = "http://" + a
	case <-time.After(20 * time.Second):
		require.Fail(t, "it does not listen", "%s", s.lines())
	}
	require.Eventually(t, func() bool { return s.probe(s.container.StartupProbe) == nil },
		20*time.Second, 20*time.Millisecond, "%s", s.lines())
	return s
}

// read keeps the lines of the log, and sends the address in one of them.
func (s *server) read(stderr io.Reader, address chan<- string) {
	defer close(address)
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		s.mu.Lock()
		s.log = append(s.log, lines.Text())
		s.mu.Unlock()
		var line struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "listening" {
			address <- line.Address
		}
	}
}

func (s *server) lines() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.log, "\n")
}

// probe sends a probe of the manifest as kubelet does.
func (s *server) probe(p *corev1.Probe) error {
	client := http.Client{Timeout: time.Duration(p.TimeoutSeconds) * time.Second}
	resp, err := client.Get(s.url + p.HTTPGet.Path)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode >= 400 {
		return fmt.Errorf("%s: %s", p.HTTPGet.Path, resp.Status)
	}
	return nil
}

// translate sends a sentence. With random weights any translation will do.
func (s *server) translate(t *testing.T) {
	t.Helper()
	const body = `{"payload":{"fromLang":"en","toLang":"fr","detail":true,"options":{"beams":1,"maxLength":16},
		"records":[{"id":"1","text":"Where is the station?"}]}}`
	resp, err := http.Post(s.url+"/translation", "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode, "%s", raw)
	var answer struct {
		Result []struct {
			ID     string
			Detail struct{ TargetTokens int }
		}
	}
	require.NoError(t, json.Unmarshal(raw, &answer))
	require.Len(t, answer.Result, 1)
	assert.Equal(t, "1", answer.Result[0].ID)
	assert.Positive(t, answer.Result[0].Detail.TargetTokens)
}

// stop ends the container as kubelet does.
func (s *server) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	assert.NoError(t, s.cmd.Wait(), "%s", s.lines())
}

// mapped returns the files below a folder that the process has mapped: inodes by path.
func (s *server) mapped(t *testing.T, dir string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", s.cmd.Process.Pid))
	require.NoError(t, err)
	found := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		// address permissions offset device inode path
		fields := strings.Fields(line)
		if len(fields) == 6 && strings.HasPrefix(fields[5], dir+"/") {
			found[fields[5]] = fields[4]
		}
	}
	return found
}
