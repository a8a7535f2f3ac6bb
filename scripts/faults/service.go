package main

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
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"golang.org/x/sync/errgroup"
)

// service is a process of the program.
type service struct {
	address string
	process *exec.Cmd
	exited  chan error
	client  *http.Client // a new connection for each request
}

// start starts the program and waits until it is ready. The caller stops it.
func (r *run) start(ctx context.Context, environ ...string) (*service, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	if err := listener.Close(); err != nil {
		return nil, err
	}
	s := &service{
		address: address, process: exec.Command(r.binary, "serve"), exited: make(chan error, 1),
		client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	}
	s.process.Env = append(os.Environ(), append([]string{
		"APP_HOST=127.0.0.1", "APP_PORT=" + port, "LOG_LEVEL=error", "CACHE_BYTES=0"}, environ...)...)
	s.process.Stderr = os.Stderr
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	go func() { s.exited <- s.process.Wait() }()
	if err := s.wait(ctx, 30*time.Second, func() bool { return s.ready() }); err != nil {
		s.kill()
		return nil, fmt.Errorf("the service is not ready: %w", err)
	}
	return s, nil
}

// wait polls until a condition holds.
func (s *service) wait(ctx context.Context, most time.Duration, condition func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for !condition() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("not after %s: %w", most, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

func (s *service) ready() bool {
	resp, err := s.client.Get("http://" + s.address + "/readyz")
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// kill ends the process without asking.
func (s *service) kill() {
	_ = s.process.Process.Kill()
	if err := <-s.exited; err == nil {
		fmt.Fprintln(os.Stderr, "the service had ended by itself before it was killed")
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
		s.kill()
		return fmt.Errorf("it does not end")
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
func (s *service) post(ctx context.Context, client *http.Client, path string, body []byte, headers ...string) (status, results int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.address+path, bytes.NewReader(body))
	if err != nil {
		return 0, 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, 0, err
	}
	var answer struct {
		Result []struct{ Text string }
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return 0, 0, fmt.Errorf("status %d: %w", resp.StatusCode, err)
	}
	return resp.StatusCode, len(answer.Result), nil
}

// translates sends a sentence, which must be translated, and says how long that took.
func (s *service) translates(ctx context.Context) (time.Duration, error) {
	begin := time.Now()
	status, _, err := s.post(ctx, s.client, "/translation", body("It is raining."))
	if err != nil || status != http.StatusOK {
		return 0, fmt.Errorf("a translation of a sentence: status %d, %v", status, err)
	}
	return time.Since(begin), nil
}

// freed waits until the clients that left have no rows any more, and says how long that took.
func (s *service) freed(ctx context.Context, most time.Duration) (string, error) {
	begin := time.Now()
	if err := s.wait(ctx, most, s.idle); err != nil {
		return "", fmt.Errorf("their rows are still taken: %w", err)
	}
	return fmt.Sprintf("no row was taken %d ms later", time.Since(begin).Milliseconds()), nil
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
func (s *service) metric(name string) (float64, error) {
	resp, err := s.client.Get("http://" + s.address + "/metrics")
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(resp.Body)
	if err != nil {
		return 0, err
	}
	family, ok := families[name]
	if !ok {
		return 0, fmt.Errorf("no metric %s", name)
	}
	sum := 0.0
	for _, m := range family.Metric {
		sum += m.GetGauge().GetValue() + m.GetCounter().GetValue()
	}
	return sum, nil
}

// idle says whether nothing waits or decodes.
func (s *service) idle() bool {
	rows, err1 := s.metric("dragoman_batch_rows")
	waiting, err2 := s.metric("dragoman_queue_sentences")
	return err1 == nil && err2 == nil && rows+waiting == 0
}

// memory is the process's resident memory in MB.
func (s *service) memory() (float64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.process.Process.Pid))
	if err != nil {
		return 0, err
	}
	pages, err := strconv.ParseFloat(strings.Fields(string(raw))[1], 64)
	return pages * float64(os.Getpagesize()) / 1e6, err
}
