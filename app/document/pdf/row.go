package pdf

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// wordGap and columnGap are the gaps, relative to the size, from which on there is a space, and another column.
	wordGap, columnGap = 0.13, 1.05
	// narrowGap is the gap from which on letters may be in different cells.
	narrowGap = 0.05
	// gutterGap is the gap that divides columns if it goes down over several rows, tableGap if it goes down over two.
	gutterGap, tableGap = 0.45, 0.6
	// columnWhite is the white that rows must have in common.
	columnWhite = 0.35
	// bulletGap is the gap behind a bullet, numberGap the one behind a number of an item, and plainNumberGap if that has only digits.
	bulletGap, numberGap, plainNumberGap = 0.2, 0.45, 0.75
)

// tidy sorts the words of a row, joins the parts of words, and finds the spaces between them.
func tidy(row []*span) []*span {
	slices.SortStableFunc(row, func(a, b *span) int { return cmp.Compare(a.x0, b.x0) })
	var gaps []float64 // between letters
	for i, s := range row {
		for range len(s.letters) - 1 {
			gaps = append(gaps, 0)
		}
		if i > 0 && math.IsNaN(s.spaced) {
			gaps = append(gaps, max(0, (s.x0-row[i-1].x1)/s.size))
		}
	}
	usual := 0.0 // the gap of letters that are set apart
	if slices.Sort(gaps); len(gaps) > 0 {
		usual = gaps[len(gaps)/2]
	}
	out := row[:0]
	for _, s := range row {
		if len(out) == 0 {
			out = append(out, s)
			continue
		}
		last := out[len(out)-1]
		near := func(x, y float64) bool { return math.Abs(x-y) < 0.15*s.size }
		if s.text == last.text && near(s.x0, last.x0) && near(s.y, last.y) {
			last.letters = append(last.letters, s.letters...) // its shadow, or it is printed twice to be bold
			continue
		}
		s.isSpaced = s.x0-last.x1 > (usual+wordGap)*min(s.size, last.size) || s.spaced > last.x1-0.05*s.size && s.spaced < s.x0+0.3*s.size
		if !s.isSpaced && (s.x0-last.x1 < narrowGap*s.size || usual > 0) && s.font == last.font && math.Abs(s.size-last.size) < 0.01*s.size && math.Abs(s.y-last.y) < 0.02*s.size {
			last.letters = append(last.letters, s.letters...)
			last.text += s.text
			last.x1, last.kept, last.nth = max(last.x1, s.x1), last.kept || s.kept, min(last.nth, s.nth)
			continue
		}
		out = append(out, s)
	}
	return out
}

// split divides the rows of a page into lines at the gaps between columns.
func (p *page) split(rows [][]*span) []*line {
	for i, row := range rows {
		rows[i] = tidy(row)
	}
	habits := habitsOf(rows)
	var lines []*line
	var cells [][]*line
	for n, row := range rows {
		first, leads, ends := len(lines), leaders(row), columns(rows, n)
		for column, start := 0, 0; start < len(row); {
			end := start + 1
			for ; end < ends[column]; end++ {
				g := gapBefore(rows, n, end, start, ends[column], habits)
				if leads[end] != leads[end-1] || isAfterBullet(row[start:end], row[end]) || p.isGutter(g) {
					break
				}
			}
			l := newLine(row[start:end:end])
			l.isItem = start > 0 && lines[len(lines)-1].isBullet || p.hasMark(l)
			l.isEntry = end < len(row) && leads[end]
			lines = append(lines, l)
			if start = end; end == ends[column] {
				column++
			}
		}
		if row := lines[first:]; len(row) > 1 {
			for _, l := range row {
				l.beside = row
			}
		}
		cells = append(cells, lines[first:])
	}
	tabulate(cells)
	return lines
}

// columns returns where the columns of the nth row end: the last one ends with the row. A gutter is white over several rows, and
// most of the words beside it are aligned.
func columns(rows [][]*span, n int) (ends []int) {
	for i := 1; i < len(rows[n]); i++ {
		g := gapBefore(rows, n, i, 0, len(rows[n]), habits{})
		if g.hi-g.lo < columnWhite*g.size {
			continue
		}
		if support, _, edges := g.supports(columnWhite * g.size); support >= 4 && edges*10 >= support*6 {
			ends = append(ends, i)
		}
	}
	return append(ends, len(rows[n]))
}

// gap is the gap between two words of a row.
type gap struct {
	rows     [][]*span
	n, i     int // the row, and the word behind the gap
	from, to int // the first word of its column, and the first one behind it
	lo, hi   float64
	size     float64
	habits
}

func gapBefore(rows [][]*span, n, i, from, to int, h habits) gap {
	row := rows[n]
	return gap{rows, n, i, from, to, edge(row[:i]), row[i].x0, max(row[i].size, row[i-1].size), h}
}

// word returns the word behind the gap.
func (g gap) word() *span { return g.rows[g.n][g.i] }

// habits are how a page sets words apart.
type habits struct {
	usual        float64 // the usual gap, relative to the size
	areEven      bool    // most gaps are as wide
	writesSpaces bool    // there are spaces in the gaps, though not in all of justified lines
}

func habitsOf(rows [][]*span) (h habits) {
	var gaps []float64
	spaces := 0
	for _, row := range rows {
		for j, s := range row {
			if j == 0 || !s.isSpaced {
				continue
			}
			if wide := (s.x0 - row[j-1].x1) / s.size; wide < columnGap {
				if gaps = append(gaps, wide); !math.IsNaN(s.spaced) {
					spaces++
				}
			}
		}
	}
	if len(gaps) == 0 {
		return h
	}
	slices.Sort(gaps)
	h.usual = gaps[len(gaps)/2]
	even := 0
	for _, gap := range gaps {
		if h.isUsual(gap) {
			even++
		}
	}
	h.areEven, h.writesSpaces = even*10 > len(gaps)*7, spaces*10 > len(gaps)*3
	return h
}

func (h habits) isUsual(gap float64) bool { return math.Abs(gap-h.usual) < 0.015 }

// isOdd reports whether a gap is not like those between words: there is no space in it, or it has another width than the others, which
// are equal.
func (g gap) isOdd() bool {
	h := g.habits
	isUsual := h.areEven && h.isUsual((g.hi-g.lo)/g.word().size)
	return (h.areEven && !h.writesSpaces || h.writesSpaces && math.IsNaN(g.word().spaced)) && !isUsual && !g.isEven()
}

// isAfterBullet reports whether a word follows a bullet, or the number of an item.
func isAfterBullet(before []*span, s *span) bool {
	gap := (s.x0 - edge(before)) / s.size
	if gap < bulletGap || !isBullet(before) {
		return false
	}
	last := before[len(before)-1].text
	r, _ := utf8.DecodeRuneInString(last)
	return gap >= numberGap && !plainNumber.MatchString(last) || gap >= plainNumberGap || strings.ContainsRune(bulletSigns, r)
}

var plainNumber = regexp.MustCompile(`^\d+$`)

const bulletSigns = "•‣▪▫■□●○◦◆◇➢➤✓✔❖"

// isGutter reports whether a gap divides columns or cells: a rule is in it, or it has no space where others have, or it is wide, or it
// goes down over several rows.
func (p *page) isGutter(g gap) bool {
	s, wide := g.word(), g.hi-g.lo
	if wide < narrowGap*g.size {
		return false
	}
	if s.angle == 0 && p.hasRule(g.lo, g.hi, s.y, g.size) {
		return true
	}
	support, aligned, _ := g.supports(narrowGap * g.size)
	hasSpace := !math.IsNaN(s.spaced)
	switch {
	case !s.isSpaced: // within a word, or between cells without a gap
		return support > 0 && aligned == support && g.isOdd()
	case g.writesSpaces && hasSpace && wide < columnGap*g.size:
		return false
	case g.writesSpaces && !hasSpace && (!g.isEven() && !g.isFormula() && !g.isSpace() || aligned*2 > support && !g.isSpaceless()):
		return true
	case support > 0 && aligned*2 > support && g.isOdd() && (aligned > 1 || wide > 1.6*g.habits.usual*g.size):
		return true
	case g.isEven(): // like the gaps beside it
		return false
	case wide >= columnGap*g.size:
		return g.isOdd() || !g.isJustified()
	case wide < gutterGap*g.size:
		return false
	}
	support, aligned, edges := g.supports(columnWhite * g.size)
	return support >= 3 && edges*10 >= support*6 || support >= 1 && aligned == support && wide >= tableGap*g.size
}

// isEven reports whether the gap is as wide as one beside it, exactly if only one of them has spaces.
func (g gap) isEven() bool {
	row, s := g.rows[g.n], g.word()
	for _, j := range []int{g.i - 1, g.i + 1} {
		if j <= g.from || j >= g.to || !row[j].isSpaced {
			continue
		}
		difference := math.Abs(row[j].x0 - row[j-1].x1 - g.hi + g.lo)
		if difference < 0.006*s.size || difference < 0.025*s.size && math.IsNaN(row[j].spaced) == math.IsNaN(s.spaced) {
			return true
		}
	}
	return false
}

// isSpaceless reports whether a gap beside it has no space, either: some producers write none in justified lines.
func (g gap) isSpaceless() bool {
	row := g.rows[g.n]
	return g.i-1 > g.from && math.IsNaN(row[g.i-1].spaced) || g.i+1 < g.to && math.IsNaN(row[g.i+1].spaced)
}

// isSpace reports whether the gap has the width of a space in the font.
func (g gap) isSpace() bool {
	font := g.word().letters[0].lettering
	return math.Abs((g.hi-g.lo)/g.size-font.width(' ')/font.em) < 0.005
}

// isFormula reports whether the gap is beside a sign of a formula, which has spaces of its own.
func (g gap) isFormula() bool { return g.word().font.math || g.rows[g.n][g.i-1].font.math }

// supports counts the rows around the gap that have text on both sides of it, and a gap of a width there, those of them whose words
// behind the gap are aligned, and those of them where the words on either side are.
func (g gap) supports(width float64) (support, aligned, edges int) {
	s := g.word()
	near := func(x, y float64) bool { return math.Abs(x-y) < 0.06*s.size }
	for _, step := range []int{-1, 1} {
		lo, hi, y := g.lo, g.hi, s.y
		for r := g.n + step; r >= 0 && r < len(g.rows) && support < 8; r += step {
			if math.Abs(g.rows[r][0].y-y) > 3*s.size {
				break
			}
			y = g.rows[r][0].y
			var left, right *span
			if lo, hi, left, right = white(g.rows[r], lo, hi); hi-lo < width {
				break
			}
			if left == nil || right == nil {
				continue // there is no text on one side
			}
			support++
			if near(right.x0, s.x0) || near(right.x1, s.x1) && hasDigit(right.text+s.text) {
				aligned, edges = aligned+1, edges+1
			} else if near(left.x1, g.lo) {
				edges++
			}
		}
	}
	return support, aligned, edges
}

func hasDigit(text string) bool { return strings.ContainsFunc(text, unicode.IsDigit) }

// isJustified reports whether a wide gap is one between words of a justified text: a neighbouring line with the same edges, but for
// an indent, has no gap there.
func (g gap) isJustified() bool {
	column := g.rows[g.n][g.from:g.to]
	left, right := column[0].x0, edge(column)
	for _, r := range []int{g.n - 1, g.n + 1, g.n + 2} {
		if r < 0 || r >= len(g.rows) || math.Abs(g.rows[r][0].y-column[0].y) > 1.6*g.size*math.Abs(float64(r-g.n)) || g.hi-g.lo > 6*g.size {
			continue
		}
		var other []*span
		for _, s := range g.rows[r] {
			if s.x0 > left-4*g.size && s.x1 < right+0.5*g.size {
				other = append(other, s)
			}
		}
		if len(other) == 0 || other[0].x0 > left+0.3*g.size || other[0].x0 < left-4*g.size || math.Abs(edge(other)-right) > 0.3*g.size {
			continue
		}
		if lo, hi, _, _ := white(other, g.lo, g.hi); hi-lo < 0.2*g.size {
			return true
		}
	}
	return false
}

// white returns the part of a gap that is also white in another row, and the words beside it.
func white(row []*span, lo, hi float64) (newLo, newHi float64, left, right *span) {
	for _, s := range row {
		if s.x0 < hi && s.x1 > lo {
			if s.x1-lo < hi-s.x0 {
				lo = s.x1
			} else {
				hi = s.x0
			}
		}
	}
	for _, s := range row {
		if s.x1 <= lo && (left == nil || s.x1 > left.x1) {
			left = s
		}
		if s.x0 >= hi && right == nil {
			right = s
		}
	}
	return lo, hi, left, right
}

// hasRule reports whether a vertical rule is between two words on a baseline.
func (p *page) hasRule(lo, hi, y, size float64) bool {
	return slices.ContainsFunc(p.rules, func(r box) bool {
		return r.top-r.bottom > r.right-r.left && r.left > lo-0.2*size && r.right < hi+0.2*size && r.bottom < y+0.1*size && r.top > y+0.5*size
	})
}

// isRuled reports whether a horizontal rule is between two lines, other than one below words.
func (p *page) isRuled(above, below *line) bool {
	if above.angle != 0 {
		return false
	}
	narrow := above
	if below.x1-below.x0 < above.x1-above.x0 {
		narrow = below
	}
	return slices.ContainsFunc(p.rules, func(r box) bool {
		y := (r.bottom + r.top) / 2
		if r.right-r.left < r.top-r.bottom || y > above.y || y < below.y+0.6*below.size || min(r.right, narrow.x1)-max(r.left, narrow.x0) < (narrow.x1-narrow.x0)/2 {
			return false
		}
		isUnderline := y > above.y-0.3*above.size && r.left > above.x0-0.15*above.size && r.right < above.x1+0.15*above.size
		return !isUnderline
	})
}

// hasMark reports whether a drawn bullet is before a line.
func (p *page) hasMark(l *line) bool {
	return l.angle == 0 && slices.ContainsFunc(p.marks, func(m box) bool {
		width, height := m.right-m.left, m.top-m.bottom
		middle := (m.top + m.bottom) / 2
		return width < 0.8*l.size && height < 0.8*l.size && width < 2*height && height < 2*width && middle > l.y && middle < l.y+0.75*l.size &&
			m.right < l.x0+0.1*l.size && m.right > l.x0-3*l.size
	})
}

// edge returns the right edge of texts.
func edge(spans []*span) float64 {
	right := math.Inf(-1)
	for _, s := range spans {
		right = max(right, s.x1)
	}
	return right
}

// leftOf returns the left edge of words.
func leftOf(spans []*span) float64 {
	left := math.Inf(1)
	for _, s := range spans {
		left = min(left, s.x0)
	}
	return left
}

// bullet matches the bullet or number of a list item, or the number of a heading.
var bullet = regexp.MustCompile(`^\s*(?:[(\[]?(?:\d{1,3}(?:\.\d{1,3})*|[a-zA-Z]|[ivx]{1,5})[.)\]]?|[^\s\pL\pN"'“„«([<¿¡#$€£]{1,2})\s*$`)

// leader matches the leader behind an entry of a table of contents, with the page number after it, if any.
var leader = regexp.MustCompile(`^\s*(?:[.·…_]\s*){4,}(?:\d+|[ivxlc]+)?\s*$`)

// dots matches a part of a leader.
var dots = regexp.MustCompile(`^[\s.·…_]+$`)

// leaders reports which texts of a row are leaders. Some documents have a text for each dot.
func leaders(row []*span) []bool {
	lead := make([]bool, len(row))
	for from, to := 0, 0; from < len(row); from = to {
		var text strings.Builder
		for to = from; to < len(row) && (to == from || dots.MatchString(row[to-1].text) && dots.MatchString(row[to].text)); to++ {
			text.WriteString(row[to].text)
		}
		isLeader := leader.MatchString(text.String())
		for i := from; i < to; i++ {
			lead[i] = isLeader
		}
	}
	return lead
}

// isBullet reports whether texts are a bullet. A single letter needs a sign behind it.
func isBullet(spans []*span) bool {
	text := ""
	for _, s := range spans {
		text += s.text
	}
	text = strings.TrimSpace(text)
	if utf8.RuneCountInString(text) == 1 && unicode.IsLetter([]rune(text)[0]) {
		return false
	}
	return bullet.MatchString(text)
}

// newLine returns a line of words in their order from left to right.
func newLine(spans []*span) *line {
	l := &line{spans: spans, x0: spans[0].x0, x1: edge(spans), angle: spans[0].angle}
	l.logical()
	l.isBullet = isBullet(l.spans)
	sizes, styles := map[float64]int{}, map[style]int{}
	for _, s := range l.spans {
		n := letters(s.text) + 1
		sizes[s.size] += n
		styles[s.font] += n
	}
	l.size, l.style = most(sizes, cmp.Compare), most(styles, func(a, b style) int { return 0 })
	for _, s := range l.spans {
		if s.size == l.size {
			l.y = s.y
			break
		}
	}
	l.keepUnknown()
	var text strings.Builder
	ends := false
	for i, s := range l.spans {
		if i > 0 && s.isSpaced {
			text.WriteByte(' ')
			ends = true
		}
		if text.WriteString(s.text); !ends {
			l.firstWordEnds += s.x1 - s.x0
		}
	}
	l.text = text.String()
	return l
}

// keepUnknown keeps the numbers that have a sign of which nothing is known, such as that of a currency.
func (l *line) keepUnknown() {
	for from, to := 0, 0; from < len(l.spans); from = to {
		text := l.spans[from].text
		for to = from + 1; to < len(l.spans) && !l.spans[to].isSpaced; to++ {
			text += l.spans[to].text
		}
		if !strings.Contains(text, unknown) || letters(text) > 0 {
			continue
		}
		for _, s := range l.spans[from:to] {
			s.kept = true
		}
	}
}

// logical puts the words of a line from right to left, and their letters, into the order in which they are read.
func (l *line) logical() {
	right, all := 0, 0
	isRight := func(s *span) bool {
		n := 0
		for _, r := range s.text {
			if unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana) {
				n++
			}
		}
		return n > 0
	}
	for _, s := range l.spans {
		if all += letters(s.text); isRight(s) {
			right += letters(s.text)
		}
	}
	if right == 0 || right*2 < all {
		return
	}
	spans := slices.Clone(l.spans)
	spaced := make([]bool, len(spans)+1)
	for i, s := range spans {
		spaced[i] = s.isSpaced && i > 0
	}
	for i, s := range spans {
		if s.isSpaced = spaced[i+1]; isRight(s) {
			letters := slices.Clone(s.letters)
			slices.Reverse(letters)
			s.text = textOf(letters)
		}
	}
	slices.Reverse(spans)
	for from, to := 0, 0; from < len(spans); from = to + 1 { // numbers and foreign words
		for to = from; to < len(spans) && !isRight(spans[to]); to++ {
		}
		if to-from > 1 {
			run := spans[from:to]
			first := run[0].isSpaced
			for i := range run[:len(run)-1] {
				run[i].isSpaced = run[i+1].isSpaced
			}
			slices.Reverse(run)
			run[0].isSpaced = first
		}
	}
	l.spans = spans
	l.turnBrackets(isRight)
}

// turnBrackets turns brackets that came the wrong way round, and puts the signs on the left of numbers behind them. The glyph of a
// bracket within words from right to left has its meaning in most files, but its look in those of Chromium; within numbers it is the
// other way round.
func (l *line) turnBrackets(isRight func(*span) bool) {
	var words strings.Builder
	for _, s := range l.spans {
		if isRight(s) {
			words.WriteString(s.text)
		} else if rest := strings.TrimLeft(s.text, ".,:;!?…،؛؟"); letters(rest) == 0 {
			s.text = turned(rest, rest) + s.text[:len(s.text)-len(rest)]
		}
	}
	for _, s := range l.spans {
		if isRight(s) {
			s.text = turned(s.text, words.String())
		}
	}
}

// turned returns a text with each kind of brackets turned of which the first one in context is a closing one, and an opening one
// follows.
func turned(text, context string) string {
	for _, pair := range [...][2]string{{"(", ")"}, {"[", "]"}, {"{", "}"}, {"«", "»"}, {"‹", "›"}} {
		if at := strings.Index(context, pair[1]); at >= 0 && at < strings.LastIndex(context, pair[0]) && !strings.Contains(context[:at], pair[0]) {
			text = strings.NewReplacer(pair[0], pair[1], pair[1], pair[0]).Replace(text)
		}
	}
	return text
}
