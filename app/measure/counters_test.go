package measure

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
)

func TestCounters(t *testing.T) {
	r := prometheus.NewRegistry()
	c := NewCounters(r, "errors_total", "Errors.", "code", []string{"busy", "internal", "\xff"})
	c.Inc("busy")
	c.Inc("no such code")
	assert.NoError(t, testutil.GatherAndCompare(r, strings.NewReader(`# HELP dragoman_errors_total Errors.
# TYPE dragoman_errors_total counter
dragoman_errors_total{code="?"} 0
dragoman_errors_total{code="busy"} 1
dragoman_errors_total{code="internal"} 0
dragoman_errors_total{code="other"} 1
`)))
}
