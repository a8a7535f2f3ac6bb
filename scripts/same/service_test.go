package same

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/store/porttest"
	"dragoman/app/store/redistest"
)

// service is a process that serves.
type service struct {
	address, calls string // ports of HTTP and of gRPC
	client         *http.Client
}

// environment returns the variables of a process. Builds share no files except exports.
func environment(t *testing.T, models string, added ...string) []string {
	home := t.TempDir()
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "NO_COLOR=1", "TZ=UTC",
		"ONNXRUNTIME_LIB=" + os.Getenv("ONNXRUNTIME_LIB"), "SAVE_WEIGHTS=" + models, "DEVICE=cpu", "PRECISION=int8", "APP_HOST=127.0.0.1",
		"LOG_LEVEL=error", "JOB_FILE=" + filepath.Join(home, "jobs.db"), "GLOSSARY_FILE=" + filepath.Join(home, "glossaries.db"),
	}, added...)
}

// startService starts a service that ends with the test.
func startService(t *testing.T, program, models string, added ...string) *service {
	t.Helper()
	s := &service{address: porttest.Hold(t), calls: porttest.Hold(t), client: &http.Client{Timeout: 5 * time.Minute}}
	_, port, err := net.SplitHostPort(s.address)
	require.NoError(t, err)
	_, calls, err := net.SplitHostPort(s.calls)
	require.NoError(t, err)
	process := exec.Command(program, "serve")
	process.Env = append(environment(t, models, added...), "APP_PORT="+port, "GRPC_PORT="+calls)
	process.Stderr = os.Stderr
	require.NoError(t, process.Start())
	t.Cleanup(func() {
		assert.NoError(t, process.Process.Signal(syscall.SIGTERM))
		assert.NoError(t, process.Wait())
	})
	require.Eventually(t, func() bool {
		resp, err := s.client.Get("http://" + s.address + "/readyz")
		if err == nil {
			_ = resp.Body.Close()
		}
		return err == nil && resp.StatusCode == http.StatusOK
	}, time.Minute, 20*time.Millisecond)
	return s
}

// startFleet starts a gateway and a worker with a Redis of their own.
func startFleet(t *testing.T, gateway, worker, models string) *service {
	broker := []string{"BROKER_URL=redis://" + redistest.Start(t), "FLEET_SECRET=a secret of 32 bytes or of more than that"}
	startService(t, worker, models, append(broker, "ROLE=worker")...)
	return startService(t, gateway, models, append(broker, "ROLE=gateway")...)
}

// answer sends a request and returns status, headers and body as a text.
func (s *service) answer(t *testing.T, request *http.Request) string {
	t.Helper()
	resp, err := s.client.Do(request)
	require.NoError(t, err, request.URL)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var out strings.Builder
	fmt.Fprintln(&out, resp.StatusCode)
	for _, name := range slices.Sorted(maps.Keys(resp.Header)) {
		if name != "Date" && name != "Content-Length" {
			fmt.Fprintf(&out, "%s: %s\n", name, strings.Join(resp.Header[name], ", "))
		}
	}
	out.WriteByte('\n')
	out.Write(body)
	return out.String()
}

// post returns a request with a body.
func post(t *testing.T, path, kind string, body []byte) func(base string) *http.Request {
	return func(base string) *http.Request { return newRequest(t, http.MethodPost, base+path, kind, body) }
}

// newRequest returns a request with a fixed request id.
func newRequest(t *testing.T, method, url, kind string, body []byte) *http.Request {
	request, err := http.NewRequest(method, url, bytes.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("X-Request-Id", "same")
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	return request
}
