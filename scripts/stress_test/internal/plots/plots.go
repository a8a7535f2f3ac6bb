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
	t := newTimes(phases, limits)
	return figure.Figure{Title: "Timeline", Label: "seconds since the test began", Height: height, Panels: []figure.Panel{
		{Label: "latency, s", Log: true, Curves: []figure.Curve{
			{Name: "answered", Colour: figure.Blue, Style: figure.Dots, Points: t.answered},
			{Name: "failed", Colour: figure.Orange, Style: figure.Dots, Points: t.failed},
			{Name: "p95", Colour: figure.Purple, Points: t.percentile(95)},
			{Name: "p50", Colour: figure.Green, Points: t.percentile(50)},
			level(limits.Good, 0, t.end.Seconds()),
		}},
		{Label: "requests/s", Curves: []figure.Curve{
			{Name: "due", Colour: figure.Grey, Style: figure.Step, Points: t.rate(t.due)},
			{Name: "answered", Colour: figure.Blue, Style: figure.Step, Points: t.rate(t.done)},
			{Name: "failed", Colour: figure.Orange, Style: figure.Step, Points: t.rate(t.lost)},
		}},
	}}.SVG()
}

// times are the requests of a test, some one by one and all in buckets of time.
type times struct {
	end              time.Duration
	answered, failed plotter.XYs
	bucket           float64 // seconds
	due, done, lost  []float64
	latencies        [][]time.Duration // of the requests that were due, sorted
}

func newTimes(phases []report.Phase, limits report.Limits) *times {
	t := &times{}
	var requests []report.Request // with Due since the test began
	for _, p := range phases {
		t.end = max(t.end, p.Begin+p.Over)
		for _, r := range p.Requests {
			r.Due += p.Begin
			t.end = max(t.end, r.Due+r.Latency)
			requests = append(requests, r)
		}
	}
	t.bucket = max(math.Ceil(t.end.Seconds()/mostBuckets), 0.5)
	n := t.at(t.end) + 1
	t.due, t.done, t.lost, t.latencies = make([]float64, n), make([]float64, n), make([]float64, n), make([][]time.Duration, n)
	every := len(requests)/mostDots + 1
	for i, r := range requests {
		t.add(r, counted(r, limits), i%every == 0)
	}
	for _, list := range t.latencies {
		slices.Sort(list)
	}
	return t
}

// at is the bucket of a time.
func (t *times) at(d time.Duration) int { return int(d.Seconds() / t.bucket) }

// add counts a request, and shows it as a dot.
func (t *times) add(r report.Request, latency time.Duration, dot bool) {
	i, dots := t.at(r.Due), &t.answered
	t.due[i]++
	t.latencies[i] = append(t.latencies[i], latency)
	if r.Err != nil {
		t.lost[i]++
		dots = &t.failed
	} else {
		t.done[t.at(r.Due+r.Latency)]++
	}
	if dot {
		*dots = append(*dots, seconds(r.Due.Seconds(), latency))
	}
}

// percentile is that of the latencies of each bucket.
func (t *times) percentile(p float64) (points plotter.XYs) {
	for i, list := range t.latencies {
		if len(list) > 0 {
			points = append(points, seconds((float64(i)+0.5)*t.bucket, openloop.Percentile(list, p)))
		}
	}
	return points
}

// rate is what was counted in buckets per second, until the end of the last one.
func (t *times) rate(counts []float64) (points plotter.XYs) {
	for i, n := range append(counts, counts[len(counts)-1]) {
		points = append(points, plotter.XY{X: float64(i) * t.bucket, Y: n / t.bucket})
	}
	return points
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
