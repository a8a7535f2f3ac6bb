package fleet

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

const namespace, subsystem = "dragoman", "fleet"

func counterOpts(name, help string) prometheus.CounterOpts {
	return prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help}
}

func gaugeOpts(name, help string) prometheus.GaugeOpts {
	return prometheus.GaugeOpts(counterOpts(name, help))
}

// brokerUp are the options of the gauge that both kinds of members have.
var brokerUp = gaugeOpts("broker_up", "1 while the broker answers.")

// GatewayMetrics count what a gateway does. They are safe for concurrent use.
type GatewayMetrics struct {
	broker                         prometheus.Gauge
	refused, resubmitted, unwanted prometheus.Counter
}

// NewGatewayMetrics returns the metrics of a gateway; [Gateway.Collector] has more. The registry may be nil.
func NewGatewayMetrics(r prometheus.Registerer) *GatewayMetrics {
	factory := promauto.With(r)
	return &GatewayMetrics{
		broker:      factory.NewGauge(brokerUp),
		refused:     factory.NewCounter(counterOpts("requests_refused_total", "Requests that the gateway refused because too much waits, or they could not end in time.")),
		resubmitted: factory.NewCounter(counterOpts("resubmitted_total", "Sentences that were submitted again, because the broker was away or had lost them.")),
		unwanted:    factory.NewCounter(counterOpts("unwanted_results_total", "Results that nobody waits for: second ones, and those of requests that have ended.")),
	}
}

// WorkerMetrics count what a worker does. They are safe for concurrent use.
type WorkerMetrics struct {
	broker  prometheus.Gauge
	taken   *prometheus.CounterVec // by origin
	done    *prometheus.CounterVec // by outcome
	claimed *prometheus.GaugeVec   // by model
}

// NewWorkerMetrics returns the metrics of a worker. The registry may be nil.
func NewWorkerMetrics(r prometheus.Registerer) *WorkerMetrics {
	factory := promauto.With(r)
	m := &WorkerMetrics{
		broker: factory.NewGauge(brokerUp),
		taken:  factory.NewCounterVec(counterOpts("taken_total", "Sentences that the worker took: from the queue, or over from another worker (claimed)."), []string{"from"}),
		done:   factory.NewCounterVec(counterOpts("ended_total", "Sentences that the worker is done with, by what became of them: decoded, failed, returned to the queue, cancelled, expired before they were decoded, taken over by another worker (lost), dead letters, without a valid signature (forged)."), []string{"outcome"}),
		claimed: factory.NewGaugeVec(gaugeOpts("claimed_sentences", "Sentences that the worker has taken and not answered yet."),
			[]string{"model", "version"}),
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

// outcome is what became of a claim.
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

// Collector returns the metrics of the fleet as the gateway sees it.
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
