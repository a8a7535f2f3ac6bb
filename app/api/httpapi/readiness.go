package httpapi

import (
	"sync/atomic"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
)

// readiness decides whether the service accepts requests, and serves the probes that ask.
type readiness struct {
	server   *dialect.Server
	further  func() error // further reasons to refuse requests; may be nil
	draining atomic.Bool
}

// refusal returns the reason to refuse new requests, or nil.
func (r *readiness) refusal() error {
	if r.draining.Load() {
		return fault.New(fault.ShuttingDown, "", "the service is shutting down")
	}
	t, err := r.server.Translator()
	if err != nil {
		return err
	}
	if r.further != nil {
		if err := r.further(); err != nil {
			return err
		}
	}
	if _, err := t.Select(""); err != nil && fault.Explain(err, fault.Situation{}).Kind == fault.NotReady { // no model yet
		return err
	}
	return unhealthy(t)
}

// unhealthy returns the reason why translations are stuck, or nil.
func unhealthy(t dialect.Translator) error {
	if err := t.Healthy(); err != nil {
		return fault.New(fault.Stuck, "", "%s", err)
	}
	return nil
}

// serveHealth serves GET /healthz: the process answers, and its model is not stuck. Supervisors such as Kubernetes restart the
// process when this probe fails.
func (r *readiness) serveHealth(*gin.Context) (any, error) { return gin.H{"status": "ok"}, r.dead() }

// dead returns the reason to restart the process, or nil.
func (r *readiness) dead() error {
	t, err := r.server.Translator()
	if err != nil {
		return nil // the model is still loading
	}
	return unhealthy(t)
}

// serveReadiness serves GET /readyz: the API accepts new requests.
func (r *readiness) serveReadiness(*gin.Context) (any, error) {
	return gin.H{"status": "ready"}, r.refusal()
}

// newMetrics makes the gauge of the API's readiness. With a nil registry there is none.
func newMetrics(r prometheus.Registerer, version string, ready func() bool) {
	const namespace = "dragoman"
	factory := promauto.With(r)
	factory.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Name: "ready", Help: "1 if the service accepts requests, 0 while it loads or shuts down.",
	}, func() float64 {
		if ready() {
			return 1
		}
		return 0
	})
	factory.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: "build_info", Help: "The running version of dragoman; always 1."},
		[]string{"build"}).WithLabelValues(version).Set(1)
}
