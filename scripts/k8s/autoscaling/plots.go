package main

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"dragoman/scripts/figure"
)

// drawPlots draws the first days of what ships, and its highest spike beside alternatives.
func drawPlots(dir string, tables []*table) error {
	metrics, gpu := tables[0], tables[1]
	draw := func(name, title string, panels []figure.Panel) error {
		svg, err := figure.Figure{Title: title, Ticks: plot.TickerFunc(hours), Panels: panels}.SVG()
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name), svg, 0o644)
	}
	return errors.Join(
		draw("day-download.svg", "A day as shipped, pods start in 4 min, measured CPU pods", dayPanels(metrics.row(asShipped, download))),
		draw("day-node-cache.svg", "A day as shipped, pods start in 30 s, measured CPU pods", dayPanels(metrics.row(asShipped, nodeCache))),
		draw("spike.svg", "The highest spike: pods start in 4 min, measured CPU pods",
			spikePanels(metrics, "CPU only (80%)", "queue only", asShipped)),
		draw("spike-gpu.svg", "The highest spike: pods start in 4 min, assumed GPU pods",
			spikePanels(gpu, "CPU only (80%)", "GPU only (80%)", "queue only", asShipped)))
}

// row is that of an alternative and a start.
func (t *table) row(name string, start time.Duration) *row {
	return t.rows[slices.IndexFunc(t.rows, func(r *row) bool { return r.name == name && r.start == start })]
}

// curve is a value of minutes, less those on level ground, which change nothing.
func curve(name string, colour color.Color, style figure.Style, minutes []minute, of func(minute) float64) figure.Curve {
	var points plotter.XYs
	for i, m := range minutes {
		y := of(m)
		if i > 0 && i+1 < len(minutes) && of(minutes[i-1]) == y && of(minutes[i+1]) == y {
			continue
		}
		points = append(points, plotter.XY{X: m.at, Y: y})
	}
	return figure.Curve{Name: name, Colour: colour, Style: style, Points: points}
}

const mostLatency = 1.25 * patience // of an axis

// dayPanels are a day: arrivals and capacity, pods, latency, losses.
func dayPanels(r *row) []figure.Panel {
	day, capacity := r.runs[0].minutes, r.shape.capacity(meanTokens)
	return []figure.Panel{
		{Label: "requests/s", Curves: []figure.Curve{
			curve("capacity of the ready pods", figure.Grey, figure.Step, day, func(m minute) float64 { return float64(m.ready) * capacity }),
			curve("arrivals", figure.Blue, figure.Line, day, func(m minute) float64 { return m.rate }),
		}},
		{Label: "pods", Curves: []figure.Curve{
			curve("wanted", figure.Orange, figure.Step, day, func(m minute) float64 { return float64(m.replicas) }),
			curve("ready", figure.Green, figure.Step, day, func(m minute) float64 { return float64(m.ready) }),
			curve("needed, if always full", figure.Blue, figure.Line, day, func(m minute) float64 { return m.needed }),
		}},
		{Label: "p95, s", Most: mostLatency, Curves: []figure.Curve{
			curve("of each minute; lost ones count as 10 s", figure.Blue, figure.Line, day, func(m minute) float64 { return m.p95 }),
		}},
		{Label: "lost, requests/min", Curves: []figure.Curve{
			curve("no answer within 10 s", figure.Orange, figure.Line, day, func(m minute) float64 { return float64(m.late) }),
			curve("refused (503)", figure.Purple, figure.Line, day, func(m minute) float64 { return float64(m.refused) }),
		}},
	}
}

// spikePanels are how alternatives, at most four, do around the highest spike: pods,
// latency and losses.
func spikePanels(t *table, alternatives ...string) []figure.Panel {
	const before, after = 15 * 60, 75 * 60
	panels := []figure.Panel{{Label: "ready pods"}, {Label: "p95, s", Most: mostLatency}, {Label: "lost, requests/min"}}
	add := func(panel int, c figure.Curve) { panels[panel].Curves = append(panels[panel].Curves, c) }
	colours := []color.Color{figure.Orange, figure.Purple, figure.Green, figure.Blue}
	for i, name := range alternatives {
		r := t.row(name, download)
		at := newDay(r.shape, 1).spikes[0].at
		minutes := slices.DeleteFunc(slices.Clone(r.runs[0].minutes), func(m minute) bool { return m.at < at-before || m.at > at+after })
		if i == 0 {
			add(0, curve("needed, if always full", figure.Grey, figure.Line, minutes, func(m minute) float64 { return m.needed }))
		}
		add(0, curve(name, colours[i], figure.Step, minutes, func(m minute) float64 { return float64(m.ready) }))
		add(1, curve("", colours[i], figure.Line, minutes, func(m minute) float64 { return m.p95 }))
		add(2, curve("", colours[i], figure.Line, minutes, func(m minute) float64 { return float64(m.refused + m.late) }))
	}
	return panels
}

// hours marks whole hours, or every ten minutes of a short time.
func hours(least, most float64) (ticks []plot.Tick) {
	every := 600.0
	if most-least > 6*3600 {
		every = 2 * 3600
	}
	for at := math.Ceil(least/every) * every; at <= most; at += every {
		ticks = append(ticks, plot.Tick{Value: at, Label: fmt.Sprintf("%02d:%02d", int(at)/3600, int(at)/60%60)})
	}
	return ticks
}
