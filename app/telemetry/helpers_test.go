package telemetry

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"dragoman/app/measure"
)

// newMetrics returns metrics, and the stages of some work.
func newMetrics() (*Metrics, measure.Stages) {
	m := New(slog.New(slog.DiscardHandler))
	return m, measure.NewStages(m.Registry(), "stage_duration_seconds", "Time of the stages.", "tokenize", "queue")
}

// newRouter returns a router like the API's.
func newRouter(middleware ...gin.HandlerFunc) *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.RedirectTrailingSlash = false
	router.HandleMethodNotAllowed = true
	router.Use(middleware...)
	return router
}

// families has the metrics of a registry by name. Each has series by labels such as "code=204 method=GET", with the value of a
// counter or gauge, or the number of observations of a histogram.
func families(t testing.TB, g prometheus.Gatherer) map[string]map[string]float64 {
	gathered, err := g.Gather()
	require.NoError(t, err)
	all := map[string]map[string]float64{}
	for _, f := range gathered {
		all[f.GetName()] = map[string]float64{}
		for _, series := range f.GetMetric() {
			var labels []string
			for _, label := range series.GetLabel() {
				labels = append(labels, label.GetName()+"="+label.GetValue())
			}
			all[f.GetName()][strings.Join(labels, " ")] =
				series.GetCounter().GetValue() + series.GetGauge().GetValue() + float64(series.GetHistogram().GetSampleCount())
		}
	}
	return all
}

// sample returns the value of a series, with labels such as "code=204 method=GET" in alphabetical order, or 0 without such a
// series.
func sample(t testing.TB, m *Metrics, name, labels string) float64 {
	return families(t, m.registry)[name][labels]
}
