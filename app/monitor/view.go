package monitor

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// maxPast is how many intervals the sparklines go back at most.
	maxPast = 512

	// minTable is how many servers are listed before anything else is left out.
	minTable = 4

	// maxNotes is how many notes are shown.
	maxNotes = 2
)

// view is what the live view knows, and how it is laid out. It draws nothing itself.
type view struct {
	interval time.Duration
	round    Round
	shown    []Row // the rows, below their sum where there are several
	past     map[string]*past
	selected string // server whose charts are shown; "" is the first
}

// past is what was at a server.
type past struct {
	values   [][]float64 // of each chart, the latest last
	restarts int         // that were seen
}

func newView(interval time.Duration) *view {
	return &view{interval: interval, past: map[string]*past{}}
}

// put takes a round.
func (v *view) put(round Round) {
	v.round, v.shown = round, round.Rows
	if len(round.Rows) > 1 {
		v.shown = append([]Row{sumRow(round.Rows)}, round.Rows...)
	}
	kept := map[string]*past{} // forgets servers that are gone
	for i := range v.shown {
		r := &v.shown[i]
		p := v.past[r.Server]
		if p == nil {
			p = &past{values: make([][]float64, len(charts()))}
		}
		kept[r.Server] = p
		if r.Restarted {
			p.restarts++
		}
		for i, c := range charts() {
			p.values[i] = append(p.values[i], c.value(r))
			p.values[i] = p.values[i][max(0, len(p.values[i])-maxPast):]
		}
	}
	v.past = kept
}

// move selects another server.
func (v *view) move(by int) {
	if len(v.shown) == 0 {
		return
	}
	v.selected = v.shown[max(0, min(len(v.shown)-1, v.index()+by))].Server
}

// index is that of the selected server, and 0 where it is gone.
func (v *view) index() int {
	i := slices.IndexFunc(v.shown, func(r Row) bool { return r.Server == v.selected })
	return max(0, i)
}

// lines is the whole view, of a size in characters. What there is no room for is left
// out: bars first, then charts, then servers far from the selected one.
func (v *view) lines(width, height int) []line {
	list := []line{v.head(width)}
	for _, note := range v.round.Notes[:min(len(v.round.Notes), maxNotes)] {
		list = append(list, line{{note, bad}})
	}
	list = append(list, line{})
	if len(v.shown) == 0 {
		list = append(list, line{{"no servers yet", dim}})
	} else {
		detail := v.charts(width)
		bars := v.bars(width)
		room := height - len(list) - 1 // below the table's head
		table := min(len(v.shown), minTable)
		switch {
		case room >= table+len(detail)+len(bars):
			detail = append(detail, bars...)
		case room < table+len(detail):
			detail = nil
		}
		list = append(list, v.table(width, room-len(detail))...)
		list = append(list, detail...)
	}
	for i := range list {
		list[i] = list[i].clip(width)
	}
	return list[:min(len(list), max(0, height))]
}

// head says what is watched.
func (v *view) head(width int) line {
	down := 0
	for i := range v.round.Rows {
		if v.round.Rows[i].Err != nil {
			down++
		}
	}
	servers := fmt.Sprintf("  %d servers", len(v.round.Rows))
	if len(v.round.Rows) == 1 {
		servers = "  1 server"
	}
	l := line{{"dragoman monitor", strong}, {servers, plain}}
	if down > 0 {
		l = append(l, piece{fmt.Sprintf(", %d down", down), bad})
	}
	every := fmt.Sprintf("  every %s", v.interval)
	if !v.round.Time.IsZero() {
		every += "  " + v.round.Time.Format("15:04:05")
	}
	l = append(l, piece{every, dim})
	keys := "q quit"
	if len(v.shown) > 1 {
		keys = "↑↓ server  " + keys
	}
	if gap := width - l.width() - len([]rune(keys)); gap >= 2 {
		l = append(l, piece{strings.Repeat(" ", gap) + keys, dim})
	}
	return l
}

// tone says how a piece of a line looks.
type tone int

// The tones.
const (
	plain  tone = iota
	dim         // what matters less
	strong      // titles
	good        // as it should be
	bad         // not so
	accent      // charts, and what is selected
)

// piece is a part of a line. Its characters take a cell each.
type piece struct {
	text string
	tone tone
}

// line is a line of the view.
type line []piece

// width is in characters.
func (l line) width() int {
	n := 0
	for _, p := range l {
		n += len([]rune(p.text))
	}
	return n
}

// clip is the part of a line that is no wider than there is room.
func (l line) clip(width int) line {
	var clipped line
	for _, p := range l {
		text := []rune(p.text)
		if len(text) > width {
			text = text[:max(0, width)]
		}
		if len(text) > 0 {
			clipped = append(clipped, piece{string(text), p.tone})
		}
		width -= len(text)
	}
	return clipped
}

// left pads or shortens a text to a width.
func left(text string, width int) string {
	runes := []rune(text)
	if len(runes) > width {
		return string(runes[:max(0, width-1)]) + "…"
	}
	return text + strings.Repeat(" ", width-len(runes))
}

// right pads a text on its left.
func right(text string, width int) string {
	return strings.Repeat(" ", max(0, width-len([]rune(text)))) + text
}
