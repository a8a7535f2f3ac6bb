package dialect

import (
	"log/slog"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/app/fault"
	"dragoman/app/telemetry"
)

// Failures are counted as errors by code; some are counted as refusals or cancellations.
func TestCount(t *testing.T) {
	for kind, want := range map[fault.Kind][]string{
		fault.InvalidJSON: {`errors_total{code="invalid_json"}`}, fault.NotOffered: {`errors_total{code="invalid_value"}`},
		fault.Busy:        {`errors_total{code="busy"}`, `refusals_total{reason="queue_full"}`},
		fault.NoTime:      {`errors_total{code="busy"}`, `refusals_total{reason="deadline"}`},
		fault.Loading:     {`errors_total{code="not_ready"}`, `refusals_total{reason="loading"}`},
		fault.ModelBroken: {`errors_total{code="model_broken"}`, `refusals_total{reason="not_ready"}`},
		fault.NoRoom:      {`errors_total{code="model_too_large"}`, `refusals_total{reason="not_ready"}`},
		fault.Interrupted: {`cancellations_total{cause="shutdown"}`, `errors_total{code="shutting_down"}`, `refusals_total{reason="shutting_down"}`},
		fault.Timeout:     {`cancellations_total{cause="timeout"}`, `errors_total{code="timeout"}`},
		fault.ClientGone:  {`cancellations_total{cause="client_gone"}`},
	} {
		m := telemetry.New(slog.New(slog.DiscardHandler))
		NewMetrics(m.Registry()).Count(fault.New(kind, "", ""))
		w := httptest.NewRecorder()
		m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		var counted []string
		for _, found := range regexp.MustCompile(`(?m)^dragoman_((?:errors|refusals|cancellations)_total.*) 1$`).FindAllStringSubmatch(w.Body.String(), -1) {
			counted = append(counted, found[1])
		}
		assert.Equal(t, want, counted)
	}
}
