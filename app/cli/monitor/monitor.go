// Package monitor polls /metrics of running servers and prints the changes between two polls, as a table or as CSV. A server that
// does not answer gets a row that says so, and delays neither the other servers nor the next poll.
package monitor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

const metricsPath = "/metrics" // unless a URL says otherwise
const maxBody = 8 << 20        // maximum size of metrics: four times the size for a server with 64 models of 8 workers and 100 languages

// Config configures a [Monitor].
type Config struct {
	Servers   []string          // http or https URLs, host:port, or only hosts
	Port      int               // port of hosts without one
	Interval  time.Duration     // between polls; a server must answer within 4/5 of the interval, or within 10 s if that is less
	Count     uint              // number of intervals; 0: until the context is done
	Transport http.RoundTripper // nil: net/http's default
}

// Monitor polls servers. It is for one [Monitor.Run] at a time.
type Monitor struct {
	cfg     Config
	servers []*server
}

// server is a polled server, with the URL of its metrics. last is nil until the server has answered.
type server struct {
	name string
	url  *url.URL
	last *sample
}

// New fails on an invalid configuration.
func New(cfg Config) (*Monitor, error) {
	m := &Monitor{cfg: cfg}
	for _, text := range cfg.Servers {
		s, err := parseServer(text, cfg.Port)
		if err != nil {
			return nil, err
		}
		m.servers = append(m.servers, s)
	}
	if cfg.Interval < 100*time.Millisecond {
		return nil, fmt.Errorf("--interval %s: use 100ms or more", cfg.Interval)
	}
	return m, nil
}

// Run writes the rows of each interval, until ctx is done or all intervals are over. Run fails when write does.
func (m *Monitor) Run(ctx context.Context, write func([]Row) error) error {
	tick := time.Tick(m.cfg.Interval)
	m.poll(ctx)
	for n := uint(0); m.cfg.Count == 0 || n < m.cfg.Count; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick:
		}
		rows := m.poll(ctx)
		if ctx.Err() != nil {
			return nil // the poll was cut short
		}
		if err := write(rows); err != nil {
			return err
		}
	}
	return nil
}

// poll polls all servers concurrently, for less than an interval: the rest is for the output of the rows.
func (m *Monitor) poll(ctx context.Context) []Row {
	ctx, cancel := context.WithTimeout(ctx, min(m.cfg.Interval*4/5, 10*time.Second))
	defer cancel()
	rows := make([]Row, len(m.servers))
	var polls sync.WaitGroup
	for i, s := range m.servers {
		polls.Go(func() {
			now, err := scrape(ctx, &http.Client{Transport: m.cfg.Transport}, s.url)
			if err != nil {
				rows[i] = Row{Time: time.Now(), Server: s.name, State: "down", Reason: printable(err.Error())}
				return
			}
			rows[i], s.last = compare(s.name, s.last, now), now
		})
	}
	polls.Wait()
	return rows
}

// sample is the result of a poll: the time of the answer, and the values of series such as name{label="value"}.
type sample struct {
	time   time.Time
	series map[string]float64
}

// scrape reads the metrics at a URL until ctx is done.
func scrape(ctx context.Context, client *http.Client, address *url.URL) (*sample, error) {
	resp, err := client.Do((&http.Request{URL: address}).WithContext(ctx))
	if err != nil {
		return nil, errors.Unwrap(err) // the error without the method and the URL
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", address.Path, resp.Status)
	}
	return parse(http.MaxBytesReader(nil, resp.Body, maxBody))
}

// parse reads metrics in Prometheus' text format. A histogram has the series _bucket, _sum and _count.
func parse(body io.Reader) (found *sample, err error) {
	defer func() { // a label set without a name below a TYPE line makes the parser panic
		if caught := recover(); caught != nil {
			err = fmt.Errorf("the metrics cannot be parsed: %v", caught)
		}
	}()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(body)
	if err != nil {
		return nil, fmt.Errorf("the metrics cannot be parsed: %w", err)
	}
	if families["dragoman_ready"] == nil {
		return nil, errors.New("these are not dragoman's metrics: is another service listening there?")
	}
	series, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{}, slices.Collect(maps.Values(families))...)
	found = &sample{time.Now(), make(map[string]float64, len(series))}
	for _, s := range series {
		found.series[s.Metric.String()] = float64(s.Value)
	}
	return found, err
}

// parseServer parses a URL, host:port or a host.
func parseServer(text string, defaultPort int) (*server, error) {
	address := text
	if !strings.ContainsAny(text, ":/") {
		address = fmt.Sprintf("http://%s:%d", text, defaultPort)
	} else if !strings.Contains(text, "://") {
		address = "http://" + text
	}
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || strings.HasPrefix(u.Port(), "0") {
		secret := strings.LastIndexByte(text, '@') + 1
		return nil, fmt.Errorf("%q is not a server: use one such as http://localhost:9527 or localhost:9527", text[secret:])
	}
	u.Path = cmp.Or(strings.TrimSuffix(u.Path, "/"), metricsPath)
	return &server{name: printable(u.Host + strings.TrimSuffix(u.Path, metricsPath)), url: u}, nil
}

// printable returns a text, which may come from a server, as one line that is safe for a terminal.
func printable(text string) string {
	return strings.TrimSuffix(fmt.Sprintf("%.200q", text)[1:], `"`)
}
