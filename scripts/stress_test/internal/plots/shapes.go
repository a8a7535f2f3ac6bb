package plots

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// line connects points.
func line(points plotter.XYs, c color.Color) *plotter.Line {
	return &plotter.Line{XYs: points, LineStyle: draw.LineStyle{Color: c, Width: vg.Points(1.6)}}
}

// dashed is a thin line.
func dashed(points plotter.XYs, c color.Color) *plotter.Line {
	return &plotter.Line{XYs: points, LineStyle: draw.LineStyle{Color: c, Width: vg.Points(1), Dashes: []vg.Length{vg.Points(4), vg.Points(3)}}}
}

// level is a dashed line from side to side.
func level(x axis, y float64, c color.Color) *plotter.Line {
	return dashed(plotter.XYs{{X: x.min, Y: y}, {X: x.max, Y: y}}, c)
}

// markers are filled circles.
func markers(points plotter.XYs, c color.Color) *plotter.Scatter {
	return &plotter.Scatter{XYs: points, GlyphStyle: draw.GlyphStyle{Color: c, Radius: vg.Points(2.5), Shape: draw.CircleGlyph{}}}
}

// dots are small squares. All are one path: thousands of shapes of their own would make a
// file of megabytes.
type dots struct {
	points plotter.XYs
	color  color.Color
	radius vg.Length
}

// Plot is that of plot.Plotter.
func (d dots) Plot(c draw.Canvas, p *plot.Plot) {
	if len(d.points) == 0 {
		return
	}
	x, y := p.Transforms(&c)
	var path vg.Path
	for _, point := range d.points {
		at := vg.Point{X: x(point.X), Y: y(point.Y)}
		path.Move(vg.Point{X: at.X - d.radius, Y: at.Y - d.radius})
		path.Line(vg.Point{X: at.X + d.radius, Y: at.Y - d.radius})
		path.Line(vg.Point{X: at.X + d.radius, Y: at.Y + d.radius})
		path.Line(vg.Point{X: at.X - d.radius, Y: at.Y + d.radius})
		path.Close()
	}
	c.SetColor(d.color)
	c.Fill(path)
}

// note is a dashed vertical line with a text at its upper end, on the side where there is
// room.
type note struct {
	x    float64
	text string
}

// Plot is that of plot.Plotter.
func (n note) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	at := x(n.x)
	c.StrokeLine2(draw.LineStyle{Color: muted, Width: vg.Points(0.7), Dashes: []vg.Length{vg.Points(2), vg.Points(2)}}, at, c.Min.Y, at, c.Max.Y)
	if n.text == "" {
		return
	}
	style, gap := textStyle(tickSize, muted), vg.Points(3)
	if at+gap+1.1*style.Width(n.text) > c.Max.X {
		style.XAlign, gap = draw.XRight, -gap-0.1*style.Width(n.text) // other fonts are wider
	}
	c.FillText(style, vg.Point{X: at + gap, Y: c.Max.Y - vg.Points(tickSize)}, n.text)
}
