package httpapi

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// newMetrics makes the metric of whether the API is ready. A nil registry has none.
func (a *API) newMetrics(r prometheus.Registerer) {
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
	factory.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: "build_info", Help: "The version of dragoman that runs; always 1."},
		[]string{"build"}).WithLabelValues(a.cfg.Version).Set(1)
}
