package telemetry

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/trace/noop"
)

// BenchmarkRequest is what the middleware adds to a request: compare with "none".
func BenchmarkRequest(b *testing.B) {
	m := New(Config{})
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

func BenchmarkStage(b *testing.B) {
	m := New(Config{})
	b.Run("no trace", func(b *testing.B) {
		ctx := b.Context()
		b.ReportAllocs()
		for b.Loop() {
			m.Stage(ctx, Tokenize).End()
		}
	})
	b.Run("traced", func(b *testing.B) {
		ctx, recorder := recorded(b)
		b.ReportAllocs()
		for b.Loop() {
			m.Stage(ctx, Tokenize).End()
		}
		recorder.Reset()
	})
	b.Run("span without a trace", func(b *testing.B) {
		ctx, now := b.Context(), time.Now()
		b.ReportAllocs()
		for b.Loop() {
			m.Span(ctx, Queue, now, now)
		}
	})
}

func BenchmarkTranslated(b *testing.B) {
	m := exercised(b)
	b.ReportAllocs()
	for b.Loop() {
		m.Translated(Translation{From: "en", To: "fr", Outcome: Decoded, SourceCharacters: 80, SourceTokens: 20})
	}
}

func BenchmarkScrape(b *testing.B) {
	m := exercised(b)
	handler := m.Handler()
	r := httptest.NewRequest("GET", "/metrics", nil)
	b.ReportAllocs()
	for b.Loop() {
		handler.ServeHTTP(httptest.NewRecorder(), r)
	}
}
