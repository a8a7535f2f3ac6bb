package plots

import (
	"encoding/xml"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/scripts/stress_test/internal/openloop"
	"dragoman/scripts/stress_test/internal/report"
)

func limits() report.Limits { return report.Limits{Good: 2 * time.Second, Timeout: 10 * time.Second} }

// phase has requests every 10 ms, of which each seventh failed.
func phase(name string, begin time.Duration, requests int) report.Phase {
	p := report.Phase{Name: name, Rate: 100, Begin: begin, Over: time.Duration(requests) * 10 * time.Millisecond, Planned: requests}
	for i := range requests {
		r := report.Request{Sample: openloop.Sample{Due: time.Duration(i) * 10 * time.Millisecond, Latency: time.Duration(i%50) * time.Millisecond}}
		if i%7 == 6 {
			r.Err = errors.New("status 503 busy")
		}
		p.Requests = append(p.Requests, r)
	}
	return p
}

func TestPlots(t *testing.T) {
	phases := []report.Phase{phase("100/s", 0, 500), phase("200/s", 6*time.Second, 5000)}
	var sums []report.Summary
	for _, p := range phases {
		sums = append(sums, report.Summarize(p, limits()))
	}
	for name, draw := range map[string]func() ([]byte, error){
		"timeline":               func() ([]byte, error) { return Timeline(phases, limits()) },
		"timeline of nothing":    func() ([]byte, error) { return Timeline([]report.Phase{{Name: "1/s"}}, limits()) },
		"sweep":                  func() ([]byte, error) { return Sweep(sums, 2*time.Second) },
		"sweep of one rate":      func() ([]byte, error) { return Sweep(sums[:1], 2*time.Second) },
		"distribution":           func() ([]byte, error) { return Distribution(phases[0], limits()) },
		"distribution of one":    func() ([]byte, error) { return Distribution(phase("1/s", 0, 1), limits()) },
		"distribution of nobody": func() ([]byte, error) { return Distribution(report.Phase{Name: "1/s"}, limits()) },
	} {
		t.Run(name, func(t *testing.T) {
			svg, err := draw()
			require.NoError(t, err)
			assert.NoError(t, xml.Unmarshal(svg, new(struct{})))
			assert.Contains(t, string(svg), ">limit</text>")
			assert.NotContains(t, string(svg), "NaN")
			assert.Less(t, len(svg), 1<<20)
		})
	}
}
