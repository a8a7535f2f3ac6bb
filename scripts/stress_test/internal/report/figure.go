package report

import (
	"bytes"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Colours of curves, which most colour-blind readers can distinguish.
var (
	blue   = color.RGBA{0x00, 0x72, 0xb2, 0xff}
	orange = color.RGBA{0xd5, 0x5e, 0x00, 0xff}
	green  = color.RGBA{0x00, 0x9e, 0x73, 0xff}
	purple = color.RGBA{0xcc, 0x79, 0xa7, 0xff}
	grey   = color.RGBA{0x99, 0x99, 0x99, 0xff}
)

// style is the style of a curve.
type style int

// Styles.
const (
	solid  style = iota
	step         // values hold until the next one
	dashed       // a thin line
)

// curve is a curve of a panel.
type curve struct {
	Name   string // in the legend; "": not listed
	Colour color.Color
	Style  style
	Points plotter.XYs
}

// panel is a plot of a figure.
type panel struct {
	Label  string
	Log    bool // the axis is logarithmic; values must be positive
	Curves []curve
}

// figure has curves in panels one below the other, with a common x axis.
type figure struct {
	Title  string
	Label  string // of the x axis
	Panels []panel
}

// SVG draws the figure.
func (f figure) SVG() ([]byte, error) {
	const width, height, gap = 9 * vg.Inch, 3 * vg.Inch, 0.1 * vg.Inch // height of a panel
	plots := make([][]*plot.Plot, len(f.Panels))
	least, most := math.Inf(1), math.Inf(-1) // of x
	for i, p := range f.Panels {
		drawn, err := p.plot()
		if err != nil {
			return nil, fmt.Errorf("plot of %s: %w", p.Label, err)
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

func (p panel) plot() (*plot.Plot, error) {
	out := plot.New()
	out.Y.Label.Text = p.Label
	// From the left: viewers without the measured font may have wider text.
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
	if p.Log {
		out.Y.Scale, out.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
		out.Y.Max = highest * math.Pow(10, room-1)
	} else {
		out.Y.Min, out.Y.Max = 0, max(1, highest)*room
	}
	return out, nil
}

// add adds a curve to a plot, and returns its mark in the legend, or nil if the curve is empty.
func (c curve) add(to *plot.Plot) (plot.Thumbnailer, error) {
	if len(c.Points) == 0 {
		return nil, nil
	}
	line, err := plotter.NewLine(c.Points)
	if err != nil {
		return nil, err
	}
	line.Color, line.Width = c.Colour, vg.Points(1.3)
	switch c.Style {
	case step:
		line.StepStyle = plotter.PostStep
	case dashed:
		line.Width, line.Dashes = vg.Points(1), []vg.Length{vg.Points(4), vg.Points(3)}
	}
	to.Add(line)
	return line, nil
}
