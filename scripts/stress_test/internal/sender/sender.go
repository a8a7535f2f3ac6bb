// Package sender sends the requests of a stress test and says what became of them.
package sender

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"dragoman/app/client"
	"dragoman/scripts/stress_test/internal/traffic"
)

// Config makes a Sender.
type Config struct {
	Deck    *traffic.Deck
	Key     string        // API key; "" for none
	Timeout time.Duration // of a request with its retries, from when it is sent
	// HideTimeout does not tell the service the timeout.
	HideTimeout bool
	Retries     int // tries after the first
	// Request is what all requests have in common. Languages and records are filled in.
	Request client.Request
	// AllowEmpty takes a translation without text for an answer, such as those of
	// random weights.
	AllowEmpty bool
	// Same takes another translation of a text than before for a failure.
	Same bool
	// MaxInFlight is the number of connections to a service that are kept.
	MaxInFlight int
}

// Outcome is what is known of a request besides its error.
type Outcome struct {
	Model   int // index into the deck's models
	Records int
	Chars   int           // of its texts, in Unicode characters
	Took    time.Duration // from when it was sent
	Status  int           // of HTTP, of the last try; 0: there was no answer
	Tries   int
	// Hits and Misses are the records that were in the service's cache, and that were
	// decoded; both are 0 where a service does not say.
	Hits, Misses int
	Flags        map[string]int // records with each flag of the service; nil: none
}

// Sender sends requests. It is safe for concurrent use.
type Sender struct {
	cfg       Config
	clients   map[string]*client.Client // by URL
	transport *http.Transport

	mu    sync.Mutex        // guards known
	known map[string]string // the first translation of each text; empty unless Config.Same
}

// New makes a sender; the caller closes it. It fails where a URL cannot be used.
func New(cfg Config) (*Sender, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = 0, cfg.MaxInFlight
	s := &Sender{cfg: cfg, clients: map[string]*client.Client{}, known: map[string]string{}, transport: transport}
	retries := cfg.Retries
	if retries == 0 {
		retries = -1 // none; 0 is the client's default
	}
	for _, m := range cfg.Deck.Models() {
		if s.clients[m.URL] != nil {
			continue
		}
		c, err := client.New(client.Config{URL: m.URL, Key: cfg.Key, Retries: retries, UserAgent: "dragoman-stress-test",
			HTTPClient: &http.Client{Transport: tap{transport, cfg.HideTimeout}}})
		if err != nil {
			s.Close()
			return nil, err
		}
		s.clients[m.URL] = c
	}
	return s, nil
}

// Close closes the connections. No request may be on its way.
func (s *Sender) Close() {
	for _, c := range s.clients {
		c.Close()
	}
	s.transport.CloseIdleConnections()
}

// Info asks a service what it serves. url is one of the deck's.
func (s *Sender) Info(ctx context.Context, url string) (client.Info, error) {
	return s.clients[url].Info(ctx)
}

// What is wrong with an answer.
var (
	errEmpty   = errors.New("a translation is empty")
	errChanged = errors.New("a text has another translation than before")
)

// Send sends request number n, waits for its answer and checks it: it must have all
// records, each with its id and a text. The error is a *Failure.
func (s *Sender) Send(ctx context.Context, n int, order traffic.Order) (Outcome, error) {
	model, texts := s.cfg.Deck.Models()[order.Model], s.cfg.Deck.Texts(order)
	request := s.cfg.Request
	request.From, request.To = model.From, model.To
	request.Records = records(n, texts)
	outcome := Outcome{Model: order.Model, Records: len(texts), Chars: count(texts)}

	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	var heard headers
	begin := time.Now()
	results, err := s.clients[model.URL].Translate(heard.listen(ctx), request)
	outcome.Took = time.Since(begin)
	outcome.Status, outcome.Tries = heard.status, heard.tries
	outcome.Hits, outcome.Misses, outcome.Flags = heard.hits, heard.misses, heard.flags
	if err == nil {
		err = s.check(request, results)
	}
	if err != nil {
		return outcome, failure(ctx, heard.status, err)
	}
	return outcome, nil
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

func records(n int, texts []string) []client.Record {
	list := make([]client.Record, len(texts))
	for i, text := range texts {
		list[i] = client.Record{ID: strconv.Itoa(n) + "-" + strconv.Itoa(i), Text: text}
	}
	return list
}

func count(texts []string) int {
	n := 0
	for _, text := range texts {
		n += utf8.RuneCountInString(text)
	}
	return n
}
