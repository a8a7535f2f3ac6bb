package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"

	"dragoman/app/access"
)

// Keys have numbers of who may call, as [access.Gate] does. They are safe for concurrent
// use.
type Keys interface {
	Stats() access.Stats
}

// keysMetrics describe the numbers of Keys.
type keysMetrics struct {
	callers, broken, reloads, refusals, clients *prometheus.Desc
}

func newKeysMetrics() keysMetrics {
	return keysMetrics{
		callers:  newDesc("keys", "Callers in the keys file that is in use."),
		broken:   newDesc("keys_file_broken", "1 where the keys file cannot be used as it is now, so that the keys of before are in use."),
		reloads:  newDesc("keys_reloads_total", "Times that the keys file had changed, by what became of it.", "result"),
		refusals: newDesc("keys_refusals_total", "Requests that were not let in, or were over a limit of their caller.", "reason"),
		clients:  newDesc("clients", "Addresses of clients without keys that are remembered for their limits."),
	}
}

// all are the descriptions, for Describe.
func (m keysMetrics) all() []*prometheus.Desc {
	return []*prometheus.Desc{m.callers, m.broken, m.reloads, m.refusals, m.clients}
}

// collect sends the numbers.
func (m keysMetrics) collect(out chan<- prometheus.Metric, s access.Stats) {
	broken := 0.0
	if s.KeysBroken {
		broken = 1
	}
	for _, gauge := range []struct {
		desc  *prometheus.Desc
		value float64
	}{{m.callers, float64(s.Callers)}, {m.broken, broken}, {m.clients, float64(s.Clients)}} {
		out <- prometheus.MustNewConstMetric(gauge.desc, prometheus.GaugeValue, gauge.value)
	}
	for _, counter := range []struct {
		desc  *prometheus.Desc
		value uint64
		label string
	}{
		{m.reloads, s.Reloads, "done"}, {m.reloads, s.FailedReloads, "failed"},
		{m.refusals, s.WithoutKey, "no_key"}, {m.refusals, s.BadKey, "wrong_key"},
		{m.refusals, s.OverRequests, "requests"}, {m.refusals, s.OverCharacters, "characters"},
	} {
		out <- prometheus.MustNewConstMetric(counter.desc, prometheus.CounterValue, float64(counter.value), counter.label)
	}
}
