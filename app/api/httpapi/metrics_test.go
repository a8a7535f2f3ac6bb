package httpapi

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMetricsOfReadiness(t *testing.T) {
	a, _ := newAPI(counting)
	metrics := func() string { return do(a.Handler(), "GET", metricsPath, "").Body.String() }
	assert.Contains(t, metrics(), "dragoman_ready 1\n")
	assert.Contains(t, metrics(), `dragoman_build_info{build="v1.2"} 1`)
	a.Ready(stuck{}, one)
	assert.Contains(t, metrics(), "dragoman_ready 0\n")
}
