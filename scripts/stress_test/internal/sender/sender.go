// Package sender sends the requests of a stress test and says what became of them.
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

// Config makes a Sender.
type Config struct {
	URL, Key string        // of the service; its API key, "" for none
	Timeout  time.Duration // of a request, from when it is sent
	// HideTimeout does not tell the service the timeout.
	HideTimeout bool
	// Request is what all requests have in common. Languages and records are filled in.
	Request client.Request
	// AllowEmpty takes a translation without text for an answer, such as those of
	// random weights.
	AllowEmpty bool
	// Same takes another translation of a text than before for a failure.
	Same bool
	// MaxInFlight is the number of connections to the service that are kept.
	MaxInFlight int
}

// Outcome is what is known of a request besides its error.
type Outcome struct {
	Model   string // "": the test has one
	Records int
	Took    time.Duration // from when it was sent
	// Hits and Misses are the records that were in the service's cache, and that were
	// decoded; both are 0 where a service does not say.
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

// New makes a sender; the caller closes it. It fails where a URL cannot be used.
func New(cfg Config) (*Sender, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = 0, cfg.MaxInFlight
	const none = -1 // 0 is the client's default; second tries would hide what is refused
	c, err := client.New(client.Config{URL: cfg.URL, Key: cfg.Key, Retries: none, UserAgent: "dragoman-stress-test",
		HTTPClient: &http.Client{Transport: tap{transport, cfg.HideTimeout}}})
	return &Sender{cfg: cfg, client: c, known: map[string]string{}, transport: transport}, err
}

// Close closes the connections. No request may be on its way.
func (s *Sender) Close() {
	s.client.Close()
	s.transport.CloseIdleConnections()
}

// Info asks the service what it serves.
func (s *Sender) Info(ctx context.Context) (client.Info, error) { return s.client.Info(ctx) }

// What is wrong with an answer.
var (
	errEmpty   = errors.New("a translation is empty")
	errChanged = errors.New("a text has another translation than before")
)

// Send sends request number n, waits for its answer and checks it: it must have all
// records, each with its id and a text. The error is a *Failure.
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

// check looks at what the client has not: it compares numbers and ids itself.
func (s *Sender) check(request client.Request, results []client.Result) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, r := range results {
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
