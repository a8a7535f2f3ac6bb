package report

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot/plotter"
)

const (
	mostBuckets = 120  // maximum number of points of a curve
	least       = 1e-4 // in seconds, the start of logarithmic axes
)

// Plot draws, as SVG, a sweep's latencies against its rates, or else a phase's latencies over time; below them, the requests due
// and answered each second.
func Plot(phases []Phase, sums []Summary, limits Limits) ([]byte, error) {
	if len(phases) > 1 {
		return sweep(byRate(sums), limits)
	}
	return timeline(phases[0], limits)
}

func sweep(sums []Summary, limits Limits) ([]byte, error) {
	points := func(of func(Summary) float64) (list plotter.XYs) {
		for _, s := range sums {
			list = append(list, plotter.XY{X: s.Rate, Y: max(of(s), least)})
		}
		return list
	}
	return figure{Title: "Latency against rate", Label: "requests due per second", Panels: []panel{
		{Label: "latency, s", Log: true, Curves: []curve{
			{Name: "p50", Colour: green, Points: points(func(s Summary) float64 { return s.P50 / 1000 })},
			{Name: "p95", Colour: purple, Points: points(func(s Summary) float64 { return s.P95 / 1000 })},
			{Name: "p99", Colour: orange, Points: points(func(s Summary) float64 { return s.P99 / 1000 })},
			level(limits.Good, sums[0].Rate, sums[len(sums)-1].Rate),
		}},
		{Label: "requests/s", Curves: []curve{
			{Name: "due", Colour: grey, Style: dashed, Points: points(func(s Summary) float64 { return s.Rate })},
			{Name: "answered", Colour: blue, Points: points(func(s Summary) float64 { return s.PerSecond })},
			{Name: "answered within the limit", Colour: green, Points: points(func(s Summary) float64 { return s.Goodput })},
		}},
	}}.SVG()
}

func timeline(p Phase, limits Limits) ([]byte, error) {
	end := p.Over
	for _, r := range p.Requests {
		end = max(end, r.Due+r.Latency)
	}
	width := max(math.Ceil(end.Seconds()/mostBuckets), 0.5) // of a bucket, in seconds
	at := func(d time.Duration) int { return int(d.Seconds() / width) }
	due, answered, failed := make([]float64, at(end)+2), make([]float64, at(end)+2), make([]float64, at(end)+2)
	latencies := make([][]float64, at(end)+1) // in seconds, of the requests due in each bucket
	for _, r := range p.Requests {
		i := at(r.Due)
		latencies[i] = append(latencies[i], max(limits.latency(r).Seconds(), least))
		due[i] += 1 / width
		if r.Err != nil {
			failed[i] += 1 / width
		} else {
			answered[at(r.Due+r.Latency)] += 1 / width
		}
	}
	percentile := func(share float64) (points plotter.XYs) {
		for i, list := range latencies {
			if len(list) > 0 {
				points = append(points, plotter.XY{X: (float64(i) + 0.5) * width, Y: quantile(share, slices.Sorted(slices.Values(list)))})
			}
		}
		return points
	}
	steps := func(rates []float64) (points plotter.XYs) {
		for i, rate := range rates {
			points = append(points, plotter.XY{X: float64(i) * width, Y: rate})
		}
		return points
	}
	return figure{Title: "Timeline: " + p.Name, Label: "seconds", Panels: []panel{
		{Label: "latency, s", Log: true, Curves: []curve{
			{Name: "p95", Colour: purple, Points: percentile(0.95)},
			{Name: "p50", Colour: green, Points: percentile(0.5)},
			level(limits.Good, 0, end.Seconds()),
		}},
		{Label: "requests/s", Curves: []curve{
			{Name: "due", Colour: grey, Style: step, Points: steps(due)},
			{Name: "answered", Colour: blue, Style: step, Points: steps(answered)},
			{Name: "failed", Colour: orange, Style: step, Points: steps(failed)},
		}},
	}}.SVG()
}

// level returns a horizontal line at the limit.
func level(limit time.Duration, from, to float64) curve {
	y := max(limit.Seconds(), least)
	return curve{Name: "limit", Colour: grey, Style: dashed, Points: plotter.XYs{{X: from, Y: y}, {X: to, Y: y}}}
}
