package access

import "github.com/prometheus/client_golang/prometheus"

// Metrics are the metrics of a gate, for Prometheus. stats, see [Gate.Stats], is called at
// every scrape, on its goroutine.
func Metrics(stats func() Stats) []prometheus.Collector {
	const namespace = "dragoman"
	gauge := func(name, help string, value func(Stats) int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help},
			func() float64 { return float64(value(stats())) })
	}
	counter := func(name, help, label, labelValue string, value func(Stats) uint64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: namespace, Name: name, Help: help, ConstLabels: prometheus.Labels{label: labelValue},
		}, func() float64 { return float64(value(stats())) })
	}
	reload := func(result string, value func(Stats) uint64) prometheus.Collector {
		return counter("keys_reloads_total", "Times that the keys file had changed, by what became of it.", "result", result, value)
	}
	refusal := func(reason string, value func(Stats) uint64) prometheus.Collector {
		return counter("keys_refusals_total", "Requests that were refused for want of a valid key, or were over a limit of their caller.", "reason", reason, value)
	}
	return []prometheus.Collector{
		gauge("keys", "Callers in the keys file that is in use.", func(s Stats) int { return s.Callers }),
		gauge("keys_file_broken", "1 where the keys file cannot be used as it is now, so that the keys of before are in use.", func(s Stats) int {
			if s.KeysBroken {
				return 1
			}
			return 0
		}),
		gauge("clients", "Addresses of clients without keys that are remembered for their limits.", func(s Stats) int { return s.Clients }),
		reload("done", func(s Stats) uint64 { return s.Reloads }),
		reload("failed", func(s Stats) uint64 { return s.FailedReloads }),
		refusal("no_key", func(s Stats) uint64 { return s.WithoutKey }),
		refusal("wrong_key", func(s Stats) uint64 { return s.BadKey }),
		refusal("requests", func(s Stats) uint64 { return s.OverRequests }),
		refusal("characters", func(s Stats) uint64 { return s.OverCharacters }),
	}
}
