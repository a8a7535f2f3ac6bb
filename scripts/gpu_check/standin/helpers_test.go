package standin

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// root is the repository's root, with build/, relative to this package.
const root = "../../.."

// patience is the maximum run time of a process.
const patience = 6 * time.Minute

// process is a program that runs with the stand-ins.
type process struct {
	*exec.Cmd
	log string // of the stand-ins
}

// command prepares a program of build/. When the test ends, it checks that the stand-ins have reported no breach of their rules.
func command(t *testing.T, environ []string, name string, args ...string) process {
	t.Helper()
	libraries := os.Getenv("DRAGOMAN_STANDIN")
	if libraries == "" {
		t.Skip("DRAGOMAN_STANDIN is not set: make cuda-test builds the stand-ins for CUDA's libraries and runs this")
	}
	program, err := filepath.Abs(filepath.Join(root, "build", name))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	dir := t.TempDir()
	p := process{exec.CommandContext(ctx, program, args...), filepath.Join(dir, "standin.log")}
	p.Env = append(os.Environ(), "LD_LIBRARY_PATH="+libraries, "STANDIN_LOG="+p.log, "ONNXRUNTIME_LIB="+onnxruntime(t),
		"XDG_CACHE_HOME="+dir)
	p.Env = append(p.Env, environ...)
	t.Cleanup(func() {
		for _, line := range p.lines(t) {
			assert.NotContains(t, line, "wrong:")
		}
	})
	return p
}

// onnxruntime returns the path of ONNX Runtime for CUDA.
func onnxruntime(t *testing.T) string {
	t.Helper()
	library, err := filepath.Abs(filepath.Join(root, "build/onnxruntime-cuda/libonnxruntime.so"))
	require.NoError(t, err)
	return library
}

// lines returns the lines of the stand-ins' log.
func (p process) lines(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile(p.log)
	if !os.IsNotExist(err) { // a missing log is empty
		require.NoError(t, err)
	}
	return strings.Split(strings.TrimSpace(string(raw)), "\n")
}

// serve starts the service and returns its address. When the test ends, it stops the service and checks that it exits without
// error. Requests may wait without limit, because the stand-ins are slow.
func serve(t *testing.T, environ ...string) (address string) {
	t.Helper()
	p := command(t, append([]string{"APP_HOST=127.0.0.1", "APP_PORT=0", "LOG_FORMAT=json", "CACHE_BYTES=0", "BATCH_SIZE=40",
		"QUEUE_WAIT=0"}, environ...), "dragoman", "serve")
	stderr, err := p.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.Start())
	log := bufio.NewScanner(stderr)
	var last string
	for ready := false; !ready && log.Scan(); {
		last = log.Text()
		var line struct{ Msg, Address string }
		if json.Unmarshal(log.Bytes(), &line) != nil {
			continue // a line of ONNX Runtime
		}
		if line.Msg == "listening" {
			address = "http://" + line.Address
		}
		assert.NotContains(t, line.Msg, "cannot be recorded")
		ready = line.Msg == "ready"
	}
	rest := make(chan struct{})
	go func() {
		defer close(rest)
		_, _ = io.Copy(io.Discard, stderr)
	}()
	t.Cleanup(func() {
		assert.NoError(t, p.Process.Signal(syscall.SIGTERM), "the service ended before: %s", last)
		<-rest
		assert.NoError(t, p.Wait())
	})
	require.Contains(t, last, `"ready"`)
	return address
}

// get requests a page.
func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	resp, err := http.Get(url)
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(raw)
}
