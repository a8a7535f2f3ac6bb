package monitor

import (
	"math"
	"strconv"
)

// field is a column of the live view's table.
type field struct {
	title string
	width int // the space before it included
	cell  func(*Row) string
}

// fields are in the order of what matters: those on the right are left out first where
// the terminal is narrow.
func fields() []field {
	per := func(c counter) func(*Row) string { return func(r *Row) string { return rate(r.perSecond(c)) } }
	count := func(c counter) func(*Row) string { return func(r *Row) string { return whole(r.counts[c]) } }
	return []field{
		{"req/s", 7, per(answered)},
		{"p50", 7, func(r *Row) string { return span(r.requests.quantile(.5)) }},
		{"p95", 7, func(r *Row) string { return span(r.requests.quantile(.95)) }},
		{"tok in", 8, per(tokensIn)}, // a second, as tok out
		{"tok out", 8, per(tokensOut)},
		{"queue", 7, func(r *Row) string { return whole(r.levels[waitingTokens]) }},
		{"wait", 7, func(r *Row) string { return span(r.levels[waitingTime]) }},
		{"batch", 6, func(r *Row) string { return percent(r.each(stepRows, stepRoom)) }},
		{"busy", 6, func(r *Row) string { return percent(r.busy()) }},
		{"failed", 8, count(failed)},
		{"refused", 9, count(refused)},
		{"cached", 8, func(r *Row) string {
			return percent(quotient(r.counts[cacheHits], r.counts[cacheHits]+r.counts[cacheMisses]))
		}},
		{"memory", 9, func(r *Row) string { return size(r.levels[memory]) }},
		{"cpu", 6, func(r *Row) string { return rate(r.perSecond(cpu)) }},
	}
}

// stateWidth is that of the column that says how a server is.
const stateWidth = 11

// table lists the servers, as many as there is room for below the table's head.
func (v *view) table(width, room int) []line {
	names := 6
	for i := range v.shown {
		names = max(names, len([]rune(v.shown[i].Server)))
	}
	names = min(names, max(8, width/4))

	// Columns that do not fit are left out.
	var kept []field
	used := 2 + names + stateWidth
	for _, f := range fields() {
		if used += f.width; used > width {
			break
		}
		kept = append(kept, f)
	}
	title := "  " + left("server", names) + "  " + left("state", stateWidth-2)
	for _, f := range kept {
		title += right(f.title, f.width)
	}
	list := []line{{{title, dim}}}

	room = max(0, min(room, len(v.shown)))
	first := max(0, min(v.index()-room/2, len(v.shown)-room))
	for i := first; i < first+room; i++ {
		list = append(list, v.tableRow(i, names, kept))
	}
	return list
}

// tableRow is the line of a server.
func (v *view) tableRow(i, names int, kept []field) line {
	r := &v.shown[i]
	l := line{{"  ", plain}, {left(r.Server, names), plain}}
	if len(v.shown) > 1 && i == v.index() {
		l = line{{"> ", accent}, {left(r.Server, names), accent}}
	}
	switch {
	case r.Err != nil && r.Server == sumName:
		return append(l, piece{"  no server answers", bad})
	case r.Err != nil:
		return append(l, piece{"  down: " + r.Err.Error(), bad})
	case r.Server == sumName:
		l = append(l, piece{left("  "+whole(r.levels[ready])+" ready", stateWidth), plain})
	case r.Restarted:
		l = append(l, piece{left("  restarted", stateWidth), bad})
	case r.levels[ready] > 0:
		l = append(l, piece{left("  "+state(r), stateWidth), good})
	default:
		l = append(l, piece{left("  "+state(r), stateWidth), bad})
	}
	text := ""
	for _, f := range kept {
		text += right(f.cell(r), f.width)
	}
	return append(l, piece{text, plain})
}

// chart is a number over time.
type chart struct {
	title  string
	value  func(*Row) float64
	format func(float64) string
	full   float64 // what is drawn at full height at least; 0: the greatest value
}

// charts are the sparklines of the selected server.
func charts() []chart {
	return []chart{
		{"requests/s", func(r *Row) float64 { return r.perSecond(answered) }, rate, 0},
		{"request p95", func(r *Row) float64 { return r.requests.quantile(.95) }, span, 0},
		{"tokens/s", func(r *Row) float64 { return r.perSecond(tokensIn) + r.perSecond(tokensOut) }, rate, 0},
		{"queue tokens", func(r *Row) float64 { return r.levels[waitingTokens] }, whole, 0},
		{"batch", func(r *Row) float64 { return r.each(stepRows, stepRoom) }, percent, 1},
		{"busy", func(r *Row) float64 { return r.busy() }, percent, 1},
	}
}

// The widths of what stands left and right of charts and bars.
const titleWidth, valueWidth = 15, 9

// charts draws what was, of the selected server.
func (v *view) charts(width int) []line {
	name := v.shown[v.index()].Server
	p := v.past[name]
	title := line{{"  " + name, strong}}
	if p.restarts > 0 {
		title = append(title, piece{"  restarts: " + strconv.Itoa(p.restarts), bad})
	}
	list := []line{{}, title}
	for i, c := range charts() {
		values := p.values[i]
		list = append(list, line{
			{left("  "+c.title, titleWidth), dim},
			{right(c.format(values[len(values)-1]), valueWidth) + "  ", plain},
			{sparkline(values, width-titleWidth-valueWidth-4, c.full), accent},
		})
	}
	return list
}

// bars draws where the time of the interval went at the selected server, each stage in
// proportion to the one that took longest. They are sums as in the CSV, with what they
// come to for each request or sentence, or as a part of the workers' time.
func (v *view) bars(width int) []line {
	r := &v.shown[v.index()]
	ofWorkers := func(c counter) string {
		return percent(quotient(r.counts[c], r.Seconds*r.levels[workers])) + " of the workers' time"
	}
	stages := []struct {
		title string
		time  counter
		means string
	}{
		{"tokenize", tokenizing, span(r.each(tokenizing, answered)) + " a request"},
		{"queue", queueing, span(r.each(queueing, queued)) + " a sentence"},
		{"encode", encoding, ofWorkers(encoding)},
		{"decode", decoding, ofWorkers(decoding)},
		{"detokenize", detokenizing, span(r.each(detokenizing, answered)) + " a request"},
		{"request", answering, span(r.each(answering, answered)) + " each"},
	}
	longest := 0.0
	for _, s := range stages {
		if t := r.counts[s.time]; t > longest {
			longest = t
		}
	}
	const meansWidth = 28
	room := width - titleWidth - valueWidth - meansWidth - 4
	list := []line{{}}
	for _, s := range stages {
		l := line{
			{left("  "+s.title, titleWidth), dim},
			{right(span(r.counts[s.time]), valueWidth) + "  ", plain},
			{left(s.means, meansWidth), dim},
		}
		if longest > 0 && !math.IsInf(longest, 1) && room > 0 {
			l = append(l, piece{bar(r.counts[s.time]/longest, room), accent})
		}
		list = append(list, l)
	}
	return list
}
