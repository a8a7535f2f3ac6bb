package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/cli"
	"dragoman/app/store/porttest"
	"dragoman/model"
	"dragoman/model/cpu"
)

// events lists events in order.
type events struct {
	mu   sync.Mutex
	list []string
}

func (e *events) add(s string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, s)
}

func (e *events) reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = nil
}

// recordingRuntime, recordingModel and recordingBatch wrap the real ones and record each Close. onStep is called before each
// step.
type recordingRuntime struct {
	modelRuntime
	*events
	onStep func(ctx context.Context)
	// change, unless it is nil, may change the results of a step.
	change func(model.Candidates)
}

func (r *recordingRuntime) Open(ctx context.Context, dir string, opts cpu.Options) (model.Model, error) {
	m, err := r.modelRuntime.Open(ctx, dir, opts)
	return &recordingModel{m, r}, err
}

func (r *recordingRuntime) Close() error {
	r.add("runtime closed")
	return r.modelRuntime.Close()
}

type recordingModel struct {
	model.Model
	runtime *recordingRuntime
}

func (m *recordingModel) NewBatch(limits model.Limits) (model.Batch, error) {
	b, err := m.Model.NewBatch(limits)
	return &recordingBatch{b, m.runtime}, err
}

func (m *recordingModel) Close() error {
	m.runtime.add("model closed")
	return m.Model.Close()
}

type recordingBatch struct {
	model.Batch
	runtime *recordingRuntime
}

func (b *recordingBatch) Step(ctx context.Context, feeds []model.Feed, k int) (model.Candidates, error) {
	b.runtime.onStep(ctx)
	c, err := b.Batch.Step(ctx, feeds, k)
	if err == nil && b.runtime.change != nil {
		b.runtime.change(c)
	}
	return c, err
}

func (b *recordingBatch) Close() error {
	b.runtime.add("batch closed")
	return b.Batch.Close()
}

// closeHook is a listener that calls a function before it closes.
type closeHook struct {
	net.Listener
	once   sync.Once
	before func()
}

func (l *closeHook) Close() error {
	l.once.Do(l.before)
	return l.Listener.Close()
}

// lineReader reads the lines of a log.
type lineReader struct {
	lines *bufio.Scanner
	seen  map[string]map[string]any // the last line of each message
}

func newLineReader(log io.Reader) *lineReader {
	return &lineReader{bufio.NewScanner(log), make(map[string]map[string]any)}
}

// next reads a line.
func (r *lineReader) next(t *testing.T) (line map[string]any) {
	t.Helper()
	require.True(t, r.lines.Scan(), "the log has ended")
	require.NoError(t, json.Unmarshal(r.lines.Bytes(), &line), r.lines.Text())
	r.seen[line["msg"].(string)] = line
	return line
}

func (r *lineReader) has(message string) bool { return r.seen[message] != nil }

// logged reads log lines until one with the message. It continues to read, so that the writer never blocks.
func logged(t *testing.T, stderr io.Reader, messages ...string) map[string]map[string]any {
	lines := newLineReader(stderr)
	for slices.ContainsFunc(messages, func(message string) bool { return !lines.has(message) }) {
		lines.next(t)
	}
	go func() { _, _ = io.Copy(io.Discard, stderr) }() // ends with the writer
	return lines.seen
}

// running is a server that is ready.
type running struct {
	*events
	url    string
	grpc   string // the address of its gRPC port
	stop   context.CancelFunc
	result chan error
}

// startServer runs a server with the real model. onStep is called before each step after the start, onListenerClose with the API
// when the server stops accepting.
func startServer(t *testing.T, onStep func(ctx context.Context), onListenerClose func(api http.Handler), environ ...string) *running {
	return startRecording(t, &recordingRuntime{onStep: onStep}, onListenerClose, environ...)
}

// startRecording is startServer with a runtime, which it fills in.
func startRecording(t *testing.T, recording *recordingRuntime, onListenerClose func(api http.Handler), environ ...string) *running {
	onStep := recording.onStep
	var isReady atomic.Bool
	recording.events = &events{}
	recording.onStep = func(ctx context.Context) {
		if isReady.Load() { // after the warm-up
			onStep(ctx)
		}
	}
	p := &program{environ: environment(environ...), loadRuntime: func(library string) (_ modelRuntime, err error) {
		recording.modelRuntime, err = loadRuntime(library)
		return recording, err
	}}
	r := startProgram(t, p, onListenerClose)
	r.events = recording.events
	isReady.Store(true)
	r.reset()
	return r
}

// runService serves as the command line does.
func (p *program) runService(ctx context.Context) error {
	cfg, log, err := cli.Configure(p.environ, p.stderr)
	if err != nil {
		return err
	}
	return p.serve(ctx, cfg, log)
}

// loaderOf returns the loader of a program's configuration.
func loaderOf(t *testing.T, p *program) *loader {
	cfg, log, err := cli.Configure(p.environ, p.stderr)
	require.NoError(t, err)
	return p.loader(cfg, log)
}

// startProgram serves with a program until it is ready.
func startProgram(t *testing.T, p *program, onListenerClose func(api http.Handler)) *running {
	logs, stderr := io.Pipe()
	p.stderr = stderr
	r := &running{result: make(chan error, 1)}
	cfg, log, err := cli.Configure(p.environ, p.stderr)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", porttest.Hold(t)) // the port stays reserved for it after its end
	require.NoError(t, err)
	front, err := openFrontend(t.Context(), p.version, cfg, log)
	require.NoError(t, err)
	s := &server{loader: p.loader(cfg, log), frontend: front,
		listener: &closeHook{Listener: listener, before: func() { onListenerClose(front.api.Handler()) }}}
	ctx, cancel := context.WithCancel(t.Context())
	r.stop, r.url = cancel, "http://"+listener.Addr().String()
	s.tls, err = tlsOf(cfg, log)
	require.NoError(t, err)
	if s.tls != nil {
		r.url = "https://" + listener.Addr().String()
	}
	if cfg.GRPCPort != 0 {
		s.calls, err = net.Listen("tcp", porttest.Hold(t))
		require.NoError(t, err)
		r.grpc = s.calls.Addr().String()
	}
	go func() {
		defer stderr.Close()
		r.result <- errors.Join(s.run(ctx), front.Close())
	}()
	logged(t, logs, "ready")
	return r
}

// post sends one sentence to translate and returns the answer's status and body.
func (r *running) post(t *testing.T) (status int, body string) {
	resp, err := http.Post(r.url+"/translation", "application/json",
		strings.NewReader(`{"payload":{"fromLang":"en","toLang":"fr","records":[{"id":"1","text":"Where is the station?"}]}}`))
	if !assert.NoError(t, err) {
		return 0, ""
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	assert.NoError(t, err)
	return resp.StatusCode, string(raw)
}

// readyz requests /readyz of an API.
func readyz(api http.Handler) string {
	w := httptest.NewRecorder()
	api.ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
	return http.StatusText(w.Code)
}

func TestShutdownOrder(t *testing.T) {
	entered, accepting := make(chan struct{}, 1), make(chan struct{})
	var r *running
	r = startServer(t, func(context.Context) {
		select {
		case entered <- struct{}{}:
		default:
		}
		<-accepting // waits until the server has stopped accepting
	}, func(api http.Handler) {
		r.add("readiness is " + readyz(api))
		r.add("stop accepting")
		close(accepting)
	})
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		status, body := r.post(t)
		assert.Equal(t, 200, status, body)
		assert.Contains(t, body, "gare")
	}()
	<-entered
	r.stop()
	require.NoError(t, <-r.result)
	<-answered
	assert.Equal(t, []string{
		"readiness is Service Unavailable", "stop accepting", "batch closed", "model closed", "runtime closed",
	}, r.list)
}

func TestShutdownCutsOffWhatTakesTooLong(t *testing.T) {
	entered := make(chan struct{})
	r := startServer(t, func(ctx context.Context) {
		close(entered)
		<-ctx.Done()
	}, func(http.Handler) {}, "SHUTDOWN_TIMEOUT=50ms")
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		status, body := r.post(t)
		assert.Equal(t, 503, status)
		assert.Contains(t, body, "shutting_down")
	}()
	<-entered
	r.stop()
	assert.EqualError(t, <-r.result, "requests in flight did not end within 50ms and were cut off: raise SHUTDOWN_TIMEOUT")
	<-answered
	assert.Equal(t, []string{"batch closed", "model closed", "runtime closed"}, r.list)
}

func TestStopWhileLoading(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	loading := func(library string) (modelRuntime, error) {
		cancel() // the signal arrives while the model loads
		return loadRuntime(library)
	}
	p := &program{environ: environment("SAVE_WEIGHTS=" + t.TempDir()), stderr: io.Discard, loadRuntime: loading}
	assert.NoError(t, p.runService(ctx))
}

func TestSignalEndsTheProcess(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Args = []string{"dragoman"}
			cmd.Env = append(os.Environ(), environment(asProgram+"=1")...)
			stderr, err := cmd.StderrPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())

			var log bytes.Buffer
			lines := logged(t, io.TeeReader(stderr, &log), "listening", "ready")
			resp, err := http.Get("http://" + lines["listening"]["address"].(string) + "/readyz")
			require.NoError(t, err)
			resp.Body.Close()
			assert.Equal(t, 200, resp.StatusCode)

			require.NoError(t, cmd.Process.Signal(signal))
			assert.NoError(t, cmd.Wait(), "exit code 0")
		})
	}
}
