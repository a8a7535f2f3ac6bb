package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"dragoman/app/store/porttest"
)

// service is a process of the program.
type service struct {
	address string
	process *exec.Cmd
	exited  chan error
	client  *http.Client // a new connection per request
}

// serve starts the program and stops it when the test ends. It must exit without error.
func serve(t *testing.T, environ ...string) *service {
	t.Helper()
	s := start(t, environ...)
	t.Cleanup(func() { assert.NoError(t, s.stop()) })
	return s
}

// start starts the program and waits until it is ready. The caller stops it.
func start(t *testing.T, environ ...string) *service {
	t.Helper()
	s := launch(t, porttest.Hold(t), os.Stderr, environ...)
	eventually(t, 30*time.Second, "the service is ready", s.ready)
	return s
}

// launch starts the program, which logs to a writer. The caller stops it.
func launch(t *testing.T, address string, log io.Writer, environ ...string) *service {
	t.Helper()
	s := &service{
		address: address, process: exec.Command(*binary, "serve"), exited: make(chan error, 1),
		client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	}
	_, port, _ := net.SplitHostPort(s.address)
	s.process.Env = append(os.Environ(), append([]string{
		"APP_HOST=127.0.0.1", "APP_PORT=" + port, "LOG_LEVEL=error", "CACHE_BYTES=0"}, environ...)...)
	s.process.Stderr = log
	require.NoError(t, s.process.Start())
	t.Cleanup(func() { _ = s.process.Process.Kill() }) // unless it has ended already
	go func() { s.exited <- s.process.Wait() }()
	return s
}

// ready reports whether the service is ready.
func (s *service) ready() bool {
	resp, err := s.client.Get("http://" + s.address + "/readyz")
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// eventually waits until a condition holds.
func eventually(t *testing.T, most time.Duration, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(most); !condition(); time.Sleep(20 * time.Millisecond) {
		require.True(t, time.Now().Before(end), "after %s it is not so that %s", most, what)
	}
}

// stop sends SIGTERM and waits until the process has ended.
func (s *service) stop() error {
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-s.exited:
		return err
	case <-time.After(time.Minute):
		_ = s.process.Process.Kill()
		return fmt.Errorf("it does not end: %w", <-s.exited)
	}
}

// body returns a request from English to French.
func body(texts ...string) []byte { return request([]string{"fr"}, "normal", texts...) }

// request returns a request into several languages.
func request(to []string, priority string, texts ...string) []byte {
	type record struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	var records []record
	for i, text := range texts {
		records = append(records, record{strconv.Itoa(i), text})
	}
	raw, _ := json.Marshal(map[string]any{"payload": map[string]any{
		"fromLang": "en", "toLangs": to, "priority": priority, "records": records}})
	return raw
}

// post sends a body and returns the status and the number of translations.
func (s *service) post(ctx context.Context, client *http.Client, path string, body []byte) (status, results int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.address+path, bytes.NewReader(body))
	if err != nil {
		return 0, 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close()
	var answer struct {
		Result []struct{ Text string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return 0, 0, fmt.Errorf("status %d: %w", resp.StatusCode, err)
	}
	return resp.StatusCode, len(answer.Result), nil
}

// translates sends a sentence, which must be translated, and returns the time it took.
func (s *service) translates(t *testing.T) time.Duration {
	t.Helper()
	begin := time.Now()
	status, _, err := s.post(t.Context(), s.client, "/translation", body("It is raining."))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	return time.Since(begin)
}

// freed waits until clients that left have no rows any more.
func (s *service) freed(t *testing.T, most time.Duration) {
	t.Helper()
	begin := time.Now()
	eventually(t, most, "no row is taken", func() bool { return s.idle(t) })
	t.Logf("no row was taken %d ms later", time.Since(begin).Milliseconds())
}

// begin connects and sends text, such as the beginning of a request.
func (s *service) begin(ctx context.Context, text string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.address)
	if err != nil {
		return nil, err
	}
	_, err = io.WriteString(c, text)
	return c, err
}

// head returns the head of a POST request with a body of n bytes.
func head(path string, size int) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", path, size)
}

// parallel runs many clients concurrently.
func parallel(ctx context.Context, clients int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for i := range clients {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

// counts counts outcomes. It is safe for concurrent use.
type counts struct {
	mu sync.Mutex // guards of
	of map[string]int
}

func newCounts() *counts { return &counts{of: map[string]int{}} }

func (c *counts) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[what]++
}

// String returns text such as "12 × 200, 3 × 413".
func (c *counts) String() string {
	var list []string
	for what, n := range c.of {
		list = append(list, fmt.Sprintf("%d × %s", n, what))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// metric returns the sum of a metric over all its series.
func (s *service) metric(t *testing.T, name string) float64 {
	t.Helper()
	families, err := s.metrics()
	require.NoError(t, err)
	require.Contains(t, families, name)
	sum := 0.0
	for _, m := range families[name].Metric {
		sum += m.GetGauge().GetValue() + m.GetCounter().GetValue()
	}
	return sum
}

// metrics returns all metrics of the service, by name.
func (s *service) metrics() (map[string]*dto.MetricFamily, error) {
	resp, err := s.client.Get("http://" + s.address + "/metrics")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(resp.Body)
}

// idle reports whether no sentence waits or is decoded.
func (s *service) idle(t *testing.T) bool {
	return s.metric(t, "dragoman_batch_rows")+s.metric(t, "dragoman_queue_sentences") == 0
}

// memory returns a value of the kernel about the process's memory in MB: VmRSS is the current size, VmHWM the peak.
func (s *service) memory(t *testing.T, name string) float64 {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(raw), name+":")
	kilobytes, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	require.NoError(t, err)
	return kilobytes * 1024 / 1e6
}
