package plots

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"dragoman/scripts/bench/openloop"
	"dragoman/scripts/stress_test/internal/report"
	"dragoman/scripts/stress_test/internal/sender"
)

// keep is a folder to look at the plots in: go test ./scripts/stress_test/internal/plots -keep=DIR
var keep = flag.String("keep", "", "folder to write the plots of the tests to")

// parse reads an SVG as XML and returns its texts.
func parse(t *testing.T, svg []byte) []string {
	t.Helper()
	var texts []string
	inText := false
	decoder := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			inText = token.Name.Local == "text"
		case xml.CharData:
			if inText {
				texts = append(texts, string(token))
			}
		case xml.EndElement:
			inText = false
		}
	}
}

// made makes a phase of requests that are due at a rate, of which a share fails.
func made(name string, begin time.Duration, rate float64, over time.Duration, lost float64) report.Phase {
	r := rand.New(rand.NewPCG(1, 0))
	p := report.Phase{Name: name, Rate: rate, Begin: begin, Over: over}
	for due := range openloop.Poisson(rate, over, 1) {
		latency := time.Duration(r.ExpFloat64() * (1 + due.Seconds()) * float64(20*time.Millisecond))
		request := report.Request{Sample: openloop.Sample{Due: due, Latency: latency}}
		if r.Float64() < lost {
			request.Err = &sender.Failure{Kind: "timeout", Cause: errors.New("late")}
		}
		p.Requests = append(p.Requests, request)
	}
	return p
}

var limits = report.Limits{Good: 500 * time.Millisecond, Timeout: 10 * time.Second}

func TestPlots(t *testing.T) {
	phases := []report.Phase{
		made("10/s", 0, 10, 10*time.Second, 0), made("40/s", 11*time.Second, 40, 10*time.Second, 0.02),
		made("80/s", 22*time.Second, 80, 10*time.Second, 0.2),
	}
	var sweep []report.Summary
	for _, p := range phases {
		sweep = append(sweep, report.Summarize(p, limits))
	}
	slow := report.Phase{Name: "hangs", Over: time.Second, Requests: []report.Request{
		{Sample: openloop.Sample{Latency: time.Hour, Err: openloop.ErrNotSent}}, {Sample: openloop.Sample{Latency: time.Hour}}}}
	empty := report.Phase{Name: `<"&>`}
	tests := map[string]struct {
		draw func() ([]byte, error)
		text string // is there
	}{
		"sweep":          {func() ([]byte, error) { return Sweep(sweep, report.Cross(sweep, limits.Good)) }, "Latency against rate"},
		"sweep of one":   {func() ([]byte, error) { return Sweep(sweep[:1], report.Cross(sweep[:1], limits.Good)) }, "p95"},
		"sweep of none":  {func() ([]byte, error) { return Sweep(nil, report.Crossing{Limit: 1}) }, "p95"},
		"distribution":   {func() ([]byte, error) { return Distribution(phases[2], limits) }, "Latency by percentile: 80/s"},
		"one request":    {func() ([]byte, error) { return Distribution(report.Phase{Requests: phases[0].Requests[:1]}, limits) }, "50"},
		"no requests":    {func() ([]byte, error) { return Distribution(empty, limits) }, `Latency by percentile: <"&>`},
		"hour":           {func() ([]byte, error) { return Distribution(slow, limits) }, "1000 s"},
		"timeline":       {func() ([]byte, error) { return Timeline(phases, limits) }, "40/s"},
		"one phase":      {func() ([]byte, error) { return Timeline(phases[:1], limits) }, "Timeline"},
		"long":           {func() ([]byte, error) { return Timeline([]report.Phase{made("x", 0, 50, time.Hour/10, 0.1)}, limits) }, "Timeline"},
		"hour timeline":  {func() ([]byte, error) { return Timeline([]report.Phase{slow, empty}, limits) }, `<"&>`},
		"empty timeline": {func() ([]byte, error) { return Timeline(nil, limits) }, "Timeline"},
	}
	for name, test := range tests {
		svg, err := test.draw()
		require.NoError(t, err, name)
		texts := parse(t, svg)
		assert.Contains(t, texts, test.text, name)
		assert.NotContains(t, string(svg), "NaN", name)
		assert.NotContains(t, string(svg), "Inf", name)
		assert.Less(t, len(svg), 1<<19, "%s has %d bytes", name, len(svg))
		if *keep != "" {
			require.NoError(t, os.WriteFile(filepath.Join(*keep, name+".svg"), svg, 0o600))
		}
	}
}

func labels(ticks []plot.Tick) []string {
	var list []string
	for _, tick := range ticks {
		if tick.Label != "" {
			list = append(list, tick.Label)
		}
	}
	return list
}

func TestLinear(t *testing.T) {
	tests := []struct {
		highest float64
		want    []string
	}{
		{10, []string{"0", "2", "4", "6", "8", "10"}},
		{62, []string{"0", "20", "40", "60"}},
		{1, []string{"0", "0.2", "0.4", "0.6", "0.8", "1"}},
		{0, []string{"0", "0.2", "0.4", "0.6", "0.8", "1"}},
		{3600, []string{"0", "1000", "2000", "3000"}},
	}
	for _, test := range tests {
		assert.Equal(t, test.want, labels(linear("", test.highest).ticks), test.highest)
	}
}

func TestLatencyAxis(t *testing.T) {
	tests := []struct {
		lowest, highest, min, max float64
		want                      []string
	}{
		{0.012, 0.3, 0.01, 0.5, []string{"10 ms", "20 ms", "50 ms", "100 ms", "200 ms", "500 ms"}},
		{1, 2, 1, 5, []string{"1 s", "2 s", "5 s"}},
		{1, 1, 1, 2, []string{"1 s", "2 s"}},
		{0.003, 60, 0.002, 100, []string{"10 ms", "100 ms", "1 s", "10 s", "100 s"}},
		{0, 0, 0.0001, 0.0002, []string{"0.1 ms", "0.2 ms"}},
	}
	for _, test := range tests {
		a := latency("", test.lowest, test.highest)
		assert.InEpsilon(t, test.min, a.min, 1e-9, fmt.Sprint(test))
		assert.InEpsilon(t, test.max, a.max, 1e-9, fmt.Sprint(test))
		assert.Equal(t, test.want, labels(a.ticks))
	}
}

func TestPercentiles(t *testing.T) {
	assert.InDelta(t, 1, nines(0.9), 1e-12)
	assert.InDelta(t, 3, nines(0.999), 1e-12)
	assert.Equal(t, []string{"0", "50", "75", "90"}, labels(percentiles(1).ticks))
	assert.Equal(t, []string{"0", "50", "75", "90", "95", "99", "99.5"}, labels(percentiles(100).ticks))
}

func TestTimes(t *testing.T) {
	request := func(due, latency time.Duration, err error) report.Request {
		return report.Request{Sample: openloop.Sample{Due: due, Latency: latency, Err: err}}
	}
	p := report.Phase{Begin: time.Second, Over: time.Second, Requests: []report.Request{
		request(0, 100*time.Millisecond, nil), request(100*time.Millisecond, 1800*time.Millisecond, nil), request(600*time.Millisecond, 0, openloop.ErrNotSent),
	}}
	all := newTimes([]report.Phase{p}, limits)
	assert.Equal(t, 0.5, all.bucket)
	assert.Equal(t, 3.0, all.end, "the last answer comes at 2.9 s")
	assert.Equal(t, 10.0, all.highest, "failures count as timeouts")

	due, answered, lost := all.rates()
	// rate is that of each bucket, once.
	rate := func(steps plotter.XYs) (list []float64) {
		for i := 0; i < len(steps); i += 2 {
			list = append(list, steps[i].Y)
		}
		return list
	}
	assert.Equal(t, []float64{0, 0, 4, 2, 0, 0}, rate(due))
	assert.Equal(t, []float64{0, 0, 2, 0, 0, 2}, rate(answered))
	assert.Equal(t, []float64{0, 0, 0, 2, 0, 0}, rate(lost))

	y := latency("", all.lowest, all.highest)
	assert.Equal(t, []plotter.XYs{{{X: 1.25, Y: 1.8}, {X: 1.75, Y: 10}}}, all.percentile(y, 95))
	ok, failed := all.dots(y)
	assert.Len(t, ok, 2)
	assert.Len(t, failed, 1)

	many := newTimes([]report.Phase{made("x", 0, 100, 100*time.Second, 0.5)}, limits)
	ok, failed = many.dots(y)
	assert.LessOrEqual(t, len(ok)+len(failed), mostDots)
	assert.Greater(t, len(ok)+len(failed), mostDots/2)
	assert.InDelta(t, 1, float64(len(ok))/float64(len(failed)), 0.3)
	assert.False(t, math.IsNaN(ok[0].Y))
}
