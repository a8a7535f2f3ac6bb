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
	"dragoman/app/memory"
	"dragoman/app/translate"
)

// Translator is the use case behind the APIs. It is safe for concurrent use.
type Translator interface {
	Translate(ctx context.Context, req translate.Request) ([]translate.Result, error)
	Stream(ctx context.Context, req translate.Request, yield func(i int, r translate.Result) error) error
	// Select returns the models that a request may use. model is the name in the request, or "".
	Select(model string) (translate.Selection, error)
	Healthy() error // fails while translations are stuck
}

// Gate admits callers, as [access.Gate] does. It is safe for concurrent use.
type Gate interface {
	NeedsKeys() bool
	MustReadKey(r *http.Request, queryKey string) (bool, error)
	Enter(r *http.Request, fieldKey string) error
	Charge(r *http.Request, characters int) error
	CheckCharge(r *http.Request, characters int) error
	Admin(r *http.Request) error
	Usage(r *http.Request) access.Usage
}

// Config is the configuration of a [Server].
type Config struct {
	MaxRecords     int           // per request, and per request for language detection; 0: no limit here
	MaxChars       int           // per record
	RequestTimeout time.Duration // time limit of a translation, including its wait
	Gate           Gate          // checked before each translation; nil: open to everybody
	// Glossaries are the stored glossaries; nil: disabled.
	Glossaries *glossary.Service
	// Memories are the stored translation memories; nil: disabled.
	Memories  *memory.Service
	FileTypes []string // extensions of supported documents, with dots; empty: documents are disabled
	// Registry receives the metrics of failures; nil: no metrics.
	Registry prometheus.Registerer
}

// Server translates for all APIs. It is safe for concurrent use.
type Server struct {
	Config
	metrics    *Metrics
	translator atomic.Pointer[Translator] // nil until Ready
}

// New returns a server that is not ready yet.
func New(cfg Config) *Server {
	if cfg.Gate == nil {
		cfg.Gate = (*access.Gate)(nil) // nil is open
	}
	return &Server{Config: cfg, metrics: NewMetrics(cfg.Registry)}
}

// Ready starts translating.
func (s *Server) Ready(t Translator) { s.translator.Store(&t) }

// Translator returns the translator. The error is a [*fault.Failure] while the model is loading.
func (s *Server) Translator() (Translator, error) {
	if t := s.translator.Load(); t != nil {
		return *t, nil
	}
	return nil, fault.New(fault.NotReady, "", "the model is loading: try again in a moment")
}

// Select returns the models that a request may use. model is the name in the request, or "".
func (s *Server) Select(model string) (translate.Selection, error) {
	t, err := s.Translator()
	if err != nil {
		return nil, err
	}
	return t.Select(model)
}

// Metrics count failures. They are safe for concurrent use.
type Metrics struct{ errors, refusals, cancellations measure.Counters }

// NewMetrics returns the metrics of failures. With a nil registry nothing is counted.
func NewMetrics(r prometheus.Registerer) *Metrics {
	return &Metrics{
		errors: measure.NewCounters(r, "errors_total", "Error answers, including errors within streams, by code.",
			"code", fault.Codes()),
		refusals: measure.NewCounters(r, "refusals_total", "Requests that were refused before any work for them, by reason.",
			"reason", fault.Refusals()),
		cancellations: measure.NewCounters(r, "cancellations_total", "Requests that ended before their answer was complete, by cause.",
			"cause", fault.Cancellations()),
	}
}

// Count counts an answered failure.
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
