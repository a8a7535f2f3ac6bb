package dialect

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"dragoman/app/fault"
	"dragoman/app/glossary"
	"dragoman/app/guard/access"
	"dragoman/app/measure"
	"dragoman/app/translate"
)

// Translator is the use case behind the APIs. It is safe for concurrent use.
type Translator interface {
	Translate(ctx context.Context, req translate.Request) ([]translate.Result, error)
	Stream(ctx context.Context, req translate.Request, yield func(i int, r translate.Result) error) error
	// Select returns the models that a request may use which names one, or with "" none.
	Select(model string) (translate.Selection, error)
	Healthy() error // fails where translations do not go on
}

// Gate lets callers in, as [access.Gate] does. It is safe for concurrent use.
type Gate interface {
	NeedsKeys() bool
	MustReadKey(r *http.Request, queryKey string) (bool, error)
	Enter(r *http.Request, fieldKey string) error
	Charge(r *http.Request, characters int) error
	CheckCharge(r *http.Request, characters int) error
	Admin(r *http.Request) error
	Usage(r *http.Request) access.Usage
}

// Config is what a [Server] works with.
type Config struct {
	MaxRecords     int           // of a request, and texts whose language is to be detected; 0: no bound here
	MaxChars       int           // of each of them
	RequestTimeout time.Duration // of a translation, waiting included
	Gate           Gate          // before all that translates; nil: everybody may use it
	// Glossaries are those that requests can name; nil: there are none.
	Glossaries *glossary.Service
	FileTypes  []string // extensions of documents that are translated, with points; none: there are no documents
	// Registry gets the metrics of failures; nil: nobody asks for them.
	Registry prometheus.Registerer
}

// Server is what the APIs have translations made by. It is safe for concurrent use.
type Server struct {
	Config
	metrics    *Metrics
	translator atomic.Pointer[Translator] // nil until Ready
}

// New makes a server that is not ready yet.
func New(cfg Config) *Server {
	if cfg.Gate == nil {
		cfg.Gate = (*access.Gate)(nil) // which is open
	}
	return &Server{Config: cfg, metrics: NewMetrics(cfg.Registry)}
}

// Ready starts translating.
func (s *Server) Ready(t Translator) { s.translator.Store(&t) }

// Translator returns what translates. The error is a [*fault.Failure] while the model is
// loading.
func (s *Server) Translator() (Translator, error) {
	if t := s.translator.Load(); t != nil {
		return *t, nil
	}
	return nil, fault.New(fault.NotReady, "", "the model is loading: try again in a moment")
}

// Select returns the models that a request may use which names one, or with "" none.
func (s *Server) Select(model string) (translate.Selection, error) {
	t, err := s.Translator()
	if err != nil {
		return nil, err
	}
	return t.Select(model)
}

// Metrics count failures. They are safe for concurrent use.
type Metrics struct{ errors, refusals, cancellations measure.Counters }

// NewMetrics makes the metrics of failures. A nil registry has none.
func NewMetrics(r prometheus.Registerer) *Metrics {
	return &Metrics{
		errors: measure.NewCounters(r, "errors_total", "Errors that requests were answered with, within a stream too, by code.",
			"code", fault.Codes()),
		refusals: measure.NewCounters(r, "refusals_total", "Requests that were refused before anything was done for them, by reason.",
			"reason", fault.Refusals()),
		cancellations: measure.NewCounters(r, "cancellations_total", "Requests that ended before their answer was complete, by cause.",
			"cause", fault.Cancellations()),
	}
}

// Count counts a failure that is answered.
func (m *Metrics) Count(f *fault.Failure) {
	for _, c := range []struct {
		counters measure.Counters
		value    string
	}{{m.errors, f.Code()}, {m.refusals, f.Refusal()}, {m.cancellations, f.Cancellation()}} {
		if c.value != "" {
			c.counters.Inc(c.value)
		}
	}
}
