//go:build linux

package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// launch starts the program in a process of its own, by a shell command that ends in "$0". The process logs to a file.
func launch(t *testing.T, shell string, stderr *os.File, environ ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), "sh", "-c", shell, os.Args[0])
	cmd.Env = append(os.Environ(), environment(append(environ, asProgram+"=1")...)...)
	cmd.Stderr = stderr
	require.NoError(t, cmd.Start())
	return cmd
}

// Requests are answered, and the process ends normally, even if the log's reader stops or leaves.
func TestLogWithoutReader(t *testing.T) {
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	_, _, failed := syscall.Syscall(syscall.SYS_FCNTL, writer.Fd(), syscall.F_SETPIPE_SZ, 4096)
	require.Zero(t, failed)
	cmd := launch(t, `exec "$0"`, writer, "LOG_LEVEL=debug")
	require.NoError(t, writer.Close())
	var url string
	lines := newLineReader(reader)
	for url == "" || !lines.has("ready") {
		line := lines.next(t)
		if line["msg"] == "listening" {
			url = "http://" + line["address"].(string)
		}
	}
	client := &http.Client{Timeout: time.Minute}
	ask := func() {
		resp, err := client.Get(url + "/languages")
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, 200, resp.StatusCode)
	}
	for range 200 { // the pipe holds the lines of a few requests
		ask()
	}
	require.NoError(t, reader.Close())
	for range 200 {
		ask()
	}
	_, metrics := get(t, url+"/metrics")
	assert.Regexp(t, `(?m)^dragoman_log_lines_dropped_total [1-9]`, metrics)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	assert.NoError(t, cmd.Wait(), "exit code 0")
}

// A process with a low limit of open files warns at its start, and when it has none left for connections.
func TestFewFiles(t *testing.T) {
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	cmd := launch(t, `ulimit -n 48; exec "$0"`, writer)
	require.NoError(t, writer.Close())
	defer func() { _ = reader.Close() }()
	var address string
	lines := newLineReader(reader)
	for address == "" || !lines.has("ready") {
		if line := lines.next(t); line["msg"] == "listening" {
			address = line["address"].(string)
		}
	}
	low := lines.seen["the limit of open files is too low for the allowed connections: "+raiseFiles]
	require.NotNil(t, low)
	assert.EqualValues(t, 48, low["limit"])
	assert.Greater(t, low["needed"], 1024.0)
	var open []net.Conn
	for range 60 {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		open = append(open, conn)
	}
	for !lines.has("connections are not accepted") {
		lines.next(t)
	}
	assert.Contains(t, fmt.Sprint(lines.seen["connections are not accepted"]), "ulimit -n")
	for _, conn := range open {
		require.NoError(t, conn.Close())
	}
	for !lines.has("connections are accepted again") {
		lines.next(t)
	}
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	assert.NoError(t, cmd.Wait(), "exit code 0")
}

// scarce is a listener that fails a few times for lack of open files.
type scarce struct {
	net.Listener
	errs []error
}

func (s *scarce) Accept() (net.Conn, error) {
	err := s.errs[0]
	s.errs = s.errs[1:]
	return nil, err
}

func TestAccepting(t *testing.T) {
	var log bytes.Buffer
	full := &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	l := accepting(&scarce{errs: []error{nil, full, full, nil, net.ErrClosed, errors.New("odd")}}, slog.New(slog.NewTextHandler(&log, nil)))
	for range 6 {
		_, _ = l.Accept()
	}
	assert.Equal(t, 1, strings.Count(log.String(), "level=ERROR"))
	assert.Equal(t, 1, strings.Count(log.String(), "connections are accepted again"))
	assert.Contains(t, log.String(), "too many open files")
	assert.NotContains(t, log.String(), "use of closed")
}
