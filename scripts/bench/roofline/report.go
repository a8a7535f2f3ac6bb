//go:build linux && (amd64 || arm64)

package main

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"dragoman/model"
	"dragoman/scripts/figure"
)

// report prints the tables, and writes them and the plots to a folder.
func report(r *results, folder string) error {
	if len(r.Cells) == 0 {
		return fmt.Errorf("nothing was measured yet in %s", folder)
	}
	var text strings.Builder
	text.WriteString("# Roofline\n\nMade by `scripts/bench/run.sh roofline`, which scripts/bench/README.md explains.\n\n")
	r.writePeaks(&text)
	text.WriteString("\n![Limit / measured](roofline.svg)\n\n![Shares of the time](roofline-time.svg)\n")
	for _, side := range r.sides() {
		fmt.Fprintf(&text, "\n## %s\n", side)
		r.writeCells(&text, side)
	}
	fmt.Print(text.String())
	if err := os.WriteFile(filepath.Join(folder, "roofline.md"), []byte(text.String()), 0o644); err != nil {
		return err
	}
	for name, f := range map[string]figure.Figure{"roofline.svg": r.limits(), "roofline-time.svg": r.times()} {
		svg, err := f.SVG()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name), svg, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// side is a precision on some threads.
type side struct {
	precision model.Precision
	threads   int
}

func (s side) String() string { return fmt.Sprintf("%s, threads: %d", s.precision, s.threads) }

func (r *results) sides() (sides []side) {
	for _, m := range r.Cells {
		if s := (side{m.Precision, m.Threads}); !slices.Contains(sides, s) {
			sides = append(sides, s)
		}
	}
	return sides
}

// share is how close a cell comes to its limit.
func (r *results) share(m *measured) float64 {
	limit, _ := m.Work.limit(m.Precision, *r.peaks(m.Threads))
	middle, _ := m.seconds()
	return limit / middle
}

func (r *results) writePeaks(w io.Writer) {
	fmt.Fprintf(w, "| threads | 8-bit multiply-adds, G/s (%s) | of 32 bits, G/s (%s) | memory, GB/s |\n|---:|---:|---:|---:|\n", r.Octets, r.Floats)
	for threads := range 1024 {
		if p := r.Peaks[threads]; p != nil {
			fmt.Fprintf(w, "| %d | %.0f | %.0f | %.1f |\n", threads, p.Octets/1e9, p.Floats/1e9, p.Memory/1e9)
		}
	}
}

func (r *results) writeCells(w io.Writer, s side) {
	fmt.Fprintf(w, "\n| what | rows | limit, ms | set by | median, ms | fastest, ms | CPU time, ms | limit / median | / fastest | / CPU time | tokens/s | %s |\n", strings.Join(partNames, " | "))
	fmt.Fprintf(w, "|---|---:|---:|---|---:|---:|---:|---:|---:|---:|%s\n", strings.Repeat("---:|", len(partNames)))
	for _, m := range r.Cells {
		if (side{m.Precision, m.Threads}) != s || len(m.Micros) == 0 {
			continue
		}
		what, rows, tokens := "greedy", m.rows(), m.Sentences
		switch {
		case m.Beams == 0:
			what, rows, tokens = "encoder", source*m.Sentences, source*m.Sentences
		case m.Beams > 1:
			what = fmt.Sprintf("%d beams", m.Beams)
		}
		limit, memory := m.Work.limit(m.Precision, *r.peaks(m.Threads))
		by := "products"
		if memory {
			by = "memory"
		}
		middle, fastest := m.seconds()
		fmt.Fprintf(w, "| %s | %d | %.1f | %s | %.1f | %.1f | %.1f | **%.2f** | %.2f | %.2f | %.0f |", what, rows, limit*1e3, by,
			middle*1e3, fastest*1e3, m.cpu()*1e3, limit/middle, limit/fastest, limit/m.cpu(), float64(tokens)/middle)
		for _, name := range partNames {
			fmt.Fprintf(w, " %.1f%% |", 100*m.share(name))
		}
		fmt.Fprintln(w)
	}
}

// curve has a point for each number of rows of a side.
func (r *results) curve(s side, beams int, of func(*measured) float64) (points plotter.XYs) {
	for _, m := range r.Cells {
		if (side{m.Precision, m.Threads}) == s && m.Beams == beams && len(m.Micros) > 0 {
			points = append(points, plotter.XY{X: math.Log2(float64(m.rows())), Y: of(m)})
		}
	}
	return points
}

// rowTicks are marks at numbers of rows, on an axis of their logarithms.
func rowTicks() plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for _, rows := range []int{1, 2, 4, 8, 16, 32, 80, 160} {
		ticks = append(ticks, plot.Tick{Value: math.Log2(float64(rows)), Label: fmt.Sprint(rows)})
	}
	return ticks
}

// limits draws how close steps come to their limit.
func (r *results) limits() figure.Figure {
	f := figure.Figure{Title: "Decoder steps: limit / measured", Label: "rows", Ticks: rowTicks(), Height: 2.6 * vg.Inch}
	colours := []color.Color{figure.Orange, figure.Purple, figure.Blue, figure.Green}
	var last model.Precision
	for _, s := range r.sides() {
		if s.precision != last {
			f.Panels, last = append(f.Panels, figure.Panel{Label: string(s.precision), Most: 1.6}), s.precision
		}
		p := &f.Panels[len(f.Panels)-1]
		for _, beams := range []int{1, 5} {
			p.Curves = append(p.Curves, figure.Curve{
				Name: fmt.Sprintf("threads: %d, beams: %d", s.threads, beams), Colour: colours[len(p.Curves)%len(colours)],
				Points: r.curve(s, beams, r.share),
			})
		}
	}
	for i := range f.Panels {
		f.Panels[i].Curves = append(f.Panels[i].Curves, figure.Curve{
			Colour: figure.Grey, Style: figure.Dashed, Points: plotter.XYs{{X: 0, Y: 1}, {X: math.Log2(160), Y: 1}},
		})
	}
	return f
}

// times draws where the time of greedy steps on all threads goes.
func (r *results) times() figure.Figure {
	f := figure.Figure{Title: "Greedy decoder steps, all threads: where the time goes", Label: "rows", Ticks: rowTicks(), Height: 2.6 * vg.Inch}
	sides := r.sides()
	most := slices.MaxFunc(sides, func(a, b side) int { return a.threads - b.threads }).threads
	for _, s := range sides {
		if s.threads != most {
			continue
		}
		part := func(colour color.Color, label string, names ...string) figure.Curve {
			return figure.Curve{Name: label, Colour: colour, Points: r.curve(s, 1, func(m *measured) (sum float64) {
				for _, name := range names {
					sum += 100 * m.share(name)
				}
				return sum
			})}
		}
		f.Panels = append(f.Panels, figure.Panel{Label: string(s.precision) + ", %", Most: 140, Curves: []figure.Curve{
			part(figure.Blue, products, products), part(figure.Orange, attention, attention), part(figure.Green, norm, norm),
			part(figure.Grey, "all else", head, other, runtimes, inGo),
		}})
	}
	return f
}
