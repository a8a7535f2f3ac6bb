package fleet

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

const namespace, subsystem = "dragoman", "fleet"

// GatewayMetrics count what a gateway sees. They are safe for concurrent use.
type GatewayMetrics struct {
	broker                         prometheus.Gauge
	refused, resubmitted, unwanted prometheus.Counter
}

// NewGatewayMetrics makes the metrics of a gateway; those of what it sees at the moment are in
// [Gateway.Collector]. A nil registry has none.
func NewGatewayMetrics(r prometheus.Registerer) *GatewayMetrics {
	factory := promauto.With(r)
	counter := func(name, help string) prometheus.Counter {
		return factory.NewCounter(prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help})
	}
	return &GatewayMetrics{
		broker:      factory.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Subsystem: subsystem, Name: "broker_up", Help: "1 while the broker answers."}),
		refused:     counter("requests_refused_total", "Requests that the gateway refused because too much waits, or they could not end in time."),
		resubmitted: counter("resubmitted_total", "Sentences that were submitted again, because the broker was away or had lost them."),
		unwanted:    counter("unwanted_results_total", "Results that nobody waits for: second ones, and those of requests that have ended."),
	}
}

// WorkerMetrics count what a worker does with what it takes. They are safe for concurrent use.
type WorkerMetrics struct {
	broker  prometheus.Gauge
	taken   *prometheus.CounterVec // by where from
	done    *prometheus.CounterVec // by what became of it
	claimed *prometheus.GaugeVec   // by model
}

// NewWorkerMetrics makes the metrics of a worker. A nil registry has none.
func NewWorkerMetrics(r prometheus.Registerer) *WorkerMetrics {
	factory := promauto.With(r)
	m := &WorkerMetrics{
		broker: factory.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Subsystem: subsystem, Name: "broker_up", Help: "1 while the broker answers."}),
		taken: factory.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: "taken_total",
			Help: "Sentences that the worker took: from the queue, or over from another worker (claimed)."}, []string{"from"}),
		done: factory.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: "ended_total",
			Help: "Sentences that the worker is done with, by what became of them: decoded, failed, returned to the queue, cancelled, expired before they were decoded, taken over by another worker (lost), dead letters, without a valid signature (forged)."}, []string{"outcome"}),
		claimed: factory.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Subsystem: subsystem, Name: "claimed_sentences",
			Help: "Sentences that the worker has taken and not answered yet."}, []string{"model", "version"}),
	}
	for _, from := range []string{fromQueue, fromOther} {
		m.taken.WithLabelValues(from)
	}
	for _, o := range []outcome{decoded, failedOutcome, returned, cancelled, expired, lostOutcome, deadLetter, forgedOutcome} {
		m.done.WithLabelValues(string(o))
	}
	return m
}

const (
	fromQueue = "queue"
	fromOther = "worker"
)

// outcome is what became of a sentence that a worker took.
type outcome string

const (
	decoded       outcome = "decoded"
	failedOutcome outcome = "failed"
	returned      outcome = "returned"
	cancelled     outcome = "cancelled"
	expired       outcome = "expired"
	lostOutcome   outcome = "lost"
	deadLetter    outcome = "dead_letter"
	forgedOutcome outcome = "forged"
)

// Collector are the metrics of what a gateway knows of the fleet.
func (g *Gateway) Collector() prometheus.Collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(prometheus.BuildFQName(namespace, subsystem, name), help, labels, nil)
	}
	workers := desc("workers", "Workers that are there.")
	rows := desc("rows", "Rows that the workers decode together.", "model", "version")
	tokens := desc("waiting_tokens", "Source tokens × beams that gateways have submitted and have no result of.", "model", "version")
	speed := desc("tokens_per_second", "Source tokens × beams that the workers decode in a second while any wait.", "model", "version")
	return prometheus.CollectorFunc(func(out chan<- prometheus.Metric) {
		gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
			out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		gauge(workers, float64(len(g.fleet.workers)))
		for queue, name := range g.terms.names {
			l := g.load(queue)
			gauge(rows, float64(l.rows), name.model, name.version)
			gauge(tokens, float64(l.work()), name.model, name.version)
			gauge(speed, l.speed, name.model, name.version)
		}
	})
}
