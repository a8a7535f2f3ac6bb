package plots

import (
	"image/color"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"dragoman/scripts/bench/openloop"
	"dragoman/scripts/stress_test/internal/report"
)

const (
	// mostDots bounds the requests that a timeline shows one by one.
	mostDots = 2500
	// mostBuckets bounds the times that its lines have a point for.
	mostBuckets = 120
)

// Timeline draws the latency of requests over the time when they were due and, below,
// how many were due, answered and failed each second. Phases stand side by side.
func Timeline(phases []report.Phase, limits report.Limits) ([]byte, error) {
	all := newTimes(phases, limits)
	x := linear("seconds since the test began", all.end)
	y := latency("latency", all.lowest, all.highest)

	top := newPanel(x, y)
	answered, failed := all.dots(y)
	size := vg.Length(math.Min(math.Max(40/math.Sqrt(float64(len(answered)+len(failed)+1)), 1), 2.5))
	top.Add(dots{points: answered, color: dot, radius: size}, dots{points: failed, color: red, radius: size})
	p50, p95 := all.percentile(y, 50), all.percentile(y, 95)
	top.Add(slices.Concat(curves(p95, orange), curves(p50, ink))...)
	top.Add(level(x, limits.Good.Seconds(), red))

	due, ok, lost := all.rates()
	y = linear("requests per second", 1.05*highest(due, ok, lost))
	bottom := newPanel(x, y)
	area := line(due, pale)
	area.FillColor = pale
	bottom.Add(area, line(ok, blue))
	if highest(lost) > 0 {
		bottom.Add(line(lost, red))
	}
	if len(phases) > 1 {
		for _, p := range phases {
			top.Add(note{x: p.Begin.Seconds(), text: p.Name})
			bottom.Add(note{x: p.Begin.Seconds()})
		}
	}
	return figure{
		title: "Timeline",
		legend: []entry{{name: "a request", color: dot}, {name: "failed", color: red}, {name: "p50", color: ink}, {name: "p95", color: orange},
			{name: "limit", color: red, dashed: true}, {name: "due per second", color: pale}, {name: "answered per second", color: blue}},
		panels: []*plot.Plot{top, bottom},
	}.svg()
}

// point is a request on the timeline. Times are in seconds.
type point struct {
	due, latency float64
	done         float64 // when it was answered
	failed       bool
	phase        int
}

// times are the requests of a test, and buckets of time that they are counted in.
type times struct {
	points          []point
	end             float64 // of the bucket of the last request or answer
	lowest, highest float64 // latency
	bucket          float64 // seconds
}

func newTimes(phases []report.Phase, limits report.Limits) times {
	t := times{lowest: limits.Good.Seconds(), highest: limits.Good.Seconds()}
	for i, p := range phases {
		begin := p.Begin.Seconds()
		t.end = max(t.end, begin+p.Over.Seconds())
		for _, r := range p.Requests {
			latency := counted(r, limits).Seconds()
			at := point{due: begin + r.Due.Seconds(), latency: latency, done: begin + (r.Due + r.Latency).Seconds(),
				failed: r.Err != nil, phase: i}
			t.points = append(t.points, at)
			t.end = max(t.end, at.done)
			t.lowest, t.highest = min(t.lowest, latency), max(t.highest, latency)
		}
	}
	t.bucket = bucketWidth(t.end)
	t.end = max(math.Ceil(t.end/t.bucket), 1) * t.bucket
	return t
}

// bucketWidth is a width of buckets that cover a time, such as 0.5, 1, 2 or 5 seconds.
func bucketWidth(seconds float64) float64 { return max(niceStep(seconds/mostBuckets), 0.5) }

// dots are the requests one by one. Where there are too many, each k-th is there, with
// k the same for those that were answered and those that were not.
func (t times) dots(y axis) (answered, failed plotter.XYs) {
	every := len(t.points)/mostDots + 1
	for i := 0; i < len(t.points); i += every {
		p := t.points[i]
		at := plotter.XY{X: p.due, Y: y.clamp(p.latency)}
		if p.failed {
			failed = append(failed, at)
		} else {
			answered = append(answered, at)
		}
	}
	return answered, failed
}

// percentile is that of the latencies of each bucket, a list for each phase: a line
// from one to the next would mean nothing.
func (t times) percentile(y axis, p float64) []plotter.XYs {
	type slot struct{ phase, bucket int }
	var (
		slots  []slot // in the order of time
		values = map[slot][]time.Duration{}
	)
	for _, at := range t.points {
		s := slot{at.phase, int(at.due / t.bucket)}
		if values[s] == nil {
			slots = append(slots, s)
		}
		values[s] = append(values[s], time.Duration(at.latency*float64(time.Second)))
	}
	var lines []plotter.XYs
	for i, s := range slots {
		if i == 0 || slots[i-1].phase != s.phase {
			lines = append(lines, nil)
		}
		slices.Sort(values[s])
		at := plotter.XY{X: (float64(s.bucket) + 0.5) * t.bucket, Y: y.clamp(openloop.Percentile(values[s], p).Seconds())}
		lines[len(lines)-1] = append(lines[len(lines)-1], at)
	}
	return lines
}

// rates are the requests that were due, answered and lost per second, as steps.
func (t times) rates() (due, answered, lost plotter.XYs) {
	n := int(math.Round(t.end / t.bucket))
	counts := [3][]float64{make([]float64, n), make([]float64, n), make([]float64, n)}
	index := func(at float64) int { return min(int(at/t.bucket), n-1) }
	for _, p := range t.points {
		counts[0][index(p.due)]++
		if p.failed {
			counts[2][index(p.due)]++
		} else {
			counts[1][index(p.done)]++
		}
	}
	return t.steps(counts[0]), t.steps(counts[1]), t.steps(counts[2])
}

// steps draws counts of buckets as rates.
func (t times) steps(counts []float64) plotter.XYs {
	var points plotter.XYs
	for i, n := range counts {
		begin, end := float64(i)*t.bucket, float64(i+1)*t.bucket
		rate := n / t.bucket
		points = append(points, plotter.XY{X: begin, Y: rate}, plotter.XY{X: end, Y: rate})
	}
	return points
}

// highest is the greatest y of several lists.
func highest(lists ...plotter.XYs) float64 {
	most := 0.0
	for _, p := range slices.Concat(lists...) {
		most = max(most, p.Y)
	}
	return most
}

func curves(lists []plotter.XYs, c color.Color) []plot.Plotter {
	var drawn []plot.Plotter
	for _, points := range lists {
		drawn = append(drawn, line(points, c))
	}
	return drawn
}
