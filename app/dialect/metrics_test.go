package dialect

import (
	"log/slog"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/app/failure"
	"dragoman/app/telemetry"
)

// Failures count as errors by code, and some as refusals or as ends.
func TestCount(t *testing.T) {
	for kind, want := range map[failure.Kind][]string{
		failure.InvalidJSON: {`errors_total{code="invalid_json"}`}, failure.NotOffered: {`errors_total{code="invalid_value"}`},
		failure.Busy:        {`errors_total{code="busy"}`, `refusals_total{reason="queue_full"}`},
		failure.NoTime:      {`errors_total{code="busy"}`, `refusals_total{reason="deadline"}`},
		failure.Loading:     {`errors_total{code="not_ready"}`, `refusals_total{reason="loading"}`},
		failure.ModelBroken: {`errors_total{code="model_broken"}`, `refusals_total{reason="not_ready"}`},
		failure.NoRoom:      {`errors_total{code="model_too_large"}`, `refusals_total{reason="not_ready"}`},
		failure.Interrupted: {`cancellations_total{cause="shutdown"}`, `errors_total{code="shutting_down"}`, `refusals_total{reason="shutting_down"}`},
		failure.Timeout:     {`cancellations_total{cause="timeout"}`, `errors_total{code="timeout"}`},
		failure.ClientGone:  {`cancellations_total{cause="client_gone"}`},
	} {
		m := telemetry.New(slog.New(slog.DiscardHandler))
		NewMetrics(m.Registry()).Count(failure.New(kind, "", ""))
		w := httptest.NewRecorder()
		m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		var counted []string
		for _, found := range regexp.MustCompile(`(?m)^dragoman_((?:errors|refusals|cancellations)_total.*) 1$`).FindAllStringSubmatch(w.Body.String(), -1) {
			counted = append(counted, found[1])
		}
		assert.Equal(t, want, counted)
	}
}
