// Package plots draws the results of a stress test as SVG.
package plots

import (
	"math"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"dragoman/scripts/figure"
	"dragoman/scripts/stress_test/internal/openloop"
	"dragoman/scripts/stress_test/internal/report"
)

const (
	mostDots    = 1000 // requests that a timeline shows one by one
	mostBuckets = 120  // times that its lines have a point for
	least       = 1e-4 // seconds, where logarithmic axes begin
	height      = 3 * vg.Inch
)

// Timeline draws the latency of requests over the time when they were due and, below,
// how many were due, answered and failed each second. Phases stand side by side.
func Timeline(phases []report.Phase, limits report.Limits) ([]byte, error) {
	var answered, failed plotter.XYs
	var requests []report.Request // with Due since the test began
	var end time.Duration
	for _, p := range phases {
		end = max(end, p.Begin+p.Over)
		for _, r := range p.Requests {
			r.Due += p.Begin
			end = max(end, r.Due+r.Latency)
			requests = append(requests, r)
		}
	}
	bucket := max(math.Ceil(end.Seconds()/mostBuckets), 0.5) // seconds
	n := int(end.Seconds()/bucket) + 1
	due, done, lost := make([]float64, n), make([]float64, n), make([]float64, n)
	latencies := make([][]time.Duration, n)
	every := len(requests)/mostDots + 1
	for i, r := range requests {
		at, latency := int(r.Due.Seconds()/bucket), counted(r, limits)
		due[at]++
		latencies[at] = append(latencies[at], latency)
		dots := &answered
		if r.Err != nil {
			lost[at]++
			dots = &failed
		} else {
			done[int((r.Due+r.Latency).Seconds()/bucket)]++
		}
		if i%every == 0 {
			*dots = append(*dots, seconds(r.Due.Seconds(), latency))
		}
	}
	var p50, p95 plotter.XYs
	for i, list := range latencies {
		if slices.Sort(list); len(list) > 0 {
			middle := (float64(i) + 0.5) * bucket
			p50 = append(p50, seconds(middle, openloop.Percentile(list, 50)))
			p95 = append(p95, seconds(middle, openloop.Percentile(list, 95)))
		}
	}
	steps := func(counts []float64) plotter.XYs {
		var points plotter.XYs
		for i, count := range append(counts, counts[n-1]) {
			points = append(points, plotter.XY{X: float64(i) * bucket, Y: count / bucket})
		}
		return points
	}
	return figure.Figure{Title: "Timeline", Label: "seconds since the test began", Height: height, Panels: []figure.Panel{
		{Label: "latency, s", Log: true, Curves: []figure.Curve{
			{Name: "answered", Colour: figure.Blue, Style: figure.Dots, Points: answered},
			{Name: "failed", Colour: figure.Orange, Style: figure.Dots, Points: failed},
			{Name: "p95", Colour: figure.Purple, Points: p95},
			{Name: "p50", Colour: figure.Green, Points: p50},
			level(limits.Good, 0, end.Seconds()),
		}},
		{Label: "requests/s", Curves: []figure.Curve{
			{Name: "due", Colour: figure.Grey, Style: figure.Step, Points: steps(due)},
			{Name: "answered", Colour: figure.Blue, Style: figure.Step, Points: steps(done)},
			{Name: "failed", Colour: figure.Orange, Style: figure.Step, Points: steps(lost)},
		}},
	}}.SVG()
}

// Sweep draws the latencies of a sweep against its rates and, below, how many requests
// were answered.
func Sweep(sweep []report.Summary, limit time.Duration) ([]byte, error) {
	sweep = report.ByRate(sweep)
	curve := func(of func(report.Summary) float64) (points plotter.XYs) {
		for _, s := range sweep {
			points = append(points, plotter.XY{X: s.Rate, Y: max(of(s), least)})
		}
		return points
	}
	return figure.Figure{Title: "Latency against rate", Label: "requests due per second", Height: height, Panels: []figure.Panel{
		{Label: "latency, s", Log: true, Curves: []figure.Curve{
			{Name: "p50", Colour: figure.Green, Points: curve(func(s report.Summary) float64 { return s.P50 / 1000 })},
			{Name: "p95", Colour: figure.Purple, Points: curve(func(s report.Summary) float64 { return s.P95 / 1000 })},
			{Name: "p99", Colour: figure.Orange, Points: curve(func(s report.Summary) float64 { return s.P99 / 1000 })},
			level(limit, sweep[0].Rate, sweep[len(sweep)-1].Rate),
		}},
		{Label: "requests/s", Curves: []figure.Curve{
			{Name: "due", Colour: figure.Grey, Style: figure.Dashed, Points: curve(func(s report.Summary) float64 { return s.Rate })},
			{Name: "answered", Colour: figure.Blue, Points: curve(func(s report.Summary) float64 { return s.PerSecond })},
			{Name: "answered within the limit", Colour: figure.Green, Points: curve(func(s report.Summary) float64 { return s.Goodput })},
		}},
	}}.SVG()
}

// Distribution draws the latency that a share of requests did not exceed, on an axis that
// gives as much room to the last percent as to those between 0 and 90. Failed requests
// count with the timeout, as in the summary.
func Distribution(p report.Phase, limits report.Limits) ([]byte, error) {
	var sorted []time.Duration
	for _, r := range p.Requests {
		sorted = append(sorted, counted(r, limits))
	}
	slices.Sort(sorted)
	nines := func(share float64) float64 { return -math.Log10(1 - share) }
	var points plotter.XYs
	for i, latency := range sorted {
		points = append(points, seconds(nines((float64(i)+0.5)/float64(len(sorted))), latency))
	}
	var ticks plot.ConstantTicks
	for _, share := range []float64{0, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999} {
		ticks = append(ticks, plot.Tick{Value: nines(share), Label: strconv.FormatFloat(100*share, 'g', 5, 64)})
	}
	return figure.Figure{Title: "Latency by percentile: " + p.Name, Label: "percentile", Ticks: ticks, Height: height, Panels: []figure.Panel{
		{Label: "latency, s", Log: true, Curves: []figure.Curve{
			{Name: "of all requests, failures as timeouts", Colour: figure.Blue, Points: points},
			level(limits.Good, 0, nines(1-0.5/float64(max(1, len(sorted))))),
		}},
	}}.SVG()
}

// level is the limit, from side to side.
func level(limit time.Duration, from, to float64) figure.Curve {
	return figure.Curve{Name: "limit", Colour: figure.Grey, Style: figure.Dashed, Points: plotter.XYs{seconds(from, limit), seconds(to, limit)}}
}

// seconds is a point of a logarithmic axis.
func seconds(x float64, y time.Duration) plotter.XY {
	return plotter.XY{X: x, Y: max(y.Seconds(), least)}
}

// counted is the latency that a request counts with.
func counted(r report.Request, limits report.Limits) time.Duration {
	if r.Err != nil {
		return max(r.Latency, limits.Timeout)
	}
	return r.Latency
}
