// Package plots draws the results of a stress test as SVG.
package plots

import (
	"bytes"
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The colors, which people who see few colors can tell apart.
var (
	ink    = color.NRGBA{0x22, 0x2b, 0x38, 0xff}
	muted  = color.NRGBA{0x6b, 0x76, 0x85, 0xff}
	rule   = color.NRGBA{0xe2, 0xe6, 0xeb, 0xff}
	pale   = color.NRGBA{0xd5, 0xdc, 0xe5, 0xff}
	blue   = color.NRGBA{0x1f, 0x77, 0xb4, 0xff}
	orange = color.NRGBA{0xe6, 0x8a, 0x00, 0xff}
	purple = color.NRGBA{0x8e, 0x44, 0xad, 0xff}
	red    = color.NRGBA{0xd6, 0x27, 0x28, 0xff}
	green  = color.NRGBA{0x2c, 0x9a, 0x5b, 0xff}
	dot    = color.NRGBA{0x1f, 0x77, 0xb4, 0x66}
)

// Sizes in points.
const (
	width       = 720
	panelHeight = 230
	head        = 54 // title and legend
	margin      = 10
	titleSize   = 13
	labelSize   = 10
	tickSize    = 9
)

// entry is a line of the legend.
type entry struct {
	name   string
	color  color.Color
	dashed bool
}

// textStyle is text of a size.
func textStyle(size vg.Length, c color.Color) text.Style {
	return text.Style{Color: c, Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size), Handler: plot.DefaultTextHandler}
}

// newPanel is a plot in the looks that all have, without data.
func newPanel(x, y axis) *plot.Plot {
	p := plot.New()
	x.apply(&p.X)
	y.apply(&p.Y)
	p.Y.Tick.Label.XAlign, p.Y.Tick.Label.YAlign = draw.XRight, draw.YCenter
	p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XCenter, draw.YTop
	p.Add(&plotter.Grid{
		Horizontal: draw.LineStyle{Color: rule, Width: vg.Points(0.7)},
		Vertical:   draw.LineStyle{Color: rule, Width: vg.Points(0.7)},
	})
	return p
}

// figure is a title, a legend and panels below each other that share their x axis.
type figure struct {
	title  string
	legend []entry
	panels []*plot.Plot
}

// svg draws the figure.
func (f figure) svg() ([]byte, error) {
	height := vg.Length(head + panelHeight*len(f.panels))
	c := vgsvg.New(width, height)
	area := draw.New(c)
	area.SetColor(color.White)
	area.Fill(area.Rectangle.Path())

	area.FillText(titleStyle(), vg.Point{X: margin, Y: height - margin - titleSize}, f.title)
	f.drawLegend(area, height-margin-titleSize-2*labelSize)

	rows := make([][]*plot.Plot, len(f.panels))
	for i, p := range f.panels {
		rows[i] = []*plot.Plot{p}
	}
	tiles := draw.Tiles{Cols: 1, Rows: len(rows), PadLeft: margin, PadRight: 2 * margin, PadBottom: margin, PadY: margin}
	for i, row := range plot.Align(rows, tiles, draw.Crop(area, 0, 0, 0, -head)) {
		f.panels[i].Draw(row[0])
	}
	var out bytes.Buffer
	if _, err := c.WriteTo(&out); err != nil {
		return nil, fmt.Errorf("draw %s: %w", f.title, err)
	}
	// The library names one font only, which most machines do not have.
	return bytes.ReplaceAll(out.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")), nil
}

func titleStyle() text.Style {
	const bold = 3 // of golang.org/x/image/font
	s := textStyle(titleSize, ink)
	s.Font.Weight = bold
	return s
}

// drawLegend draws the entries in a row, at the height of y.
func (f figure) drawLegend(c draw.Canvas, y vg.Length) {
	const swatch, gap = 14, 5
	style, x := textStyle(labelSize, muted), vg.Length(margin)
	for _, e := range f.legend {
		mark := draw.LineStyle{Color: e.color, Width: vg.Points(3)}
		if e.dashed {
			mark.Width, mark.Dashes = vg.Points(1.2), []vg.Length{4, 3}
		}
		c.StrokeLine2(mark, x, y+labelSize/3, x+swatch, y+labelSize/3)
		x += swatch + gap
		c.FillText(style, vg.Point{X: x, Y: y}, e.name)
		x += 1.1*style.Width(e.name) + 3*gap // other fonts are wider
	}
}
