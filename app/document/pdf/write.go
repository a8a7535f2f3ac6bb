package pdf

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-text/typesetting/font"

	"dragoman/app/document"
	"dragoman/app/text/markup"
)

// writer writes the pages of a document as they are translated, behind the original. Fonts follow at the end, with the glyphs of
// all pages.
type writer struct {
	*file
	fonts  *fonts
	append *appendix // nil if nothing is written
	layout *layout
	codes  map[*font.Face]*codes
	faces  []*font.Face // those with codes
}

// overlay is the change of a page: removed texts, and drawn translations.
type overlay struct {
	*writer
	*page
	blocks []translatedBlock
	areas  map[int][]box // the places of the words of links, by number
	out    bytes.Buffer
}

// translatedBlock is a block with its translation.
type translatedBlock struct {
	*block
	laid laid
}

// begin writes the document as it is.
func (w *writer) begin(out io.Writer, to string) {
	next := int(number(w.objects.trailer.get("Size")))
	for n := range w.objects.places {
		next = max(next, n+1)
	}
	w.append = &appendix{memory: w.memory, out: out, offsets: map[int]place{}, next: next}
	w.layout, w.codes = &layout{fonts: w.fonts, to: to}, map[*font.Face]*codes{}
	w.append.write(w.objects.data, []byte("\n"))
}

// errKept is returned for a text on a page that stays as it is.
var errKept = fmt.Errorf("%w: the page has content that cannot be changed", markup.ErrLost)

// translate translates a page.
func (w *writer) translate(p *page, blocks []*block, o document.Options, t document.Translate) {
	to := &overlay{writer: w, page: p, areas: map[int][]box{}}
	for _, b := range blocks {
		if !b.isText() {
			continue
		}
		pieces, isRestyled, err := b.translated(t)
		if err == nil && pieces != nil && (p.isUnreadable || p.object == 0 || b.isUnknown()) {
			err = errKept
		}
		w.looks.Check(o.Fits(err))
		if err != nil || w.append == nil || pieces == nil {
			continue
		}
		shaped := w.layout.shape(b, pieces)
		if shaped.missing != 0 {
			w.looks.Check(o.Fits(missingLetter(shaped.missing)))
			continue
		}
		w.take(int64(glyphCost * len(shaped.text)))
		l := w.layout.lay(b, shaped, p.box[2]-p.box[0])
		if (isRestyled || !l.fits) && o.Restyled != nil {
			o.Restyled()
		}
		to.add(b, l)
	}
	if len(to.blocks) > 0 {
		to.write()
	}
}

// isUnknown reports whether a block has a word with a letter of which nothing is known.
func (b *block) isUnknown() bool {
	for _, l := range b.lines {
		for word := range strings.FieldsSeq(l.text) {
			if strings.Contains(word, unknown) && letters(word) > 0 {
				return true
			}
		}
	}
	return false
}

// glyphCost is the memory of a translation's glyph.
const glyphCost = 160

// add records the changes of a block.
func (o *overlay) add(b *block, l laid) {
	for _, line := range b.lines {
		for _, s := range line.spans {
			s.isChanged = true
			for _, letter := range s.letters {
				letter.isRemoved = true
			}
		}
	}
	for _, g := range l.glyphs {
		c := o.codes[g.face]
		if c == nil {
			c = &codes{numbers: map[code]uint32{}, object: o.append.reserve()}
			o.codes[g.face] = c
			o.faces = append(o.faces, g.face)
		}
	}
	o.blocks = append(o.blocks, translatedBlock{b, l})
}

// write writes the changed page: its content without the removed texts, and behind it the translations.
func (o *overlay) write() {
	o.take(2 * int64(len(o.content.data)))
	rest, groups := o.content.without(o.append)
	o.out.WriteString(strings.Repeat("q ", 1+o.content.deepest) + "\n")
	o.out.Write(rest)
	o.out.WriteString("\n" + strings.Repeat("Q ", 1+len(o.content.stack)) + "\n")
	for _, b := range o.blocks {
		before := o.out.Len()
		for _, g := range b.laid.glyphs {
			o.glyphs(sightOf(b.block, g.color), b.angle, g)
		}
		for _, m := range b.laid.moved {
			for _, s := range m.spans {
				o.again(s, m.matrix(b.angle))
				x, y := m.x+(s.x0-m.fromX)*m.scaled, m.y+(s.y-m.fromY)*m.scaled
				o.areas[s.font.link] = append(o.areas[s.font.link], area(x, y, x+(s.x1-s.x0)*m.scaled, s.size*m.scaled, b.angle))
			}
		}
		o.take(int64(o.out.Len() - before))
	}
	resources := o.page.leaf.resources.plus(o.objects, "XObject", groups...)
	for _, category := range slices.Sorted(maps.Keys(o.added)) {
		resources = resources.plus(o.objects, category, o.added[category]...)
	}
	content := o.append.reserve()
	o.append.stream(content, nil, o.out.Bytes())
	d := o.page.dict.with(entry{"Contents", fmt.Appendf(nil, "%d 0 R", content)}, entry{"Resources", resources.bytes()})
	if annotations := o.moveLinks(); annotations != nil {
		d = d.with(entry{"Annots", annotations})
	}
	o.append.object(o.object, o.generation, d.bytes())
}

// moveLinks moves the links of the page to their words, and returns the annotations of the page if they change.
func (o *overlay) moveLinks() (annotations []byte) {
	moved := map[int]bool{}
	for n, areas := range o.areas {
		moved[n] = len(areas) > 0
	}
	for _, s := range o.spans {
		if n := s.font.link; moved[n] && !s.isChanged {
			o.areas[n] = append(o.areas[n], area(s.x0, s.y, s.x1, s.size, s.angle))
		}
	}
	direct := map[string][]byte{}
	for i, l := range o.links {
		areas := o.areas[l.number]
		if !moved[l.number] {
			continue
		}
		isLast := i+1 == len(o.links) || o.links[i+1].number != l.number
		if part := lines(areas); len(part) > 0 { // a line for each annotation, and the rest for the last one
			if n := i + 1 - l.number; !isLast {
				part = part[min(n, len(part)-1):][:1]
			} else {
				part = part[min(n, len(part)-1):]
			}
			areas = part
		}
		all, quads := noBox, []byte("[")
		for _, a := range areas {
			all = all.and(a)
			quads = fmt.Appendf(quads, "%[1]s %[4]s %[3]s %[4]s %[1]s %[2]s %[3]s %[2]s ", decimal(a.left), decimal(a.bottom), decimal(a.right), decimal(a.top))
		}
		rect := fmt.Appendf(nil, "[%s %s %s %s]", decimal(all.left), decimal(all.bottom), decimal(all.right), decimal(all.top))
		changed := o.objects.dict(l.value).with(entry{"Rect", rect}, entry{"QuadPoints", append(quads, ']')}, entry{"AP", nil}).bytes()
		if n := reference(l.value); n == 0 {
			direct[string(l.value)] = changed
		} else {
			o.append.object(n, o.objects.places[n].generation, changed)
		}
	}
	if len(direct) == 0 {
		return nil
	}
	annotations = []byte("[")
	for _, value := range o.objects.list(o.page.dict.get("Annots")) {
		if changed := direct[string(value)]; changed != nil {
			value = changed
		}
		annotations = append(append(annotations, value...), ' ')
	}
	return append(annotations, ']')
}

// lines joins areas that follow each other on a line.
func lines(areas []box) (joined []box) {
	for _, a := range areas {
		if n := len(joined) - 1; n >= 0 {
			last, high := joined[n], a.top-a.bottom
			if math.Abs(last.bottom-a.bottom) < 0.5*high && a.left < last.right+high && a.right > last.left-high {
				joined[n] = last.and(a)
				continue
			}
		}
		joined = append(joined, a)
	}
	return joined
}

// area returns the area of a text on the page.
func area(x0, y, x1, size, angle float64) box {
	a := noBox
	for _, corner := range [][2]float64{{x0, y - 0.25*size}, {x1, y - 0.25*size}, {x0, y + 0.8*size}, {x1, y + 0.8*size}} {
		x, y := turn(corner[0], corner[1], -angle)
		a = a.and(box{x, y, x, y})
	}
	return a
}

// sightOf returns the operator of a block's text whose look a style has.
func sightOf(b *block, of style) *show {
	for _, isAlike := range []func(s style) bool{func(s style) bool { return s == of }, func(s style) bool { return s.color == of.color }} {
		for _, l := range b.lines {
			for _, s := range l.spans {
				if isAlike(s.font) {
					return s.letters[0].show
				}
			}
		}
	}
	return b.lines[0].spans[0].letters[0].show
}

// look writes what determines the look of a text.
func (o *overlay) look(s *show) {
	o.out.WriteString("q ")
	for _, name := range s.graphics {
		o.out.WriteString(name + " gs ")
	}
	o.out.WriteString(s.fill.space + s.fill.value)
	if s.mode != 0 {
		_, _ = fmt.Fprintf(&o.out, "%s%s%s w %d Tr ", s.stroke.space, s.stroke.value, decimal(s.width), s.mode)
	}
}

// again draws a word of the document in another place.
func (o *overlay) again(word *span, to matrix) {
	for i := 0; i < len(word.letters); {
		s, shown := word.letters[i].show, map[*letter]bool{}
		for ; i < len(word.letters) && word.letters[i].show == s; i++ {
			shown[word.letters[i]] = true
		}
		o.look(s)
		_, _ = fmt.Fprintf(&o.out, "BT %s %s Tf %s Tc %s Tw %s Tz %s Ts %s Tm [%s]TJ ET Q\n", s.font, decimal(s.size), decimal(s.spacing), decimal(s.words), decimal(100*s.stretched), decimal(s.rise),
			s.start.then(to), s.operand(func(l *letter) bool { return shown[l] }))
	}
}

// glyphs draws a part of a line: a text for each stretch of glyphs on one baseline.
func (o *overlay) glyphs(s *show, angle float64, g glyphs) {
	c, sin, cos := o.codes[g.face], math.Sin(angle), math.Cos(angle)
	name := fmt.Sprintf("%sF%d", o.prefix, c.object)
	if font := (entry{name, fmt.Appendf(nil, "%d 0 R", c.object)}); !slices.ContainsFunc(o.added["Font"], func(e entry) bool { return e.key == name }) {
		o.added["Font"] = append(o.added["Font"], font)
	}
	o.look(s)
	_, _ = fmt.Fprintf(&o.out, "BT /%s %s Tf", name, decimal(g.size))
	x, pen, raised := g.x, math.NaN(), 0.0
	for _, shaped := range g.shaped {
		up, at := float64(shaped.YOffset)/64/em*g.size, x+float64(shaped.XOffset)/64/em*g.size
		if isFirst := math.IsNaN(pen); isFirst || up != raised {
			if !isFirst {
				o.out.WriteString("]TJ")
			}
			px, py := turn(at, g.y+up, -angle)
			_, _ = fmt.Fprintf(&o.out, " %s Tm[", matrix{cos, sin, -sin, cos, px, py})
			pen, raised = at, up
		}
		if back := math.Round((pen - at) / g.size * 1000); back != 0 {
			o.out.WriteString(decimal(back))
			pen -= back / 1000 * g.size
		}
		n := c.of(shaped, g.text)
		_, _ = fmt.Fprintf(&o.out, "<%04X>", n)
		if n > 0 {
			pen += float64(width(g.face, c.list[n-1].glyph)) / 1000 * g.size
		}
		x += float64(shaped.Advance) / 64 / em * g.size
		if g.text[shaped.TextIndex()] == ' ' && shaped.Advance > 0 {
			x += g.stretch
		}
	}
	o.out.WriteString("]TJ ET Q\n")
	o.areas[g.color.link] = append(o.areas[g.color.link], area(g.x, g.y, x, g.size, angle))
}

// matrix returns the transformation of a text of the page to its new place.
func (m moved) matrix(angle float64) matrix {
	fromX, fromY := turn(m.fromX, m.fromY, -angle)
	toX, toY := turn(m.x, m.y, -angle)
	return matrix{a: 1, d: 1, e: -fromX, f: -fromY}.then(matrix{a: m.scaled, d: m.scaled, e: toX, f: toY})
}

// String returns the operands of a transformation.
func (m matrix) String() string {
	var out []string
	for _, n := range []float64{m.a, m.b, m.c, m.d, m.e, m.f} {
		out = append(out, decimal(n))
	}
	return strings.Join(out, " ")
}

// decimal returns a number in PDF.
func decimal(n float64) string { return strconv.FormatFloat(math.Round(n*1e5)/1e5, 'f', -1, 64) }

// end writes the fonts and the table of the new objects.
func (w *writer) end() {
	for n, face := range w.faces {
		release := w.mark()
		w.take(w.fonts.of[face].outlines.size())
		w.codes[face].write(w.append, face, w.fonts.of[face], n)
		release()
	}
	w.append.end(w.objects, w.objects.start)
}

// missingLetter returns the error of a translation with a letter that no font has.
func missingLetter(r rune) error {
	return fmt.Errorf("%w: there is no font for the translation: no font has the letter %q", markup.ErrLost, r)
}
