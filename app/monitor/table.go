package monitor

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// Table writes a table of all servers for each interval, with a line for each model below a
// server that has several.
type Table struct {
	out     io.Writer
	refresh bool
}

// NewTable writes to out. With refresh, out is a terminal, and each table takes the
// place of the one before.
func NewTable(out io.Writer, refresh bool) *Table { return &Table{out, refresh} }

// What a terminal is sent before and after a table: it clears the screen, and cuts off
// lines that are too long in place of wrapping them.
const (
	clearScreen = "\x1b[H\x1b[2J\x1b[?7l"
	wrapLines   = "\x1b[?7h"
)

// field is a column of the table.
type field struct {
	title string
	width int // the space before it included
	cell  func(*Row) string
}

// fields are in the order of what matters; with models, those that only matter of several.
func fields(models bool) []field {
	per := func(n number) func(*Row) string { return func(r *Row) string { return rate(r.perSecond(n)) } }
	count := func(n number) func(*Row) string { return func(r *Row) string { return whole(r.numbers[n]) } }
	list := []field{
		{"req/s", 7, per(answered)},
		{"p50", 7, func(r *Row) string { return span(r.requests.quantile(.5)) }},
		{"p95", 7, func(r *Row) string { return span(r.requests.quantile(.95)) }},
		{"tok in", 8, per(tokensIn)}, // a second, as tok out
		{"tok out", 8, per(tokensOut)},
		{"queue", 7, func(r *Row) string { return whole(r.numbers[waitingTokens]) }},
		{"wait", 7, func(r *Row) string { return span(r.numbers[waitingTime]) }},
		{"batch", 6, func(r *Row) string { return percent(r.each(stepRows, stepRoom)) }},
		{"busy", 6, func(r *Row) string { return percent(r.busy()) }},
		{"failed", 8, count(failed)},
		{"refused", 9, count(refused)},
		{"cached", 8, func(r *Row) string {
			return percent(quotient(r.numbers[cacheHits], r.numbers[cacheHits]+r.numbers[cacheMisses]))
		}},
		{"memory", 9, func(r *Row) string { return size(r.bytes()) }},
		{"cpu", 6, func(r *Row) string { return rate(r.perSecond(cpu)) }},
	}
	if models {
		list = append(list,
			field{"sent/s", 8, per(decoded)},
			field{"rows", 6, count(rows)},
			field{"loads", 7, count(loads)},
			field{"evicted", 9, count(evictions)})
	}
	return list
}

// Put writes a round. The base, which has no differences, is only for terminals.
func (t *Table) Put(round Round) error {
	if round.Base && !t.refresh {
		return nil
	}
	var text bytes.Buffer
	if t.refresh {
		text.WriteString(clearScreen)
	}
	for _, note := range round.Notes {
		fmt.Fprintf(&text, "%s\n", note)
	}
	lines := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintf(lines, "%s\tstate\t", round.Time.Format("15:04:05"))
	shown := fields(slices.ContainsFunc(round.Rows, func(r Row) bool { return len(r.Models) > 0 }))
	for _, f := range shown {
		fmt.Fprintf(lines, "%*s", f.width, f.title)
	}
	fmt.Fprintln(lines)
	for i := range round.Rows {
		r := &round.Rows[i]
		writeRow(lines, r.Server, r.condition(), r, shown)
		for j := range r.Models {
			m := &r.Models[j]
			writeRow(lines, "  "+m.model.String(), printable(m.state), m, shown)
		}
	}
	_ = lines.Flush() // into memory
	if t.refresh {
		text.WriteString(wrapLines)
	} else {
		text.WriteByte('\n')
	}
	if _, err := text.WriteTo(t.out); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// writeRow writes the line of a server or of a model.
func writeRow(w io.Writer, name, state string, r *Row, shown []field) {
	if r.Err != nil {
		fmt.Fprintf(w, "%s\tdown: %s\n", name, r.Err)
		return
	}
	fmt.Fprintf(w, "%s\t%s\t", name, state)
	for _, f := range shown {
		fmt.Fprintf(w, "%*s", f.width, f.cell(r))
	}
	fmt.Fprintln(w)
}

// condition is what a server is in.
func (r *Row) condition() string {
	switch {
	case r.Restarted:
		return "restarted"
	case r.numbers[ready] > 0:
		return "ready"
	}
	return "not ready"
}
