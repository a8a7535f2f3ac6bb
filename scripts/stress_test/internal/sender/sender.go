// Package sender sends the requests of a stress test and returns their outcomes.
package sender

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"dragoman/app/client"
	"dragoman/scripts/stress_test/internal/traffic"
)

// Config is the configuration of a Sender.
type Config struct {
	URL, Key string        // of the service; its API key, or ""
	Timeout  time.Duration // of a request, from its sending
	// HideTimeout withholds the timeout from the service.
	HideTimeout bool
	// Request has the common fields of all requests. Languages and records are filled in.
	Request client.Request
	// AllowEmpty accepts a translation without text, such as those of random weights.
	AllowEmpty bool
	// Same makes a changed translation of a text a failure.
	Same bool
	// MaxInFlight is the number of connections to the service that are kept open.
	MaxInFlight int
}

// Outcome has the known properties of a request besides its error.
type Outcome struct {
	Model   string // "": the test has a single model
	Records int
	Took    time.Duration // from its sending
	// Hits and Misses are the numbers of records found in the service's cache, and decoded; both are 0 if a service does not
	// report them.
	Hits, Misses int
}

// Sender sends requests. It is safe for concurrent use.
type Sender struct {
	cfg       Config
	client    *client.Client
	transport *http.Transport

	mu    sync.Mutex        // guards known
	known map[string]string // the first translation of each text; empty unless Config.Same
}

// New returns a sender, which the caller must close. It fails if the URL is invalid.
func New(cfg Config) (*Sender, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = 0, cfg.MaxInFlight
	const none = -1 // 0 is the client's default; retries would hide refusals
	c, err := client.New(client.Config{URL: cfg.URL, Key: cfg.Key, Retries: none, UserAgent: "dragoman-stress-test",
		HTTPClient: &http.Client{Transport: tap{transport, cfg.HideTimeout}}})
	return &Sender{cfg: cfg, client: c, known: map[string]string{}, transport: transport}, err
}

// Close closes the connections. No request may be in flight.
func (s *Sender) Close() {
	s.client.Close()
	s.transport.CloseIdleConnections()
}

// Info returns the service's description of itself.
func (s *Sender) Info(ctx context.Context) (client.Info, error) { return s.client.Info(ctx) }

// Faults of an answer.
var (
	errEmpty   = errors.New("a translation is empty")
	errChanged = errors.New("a text has another translation than before")
)

// Send sends request number n, waits for its answer and checks it: it must have all records, each with its id and a text. The
// error is a *Failure.
func (s *Sender) Send(ctx context.Context, n int, order traffic.Order) (Outcome, error) {
	request := s.cfg.Request
	request.From, request.To = order.From, order.To
	for i, text := range order.Texts {
		request.Records = append(request.Records, client.Record{ID: fmt.Sprintf("%d-%d", n, i), Text: text})
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	var heard heard
	begin := time.Now()
	results, err := s.client.Translate(context.WithValue(ctx, heardKey{}, &heard), request)
	if err == nil {
		err = s.check(request, results)
	}
	if err != nil {
		err = failure(ctx, heard.status, err)
	}
	return Outcome{Records: len(order.Texts), Took: time.Since(begin), Hits: heard.hits, Misses: heard.misses}, err
}

// check makes the checks that the client does not: the client compares numbers and ids itself.
func (s *Sender) check(request client.Request, results []client.Result) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, r := range results {
		if r.Err != nil {
			return r.Err
		}
		if r.Text == "" && !s.cfg.AllowEmpty {
			return errEmpty
		}
		if !s.cfg.Same {
			continue
		}
		key := strings.Join([]string{request.From, request.To, request.Records[i].Text}, "\t")
		if before, known := s.known[key]; known && before != r.Text {
			return errChanged
		}
		s.known[key] = r.Text
	}
	return nil
}
