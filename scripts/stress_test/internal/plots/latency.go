package plots

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"dragoman/scripts/stress_test/internal/report"
)

// Sweep draws the latencies of a sweep against its rates and, below, how many requests
// were answered. crossing is that of its p95.
func Sweep(sweep []report.Summary, crossing report.Crossing) ([]byte, error) {
	sweep = report.ByRate(sweep)
	rate := 0.0
	for _, s := range sweep {
		rate = max(rate, s.Rate)
	}
	x := linear("requests due per second", rate)
	return figure{
		title: "Latency against rate",
		legend: []entry{{name: "p50", color: ink}, {name: "p95", color: orange}, {name: "p99", color: purple}, {name: "limit", color: red, dashed: true},
			{name: "due", color: muted, dashed: true}, {name: "answered", color: blue}, {name: "answered within the limit", color: green}},
		panels: []*plot.Plot{latencyPanel(x, sweep, crossing), answersPanel(x, sweep)},
	}.svg()
}

func latencyPanel(x axis, sweep []report.Summary, crossing report.Crossing) *plot.Plot {
	lowest, highest := crossing.Limit, crossing.Limit
	for _, s := range sweep {
		lowest, highest = min(lowest, s.P50/1000), max(highest, s.P99/1000)
	}
	y := latency("latency", lowest, highest)
	p50 := curve(sweep, y, func(s report.Summary) float64 { return s.P50 / 1000 })
	p95 := curve(sweep, y, func(s report.Summary) float64 { return s.P95 / 1000 })
	p99 := curve(sweep, y, func(s report.Summary) float64 { return s.P99 / 1000 })
	panel := newPanel(x, y)
	panel.Add(level(x, crossing.Limit, red))
	panel.Add(line(p99, purple), markers(p99, purple), line(p95, orange), markers(p95, orange), line(p50, ink), markers(p50, ink))
	if crossing.At > 0 {
		panel.Add(note{x: crossing.At, text: "p95 crosses the limit at " + report.Number(crossing.At) + "/s"})
	}
	return panel
}

func answersPanel(x axis, sweep []report.Summary) *plot.Plot {
	most := 0.0
	for _, s := range sweep {
		most = max(most, s.Rate, s.PerSecond)
	}
	y := linear("requests per second", 1.05*most)
	due := curve(sweep, y, func(s report.Summary) float64 { return s.Rate })
	all := curve(sweep, y, func(s report.Summary) float64 { return s.PerSecond })
	good := curve(sweep, y, func(s report.Summary) float64 { return s.Goodput })
	panel := newPanel(x, y)
	panel.Add(dashed(due, muted), line(all, blue), markers(all, blue), line(good, green), markers(good, green))
	return panel
}

// curve is a field of summaries over their rates.
func curve(sweep []report.Summary, y axis, field func(report.Summary) float64) plotter.XYs {
	points := make(plotter.XYs, len(sweep))
	for i, s := range sweep {
		points[i] = plotter.XY{X: s.Rate, Y: y.clamp(field(s))}
	}
	return points
}

// Distribution draws the share of requests that took at most some time, on an axis that
// gives as much room to the last percent as to those between 0 and 90. Failed requests
// count with the timeout, as in the summary.
func Distribution(p report.Phase, limits report.Limits) ([]byte, error) {
	sorted := latencies(p.Requests, limits)
	slices.Sort(sorted)
	if len(sorted) == 0 {
		sorted = []float64{limits.Timeout.Seconds()} // an empty plot would not say why
	}
	n := float64(len(sorted))
	x := percentiles(n)
	y := latency("latency", min(sorted[0], limits.Good.Seconds()), max(sorted[len(sorted)-1], limits.Good.Seconds()))
	var points plotter.XYs
	for i, seconds := range sorted {
		at := plotter.XY{X: nines((float64(i) + 0.5) / n), Y: y.clamp(seconds)}
		if last := len(points) - 1; last >= 0 && i < len(sorted)-1 && at.X-points[last].X < x.max/1000 {
			continue // closer than can be seen
		}
		points = append(points, at)
	}
	panel := newPanel(x, y)
	panel.Add(level(x, limits.Good.Seconds(), red), line(points, blue))
	return figure{
		title:  "Latency by percentile: " + p.Name,
		legend: []entry{{name: "of all requests, failures as timeouts", color: blue}, {name: "limit", color: red, dashed: true}},
		panels: []*plot.Plot{panel},
	}.svg()
}

// nines is where a share of requests below 1 is drawn: 0.9 at 1, 0.99 at 2 and so on.
func nines(share float64) float64 { return -math.Log10(1 - share) }

// percentiles is an axis of shares of n requests.
func percentiles(n float64) axis {
	a := axis{label: "percentile", max: max(nines(1-0.5/n), 1)}
	for _, mark := range []struct {
		share float64
		label string
	}{{0, "0"}, {0.5, "50"}, {0.75, "75"}, {0.9, "90"}, {0.95, "95"}, {0.99, "99"}, {0.995, "99.5"}, {0.999, "99.9"}, {0.9999, "99.99"}, {0.99999, "99.999"}} {
		if at := nines(mark.share); at <= a.max {
			a.ticks = append(a.ticks, plot.Tick{Value: at, Label: mark.label})
		}
	}
	return a
}

// latencies are those of requests in seconds, as the summary counts them.
func latencies(requests []report.Request, limits report.Limits) []float64 {
	list := make([]float64, len(requests))
	for i, r := range requests {
		list[i] = counted(r, limits).Seconds()
	}
	return list
}

// counted is the latency that a request counts with.
func counted(r report.Request, limits report.Limits) time.Duration {
	if r.Err != nil {
		return max(r.Latency, limits.Timeout)
	}
	return r.Latency
}
