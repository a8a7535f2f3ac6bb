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
	client  *http.Client // a new connection for each request
}

// serve starts the program, which must end well after the test.
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
	t.Cleanup(func() { _ = s.process.Process.Kill() }) // where nothing else has ended it
	go func() { s.exited <- s.process.Wait() }()
	return s
}

// ready says whether the service says that it is.
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

// stop asks the process to end and waits until it has.
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

// body is a request from English to French.
func body(texts ...string) []byte { return request([]string{"fr"}, "normal", texts...) }

// request is a request into several languages.
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

// translates sends a sentence, which must be translated, and says how long that took.
func (s *service) translates(t *testing.T) time.Duration {
	t.Helper()
	begin := time.Now()
	status, _, err := s.post(t.Context(), s.client, "/translation", body("It is raining."))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	return time.Since(begin)
}

// freed waits until the clients that left have no rows any more.
func (s *service) freed(t *testing.T, most time.Duration) {
	t.Helper()
	begin := time.Now()
	eventually(t, most, "no row is taken", func() bool { return s.idle(t) })
	t.Logf("no row was taken %d ms later", time.Since(begin).Milliseconds())
}

// begin connects and sends text, which may be the beginning of a request.
func (s *service) begin(ctx context.Context, text string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.address)
	if err != nil {
		return nil, err
	}
	_, err = io.WriteString(c, text)
	return c, err
}

// head is that of a POST with a body of so many bytes.
func head(path string, size int) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", path, size)
}

// parallel lets many clients do something at once.
func parallel(ctx context.Context, clients int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for i := range clients {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

// counts counts what happened, from many goroutines.
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

// String is such as "12 × 200, 3 × 413".
func (c *counts) String() string {
	var list []string
	for what, n := range c.of {
		list = append(list, fmt.Sprintf("%d × %s", n, what))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// metric is the sum of a metric over all its series.
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

// metrics are all metrics of the service, by name.
func (s *service) metrics() (map[string]*dto.MetricFamily, error) {
	resp, err := s.client.Get("http://" + s.address + "/metrics")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(resp.Body)
}

// idle says whether nothing waits or decodes.
func (s *service) idle(t *testing.T) bool {
	return s.metric(t, "dragoman_batch_rows")+s.metric(t, "dragoman_queue_sentences") == 0
}

// memory is what the kernel says of the process's memory, in MB: VmRSS is what it has,
// VmHWM the most that it ever had.
func (s *service) memory(t *testing.T, name string) float64 {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(raw), name+":")
	kilobytes, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	require.NoError(t, err)
	return kilobytes * 1024 / 1e6
}
