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
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The colours of lines, also apart for most colour-blind readers.
var (
	blue   = color.RGBA{0x00, 0x72, 0xb2, 0xff}
	orange = color.RGBA{0xd5, 0x5e, 0x00, 0xff}
	green  = color.RGBA{0x00, 0x9e, 0x73, 0xff}
	purple = color.RGBA{0xcc, 0x79, 0xa7, 0xff}
	grey   = color.RGBA{0x99, 0x99, 0x99, 0xff}
)

// curve is a line of a panel.
type curve struct {
	name   string
	colour color.Color
	step   bool // values hold until the next one
	of     func(minute) float64
	data   []minute
}

// panel is one of the plots of a figure, which are one below the other.
type panel struct {
	label  string
	most   float64 // of the axis; 0: as the values are
	curves []curve
}

// drawPlots draws the first days of what ships, and its highest spike beside alternatives.
func drawPlots(dir string, tables []*table) error {
	metrics, gpu := tables[0], tables[1]
	return errors.Join(
		save(filepath.Join(dir, "day-download.svg"), "A day as shipped, pods start in 4 min, measured CPU pods", dayPanels(metrics.row(asShipped, download))),
		save(filepath.Join(dir, "day-node-cache.svg"), "A day as shipped, pods start in 30 s, measured CPU pods", dayPanels(metrics.row(asShipped, nodeCache))),
		save(filepath.Join(dir, "spike.svg"), "The highest spike: pods start in 4 min, measured CPU pods",
			spikePanels(metrics, "CPU only (80%)", "queue only", asShipped)),
		save(filepath.Join(dir, "spike-gpu.svg"), "The highest spike: pods start in 4 min, assumed GPU pods",
			spikePanels(gpu, "CPU only (80%)", "GPU only (80%)", "queue only", asShipped)))
}

// row is that of an alternative and a start.
func (t *table) row(name string, start time.Duration) *row {
	return t.rows[slices.IndexFunc(t.rows, func(r *row) bool { return r.name == name && r.start == start })]
}

// dayPanels are a day: arrivals and capacity, pods, latency, losses.
func dayPanels(r *row) []panel {
	minutes, capacity := r.runs[0].minutes, r.shape.capacity(meanTokens)
	return []panel{
		{label: "requests/s", curves: []curve{
			{"capacity of the ready pods", grey, true, func(m minute) float64 { return float64(m.ready) * capacity }, minutes},
			{"arrivals", blue, false, func(m minute) float64 { return m.rate }, minutes},
		}},
		{label: "pods", curves: []curve{
			{"wanted", orange, true, func(m minute) float64 { return float64(m.replicas) }, minutes},
			{"ready", green, true, func(m minute) float64 { return float64(m.ready) }, minutes},
			{"needed, if always full", blue, false, func(m minute) float64 { return m.needed }, minutes},
		}},
		{label: "p95, s", most: patience * 1.25, curves: []curve{
			{"of each minute; lost ones count as 10 s", blue, false, func(m minute) float64 { return m.p95 }, minutes},
		}},
		{label: "lost, requests/min", curves: []curve{
			{"no answer within 10 s", orange, false, func(m minute) float64 { return float64(m.late) }, minutes},
			{"refused (503)", purple, false, func(m minute) float64 { return float64(m.refused) }, minutes},
		}},
	}
}

// spikePanels are how alternatives, at most four, do around the highest spike: pods,
// latency and losses.
func spikePanels(t *table, alternatives ...string) []panel {
	const before, after = 15 * 60, 75 * 60
	pods := panel{label: "ready pods"}
	latency := panel{label: "p95, s", most: patience * 1.25}
	lost := panel{label: "lost, requests/min"}
	colours := []color.Color{orange, purple, green, blue}
	for i, name := range alternatives {
		r := t.row(name, download)
		at := newDay(r.shape, 1).spikes[0].at
		minutes := slices.DeleteFunc(slices.Clone(r.runs[0].minutes), func(m minute) bool { return m.at < at-before || m.at > at+after })
		if i == 0 {
			pods.curves = append(pods.curves, curve{"needed, if always full", grey, false, func(m minute) float64 { return m.needed }, minutes})
		}
		pods.curves = append(pods.curves, curve{name, colours[i], true, func(m minute) float64 { return float64(m.ready) }, minutes})
		latency.curves = append(latency.curves, curve{"", colours[i], false, func(m minute) float64 { return m.p95 }, minutes})
		lost.curves = append(lost.curves, curve{"", colours[i], false, func(m minute) float64 { return float64(m.refused + m.late) }, minutes})
	}
	return []panel{pods, latency, lost}
}

// save draws panels below each other, as SVG.
func save(path, title string, panels []panel) error {
	const width, height, gap = 9 * vg.Inch, 1.9 * vg.Inch, 0.1 * vg.Inch
	plots := make([][]*plot.Plot, len(panels))
	for i, p := range panels {
		drawn, err := p.plot()
		if err != nil {
			return fmt.Errorf("plot of %s: %w", p.label, err)
		}
		if i == 0 {
			drawn.Title.Text = title
		}
		plots[i] = []*plot.Plot{drawn}
	}
	canvas := vgsvg.New(width, vg.Length(len(panels))*height)
	dc := draw.New(canvas)
	dc.SetColor(color.White)
	dc.Fill(dc.Rectangle.Path())
	tiles := draw.Tiles{Rows: len(panels), Cols: 1, PadY: gap, PadTop: gap, PadBottom: gap, PadLeft: gap, PadRight: 2 * gap}
	for i, row := range plot.Align(plots, tiles, dc) {
		plots[i][0].Draw(row[0])
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = canvas.WriteTo(f)
	return errors.Join(err, f.Close())
}

func (p panel) plot() (*plot.Plot, error) {
	out := plot.New()
	out.Y.Label.Text = p.label
	// From the left: viewers without the font that was measured may write wider.
	out.Legend.Top, out.Legend.Left = true, true
	out.Legend.XOffs, out.Legend.TextStyle.Font.Size = vg.Points(6), vg.Points(10)
	out.X.Tick.Marker = plot.TickerFunc(hours)
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{0xdd}, color.Gray{0xdd}
	out.Add(grid)
	highest := 0.0
	for _, c := range p.curves {
		points := c.points()
		for _, point := range points {
			highest = max(highest, point.Y)
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = c.colour, vg.Points(1.3)
		if c.step {
			line.StepStyle = plotter.PostStep
		}
		out.Add(line)
		if c.name != "" {
			out.Legend.Add(c.name, line)
		}
	}
	out.Y.Min, out.Y.Max = 0, p.most
	if p.most == 0 {
		out.Y.Max = max(1, highest) * (1.1 + 0.13*float64(len(p.curves))) // room for the legend
	}
	return out, nil
}

// points are the values of a curve, less those on level ground, which change nothing.
func (c curve) points() plotter.XYs {
	var points plotter.XYs
	for i, m := range c.data {
		y := c.of(m)
		if i > 0 && i+1 < len(c.data) && c.of(c.data[i-1]) == y && c.of(c.data[i+1]) == y {
			continue
		}
		points = append(points, plotter.XY{X: m.at, Y: y})
	}
	return points
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
