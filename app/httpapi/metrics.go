package httpapi

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"dragoman/app/telemetry"
)

// newMetrics makes the metrics of whether the API is ready, and of the model, which it
// returns. A nil registry has none.
func (a *API) newMetrics(r prometheus.Registerer) *prometheus.GaugeVec {
	const namespace = "dragoman"
	factory := promauto.With(r)
	factory.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Name: "ready", Help: "1 where new requests are welcome, 0 while the service loads or ends.",
	}, func() float64 {
		if a.IsReady() {
			return 1
		}
		return 0
	})
	return factory.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: "model_info", Help: "What translates; always 1."},
		[]string{"source", "revision", "precision", "version", "device"})
}

// labels are those of the metric of a model.
func (m Model) labels(version string) prometheus.Labels {
	labels := prometheus.Labels{
		"source": telemetry.WithoutSecrets(m.Source), "revision": m.Revision, "precision": m.Precision, "version": version, "device": m.Device,
	}
	for name, value := range labels {
		labels[name] = strings.ToValidUTF8(value, "?") // a folder's name need not be
	}
	return labels
}
