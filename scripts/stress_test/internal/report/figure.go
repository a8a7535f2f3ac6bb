// Package figure draws curves in panels below each other that share their x axis, as SVG.
package figure

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The colours of curves, also apart for most colour-blind readers.
var (
	Blue   = color.RGBA{0x00, 0x72, 0xb2, 0xff}
	Orange = color.RGBA{0xd5, 0x5e, 0x00, 0xff}
	Green  = color.RGBA{0x00, 0x9e, 0x73, 0xff}
	Purple = color.RGBA{0xcc, 0x79, 0xa7, 0xff}
	Grey   = color.RGBA{0x99, 0x99, 0x99, 0xff}
)

// Style is how points become a curve.
type Style int

// The styles.
const (
	Line   Style = iota
	Step         // values hold until the next one
	Dashed       // a thin line
)

// Curve is a curve of a panel.
type Curve struct {
	Name   string // in the legend; "": it is not there
	Colour color.Color
	Style  Style
	Points plotter.XYs
}

// Panel is one of the plots of a figure.
type Panel struct {
	Label  string
	Most   float64 // of a linear axis; 0: as the values are
	Log    bool    // the axis is logarithmic, and values are above 0
	Curves []Curve
}

// Figure is a title and panels.
type Figure struct {
	Title  string
	Label  string      // of the x axis; may be ""
	Ticks  plot.Ticker // of the x axis; nil: the usual ones
	Height vg.Length   // of a panel; 0: 1.9 inches
	Panels []Panel
}

// SVG draws the figure.
func (f Figure) SVG() ([]byte, error) {
	const width, gap = 9 * vg.Inch, 0.1 * vg.Inch
	height := cmp.Or(f.Height, 1.9*vg.Inch)
	plots := make([][]*plot.Plot, len(f.Panels))
	least, most := math.Inf(1), math.Inf(-1) // of x
	for i, p := range f.Panels {
		drawn, err := p.plot()
		if err != nil {
			return nil, fmt.Errorf("plot of %s: %w", p.Label, err)
		}
		if f.Ticks != nil {
			drawn.X.Tick.Marker = f.Ticks
		}
		plots[i] = []*plot.Plot{drawn}
		least, most = min(least, drawn.X.Min), max(most, drawn.X.Max)
	}
	for _, row := range plots {
		row[0].X.Min, row[0].X.Max = least, most
	}
	plots[0][0].Title.Text = f.Title
	plots[len(plots)-1][0].X.Label.Text = f.Label
	canvas := vgsvg.New(width, vg.Length(len(f.Panels))*height)
	dc := draw.New(canvas)
	dc.SetColor(color.White)
	dc.Fill(dc.Rectangle.Path())
	tiles := draw.Tiles{Rows: len(f.Panels), Cols: 1, PadY: gap, PadTop: gap, PadBottom: gap, PadLeft: gap, PadRight: 2 * gap}
	for i, row := range plot.Align(plots, tiles, dc) {
		plots[i][0].Draw(row[0])
	}
	var out bytes.Buffer
	_, err := canvas.WriteTo(&out)
	return out.Bytes(), err
}

func (p Panel) plot() (*plot.Plot, error) {
	out := plot.New()
	out.Y.Label.Text = p.Label
	// From the left: viewers without the font that was measured may write wider.
	out.Legend.Top, out.Legend.Left = true, true
	out.Legend.XOffs, out.Legend.TextStyle.Font.Size = vg.Points(6), vg.Points(10)
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{0xdd}, color.Gray{0xdd}
	out.Add(grid)
	highest := 0.0
	for _, c := range p.Curves {
		for _, point := range c.Points {
			highest = max(highest, point.Y)
		}
		mark, err := c.add(out)
		if err != nil {
			return nil, err
		}
		if c.Name != "" && mark != nil {
			out.Legend.Add(c.Name, mark)
		}
	}
	room := 1.1 + 0.13*float64(len(p.Curves)) // for the legend
	switch {
	case p.Log:
		out.Y.Scale, out.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
		out.Y.Max = highest * math.Pow(10, room-1)
	case p.Most > 0:
		out.Y.Min, out.Y.Max = 0, p.Most
	default:
		out.Y.Min, out.Y.Max = 0, max(1, highest)*room
	}
	return out, nil
}

// add adds a curve to a plot, and returns its mark in the legend; nil where it is empty.
func (c Curve) add(to *plot.Plot) (plot.Thumbnailer, error) {
	if len(c.Points) == 0 {
		return nil, nil
	}
	line, err := plotter.NewLine(c.Points)
	if err != nil {
		return nil, err
	}
	line.Color, line.Width = c.Colour, vg.Points(1.3)
	switch c.Style {
	case Step:
		line.StepStyle = plotter.PostStep
	case Dashed:
		line.Width, line.Dashes = vg.Points(1), []vg.Length{vg.Points(4), vg.Points(3)}
	}
	to.Add(line)
	return line, nil
}
