// Package monitor watches running servers from outside: it polls their /metrics at an
// interval and says what happened in between, as rows of CSV or as a table.
//
// A poll makes a sample of each server; two samples make a [Row] (counters become
// differences, histograms of differences become percentiles), and the rows of all
// servers a [Round], which goes to each [Sink]:
//
//	targets ─► scrape ─► sample ─► Row ─► Round ─► CSV, Table
//
// Servers are strangers to it: whatever one answers, or does not, is a row that says so,
// and holds up neither the others nor the next poll.
package monitor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// MinInterval is the shortest time between polls.
	MinInterval = 100 * time.Millisecond

	// maxTimeout is how long a server may take to answer at most, however rarely it is
	// asked.
	maxTimeout = 10 * time.Second

	// maxPolls is how many servers are polled side by side.
	maxPolls = 128
)

// Config is what a [Monitor] works with.
type Config struct {
	Targets Targets
	// Interval is the time between polls, [MinInterval] at least. A server has most of
	// it to answer, and 10 s at most.
	Interval time.Duration
	// Count is how many intervals there are; 0: until the context is done.
	Count int
	// Key is sent as a bearer token; "" for none. Servers ask for none at /metrics; a
	// proxy before them may.
	Key string
	// Client polls; nil: one of its own. It should have no timeout.
	Client *http.Client
}

// Sink takes rounds, in order, from one goroutine. An error ends the monitor.
type Sink interface {
	Put(Round) error
}

// Round is what a poll of all servers found.
type Round struct {
	Time time.Time // when the poll began
	// Base is set for the first poll: its rows have no differences yet.
	Base bool
	Rows []Row // a row for each server, in the order of the targets
	// Notes are what went wrong with finding the servers, a line each.
	Notes []string
}

// Monitor polls servers. It is for one [Monitor.Run] at a time.
type Monitor struct {
	cfg     Config
	targets *targets
	scraper scraper
	timeout time.Duration      // of a poll
	last    map[string]*sample // of each server that ever answered, by URL

	heard   bool  // from any server, ever
	lastErr error // of the latest server that did not answer
}

// New fails on a configuration that cannot be worked with: an interval that is too
// short, servers that cannot be understood, a file of servers that cannot be read.
func New(cfg Config) (*Monitor, error) {
	if cfg.Interval < MinInterval {
		return nil, fmt.Errorf("an interval of %s: use %s or more", cfg.Interval, MinInterval)
	}
	if cfg.Count < 0 {
		return nil, fmt.Errorf("%d intervals: use 0 for no end, or more", cfg.Count)
	}
	targets, err := newTargets(cfg.Targets)
	if err != nil {
		return nil, err
	}
	return &Monitor{
		cfg: cfg, targets: targets, scraper: newScraper(cfg.Client, cfg.Key),
		// The rest of the interval is for what is done with the answers.
		timeout: min(cfg.Interval*4/5, maxTimeout),
		last:    map[string]*sample{},
	}, nil
}

// Run polls until ctx is done or all intervals are over, which both are no error, and
// gives each round to the sinks, one after the other. It fails when a sink does, and
// where no server ever answered in all the intervals that there were to be.
func (m *Monitor) Run(ctx context.Context, sinks ...Sink) error {
	ticker := time.NewTicker(m.cfg.Interval)
	defer ticker.Stop()
	for n := 0; ; n++ {
		round := m.poll(ctx)
		if ctx.Err() != nil {
			return nil // the poll was cut short: it says nothing of the servers
		}
		round.Base = n == 0
		for _, sink := range sinks {
			if err := sink.Put(round); err != nil {
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
func (m *Monitor) verdict() error {
	switch {
	case m.heard:
		return nil
	case m.lastErr != nil:
		return fmt.Errorf("no server answered in %d polls: %w", m.cfg.Count+1, m.lastErr)
	}
	return errors.New("there was no server to poll")
}

// poll asks all servers side by side. It takes less than an interval.
func (m *Monitor) poll(ctx context.Context) Round {
	round := Round{Time: time.Now()}
	ctx, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	var list []target
	list, round.Notes = m.targets.find(ctx, m.timeout/4)

	samples, errs := make([]*sample, len(list)), make([]error, len(list))
	var group errgroup.Group
	group.SetLimit(maxPolls)
	for i, t := range list {
		group.Go(func() error {
			samples[i], errs[i] = m.scraper.scrape(ctx, t.url)
			return nil
		})
	}
	_ = group.Wait() // each has its own error

	last := make(map[string]*sample, len(list)) // forgets servers that are gone
	for i, t := range list {
		before, now := m.last[t.url], samples[i]
		if errs[i] != nil {
			round.Rows = append(round.Rows, unknownRow(t.name, round.Time, errs[i]))
			m.lastErr = fmt.Errorf("%s: %w", t.name, errs[i])
			now = before
		} else {
			round.Rows = append(round.Rows, newRow(t.name, before, now))
			m.heard = true
		}
		if now != nil {
			last[t.url] = now
		}
	}
	m.last = last
	return round
}
