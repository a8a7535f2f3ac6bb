package pdf

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/shaping"
	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/structs"

	"dragoman/app/budget"
	"dragoman/app/document"
	"dragoman/app/text/markup"
)

// writer collects the translations of a document until all are available: fonts are embedded with the glyphs of all.
type writer struct {
	*file
	fonts  *fonts
	dry    bool // nothing is written
	layout *layout
	pages  map[int]*rewritten
	codes  map[*font.Face]*codes
	faces  []*font.Face // those with codes
}

// rewritten holds the changes of a page.
type rewritten struct {
	blocks  []translatedBlock
	removed map[string]int // objects to remove, each with the number of its siblings
	moved   map[string]matrix
	changed map[*span]bool // texts of changed blocks
}

// translatedBlock is a block with its translation.
type translatedBlock struct {
	angle float64
	laid  laid
}

// glyphCost is the memory of a translation's glyph.
const glyphCost = 160

// translate translates a block.
func (w *writer) translate(n int, page *page, b *block, o document.Options, t document.Translate) error {
	pieces, isRestyled, err := b.translated(t)
	if err != nil {
		return o.Fits(err)
	}
	if w.dry || pieces == nil {
		return nil
	}
	if w.layout == nil {
		w.layout, w.pages, w.codes = &layout{fonts: w.fonts, to: o.To}, map[int]*rewritten{}, map[*font.Face]*codes{}
	}
	p := w.layout.shape(b, pieces)
	if p.missing != 0 {
		return o.Fits(missingLetter(p.missing))
	}
	if err := budget.Take(w.ctx, int64(glyphCost*len(p.text))); err != nil {
		return err
	}
	l := w.layout.lay(b, p, page.width)
	if (isRestyled || !l.fits) && o.Restyled != nil {
		o.Restyled()
	}
	w.add(n, b, l)
	return nil
}

// restore writes unchanged texts of a page again that would be lost with changed ones: other parts of the same object, and texts
// that PDFium does not write again.
func (w *writer) restore(n int, p *page) error {
	page := w.pages[n]
	if page == nil {
		return nil
	}
	for _, s := range p.spans {
		if _, isRemoved := page.removed[key(s.path)]; page.changed[s] || s.kept || !s.font.drawn && (!s.isPart || !isRemoved) {
			continue
		}
		l := newLine([]*span{s})
		b := &block{lines: []*line{l}, left: s.x0, right: s.x1, mostRight: math.Inf(1), lowest: s.y, size: s.size, leading: s.size, angle: s.angle}
		shaped := w.layout.shape(b, []piece{{text: s.text, style: s.font}})
		if shaped.missing != 0 {
			return document.Refuse(missingLetter(shaped.missing), "this machine has no font for %q: install one, or ask for HTML or text", shaped.missing)
		}
		w.add(n, b, w.layout.lay(b, shaped, math.Inf(1)))
	}
	return nil
}

// add records the changes of a block.
func (w *writer) add(n int, b *block, l laid) {
	page := w.pages[n]
	if page == nil {
		page = &rewritten{removed: map[string]int{}, moved: map[string]matrix{}, changed: map[*span]bool{}}
		w.pages[n] = page
	}
	for _, line := range b.lines {
		for _, s := range line.spans {
			page.removed[key(s.path)] = s.among
			page.changed[s] = true
		}
	}
	for _, m := range l.moved {
		for _, s := range m.spans {
			delete(page.removed, key(s.path))
			page.moved[key(s.path)] = m.matrix(b.angle)
		}
	}
	for _, g := range l.glyphs {
		c := w.codes[g.face]
		if c == nil {
			c = &codes{numbers: map[code]uint32{}}
			w.codes[g.face] = c
			w.faces = append(w.faces, g.face)
		}
		for _, shaped := range g.shaped {
			c.of(shaped, g.text)
		}
	}
	page.blocks = append(page.blocks, translatedBlock{angle: b.angle, laid: l})
}

func key(path []int) string { return fmt.Sprint(path) }

// matrix returns the transformation of a text of the page to its new place.
func (m moved) matrix(angle float64) matrix {
	fromX, fromY := turn(m.fromX, m.fromY, -angle)
	toX, toY := turn(m.x, m.y, -angle)
	return matrix{a: 1, d: 1, e: -fromX, f: -fromY}.then(matrix{a: m.scaled, d: m.scaled, e: toX, f: toY})
}

// code is a glyph with the text that it represents.
type code struct {
	glyph font.GID
	text  string
}

// codes are the character codes of a font in the document, from 1 on.
type codes struct {
	numbers map[code]uint32
	list    []code
	font    references.FPDF_FONT
}

// mostCodes is the maximum number of codes of a font.
const mostCodes = 1<<16 - 1

// of returns the code of a glyph. If several glyphs represent one text, the first one carries it.
func (c *codes) of(g shaping.Glyph, text []rune) uint32 {
	k := code{glyph: g.GlyphID, text: string(text[g.TextIndex():min(len(text), g.TextIndex()+g.RunesCount())])}
	n, known := c.numbers[k]
	if !known && len(c.list) < mostCodes {
		c.list = append(c.list, k)
		n = uint32(len(c.list))
		c.numbers[k] = n
	}
	return n
}

// load embeds the font in the document.
func (c *codes) load(f *file, t *typeface, n int) error {
	release, err := f.memory.hold(int64(len(t.data)))
	if err != nil {
		return err
	}
	defer release()
	glyphs, toGlyphs := map[uint16]bool{}, make([]byte, 2, 2+2*len(c.list))
	for _, k := range c.list {
		glyphs[uint16(k.glyph)] = true
		toGlyphs = binary.BigEndian.AppendUint16(toGlyphs, uint16(k.glyph))
	}
	loaded, err := f.FPDFText_LoadCidType2Font(&requests.FPDFText_LoadCidType2Font{
		Document: f.doc, FontData: subset(t.data, t.name(n), glyphs), ToUnicodeCmap: c.toUnicode(), CIDToGIDMapData: toGlyphs,
	})
	if err != nil {
		return err
	}
	c.font = loaded.Font
	return nil
}

// toUnicode returns the ToUnicode CMap of the codes.
func (c *codes) toUnicode() string {
	var out strings.Builder
	out.WriteString("/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n" +
		"/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n")
	for from := 0; from < len(c.list); from += 100 {
		part := c.list[from:min(from+100, len(c.list))]
		_, _ = fmt.Fprintf(&out, "%d beginbfchar\n", len(part))
		for i, k := range part {
			_, _ = fmt.Fprintf(&out, "<%04X> <", from+i+1)
			for _, unit := range utf16.Encode([]rune(k.text)) {
				_, _ = fmt.Fprintf(&out, "%04X", unit)
			}
			out.WriteString(">\n")
		}
		out.WriteString("endbfchar\n")
	}
	out.WriteString("endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n")
	return out.String()
}

// write writes the document from the original, in a new sandbox without data of the reading.
func (w *writer) write(out io.Writer) error {
	if err := w.start(); err != nil {
		return err
	}
	for n, face := range w.faces {
		if err := w.codes[face].load(w.file, w.fonts.of[face], n); err != nil {
			return w.explain(err)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(w.pages)) {
		if err := budget.Work(w.ctx, 1<<10); err != nil {
			return err
		}
		if err := w.onPage(n, func(on requests.Page) error { return w.rewrite(on, w.pages[n]) }); err != nil {
			return err
		}
	}
	sink := &failing{out: out}
	_, err := w.FPDF_SaveAsCopy(&requests.FPDF_SaveAsCopy{Document: w.doc, Flags: requests.SaveFlagNoIncremental, FileWriter: sink})
	if sink.err != nil {
		return sink.err
	}
	return w.explain(err)
}

// failing records the error of a writer, which PDFium does not.
type failing struct {
	out io.Writer
	err error
}

// Write implements [io.Writer].
func (f *failing) Write(p []byte) (n int, err error) {
	if f.err == nil {
		n, f.err = f.out.Write(p)
	}
	return n, f.err
}

// rewrite removes texts from a page, moves kept ones, and adds translations. It dissolves groups with text: PDFium does not write
// them again, and drops fonts that no text of the page itself uses.
func (w *writer) rewrite(on requests.Page, page *rewritten) error {
	var removed []object
	var shifted []shift
	groups, hasText := map[string]object{}, map[string]bool{}
	err := w.eachObject(on, func(o object) error {
		k := key(o.path)
		if o.kind == enums.FPDF_PAGEOBJ_FORM {
			groups[k] = o
			return nil
		}
		m, isMoved := page.moved[k]
		isRemoved := page.removed[k] == o.among && !isMoved
		if isMoved {
			shifted = append(shifted, shift{o, m})
		}
		if isRemoved {
			removed = append(removed, o)
		}
		for n := len(o.path) - 1; n > 0 && o.kind == enums.FPDF_PAGEOBJ_TEXT; n-- {
			hasText[key(o.path[:n])] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, k := range slices.SortedFunc(maps.Keys(groups), func(a, b string) int { return cmp.Compare(groups[b].path[0], groups[a].path[0]) }) {
		if g := groups[k]; len(g.path) == 1 && hasText[k] {
			if err := w.dissolve(on, g, g.path[0], hasText); err != nil {
				return err
			}
		}
	}
	for _, o := range removed {
		if err := w.remove(on, o); err != nil {
			return err
		}
	}
	for _, s := range shifted {
		if err := w.move(s.object, s.by); err != nil {
			return err
		}
	}
	for _, b := range page.blocks {
		for _, g := range b.laid.glyphs {
			if err := w.draw(on, b.angle, g); err != nil {
				return err
			}
		}
	}
	_, err = w.FPDFPage_GenerateContent(&requests.FPDFPage_GenerateContent{Page: on})
	return err
}

// shift is the displacement of an object.
type shift struct {
	object
	by matrix
}

// dissolve replaces a group, the nth object of a page, by its objects, and does the same with inner groups that have text.
func (w *writer) dissolve(on requests.Page, group object, n int, hasText map[string]bool) error {
	m, err := w.matrix(group.FPDF_PAGEOBJECT)
	if err != nil {
		return err
	}
	var inner []object
	if err := w.eachIn(group, func(o object) error { inner = append(inner, o); return nil }); err != nil {
		return err
	}
	for i, o := range inner {
		if err := w.lift(on, group, o, m, n+1+i); err != nil {
			return err
		}
	}
	for i, o := range slices.Backward(inner) {
		if hasText[key(o.path)] {
			if err := w.dissolve(on, o, n+1+i, hasText); err != nil {
				return err
			}
		}
	}
	_, err = w.FPDFPage_RemoveObject(&requests.FPDFPage_RemoveObject{Page: on, PageObject: group.FPDF_PAGEOBJECT})
	return err
}

// lift moves an object out of a group to position n on the page.
func (w *writer) lift(on requests.Page, group, o object, m matrix, n int) error {
	if _, err := w.FPDFFormObj_RemoveObject(&requests.FPDFFormObj_RemoveObject{PageObject: group.FPDF_PAGEOBJECT, FormObject: o.FPDF_PAGEOBJECT}); err != nil {
		return err
	}
	if err := w.move(o, m); err != nil {
		return err
	}
	if _, err := w.FPDFPageObj_TransformClipPath(&requests.FPDFPageObj_TransformClipPath{
		PageObject: o.FPDF_PAGEOBJECT, A: m.a, B: m.b, C: m.c, D: m.d, E: m.e, F: m.f,
	}); err != nil {
		return err
	}
	_, err := w.FPDFPage_InsertObjectAtIndex(&requests.FPDFPage_InsertObjectAtIndex{Page: on, PageObject: o.FPDF_PAGEOBJECT, Index: n})
	return err
}

func (w *writer) move(o object, m matrix) error {
	_, err := w.FPDFPageObj_TransformF(&requests.FPDFPageObj_TransformF{PageObject: o.FPDF_PAGEOBJECT, Transform: m.toPDF()})
	return err
}

func (m matrix) toPDF() structs.FPDF_FS_MATRIX {
	return structs.FPDF_FS_MATRIX{A: float32(m.a), B: float32(m.b), C: float32(m.c), D: float32(m.d), E: float32(m.e), F: float32(m.f)}
}

func (w *writer) remove(on requests.Page, o object) error {
	if _, err := w.FPDFPage_RemoveObject(&requests.FPDFPage_RemoveObject{Page: on, PageObject: o.FPDF_PAGEOBJECT}); err != nil {
		return err
	}
	_, err := w.FPDFPageObj_Destroy(&requests.FPDFPageObj_Destroy{PageObject: o.FPDF_PAGEOBJECT})
	return err
}

// draw adds a part of a line to a page: a text for each stretch of glyphs on one baseline.
func (w *writer) draw(on requests.Page, angle float64, g glyphs) error {
	c, x := w.codes[g.face], g.x
	start, from := x, 0
	var numbers []uint32
	var positions []float32
	flush := func(y float64) error {
		if len(numbers) == 0 {
			return nil
		}
		err := w.text(on, c.font, g, angle, start, y, numbers, positions)
		numbers, positions = nil, nil
		return err
	}
	var raised float64
	for i, shaped := range g.shaped {
		up := float64(shaped.YOffset) / 64 / em * g.size
		if up != raised || i == from {
			if err := flush(g.y + raised); err != nil {
				return err
			}
			raised, start, from = up, x+float64(shaped.XOffset)/64/em*g.size, i
		}
		at := x + float64(shaped.XOffset)/64/em*g.size
		numbers = append(numbers, c.of(shaped, g.text))
		positions = append(positions, float32((at - start)))
		x += float64(shaped.Advance) / 64 / em * g.size
		if g.text[shaped.TextIndex()] == ' ' && shaped.Advance > 0 {
			x += g.stretch
		}
	}
	return flush(g.y + raised)
}

// text adds glyphs to a page.
func (w *writer) text(on requests.Page, font references.FPDF_FONT, g glyphs, angle, x, y float64, numbers []uint32, positions []float32) error {
	if err := w.memory.handle(); err != nil {
		return err
	}
	made, err := w.FPDFPageObj_CreateTextObj(&requests.FPDFPageObj_CreateTextObj{Document: w.doc, Font: font, FontSize: float32(g.size)})
	if err != nil {
		return err
	}
	if _, err := w.FPDFText_SetCharcodes(&requests.FPDFText_SetCharcodes{PageObject: made.PageObject, CharCodes: numbers}); err != nil {
		return err
	}
	if len(positions) > 1 && !isNatural(g, numbers, positions, w.codes[g.face]) {
		if _, err := w.FPDFText_SetPositions(&requests.FPDFText_SetPositions{PageObject: made.PageObject, Positions: positions[1:]}); err != nil {
			return err
		}
	}
	if _, err := w.FPDFPageObj_SetFillColor(&requests.FPDFPageObj_SetFillColor{PageObject: made.PageObject, FillColor: g.color.color}); err != nil {
		return err
	}
	sin, cos := math.Sincos(angle)
	px, py := turn(x, y, -angle)
	m := matrix{cos, sin, -sin, cos, px, py}
	if err := w.move(object{FPDF_PAGEOBJECT: made.PageObject}, m); err != nil {
		return err
	}
	_, err = w.FPDFPage_InsertObject(&requests.FPDFPage_InsertObject{Page: on, PageObject: made.PageObject})
	return err
}

// isNatural reports whether the glyphs have the advances of the font.
func isNatural(g glyphs, numbers []uint32, positions []float32, c *codes) bool {
	const near = 0.03 // in ems
	at := 0.0
	for i, n := range numbers {
		if math.Abs(float64(positions[i])-at) > near*g.size {
			return false
		}
		if n > 0 {
			at += float64(g.face.HorizontalAdvance(c.list[n-1].glyph)) / float64(g.face.Upem()) * g.size
		}
	}
	return true
}

// missingLetter returns the error of a translation with a letter that no font has.
func missingLetter(r rune) error {
	return fmt.Errorf("%w: there is no font for the translation: no font has the letter %q", markup.ErrLost, r)
}
