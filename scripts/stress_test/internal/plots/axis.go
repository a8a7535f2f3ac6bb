package plots

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// axis is a range of values and how they are written.
type axis struct {
	label    string
	min, max float64
	log      bool // then min is above 0
	ticks    []plot.Tick
}

// apply makes a plot's axis this one. Data that is added later must lie within it, so
// that it stays as it is.
func (a axis) apply(to *plot.Axis) {
	to.Min, to.Max = a.min, a.max
	to.Label.Text = a.label
	to.Label.TextStyle = textStyle(labelSize, muted)
	to.Label.TextStyle.XAlign, to.Label.TextStyle.YAlign = draw.XCenter, draw.YBottom
	to.Label.Padding = vg.Points(4)
	to.LineStyle = draw.LineStyle{Color: muted, Width: vg.Points(0.7)}
	to.Padding = 0
	to.Tick.Label = textStyle(tickSize, ink)
	to.Tick.LineStyle = draw.LineStyle{Color: muted, Width: vg.Points(0.7)}
	to.Tick.Length = vg.Points(4)
	to.Tick.Marker = plot.ConstantTicks(a.ticks)
	if a.log {
		to.Scale = plot.LogScale{}
	}
}

// clamp puts a value within the axis.
func (a axis) clamp(x float64) float64 { return math.Min(math.Max(x, a.min), a.max) }

// linear is an axis from 0 to at least max.
func linear(label string, highest float64) axis {
	if highest <= 0 {
		highest = 1
	}
	a := axis{label: label, max: highest}
	step := niceStep(highest / 6)
	for i := 0; ; i++ {
		value := float64(i) * step
		if value > highest*(1+1e-9) {
			return a
		}
		a.ticks = append(a.ticks, plot.Tick{Value: value, Label: strconv.FormatFloat(value, 'g', 6, 64)})
	}
}

// niceStep is the least of 1, 2 and 5 times a power of ten that is not below x.
func niceStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, factor := range []float64{1, 2, 5} {
		if factor*power >= x*(1-1e-9) {
			return factor * power
		}
	}
	return 10 * power
}

// latency is a logarithmic axis for seconds, which has marks at 1, 2 and 5 times each
// power of ten. It reaches to the marks around lowest and highest.
func latency(label string, lowest, highest float64) axis {
	const (
		least = 1e-4 // of what can be seen from here
		room  = 1.05 // above the highest
	)
	lowest = math.Max(lowest, least)
	highest = math.Max(highest, lowest)
	marks := []float64{least}
	for power := -4; marks[len(marks)-1] < highest*room || len(marks) < 2; power++ {
		for _, factor := range []float64{1, 2, 5, 10} {
			if value := factor * math.Pow10(power); value > marks[len(marks)-1]*(1+1e-9) {
				marks = append(marks, value)
			}
		}
	}
	first, last := 0, len(marks)-1
	for marks[first+1] <= lowest && first+2 < len(marks) {
		first++
	}
	for last-1 > first && marks[last-1] >= highest*room {
		last--
	}
	a := axis{label: label, log: true, min: marks[first], max: marks[last]}
	for _, value := range marks[first : last+1] {
		tick := plot.Tick{Value: value, Label: duration(value)}
		if last-first > mostLabels && !powerOfTen(value) {
			tick.Label = ""
		}
		a.ticks = append(a.ticks, tick)
	}
	return a
}

// duration writes seconds.
func duration(seconds float64) string {
	if seconds < 1-1e-9 {
		return strconv.FormatFloat(seconds*1000, 'g', 4, 64) + " ms"
	}
	return strconv.FormatFloat(seconds, 'g', 4, 64) + " s"
}

// mostLabels is the number of intervals of a logarithmic axis whose ends all have room
// for a label.
const mostLabels = 10

func powerOfTen(x float64) bool {
	log := math.Log10(x)
	return math.Abs(log-math.Round(log)) < 1e-9
}
