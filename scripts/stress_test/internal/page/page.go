// Package page writes the report of a stress test as one HTML file that needs nothing
// else: no script, no font and no other file.
package page

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"time"

	"dragoman/scripts/stress_test/internal/report"
)

//go:embed page.html
var source string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"ms": report.Duration, "n": report.Number, "sorted": sorted,
}).Parse(source))

// Plot is a drawing as SVG, which must come from a source that is trusted.
type Plot []byte

// Write writes the report: what is known of a test, and its plots.
func Write(w io.Writer, d report.Document, limits report.Limits, plots ...Plot) error {
	data := struct {
		report.Document
		Began    string
		Sentence string // of a sweep
		Limit    string
		Timeout  string
		Plots    []template.HTML
	}{Document: d, Began: d.Began.Format(time.RFC1123), Limit: report.Duration(limits.Good.Seconds() * 1000), Timeout: report.Duration(limits.Timeout.Seconds() * 1000)}
	if d.Crossing != nil {
		data.Sentence = d.Crossing.String()
		data.Phases = report.ByRate(d.Phases)
	}
	for _, p := range plots {
		data.Plots = append(data.Plots, template.HTML(inline(p)))
	}
	if err := page.Execute(w, data); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// inline is an SVG without the declaration before its root, which HTML does not allow.
func inline(svg []byte) []byte {
	if at := bytes.Index(svg, []byte("<svg")); at > 0 {
		return svg[at:]
	}
	return svg
}

// pair is an entry of a map.
type pair struct {
	Name  string
	Count int
}

// sorted are the entries of counts, the highest first.
func sorted(counts map[string]int) []pair {
	var list []pair
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, pair{name, counts[name]})
	}
	slices.SortStableFunc(list, func(a, b pair) int { return b.Count - a.Count })
	return list
}
