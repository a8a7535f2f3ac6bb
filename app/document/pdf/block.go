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

// line is the words of a row that belong to one text.
type line struct {
	spans         []*span
	x0, x1, y     float64
	size          float64
	angle         float64
	style         style   // of most of its letters
	isBullet      bool    // it is the bullet of a list item
	isItem        bool    // it follows a bullet
	isEntry       bool    // of a table of contents: a leader follows it
	beside        []*line // the lines of its row, if that looks like a row of a table
	text          string
	firstWordEnds float64 // width of its first word
	below         float64 // distance to the next lower line of its size with the same left edge; 0 if there is none
	// The table that it is in, if any, its row and column there, and the line above it in its column.
	table   *table
	inTable int
	column  *column
	above   *line
}

// block is the lines of one text, such as a paragraph.
type block struct {
	lines         []*line
	left, right   float64 // of its lines
	size, leading float64
	angle         float64
	// The free space around it: its limits to the left, to the right and down.
	mostLeft, mostRight, lowest float64
	isAtEdge                    bool // it ends at the right edge of the page's texts, behind other lines
}

// blocks returns the blocks of a page in the order of their texts in the document, which is the reading order.
func (p *page) blocks() []*block {
	var blocks []*block
	for _, rows := range p.rows() {
		lines := p.split(rows)
		for _, b := range p.join(lines) {
			b.findRoom(lines, p.rules)
			blocks = append(blocks, b)
		}
	}
	p.spreadMono(blocks)
	slices.SortStableFunc(blocks, func(a, b *block) int { return a.order() - b.order() })
	return blocks
}

// order returns the place of a block among those of the page: that of its first word in the content. A bullet is before its item.
func (b *block) order() int {
	l := b.lines[0]
	if i := slices.Index(l.beside, l); l.isBullet && i+1 < len(l.beside) {
		return 2*l.beside[i+1].order() - 1
	}
	return 2 * l.order()
}

func (l *line) order() int {
	first := math.MaxInt / 2
	for _, s := range l.spans {
		first = min(first, s.nth)
	}
	return first
}

// isText reports whether a block is translated: it has a word, and is neither code nor a page number.
func (b *block) isText() bool {
	return b.hasWords() && !b.isCode() && (len(b.lines) > 1 || !roman.MatchString(b.lines[0].text))
}

// roman matches a Roman number up to 89, as used for pages before the first chapter.
var roman = regexp.MustCompile(`^\s*(?:xl|l?x{0,3})(?:ix|iv|v?i{0,3})\s*$`)

// rows groups the texts of a page by angle, and then by baseline, from top to bottom. Superscripts and subscripts belong to the
// row that they touch.
func (p *page) rows() [][][]*span {
	byAngle := map[float64][][]*span{}
	var angles []float64
	sorted := slices.Clone(p.spans)
	slices.SortStableFunc(sorted, func(a, b *span) int { return cmp.Compare(b.size, a.size) })
	bands := map[band][]int{}
	for _, s := range sorted {
		rows, known := byAngle[s.angle]
		if !known {
			angles = append(angles, s.angle)
		}
		at := -1
		for d := -1; d <= 1 && at < 0; d++ {
			for _, i := range bands[band{s.angle, int(math.Floor(s.y/bandHeight)) + d}] {
				if inRow(rows[i], s) {
					at = i
					break
				}
			}
		}
		if at < 0 {
			at = len(rows)
			rows = append(rows, nil)
			key := band{s.angle, int(math.Floor(s.y / bandHeight))}
			bands[key] = append(bands[key], at)
		}
		rows[at] = append(rows[at], s)
		byAngle[s.angle] = rows
	}
	all := make([][][]*span, 0, len(angles))
	for _, angle := range angles {
		rows := byAngle[angle]
		slices.SortStableFunc(rows, func(a, b []*span) int { return cmp.Compare(b[0].y, a[0].y) })
		all = append(all, rows)
	}
	return all
}

// band is a part of a page's height, an index for the search of rows.
type band struct {
	angle float64
	n     int
}

const bandHeight = 12

// inRow reports whether a text belongs to a row, whose first text is the largest.
func inRow(row []*span, s *span) bool {
	first := row[0]
	up := s.y - first.y
	switch {
	case s.size > 0.8*first.size && math.Abs(up) < 0.2*first.size:
		return true
	case s.size > 0.8*first.size: // perhaps a note's mark
		return up > -0.35*first.size && up < 0.6*first.size && utf8.RuneCountInString(s.text) <= 3 && slices.ContainsFunc(row, func(o *span) bool {
			return math.Abs(s.x0-o.x1) < 0.25*o.size
		})
	case math.Abs(up) < 0.05*first.size:
		return true
	case up > 0.7*first.size, up < -0.35*first.size:
		return false
	}
	return slices.ContainsFunc(row, func(o *span) bool {
		return o.size > 1.2*s.size && s.x1 > o.x0-0.5*o.size && s.x0 < o.x1+0.5*o.size
	})
}

// most returns the key with the largest value; among equal ones the first by compare.
func most[K comparable](of map[K]int, compare func(a, b K) int) (best K) {
	found := -1
	for k, n := range of {
		if n > found || n == found && compare(k, best) < 0 {
			best, found = k, n
		}
	}
	return best
}

// letters returns the number of letters in a text.
func letters(text string) (n int) {
	for _, r := range text {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// join joins lines into blocks. A line continues the nearest block above it that it fits.
func (p *page) join(lines []*line) []*block {
	var blocks, open []*block
	measure(lines)
	for _, l := range lines {
		var found *block
		open = slices.DeleteFunc(open, func(b *block) bool { return b.last().y-l.y > 3*max(b.size, l.size) })
		for _, b := range slices.Backward(open) {
			if b.continues(l) && !p.isRuled(b.last(), l) && (found == nil || b.last().y < found.last().y) && !slices.ContainsFunc(open, func(o *block) bool { return o.isBetween(b.last(), l) }) {
				found = b
			}
		}
		if found == nil {
			found = &block{left: l.x0, right: l.x1, size: l.size, angle: l.angle, leading: 1.2 * l.size}
			blocks = append(blocks, found)
			open = append(open, found)
		} else if len(found.lines) == 1 {
			found.leading = found.last().y - l.y
		}
		found.lines = append(found.lines, l)
		found.left, found.right = min(found.left, l.x0), max(found.right, l.x1)
	}
	return blocks
}

// isBetween reports whether the last line of a block is between two lines.
func (b *block) isBetween(above, below *line) bool {
	l := b.last()
	overlaps := func(o *line) bool { return min(l.x1, o.x1)-max(l.x0, o.x0) > 0.3*l.size }
	return l.size > 0.7*below.size && l.y < above.y-0.5*l.size && l.y > below.y+0.5*l.size && overlaps(above) && overlaps(below)
}

// measure sets the distances between lines of one size with the same left edge.
func measure(lines []*line) {
	above := map[int]*line{}
	for _, l := range lines {
		at := int(math.Round(l.x0))
		for n := at - 1; n <= at+1; n++ {
			if last := above[n]; last != nil && last.below == 0 && math.Abs(last.size-l.size) < 0.1*l.size {
				last.below = last.y - l.y
			}
		}
		above[at] = l
	}
}

// isWord reports whether a line is a single word, in a script with spaces between words.
func (l *line) isWord() bool {
	return !strings.Contains(strings.TrimSpace(l.text), " ") && !strings.ContainsFunc(l.text, withoutSpaces)
}

func (b *block) last() *line { return b.lines[len(b.lines)-1] }

// continues reports whether a line continues a block.
func (b *block) continues(l *line) bool {
	last := b.last()
	down := last.y - l.y
	switch {
	case last.isBullet || l.isBullet || l.isItem || last.isEntry, itemStart.MatchString(l.text):
		return false
	case math.Abs(l.size-b.size) > 0.1*b.size, down < 0.6*b.size, down > 1.9*b.size && (down > 2.5*b.size || len(last.text) <= shortCell || endsSentence.MatchString(last.text)):
		return false
	case len(b.lines) > 1 && math.Abs(down-b.leading) > 0.15*b.size && !(down > b.leading && down < b.leading+0.5*b.size && (l.hasRaised() || last.hasRaised())):
		return false
	case len(b.lines) == 1 && l.below > 0 && l.below < down-0.25*b.size: // the first line of a paragraph
		return false
	case down > 1.35*b.size && last.isWord() && l.isWord(): // a list
		return false
	case l.x0 > b.right || l.x1 < b.left: // beside the block
		return false
	case l.raises(l.spans[0]): // a note
		return false
	case last.table != l.table && (last.crosses(l) || l.crosses(last)): // it is wider than the cell
		return false
	case last.style.bold != l.style.bold && (len(b.lines) > 1 || last.allBold() || l.allBold()):
		return false
	case last.style.mono != l.style.mono && (last.allMono() || l.allMono()):
		return false
	case last.style.color != l.style.color && !last.hasStyle(l.style) && !l.hasStyle(last.style):
		return false
	}
	return b.isAligned(l) && !b.endsBefore(l) && !l.isNextRow(last)
}

// itemStart matches the start of a list item in its line.
var itemStart = regexp.MustCompile(`^\s*(?:[•‣▪●○◦–—*]|\(?\d{1,2}[.)]|\d{1,2}(?:\.\d{1,2})+|\(?[a-z][.)])\s`)

// isAligned reports whether a line has the edges of a block.
func (b *block) isAligned(l *line) bool {
	near := func(a, b float64) bool { return math.Abs(a-b) < 0.6*l.size }
	first, body := b.lines[0], b.last()
	if len(b.lines) == 1 {
		const indent = 4
		isIndented := math.Abs(first.x0-l.x0) < indent*l.size && (first.x1-first.x0 > 8*l.size || near(first.x0, l.x0))
		return isIndented || near(first.x1, l.x1) || near(first.x0+first.x1, l.x0+l.x1)
	}
	before := b.lines[len(b.lines)-2]
	if math.Abs(body.x0-before.x0) < 0.1*l.size && l.x0 > body.x0 { // it is not the first line of the next paragraph
		return near(body.x0, l.x0) || near(body.x0+body.x1, l.x0+l.x1)
	}
	return near(body.x0, l.x0) || near(body.x0+body.x1, l.x0+l.x1) || near(body.x1, l.x1) && near(before.x1, l.x1)
}

// endsBefore reports whether a block ends before a line: its first word would have fit into the line above.
func (b *block) endsBefore(l *line) bool {
	last := b.last()
	if isCentered := math.Abs(last.x0+last.x1-l.x0-l.x1) < 0.6*l.size; isCentered && math.Abs(last.x0-l.x0) > l.size {
		return false
	}
	return last.x1+0.35*l.size+l.firstWordEnds < max(b.right, l.x1)-0.3*l.size
}

// endsSentence matches the end of a sentence.
var endsSentence = regexp.MustCompile(`[.!?:;…。！？]["'”’»)\]]*$`)

// raises reports whether a text of a line is a superscript.
func (l *line) raises(s *span) bool {
	return s.font.raised || s.y > l.y+0.15*l.size && (s.size < 0.92*l.size || noteMark.MatchString(s.text))
}

// hasRaised reports whether a line has superscripts or subscripts, which may set it apart.
func (l *line) hasRaised() bool {
	return slices.ContainsFunc(l.spans, func(s *span) bool { return s.size < 0.92*l.size })
}

func (l *line) allBold() bool { return l.all(func(s *span) bool { return s.font.bold }) }
func (l *line) allMono() bool { return l.all(func(s *span) bool { return s.font.mono || s.kept }) }
func (l *line) hasStyle(of style) bool {
	return slices.ContainsFunc(l.spans, func(s *span) bool { return s.font.color == of.color })
}

// all reports whether has is true for all texts of a line that have letters.
func (l *line) all(has func(s *span) bool) bool {
	return !slices.ContainsFunc(l.spans, func(s *span) bool { return letters(s.text) > 0 && !has(s) })
}

// hasWords reports whether a block has a word to translate.
func (b *block) hasWords() bool {
	for _, l := range b.lines {
		for _, s := range l.spans {
			if !s.kept && !s.font.math && word.MatchString(s.text) {
				return true
			}
		}
	}
	return false
}

var word = regexp.MustCompile(`\pL\pM*\pL|[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]`)

// isCode reports whether all letters of a block are in a monospaced font.
func (b *block) isCode() bool {
	hasLetters := slices.ContainsFunc(b.lines, func(l *line) bool { return letters(l.text) > 0 })
	return hasLetters && !slices.ContainsFunc(b.lines, func(l *line) bool { return !l.allMono() })
}

// spreadMono treats monospaced text as prose on a page without any other.
func (p *page) spreadMono(blocks []*block) {
	if slices.ContainsFunc(blocks, (*block).isText) {
		return
	}
	for _, s := range p.spans {
		s.font.mono = false
	}
}

// findRoom sets how far a block may grow: a single line to the right, or to the left if it is at the right edge; others down.
func (b *block) findRoom(lines []*line, rules []box) {
	edgeOfText, bottom := b.right, math.Inf(1)
	for _, l := range lines {
		edgeOfText = max(edgeOfText, l.x1)
		bottom = min(bottom, l.y)
	}
	if b.angle != 0 {
		edgeOfText += 0.3 * (b.right - b.left) // few other texts have this angle
	}
	first, last := b.lines[0], b.last()
	b.mostLeft, b.mostRight, b.lowest = math.Inf(-1), edgeOfText, min(bottom, last.y)
	for _, l := range lines {
		if slices.Contains(b.lines, l) {
			continue
		}
		top := l.y + 0.8*l.size
		if isBeside := l.y < first.y+0.8*b.size && top > last.y-0.2*b.size; isBeside && l.x0 > first.x0 {
			b.mostRight = min(b.mostRight, l.x0-0.6*b.size)
		}
		if isBefore := l.y < first.y+0.5*b.size && l.y > last.y-0.5*b.size; isBefore && l.x1 < first.x1 {
			b.mostLeft, b.isAtEdge = max(b.mostLeft, l.x1+b.size), b.right > edgeOfText-0.5*b.size && !l.isBullet
		}
		if isBelow := l.y < last.y-0.3*b.size; isBelow && l.x0 < b.right && l.x1 > b.left {
			b.lowest = max(b.lowest, top+0.5*b.size)
		}
	}
	for _, r := range rules {
		if r.top-r.bottom > r.right-r.left && r.left >= b.right && r.bottom < first.y && r.top > last.y && b.angle == 0 {
			b.mostRight = min(b.mostRight, r.left-0.25*b.size)
		}
	}
	b.mostRight, b.lowest = max(b.mostRight, b.right), min(b.lowest, last.y)
}
