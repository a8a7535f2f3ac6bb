package telemetry

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/trace/noop"
)

// BenchmarkRequest measures the middleware's cost per request: compare with "none".
func BenchmarkRequest(b *testing.B) {
	m, _ := newMetrics()
	for _, bench := range []struct {
		name       string
		middleware []gin.HandlerFunc
	}{
		{"none", nil},
		{"traces off", []gin.HandlerFunc{TraceRequests(noop.NewTracerProvider())}},
		{"metrics", []gin.HandlerFunc{m.CountRequests()}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			router := newRouter(bench.middleware...)
			router.GET("/", func(c *gin.Context) { c.Status(http.StatusNoContent) })
			r, w := httptest.NewRequest("GET", "/", nil), httptest.NewRecorder()
			b.ReportAllocs()
			for b.Loop() {
				router.ServeHTTP(w, r)
			}
		})
	}
}
