// Package monitor watches running servers from outside: it polls their /metrics at an
// interval and says what happened in between, as lines of CSV or as a plain table. Whatever a
// server answers, or does not, is a row that says so, and holds up neither the others nor the next poll.
package monitor

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	// MinInterval is the shortest time between polls.
	MinInterval = 100 * time.Millisecond
	maxTimeout  = 10 * time.Second // of a poll, however rarely there is one
	metricsPath = "/metrics"       // unless a URL says otherwise
)

// Config is what a [Monitor] works with.
type Config struct {
	Servers   []string          // http or https URLs, whose path is /metrics without another one, host:port or only hosts
	Port      int               // of hosts without one
	Interval  time.Duration     // between polls, [MinInterval] at least; a server has most of it to answer, and 10 s at most
	Count     uint              // of intervals; 0: until the context is done
	Transport http.RoundTripper // nil: that of net/http
}

// Monitor polls servers. It is for one [Monitor.Run] at a time.
type Monitor struct {
	cfg     Config
	client  *http.Client
	servers []*server
}

// server is one that is polled.
type server struct {
	name    string  // as it is shown
	url     string  // of its metrics
	last    *sample // nil until it answers
	lastErr error   // of the latest poll
}

// New fails on a configuration that cannot be worked with.
func New(cfg Config) (*Monitor, error) {
	if cfg.Interval < MinInterval {
		return nil, fmt.Errorf("--interval %s: use %s or more", cfg.Interval, MinInterval)
	}
	m := &Monitor{cfg: cfg, client: &http.Client{Transport: cfg.Transport}}
	for _, text := range cfg.Servers {
		server, err := parseServer(text, cfg.Port)
		if err != nil {
			return nil, err
		}
		m.servers = append(m.servers, server)
	}
	return m, nil
}

// Run polls until ctx is done or all intervals are over, which both are no error, and writes the
// rows of each interval. It fails when that does, and where no server answered in all of them.
func (m *Monitor) Run(ctx context.Context, write func([]Row) error) error {
	ticker := time.NewTicker(m.cfg.Interval)
	defer ticker.Stop()
	for n := uint(0); ; n++ {
		rows := m.poll(ctx)
		if ctx.Err() != nil {
			return nil // the poll was cut short: it says nothing of the servers
		}
		if n > 0 { // before, there are no differences
			if err := write(rows); err != nil {
				return err
			}
		}
		if m.cfg.Count > 0 && n == m.cfg.Count {
			return m.verdict()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// verdict is the error of a run in which no server ever answered.
func (m *Monitor) verdict() (err error) {
	for _, s := range m.servers {
		if s.last != nil {
			return nil
		}
		err = fmt.Errorf("no server answered in %d polls: %s: %w", m.cfg.Count+1, s.name, s.lastErr)
	}
	return err
}

// poll asks all servers side by side. It takes less than an interval: the rest is for what is
// done with the answers.
func (m *Monitor) poll(ctx context.Context) (rows []Row) {
	ctx, cancel := context.WithTimeout(ctx, min(m.cfg.Interval*4/5, maxTimeout))
	defer cancel()
	samples := make([]*sample, len(m.servers))
	var polls sync.WaitGroup
	for i, s := range m.servers {
		polls.Go(func() { samples[i], s.lastErr = scrape(ctx, m.client, s.url) })
	}
	polls.Wait()
	for i, s := range m.servers {
		if s.lastErr != nil {
			rows = append(rows, Row{Time: time.Now(), Server: s.name, State: "down", Reason: printable(s.lastErr.Error())})
			continue
		}
		rows = append(rows, compare(s.name, s.last, samples[i])...)
		s.last = samples[i]
	}
	return rows
}

// parseServer understands a URL, host:port or a host.
func parseServer(text string, defaultPort int) (*server, error) {
	address := text
	if !strings.Contains(text, "://") {
		address = "http://" + text
		if !strings.ContainsAny(text, ":/") {
			address += fmt.Sprintf(":%d", defaultPort)
		}
	}
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || strings.HasPrefix(u.Port(), "0") {
		secret := strings.LastIndexByte(text, '@') + 1
		return nil, fmt.Errorf("%q is not a server: use one such as http://localhost:9527 or localhost:9527", text[secret:])
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = metricsPath
	}
	return &server{name: printable(u.Host + strings.TrimSuffix(u.Path, metricsPath)), url: u.String()}, nil
}
