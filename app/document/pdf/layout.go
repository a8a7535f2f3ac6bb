package pdf

import (
	"math"
	"slices"
	"unicode"

	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"

	textlanguage "dragoman/app/text/language"
)

const (
	// em is the size at which texts are shaped.
	em = 1000
	// smallest is the minimum scale of a text that is reduced to fit in its place, and step the decrement of the scale.
	smallest, step = 0.6, 0.04
	// smallestLine is the minimum scale of a line before it is broken into several.
	smallestLine = 0.8
	// mostStretch is the maximum widening of a space, in ems, in justified lines.
	mostStretch = 0.8
	// objectLetter stands for a kept text.
	objectLetter = '\ufffc'
)

// glyphs is a part of a translation's line in one font. Its position is in the coordinates of its block.
type glyphs struct {
	face    *font.Face
	size    float64
	color   style
	x, y    float64
	shaped  []shaping.Glyph
	text    []rune // the whole translation, into which the glyphs point
	stretch float64
}

// moved is a group of kept texts in their new place.
type moved struct {
	spans  []*span
	x, y   float64 // where the first one begins
	fromX  float64
	fromY  float64
	scaled float64
}

// laid is a translation in its place.
type laid struct {
	glyphs []glyphs
	moved  []moved
	fits   bool
}

// layout lays out translations.
type layout struct {
	fonts  *fonts
	shaper shaping.HarfbuzzShaper
	split  shaping.Segmenter
	wrap   shaping.LineWrapper
	to     string
}

// paragraph is a shaped translation.
type paragraph struct {
	text      []rune
	runs      []shaping.Output
	styles    []style // of each letter
	kept      map[int]piece
	rightward bool
	missing   rune // a letter that no font has
}

// shape converts pieces to glyphs.
func (l *layout) shape(b *block, pieces []piece) *paragraph {
	p := &paragraph{kept: map[int]piece{}, rightward: !textlanguage.RightToLeft(l.to)}
	var starts []int
	for _, piece := range pieces {
		starts = append(starts, len(p.text))
		if piece.kept != nil {
			p.kept[len(p.text)] = piece
			p.text = append(p.text, objectLetter)
			p.styles = append(p.styles, piece.style)
			continue
		}
		for _, r := range piece.text {
			if unicode.IsSpace(r) && r != '\u00a0' && r != '\u202f' {
				r = ' '
			}
			if !unicode.IsControl(r) {
				p.text = append(p.text, r)
				p.styles = append(p.styles, piece.style)
			}
		}
	}
	for i, from := range starts {
		to := len(p.text)
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		if kept, isKept := p.kept[from]; isKept {
			p.runs = append(p.runs, p.object(b, from, kept))
			continue
		}
		if from < to {
			l.shapeText(p, from, to)
		}
	}
	return p
}

// direction returns the direction of a translation.
func (p *paragraph) direction() di.Direction {
	if p.rightward {
		return di.DirectionLTR
	}
	return di.DirectionRTL
}

// shapeText shapes a part of a text that has one style.
func (l *layout) shapeText(p *paragraph, from, to int) {
	input := shaping.Input{Text: p.text, RunStart: from, RunEnd: to, Direction: p.direction(), Size: fixed.I(em), Language: language.NewLanguage(l.to)}
	for _, part := range l.split.Split(input, chooser{l.fonts, p.styles[from], p}) {
		if part.Face == nil {
			continue
		}
		p.runs = append(p.runs, l.shaper.Shape(part))
	}
}

// chooser selects the font of each letter. It implements [shaping.Fontmap].
type chooser struct {
	fonts *fonts
	style style
	of    *paragraph
}

// ResolveFace implements [shaping.Fontmap].
func (c chooser) ResolveFace(r rune) *font.Face {
	if face := c.fonts.find(c.style, r); face != nil {
		return face
	}
	if !unicode.Is(unicode.Mn, r) && unicode.IsGraphic(r) {
		c.of.missing = r
	}
	return c.fonts.find(c.style, ' ')
}

// object returns a kept text as a glyph of its width.
func (p *paragraph) object(b *block, at int, kept piece) shaping.Output {
	width := fixed.Int26_6((edge(kept.kept) - leftOf(kept.kept)) / b.size * em * 64)
	return shaping.Output{
		Advance: width, Size: fixed.I(em), Direction: p.direction(), Runes: shaping.Range{Offset: at, Count: 1},
		Glyphs: []shaping.Glyph{{Advance: width, XAdvance: width, Width: width, ClusterIndex: at, RuneCount: 1, GlyphCount: 1}},
	}
}

// align is the alignment of a block's lines.
type align int

const (
	left align = iota
	right
	center
	justified
)

// alignment determines the alignment of a block in a left-to-right document.
func (b *block) alignment(pageWidth float64) align {
	near := func(x, y float64) bool { return math.Abs(x-y) < 0.35*b.size }
	n := len(b.lines)
	if n == 1 {
		l := b.lines[0]
		if b.isAtEdge {
			return right
		}
		if near((l.x0+l.x1)/2, pageWidth/2) && l.x0 > 0.15*pageWidth && b.angle == 0 {
			return center
		}
		return left
	}
	lefts, rights, centers := 0, 0, 0
	for i, l := range b.lines {
		if near(l.x0, b.left) || i == 0 {
			lefts++
		}
		if near(l.x1, b.right) {
			rights++
		}
		if math.Abs(l.x0+l.x1-b.lines[0].x0-b.lines[0].x1) < b.size {
			centers++
		}
	}
	switch isRagged := rights < n-1; {
	case centers == n && !near(b.lines[0].x0, b.lines[1].x0):
		return center
	case lefts == n && n > 2 && !isRagged:
		return justified
	case lefts == n:
		return left
	case rights == n:
		return right
	}
	return left
}

// lay lays out a translation in the place of a block, as large as fits.
func (l *layout) lay(b *block, p *paragraph, pageWidth float64) laid {
	how := b.alignment(pageWidth)
	first, body := b.indents(how)
	width := b.right - b.left
	if len(b.lines) == 1 {
		switch how {
		case center:
			width = 2 * min(b.mostRight-(b.left+b.right)/2, (b.right+b.left)/2-(pageWidth-b.mostRight))
			width = max(width, b.right-b.left)
		case right:
			width = max(width, b.right-max(b.mostLeft, b.left-width))
		default:
			width = b.mostRight - b.left
		}
	}
	high := b.lines[0].y - b.lowest
	for scale := 1.0; ; scale -= step {
		lines := l.lines(p, len(b.lines) == 1, width/(scale*b.size), first/(scale*b.size), body/(scale*b.size))
		leading := b.leading * max(scale, 0.3)
		fits := float64(len(lines)-1)*leading <= high+0.05*b.size && p.widest(lines, b.size*scale) <= width*1.01
		if len(b.lines) == 1 && len(lines) > 1 && (scale > smallestLine || b.lines[0].isEntry && scale-step >= smallest) {
			continue
		}
		if fits || scale-step < smallest {
			return l.put(b, p, lines, how, scale, leading, width, first, body, fits)
		}
	}
}

// indents returns the indentation of a block's first line and of its other lines.
func (b *block) indents(how align) (first, body float64) {
	if how == center || how == right || len(b.lines) == 1 {
		return 0, 0
	}
	first, body = b.lines[0].x0-b.left, math.Inf(1)
	for _, l := range b.lines[1:] {
		body = min(body, l.x0-b.left)
	}
	return first, body
}

// lines wraps a translation; widths are in ems. isWhole forbids line breaks within words.
func (l *layout) lines(p *paragraph, isWhole bool, width, first, body float64) (lines []shaping.WrappedLine) {
	policy := shaping.WhenNecessary
	if isWhole {
		policy = shaping.Never
	}
	l.wrap.Prepare(shaping.WrapConfig{Direction: p.direction(), BreakPolicy: policy}, p.text, shaping.NewSliceIterator(cloned(p.runs))) // the wrapper changes them
	indent := first
	for {
		most := max(1, (width-indent)*em)
		line, done := l.wrap.WrapNextLineF(fixed.Int26_6(min(most, 1e6) * 64))
		line.Line = cloned(line.Line)
		lines = append(lines, line)
		if done {
			return lines
		}
		indent = body
	}
}

// cloned returns a copy of a line that the wrapper does not change.
func cloned(line shaping.Line) shaping.Line {
	line = slices.Clone(line)
	for i := range line {
		line[i].Glyphs = slices.Clone(line[i].Glyphs)
	}
	return line
}

// advance returns the width of a line in units of [em].
func advance(line shaping.Line) (sum float64) {
	for _, run := range line {
		sum += float64(run.Advance) / 64
	}
	return sum
}

// widest returns the width of the widest line.
func (p *paragraph) widest(lines []shaping.WrappedLine, size float64) (most float64) {
	for _, line := range lines {
		most = max(most, advance(line.Line)/em*size)
	}
	return most
}

func (l *layout) put(b *block, p *paragraph, lines []shaping.WrappedLine, how align, scale, leading, width, first, body float64, fits bool) laid {
	out := laid{fits: fits}
	size := b.size * scale
	if !p.rightward {
		how = map[align]align{left: right, right: left}[how] + map[align]align{center: center, justified: justified}[how]
	}
	for i, line := range lines {
		x, stretch := b.left, 0.0
		indent := body
		if i == 0 {
			indent = first
		}
		free := width - indent - advance(line.Line)/em*size
		if p.rightward {
			x += indent
		}
		isLast := i == len(lines)-1
		switch {
		case how == center:
			x = b.left + (b.right-b.left)/2 - advance(line.Line)/em*size/2
		case how == right && b.isAtEdge:
			x = b.right - advance(line.Line)/em*size
		case how == right, how == justified && isLast && !p.rightward:
			x += free
		case how == justified && !isLast:
			if n := spaces(line.Line, p.text); n > 0 && free > 0 && free < mostStretch*size*float64(n) {
				stretch = free / float64(n)
			}
		}
		out.line(p, line.Line, b, size, x, b.lines[0].y-float64(i)*leading, stretch)
	}
	return out
}

// spaces counts the spaces of a line except one at its end.
func spaces(line shaping.Line, text []rune) (n int) {
	for _, run := range line {
		for _, g := range run.Glyphs {
			if text[g.TextIndex()] == ' ' && g.Advance > 0 {
				n++
			}
		}
	}
	return n
}

// line puts a line in its place.
func (out *laid) line(p *paragraph, line shaping.Line, b *block, size, x, y, stretch float64) {
	line = slices.Clone(line)
	slices.SortFunc(line, func(a, b shaping.Output) int { return int(a.VisualIndex - b.VisualIndex) })
	for _, run := range line {
		if kept, isKept := p.kept[run.Runes.Offset]; isKept && run.Face == nil {
			s := kept.kept[0]
			raised := (s.y - b.lineOf(s).y) * size / b.size
			out.moved = append(out.moved, moved{spans: kept.kept, x: x, y: y + raised, fromX: leftOf(kept.kept), fromY: s.y, scaled: size / b.size})
		} else if len(run.Glyphs) > 0 {
			out.glyphs = append(out.glyphs, glyphs{
				face: run.Face, size: size, color: p.styles[run.Runes.Offset], x: x, y: y, shaped: run.Glyphs, text: p.text, stretch: stretch,
			})
		}
		x += float64(run.Advance)/64/em*size + stretch*float64(spaces(shaping.Line{run}, p.text))
	}
}

// lineOf returns the line of a block's text.
func (b *block) lineOf(s *span) *line {
	for _, l := range b.lines {
		if slices.Contains(l.spans, s) {
			return l
		}
	}
	return b.lines[0]
}
