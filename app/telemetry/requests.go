package telemetry

import (
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.opentelemetry.io/otel/trace"

	"dragoman/app/measure"
)

const (
	// unknownRoute is the route of requests that match none.
	unknownRoute = "unknown"
	// aborted is the label of an aborted answer: the client can detect that it is incomplete.
	aborted = "aborted"
	// clientLeft is the status of a request whose client left before the end of its answer.
	clientLeft = 499
)

// requestMetrics count HTTP requests.
type requestMetrics struct {
	total    *prometheus.CounterVec   // route, method, code
	duration *prometheus.HistogramVec // route, class
	inFlight *prometheus.GaugeVec     // route
	received *prometheus.CounterVec   // route
	sent     *prometheus.CounterVec   // route
}

func newRequestMetrics(factory promauto.Factory) *requestMetrics {
	return &requestMetrics{
		total: factory.NewCounterVec(prometheus.CounterOpts{
			Namespace: measure.Namespace, Name: "http_requests_total",
			Help: "Ended HTTP requests, by status code; 499: the client left; aborted: the answer was cut off.",
		}, []string{"route", "method", "code"}),
		duration: factory.NewHistogramVec(measure.Histogram("http_request_duration_seconds",
			"Time from a request's header to the end of its answer, streams included, by class of status.",
			[]float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 30, 60}), []string{"route", "class"}),
		inFlight: factory.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: measure.Namespace, Name: "http_requests_in_flight", Help: "HTTP requests without a complete answer.",
		}, []string{"route"}),
		received: factory.NewCounterVec(prometheus.CounterOpts{
			Namespace: measure.Namespace, Name: "http_request_bytes_total", Help: "Bytes read of requests' bodies.",
		}, []string{"route"}),
		sent: factory.NewCounterVec(prometheus.CounterOpts{
			Namespace: measure.Namespace, Name: "http_response_bytes_total", Help: "Bytes of answers' bodies.",
		}, []string{"route"}),
	}
}

// CountRequests returns the middleware that counts requests. It must come before the middleware that recovers from panics, which
// determines the answer, and after [TraceRequests], whose trace ids become exemplars.
func (m *Metrics) CountRequests() gin.HandlerFunc {
	if m == nil {
		return func(*gin.Context) {}
	}
	return func(c *gin.Context) {
		r := m.requests.begin(c)
		// Also if a panic passes: that aborts a stream.
		defer r.end(c)
		c.Next()
		r.complete = true
	}
}

// request is a request being counted.
type request struct {
	metrics  *requestMetrics
	route    string
	start    time.Time
	span     trace.SpanContext // invalid if there is none
	body     *countedBody      // nil if there is none
	complete bool              // the handlers have returned
}

func (m *requestMetrics) begin(c *gin.Context) *request {
	r := &request{metrics: m, route: routeOf(c), start: time.Now(), span: trace.SpanContextFromContext(c.Request.Context())}
	m.inFlight.WithLabelValues(r.route).Inc()
	if body := c.Request.Body; body != nil && body != http.NoBody {
		r.body = &countedBody{ReadCloser: body}
		c.Request.Body = r.body
	}
	return r
}

func (r *request) end(c *gin.Context) {
	took, m := time.Since(r.start), r.metrics
	code, class := statusLabels(statusOf(c, r.complete))
	m.inFlight.WithLabelValues(r.route).Dec()
	m.total.WithLabelValues(r.route, methodOf(c.Request), code).Inc()
	measure.Observe(m.duration.WithLabelValues(r.route, class), took, r.span)
	if r.body != nil {
		m.received.WithLabelValues(r.route).Add(float64(r.body.n.Load()))
	}
	m.sent.WithLabelValues(r.route).Add(float64(max(0, c.Writer.Size()))) // -1 if nothing was written
}

// routeOf returns the router's pattern for a request.
func routeOf(c *gin.Context) string {
	if route := c.FullPath(); route != "" {
		return route
	}
	return unknownRoute
}

// methodOf returns a request's method if it is a standard one: clients may send any.
func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodConnect, http.MethodOptions, http.MethodTrace:
		return r.Method
	}
	return measure.Other
}

// statusOf returns the final status of a request, or 0 if its answer was aborted. complete reports whether its handlers returned.
func statusOf(c *gin.Context, complete bool) int {
	switch {
	case complete:
		return c.Writer.Status()
	case c.Request.Context().Err() != nil:
		return clientLeft
	}
	return 0
}

// statusLabels returns a status as code, such as 404, and as class, such as 4xx.
func statusLabels(status int) (code, class string) {
	switch {
	case status == 0:
		return aborted, aborted
	case status < 100 || status > 599:
		return measure.Other, measure.Other
	}
	return strconv.Itoa(status), strconv.Itoa(status/100) + "xx"
}

// countedBody counts the bytes read.
type countedBody struct {
	io.ReadCloser
	n atomic.Int64
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.n.Add(int64(n))
	return n, err
}
