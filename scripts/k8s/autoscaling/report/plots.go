// Package report writes the results of a study: plots, tables in a document and a CSV.
package report

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"dragoman/scripts/k8s/autoscaling/cluster"
	"dragoman/scripts/k8s/autoscaling/traffic"
)

// The colours of lines, also apart for most colour-blind readers.
func blue() color.Color   { return color.RGBA{0x00, 0x72, 0xb2, 0xff} }
func orange() color.Color { return color.RGBA{0xd5, 0x5e, 0x00, 0xff} }
func green() color.Color  { return color.RGBA{0x00, 0x9e, 0x73, 0xff} }
func purple() color.Color { return color.RGBA{0xcc, 0x79, 0xa7, 0xff} }
func grey() color.Color   { return color.RGBA{0x99, 0x99, 0x99, 0xff} }

// curve is a line of a panel.
type curve struct {
	name   string
	colour color.Color
	step   bool // values hold until the next one
	of     func(cluster.Minute) float64
	data   []cluster.Minute
}

// panel is one of the plots of a figure, which are one below the other.
type panel struct {
	label  string
	most   float64 // of the axis; 0: as the values are
	curves []curve
}

// Day draws a day: arrivals and capacity, pods, latency, losses. capacity is that of a
// full pod in requests per second.
func Day(w io.Writer, title string, minutes []cluster.Minute, capacity, patience float64) error {
	return figure(w, title, []panel{
		{label: "requests/s", curves: []curve{
			{"capacity of the ready pods", grey(), true, func(m cluster.Minute) float64 { return float64(m.Ready) * capacity }, minutes},
			{"arrivals", blue(), false, func(m cluster.Minute) float64 { return m.Rate }, minutes},
		}},
		{label: "pods", curves: []curve{
			{"wanted", orange(), true, func(m cluster.Minute) float64 { return float64(m.Replicas) }, minutes},
			{"ready", green(), true, func(m cluster.Minute) float64 { return float64(m.Ready) }, minutes},
			{"needed, if always full", blue(), false, func(m cluster.Minute) float64 { return m.Needed }, minutes},
		}},
		{label: "p95, s", most: patience * 1.25, curves: []curve{
			{"of each minute; lost ones count as 10 s", blue(), false, func(m cluster.Minute) float64 { return m.P95 }, minutes},
		}},
		{label: "lost, requests/min", curves: []curve{
			{"no answer within 10 s", orange(), false, func(m cluster.Minute) float64 { return float64(m.Late) }, minutes},
			{"refused (503)", purple(), false, func(m cluster.Minute) float64 { return float64(m.Refused) }, minutes},
		}},
	})
}

// Alternative is one of a comparison.
type Alternative struct {
	Name    string
	Minutes []cluster.Minute
}

// Comparison draws how some alternatives, at most four, do in the same hours: pods, latency
// and losses.
func Comparison(w io.Writer, title string, alternatives []Alternative, from, until, patience float64) error {
	colours := []color.Color{orange(), purple(), green(), blue()}
	if n := len(alternatives); n == 0 || n > len(colours) {
		return fmt.Errorf("a plot of %d alternatives: use 1 to %d", n, len(colours))
	}
	pods := panel{label: "ready pods"}
	latency := panel{label: "p95, s", most: patience * 1.25}
	lost := panel{label: "lost, requests/min"}
	for i, a := range alternatives {
		minutes := between(a.Minutes, from, until)
		if len(minutes) == 0 {
			return fmt.Errorf("a plot of %s from %s to %s: there are no minutes", a.Name, traffic.Clock(from), traffic.Clock(until))
		}
		if i == 0 {
			pods.curves = append(pods.curves, curve{"needed, if always full", grey(), false, func(m cluster.Minute) float64 { return m.Needed }, minutes})
		}
		pods.curves = append(pods.curves, curve{a.Name, colours[i], true, func(m cluster.Minute) float64 { return float64(m.Ready) }, minutes})
		latency.curves = append(latency.curves, curve{"", colours[i], false, func(m cluster.Minute) float64 { return m.P95 }, minutes})
		lost.curves = append(lost.curves, curve{"", colours[i], false, func(m cluster.Minute) float64 { return float64(m.Refused + m.Late) }, minutes})
	}
	return figure(w, title, []panel{pods, latency, lost})
}

func between(minutes []cluster.Minute, from, until float64) []cluster.Minute {
	var out []cluster.Minute
	for _, m := range minutes {
		if m.At >= from && m.At <= until {
			out = append(out, m)
		}
	}
	return out
}

// figure draws panels below each other, as SVG.
func figure(w io.Writer, title string, panels []panel) error {
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
	if _, err := canvas.WriteTo(w); err != nil {
		return fmt.Errorf("write the plot: %w", err)
	}
	return nil
}

func (p panel) plot() (*plot.Plot, error) {
	out := plot.New()
	out.Y.Label.Text = p.label
	out.Y.Min, out.Y.Max = 0, p.most
	// From the left: viewers without the font that was measured may write wider.
	out.Legend.Top, out.Legend.Left = true, true
	out.Legend.XOffs, out.Legend.TextStyle.Font.Size = vg.Points(6), vg.Points(10)
	out.X.Tick.Marker = clock{}
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
		points = append(points, plotter.XY{X: m.At, Y: y})
	}
	return points
}

// clock marks whole hours, or every ten minutes of a short time.
type clock struct{}

// Ticks is that of [plot.Ticker].
func (clock) Ticks(least, most float64) []plot.Tick {
	every := 600.0
	if most-least > 6*3600 {
		every = 2 * 3600
	}
	var ticks []plot.Tick
	for at := math.Ceil(least/every) * every; at <= most; at += every {
		ticks = append(ticks, plot.Tick{Value: at, Label: traffic.Clock(at)})
	}
	return ticks
}
