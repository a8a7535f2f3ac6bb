package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-text/typesetting/font"
	"github.com/klippa-app/go-pdfium/requests"

	"dragoman/app/budget"
	"dragoman/app/document"
	"dragoman/app/text/markup"
)

// writer writes the pages of a document as they are translated, behind the original. Fonts follow at the end, with the glyphs of
// all pages.
type writer struct {
	*file
	fonts   *fonts
	objects *objects // nil if nothing is written
	append  *appendix
	pages   []leaf
	layout  *layout
	codes   map[*font.Face]*codes
	faces   []*font.Face // those with codes
}

// overlay is the change of a page: removed texts, and drawn translations.
type overlay struct {
	*writer
	leaf
	page    *page
	content []byte
	dry     bool             // the page is only examined
	removed map[place]*shown // also texts that move
	scopes  map[string]bool  // with removed texts
	sights  map[place]*sight
	blocks  []translatedBlock
	added   map[string][]entry // resources, by category
	aliases map[string]string  // of resources of groups, by category and value
	links   map[int][]link     // the places of the texts of links
	out     bytes.Buffer
}

// translatedBlock is a block with its translation.
type translatedBlock struct {
	*block
	laid laid
}

// begin writes the document as it is.
func (w *writer) begin(out io.Writer, to string) error {
	if err := w.memory.take(w.in.Size()); err != nil {
		return err
	}
	saved := &sink{w.memory, make([]byte, 0, w.in.Size())}
	_, err := w.FPDF_SaveAsCopy(&requests.FPDF_SaveAsCopy{Document: w.doc, Flags: requests.SaveFlagRemoveSecurity, FileWriter: saved})
	if err := w.explain(err); err != nil {
		return err
	}
	if w.objects, err = parseObjects(saved.data); err != nil {
		return document.Refuse(err, damaged)
	}
	if err := w.memory.take(int64(objectCost * len(w.objects.offsets))); err != nil {
		return err
	}
	w.pages = w.objects.leaves(w.file.pages)
	w.append = &appendix{out: out, at: len(saved.data), offsets: map[int]int{}, next: int(number(w.objects.trailer.get("Size")))}
	for n := 0; w.append.prefix == "" || bytes.Contains(saved.data, []byte("/"+w.append.prefix)); n++ {
		w.append.prefix = fmt.Sprintf("Tr%d", n)
	}
	w.layout, w.codes = &layout{fonts: w.fonts, to: to}, map[*font.Face]*codes{}
	_, err = out.Write(saved.data)
	return err
}

// sink holds a saved document in memory.
type sink struct {
	memory *memory
	data   []byte
}

// Write implements [io.Writer].
func (s *sink) Write(p []byte) (int, error) {
	if more := max(len(s.data)/4, len(p)); cap(s.data)-len(s.data) < len(p) {
		if err := s.memory.take(int64(more)); err != nil {
			return 0, err
		}
		s.data = append(make([]byte, 0, len(s.data)+more), s.data...)
	}
	s.data = append(s.data, p...)
	return len(p), nil
}

// errKept is returned for a text on a page that stays as it is.
var errKept = fmt.Errorf("%w: the page has operators that cannot be changed", markup.ErrLost)

// translate translates the nth page.
func (w *writer) translate(n int, p *page, blocks []*block, o document.Options, t document.Translate) error {
	var to *overlay
	var unwritable error
	if w.objects != nil && slices.ContainsFunc(blocks, (*block).isText) {
		defer w.memory.mark()()
		if to, unwritable = w.overlay(n, p); unwritable != nil && !errors.Is(unwritable, errUnreadable) {
			return unwritable
		}
	}
	for _, b := range blocks {
		if !b.isText() {
			continue
		}
		pieces, isRestyled, err := b.translated(t)
		if err == nil && pieces != nil && unwritable != nil {
			err = errKept
		}
		if err := o.Fits(err); err != nil {
			return err
		}
		if err != nil || to == nil || pieces == nil {
			continue
		}
		shaped := w.layout.shape(b, pieces)
		if shaped.missing != 0 {
			if err := o.Fits(missingLetter(shaped.missing)); err != nil {
				return err
			}
			continue
		}
		if err := w.memory.take(int64(glyphCost * len(shaped.text))); err != nil {
			return err
		}
		l := w.layout.lay(b, shaped, p.width)
		if (isRestyled || !l.fits) && o.Restyled != nil {
			o.Restyled()
		}
		to.add(b, l)
	}
	if to == nil || len(to.blocks) == 0 {
		return nil
	}
	if err := to.restore(); err != nil {
		return err
	}
	return to.write()
}

// glyphCost is the memory of a translation's glyph, objectCost that of an object's place.
const glyphCost, objectCost = 160, 64

// overlay examines a page. It returns errUnreadable if the page cannot be changed.
func (w *writer) overlay(n int, p *page) (*overlay, error) {
	if n >= len(w.pages) || w.pages[n].object == 0 {
		return nil, errUnreadable
	}
	o := &overlay{writer: w, leaf: w.pages[n], page: p, dry: true, removed: map[place]*shown{}, scopes: map[string]bool{}, sights: map[place]*sight{}, added: map[string][]entry{}, aliases: map[string]string{}, links: map[int][]link{}}
	contents := o.dict.get("Contents")
	if list, _ := w.objects.get(contents); bytes.HasPrefix(list, []byte("[")) {
		for _, part := range elements(list) {
			_, data, err := w.objects.stream(part, w.memory)
			if err != nil {
				return nil, err
			}
			if err := w.memory.take(int64(len(data)) + 1); err != nil {
				return nil, err
			}
			o.content = append(append(o.content, data...), '\n')
		}
	} else {
		var err error
		if _, o.content, err = w.objects.stream(contents, w.memory); err != nil {
			return nil, err
		}
	}
	if err := budget.Work(w.ctx, len(o.content)); err != nil {
		return nil, err
	}
	for _, s := range p.spans {
		o.change(s.shown)
	}
	if _, err := o.scan(); err != nil {
		return nil, err
	}
	o.dry, o.scopes, o.removed = false, map[string]bool{}, map[place]*shown{}
	return o, nil
}

// change marks a text, its scope, and those around it.
func (o *overlay) change(s *shown) {
	o.removed[s.place] = s
	for scope := s.scope; !o.scopes[scope]; {
		o.scopes[scope] = true
		if n := strings.LastIndexByte(scope, ' '); n >= 0 {
			scope = scope[:n] + "]"
		} else {
			scope = pageScope
		}
	}
}

// scan goes through the content of the page.
func (o *overlay) scan() (*content, error) {
	c := o.contentOf(pageScope, o.content, o.resources, state{scale: 1, width: 1})
	return c, c.scan()
}

// add records the changes of a block.
func (o *overlay) add(b *block, l laid) {
	for _, line := range b.lines {
		for _, s := range line.spans {
			o.change(s.shown)
			s.isChanged = true
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

// restore keeps the unchanged parts of changed texts, or draws them again.
func (o *overlay) restore() error {
	for _, s := range o.page.spans {
		if s.nth == 0 || s.isChanged || o.removed[s.shown.place] == nil {
			continue
		}
		if p := &s.shown.parts[s.nth-1]; p.words != nil {
			p.stays = true
			continue
		}
		l := newLine([]*span{s})
		b := &block{lines: []*line{l}, left: s.x0, right: s.x1, mostRight: math.Inf(1), lowest: s.y, size: s.size, leading: s.size, angle: s.angle}
		shaped := o.layout.shape(b, []piece{{text: s.text, style: s.font}})
		if shaped.missing != 0 {
			return document.Refuse(missingLetter(shaped.missing), "this machine has no font for %q: install one, or ask for HTML or text", shaped.missing)
		}
		o.add(b, o.layout.lay(b, shaped, math.Inf(1)))
	}
	return nil
}

// write writes the changed page: its content without the removed texts, and behind it the translations.
func (o *overlay) write() error {
	if err := o.memory.take(2 * int64(len(o.content))); err != nil {
		return err
	}
	c, err := o.scan()
	if err != nil {
		return document.Refuse(err, damaged)
	}
	o.out.WriteString(strings.Repeat("q ", 1+c.deepest) + "\n")
	o.out.Write(c.out)
	o.out.WriteString("\n" + strings.Repeat("Q ", 1+len(c.stack)) + "\n")
	for _, b := range o.blocks {
		before := o.out.Len()
		for _, g := range b.laid.glyphs {
			o.glyphs(o.sightOf(b.block, g.color), b.angle, g)
		}
		for _, m := range b.laid.moved {
			for _, s := range m.spans {
				o.again(o.sights[s.shown.place], s.shown.matrix.then(m.matrix(b.angle)))
				x, y := m.x+(s.x0-m.fromX)*m.scaled, m.y+(s.y-m.fromY)*m.scaled
				o.links[s.font.link] = append(o.links[s.font.link], area(x, y, x+(s.x1-s.x0)*m.scaled, s.size*m.scaled, b.angle))
			}
		}
		if err := o.memory.take(int64(o.out.Len() - before)); err != nil {
			return err
		}
	}
	resources := o.resources.plus(o.objects, "XObject", c.added...)
	for _, category := range slices.Sorted(maps.Keys(o.added)) {
		resources = resources.plus(o.objects, category, o.added[category]...)
	}
	content := o.append.reserve()
	if err := o.append.stream(content, nil, o.out.Bytes()); err != nil {
		return err
	}
	if err := o.moveLinks(); err != nil {
		return err
	}
	return o.append.object(o.object, o.dict.with(entry{"Contents", fmt.Appendf(nil, "%d 0 R", content)}, entry{"Resources", resources.bytes()}).bytes())
}

// moveLinks moves the links of the page to their texts.
func (o *overlay) moveLinks() error {
	for _, s := range o.page.spans {
		if n := s.font.link; len(o.links[n]) > 0 && !s.isChanged {
			o.links[n] = append(o.links[n], area(s.x0, s.y, s.x1, s.size, s.angle))
		}
	}
	list, _ := o.objects.get(o.dict.get("Annots"))
	n := 0
	for _, value := range elements(list) {
		d := o.objects.dict(value)
		if string(d.get("Subtype")) != "/Link" {
			continue
		}
		n++
		areas := o.links[n]
		if reference(value) == 0 || len(areas) == 0 {
			continue
		}
		all, quads := areas[0], []byte("[")
		for _, a := range areas {
			all = link{min(all.left, a.left), min(all.bottom, a.bottom), max(all.right, a.right), max(all.top, a.top)}
			quads = fmt.Appendf(quads, "%[1]s %[4]s %[3]s %[4]s %[1]s %[2]s %[3]s %[2]s ", decimal(a.left), decimal(a.bottom), decimal(a.right), decimal(a.top))
		}
		rect := fmt.Appendf(nil, "[%s %s %s %s]", decimal(all.left), decimal(all.bottom), decimal(all.right), decimal(all.top))
		if err := o.append.object(reference(value), d.with(entry{"Rect", rect}, entry{"QuadPoints", append(quads, ']')}, entry{"AP", nil}).bytes()); err != nil {
			return err
		}
	}
	return nil
}

// area returns the area of a text on the page.
func area(x0, y, x1, size, angle float64) link {
	a := link{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	for _, corner := range [][2]float64{{x0, y - 0.25*size}, {x1, y - 0.25*size}, {x0, y + 0.8*size}, {x1, y + 0.8*size}} {
		x, y := turn(corner[0], corner[1], -angle)
		a = link{min(a.left, x), min(a.bottom, y), max(a.right, x), max(a.top, y)}
	}
	return a
}

// sightOf returns the text of a block whose look a style has.
func (o *overlay) sightOf(b *block, of style) (best *sight) {
	for _, isAlike := range []func(s style) bool{func(s style) bool { return s == of }, func(s style) bool { return s.color == of.color }, func(style) bool { return true }} {
		for _, l := range b.lines {
			for _, s := range l.spans {
				if found := o.sights[s.shown.place]; found != nil && isAlike(s.font) {
					return found
				}
			}
		}
	}
	return &sight{}
}

// look writes what determines the look of a text.
func (o *overlay) look(s *sight) {
	o.out.WriteString("q ")
	for _, name := range s.graphics {
		o.out.WriteString(name + " gs ")
	}
	o.out.WriteString(s.fill.space + s.fill.value)
	if s.mode != 0 {
		_, _ = fmt.Fprintf(&o.out, "%s%s%s w %d Tr ", s.stroke.space, s.stroke.value, decimal(s.width*s.scale), s.mode)
	}
}

// again draws a text of the document in another place.
func (o *overlay) again(s *sight, m matrix) {
	if s == nil {
		return
	}
	o.look(s)
	_, _ = fmt.Fprintf(&o.out, "BT %s %s Tf %s Tc %s Tw %s Tm ", s.font, decimal(s.size), decimal(s.spacing), decimal(s.words), m)
	if s.kerning != 0 && s.size != 0 { // it is in the place already
		_, _ = fmt.Fprintf(&o.out, "[%s]TJ ", decimal(1000*s.kerning/s.size))
	}
	operator := "Tj"
	if s.operand[0] == '[' {
		operator = "TJ"
	}
	_, _ = fmt.Fprintf(&o.out, "%s%s ET Q\n", s.operand, operator)
}

// glyphs draws a part of a line: a text for each stretch of glyphs on one baseline.
func (o *overlay) glyphs(s *sight, angle float64, g glyphs) {
	c, sin, cos := o.codes[g.face], math.Sin(angle), math.Cos(angle)
	name := fmt.Sprintf("%sF%d", o.append.prefix, c.object)
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
	o.links[g.color.link] = append(o.links[g.color.link], area(g.x, g.y, x, g.size, angle))
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
func (w *writer) end() error {
	for n, face := range w.faces {
		release, err := w.memory.hold(w.fonts.of[face].outlines.size())
		if err != nil {
			return err
		}
		err = w.codes[face].write(w.append, face, w.fonts.of[face], n)
		release()
		if err != nil {
			return err
		}
	}
	return w.append.end(w.objects)
}

// missingLetter returns the error of a translation with a letter that no font has.
func missingLetter(r rune) error {
	return fmt.Errorf("%w: there is no font for the translation: no font has the letter %q", markup.ErrLost, r)
}
