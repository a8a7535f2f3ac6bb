package pdf

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/structs"

	"dragoman/app/budget"
	"dragoman/app/document"
)

const (
	// maxObjects is the maximum number of objects of a page, maxTexts the maximum number of texts among them, and maxDepth their
	// maximum depth in groups (form XObjects).
	maxObjects, maxTexts, maxDepth = 500_000, 20_000, 8
	// maxLookups limits the letters of a page that PDFium goes through, all of them for each text, and maxAllLookups the letters of a
	// document: some 3 and 80 seconds.
	maxLookups, maxAllLookups = 40_000_000, 1_000_000_000
	// spanCost is the memory of a text beside its letters, scopeCost that of a group.
	spanCost, scopeCost = 640, 256
)

// span is a text that is one object of a page: in one font, on one line. Its position is in the page's coordinates, rotated so
// that its line runs to the right: see [turn].
type span struct {
	path      []int // indices: the object on the page, then the object in that group, and so on
	shown     *shown
	text      string
	font      style
	size      float64 // of the font, in points
	angle     float64 // of its line, counterclockwise, in radians
	x0, x1    float64 // left and right edge
	y         float64 // of its baseline
	nth       int     // from 1 on, if it is a part of the text of an object
	isChanged bool    // it is translated, or moves
	kept      bool    // it moves with the surrounding text, but is not translated: code, or a sign of a formula
}

// shown is a text as its operator shows it.
type shown struct {
	place
	parts   []part  // if it is divided
	matrix  matrix  // to the page
	advance float64 // to the next text of its scope, in units of its own space; NaN for the last one
}

// part is a part of a text.
type part struct {
	at    float64  // from the start of the text, in units of its space
	words [][]byte // in the array that is shown; nil if unknown
	stays bool
}

// place is a text by its number among those of its scope.
type place struct {
	scope string // the key of its group, or of the page
	nth   int
}

// scope counts what a content stream shows: that of a page, or of a group on it.
type scope struct {
	texts  int
	groups []int  // indices of the groups in it
	shown  *shown // the last text
	matrix matrix // of the last text, in the scope
}

// style is the appearance of a text.
type style struct {
	serif, mono, bold, italic, math bool
	color                           structs.FPDF_COLOR
	link                            int // number of the link on the page, from 1 on
	mode                            enums.FPDF_TEXT_RENDERMODE
}

type page struct {
	spans         []*span
	width, height float64
	links         []link
	scopes        map[string]*scope
}

// link is the area of a link on a page.
type link struct {
	left, bottom, right, top float64
}

type reader struct {
	*file
	page    page
	seen    *seen
	texts   references.FPDF_TEXTPAGE
	letters int64 // on the page
	lookups int64 // of letters
	objects int
}

func (f *file) read(n int, s *seen) (*page, error) {
	r := &reader{file: f, seen: s, page: page{scopes: map[string]*scope{}}}
	return &r.page, f.onPage(n, func(on requests.Page) error {
		size, err := f.FPDF_GetPageSizeByIndex(&requests.FPDF_GetPageSizeByIndex{Document: f.doc, Index: n})
		if err != nil {
			return err
		}
		r.page.width, r.page.height = size.Width, size.Height
		texts, err := f.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: on})
		if err != nil {
			return err
		}
		r.texts = texts.TextPage
		defer func() { _, _ = f.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: r.texts}) }()
		letters, err := f.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: r.texts})
		if err != nil {
			return err
		}
		r.letters = int64(letters.Count)
		release, err := f.memory.hold(letterCost * r.letters)
		if err != nil {
			return err
		}
		defer release()
		if r.page.links, err = f.links(on); err != nil {
			return err
		}
		return f.eachObject(on, r.object)
	})
}

// onPage runs do with an open page, and explains its error.
func (f *file) onPage(n int, do func(on requests.Page) error) error {
	loaded, err := f.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: f.doc, Index: n})
	if err != nil {
		return f.explain(err)
	}
	err = do(requests.Page{ByReference: &loaded.Page})
	if _, closed := f.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: loaded.Page}); err == nil {
		err = closed
	}
	return f.explain(err)
}

// object is an object on a page, or in a group on it.
type object struct {
	references.FPDF_PAGEOBJECT
	path    []int
	inGroup matrix
	kind    enums.FPDF_PAGEOBJ
}

// eachObject calls each with the objects of a page, including those in groups.
func (f *file) eachObject(on requests.Page, each func(o object) error) error {
	count, err := f.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: on})
	if err != nil {
		return err
	}
	return f.within(object{inGroup: identity}, count.Count, each, func(n int) (references.FPDF_PAGEOBJECT, error) {
		got, err := f.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: on, Index: n})
		if err != nil {
			return "", err
		}
		return got.PageObject, nil
	})
}

// within calls each with count objects of a page or a group, and the objects in them.
func (f *file) within(group object, count int, each func(o object) error, get func(n int) (references.FPDF_PAGEOBJECT, error)) error {
	for n := range count {
		if err := f.memory.handle(); err != nil {
			return err
		}
		ref, err := get(n)
		if err != nil {
			return err
		}
		kind, err := f.FPDFPageObj_GetType(&requests.FPDFPageObj_GetType{PageObject: ref})
		if err != nil {
			return err
		}
		o := object{FPDF_PAGEOBJECT: ref, path: append(slices.Clone(group.path), n), inGroup: group.inGroup, kind: kind.Type}
		if err := each(o); err != nil {
			return err
		}
		if o.kind == enums.FPDF_PAGEOBJ_FORM && len(o.path) <= maxDepth {
			if err := f.inGroup(o, each); err != nil {
				return err
			}
		}
	}
	return nil
}

// inGroup calls each with the objects of a group.
func (f *file) inGroup(group object, each func(o object) error) error {
	m, err := f.matrix(group.FPDF_PAGEOBJECT)
	if err != nil {
		return err
	}
	group.inGroup = m.then(group.inGroup)
	count, err := f.FPDFFormObj_CountObjects(&requests.FPDFFormObj_CountObjects{PageObject: group.FPDF_PAGEOBJECT})
	if err != nil {
		return err
	}
	return f.within(group, count.Count, each, func(n int) (references.FPDF_PAGEOBJECT, error) {
		got, err := f.FPDFFormObj_GetObject(&requests.FPDFFormObj_GetObject{PageObject: group.FPDF_PAGEOBJECT, Index: uint64(n)})
		if err != nil {
			return "", err
		}
		return got.PageObject, nil
	})
}

// object reads an object, if it is a text.
func (r *reader) object(o object) error {
	if r.objects++; r.objects > maxObjects {
		return document.TooLarge("a page of the PDF has more than %d objects: it cannot be translated", maxObjects)
	}
	shown, err := r.count(o)
	if err != nil || shown == nil {
		return err
	}
	r.lookups += r.letters
	r.allLookups += r.letters
	if r.lookups > maxLookups {
		return document.TooLarge("a page of the PDF has too many texts, %d and more of %d letters in all: it cannot be translated", r.objects, r.letters)
	}
	if r.allLookups > maxAllLookups {
		return document.TooLarge("the PDF has too many texts on its pages: divide it")
	}
	text, err := r.FPDFTextObj_GetText(&requests.FPDFTextObj_GetText{PageObject: o.FPDF_PAGEOBJECT, TextPage: r.texts})
	if err != nil {
		return r.fatal(err) // a text outside the page has none
	}
	s := &span{path: o.path, shown: shown, text: clean(text.Text)}
	if strings.TrimSpace(s.text) == "" {
		return nil
	}
	if err := budget.Take(r.ctx, int64(spanCost+len(s.text))); err != nil {
		return err
	}
	if err := budget.Work(r.ctx, len(s.text)); err != nil {
		return err
	}
	mode, err := r.FPDFTextObj_GetTextRenderMode(&requests.FPDFTextObj_GetTextRenderMode{PageObject: o.FPDF_PAGEOBJECT})
	if err != nil {
		return err
	}
	switch {
	case mode.TextRenderMode == enums.FPDF_TEXTRENDERMODE_INVISIBLE && !r.takesHidden:
		r.seen.hidden++
		return nil
	case mode.TextRenderMode > enums.FPDF_TEXTRENDERMODE_INVISIBLE: // it clips later drawing
		return nil
	case !isReadable(s.text):
		r.seen.unreadable++
		s.kept = true
	}
	if s.font, err = r.style(o.FPDF_PAGEOBJECT, s.text); err != nil {
		return err
	}
	isInPlace, err := r.place(s, o)
	if err != nil || !isInPlace {
		return err
	}
	s.font.link, s.font.mode = r.page.linkAt(s), mode.TextRenderMode
	parts, err := r.parts(s)
	if err != nil {
		return err
	}
	if r.page.spans = append(r.page.spans, parts...); len(r.page.spans) > maxTexts {
		return document.TooLarge("a page of the PDF has more than %d texts: it cannot be translated", maxTexts)
	}
	return nil
}

// count records an object of its scope. It returns nil unless the object is a text.
func (r *reader) count(o object) (*shown, error) {
	if o.kind != enums.FPDF_PAGEOBJ_TEXT && o.kind != enums.FPDF_PAGEOBJ_FORM {
		return nil, nil
	}
	key := fmt.Sprint(o.path[:len(o.path)-1])
	in := r.page.scopes[key]
	if in == nil {
		in = &scope{}
		r.page.scopes[key] = in
	}
	if o.kind == enums.FPDF_PAGEOBJ_FORM {
		in.groups = append(in.groups, o.path[len(o.path)-1])
		return nil, budget.Take(r.ctx, scopeCost)
	}
	m, err := r.matrix(o.FPDF_PAGEOBJECT)
	if err != nil {
		return nil, err
	}
	if last := in.shown; last != nil {
		a, det := in.matrix, in.matrix.a*in.matrix.d-in.matrix.b*in.matrix.c
		x, y := m.e-a.e, m.f-a.f
		along, up := (x*a.d-y*a.c)/det, (y*a.a-x*a.b)/det
		if last.advance = along; math.Abs(up) > math.Abs(along) {
			last.advance = up // in vertical writing
		}
	}
	in.shown, in.matrix = &shown{place: place{key, in.texts}, matrix: m.then(o.inGroup), advance: math.NaN()}, m
	in.texts++
	return in.shown, nil
}

// partGap is the width of a gap, relative to the size, that divides a text: a row of a table may be one text.
const partGap = 1.5

// parts divides a text at wide gaps.
func (r *reader) parts(s *span) ([]*span, error) {
	letters := []rune(s.text)
	if s.kept || s.font.mono || s.font.math || s.angle != 0 || !strings.Contains(strings.TrimSpace(s.text), " ") || letters[0] == ' ' {
		return []*span{s}, nil
	}
	at, err := r.FPDFText_GetCharIndexAtPos(&requests.FPDFText_GetCharIndexAtPos{
		TextPage: r.texts, X: s.x0 + 0.1*s.size, Y: s.y + 0.2*s.size, XTolerance: 0.3 * s.size, YTolerance: 0.3 * s.size,
	})
	if err != nil || at.CharIndex < 0 || !r.isAt(at.CharIndex, letters[0]) || !r.isAt(at.CharIndex+len(letters)-1, letters[len(letters)-1]) {
		return []*span{s}, r.fatal(err)
	}
	var parts []*span
	s.shown.parts = []part{{}}
	from, x0 := 0, s.x0
	for i := 1; i < len(letters)-1; i++ {
		if letters[i] != ' ' || letters[i+1] == ' ' {
			continue
		}
		end := i
		for end > from && letters[end-1] == ' ' {
			end--
		}
		left, right, origin, err := r.gap(at.CharIndex+end-1, at.CharIndex+i+1)
		if err != nil {
			return nil, err
		}
		if right-left > partGap*s.size && end > from {
			parts = append(parts, s.part(string(letters[from:end]), x0, left))
			from, x0 = i+1, right
			s.shown.parts = append(s.shown.parts, part{at: (origin - s.shown.matrix.e) / s.shown.matrix.a})
		}
	}
	if from == 0 {
		return []*span{s}, nil
	}
	return append(parts, s.part(string(letters[from:]), x0, s.x1)), nil
}

func (s *span) part(text string, x0, x1 float64) *span {
	part := *s
	part.text, part.x0, part.x1, part.nth = text, x0, max(x1, x0+1), len(s.shown.parts)
	return &part
}

// isAt reports whether letter is the nth letter of the page.
func (r *reader) isAt(n int, letter rune) bool {
	got, err := r.FPDFText_GetUnicode(&requests.FPDFText_GetUnicode{TextPage: r.texts, Index: n})
	return err == nil && (rune(got.Unicode) == letter || unicode.IsSpace(rune(got.Unicode)) && letter == ' ' || letter == '-')
}

// gap returns the left and right edge of the gap between two letters of the page, and the origin of the second.
func (r *reader) gap(before, after int) (left, right, origin float64, err error) {
	a, err := r.FPDFText_GetCharBox(&requests.FPDFText_GetCharBox{TextPage: r.texts, Index: before})
	if err != nil {
		return 0, 0, 0, r.fatal(err)
	}
	b, err := r.FPDFText_GetCharBox(&requests.FPDFText_GetCharBox{TextPage: r.texts, Index: after})
	if err != nil {
		return 0, 0, 0, r.fatal(err)
	}
	from, err := r.FPDFText_GetCharOrigin(&requests.FPDFText_GetCharOrigin{TextPage: r.texts, Index: after})
	if err != nil {
		return 0, 0, 0, r.fatal(err)
	}
	return a.Right, b.Left, from.X, nil
}

// fatal returns err if reading cannot continue, or nil.
func (f *file) fatal(err error) error {
	if f.ctx.Err() != nil || f.memory.err != nil {
		return err
	}
	return nil
}

// clean removes PDFium's marks for line ends from a text.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\x02' || r == '\ufffe':
			return '-' // at the end of a line
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, strings.TrimRight(text, "\r\n"))
}

// isReadable reports whether the letters of a text are known.
func isReadable(text string) bool {
	unknown, all := 0, 0
	for _, r := range text {
		all++
		if r == unicode.ReplacementChar || unicode.Is(unicode.Co, r) {
			unknown++
		}
	}
	return unknown*4 < all
}

// place determines the position of a text. It returns false for a text that is mirrored or has no position.
func (r *reader) place(s *span, o object) (bool, error) {
	m := s.shown.matrix
	size, err := r.FPDFTextObj_GetFontSize(&requests.FPDFTextObj_GetFontSize{PageObject: o.FPDF_PAGEOBJECT})
	if err != nil {
		return false, err
	}
	quad, err := r.FPDFPageObj_GetRotatedBounds(&requests.FPDFPageObj_GetRotatedBounds{PageObject: o.FPDF_PAGEOBJECT})
	if err != nil {
		return false, r.fatal(err)
	}
	if m.a*m.d-m.b*m.c <= 0 {
		return false, nil
	}
	s.size = float64(size.FontSize) * math.Hypot(m.c, m.d)
	s.angle = math.Round(math.Atan2(m.b, m.a)*1000) / 1000
	s.x0, s.y = turn(m.e, m.f, s.angle)
	s.x1 = s.x0
	bottom, top := math.Inf(1), math.Inf(-1)
	q := quad.QuadPoints
	for _, p := range [4][2]float32{{q.X1, q.Y1}, {q.X2, q.Y2}, {q.X3, q.Y3}, {q.X4, q.Y4}} {
		at := matrix{e: float64(p[0]), f: float64(p[1])}.then(o.inGroup)
		x, y := turn(at.e, at.f, s.angle)
		s.x1, bottom, top = max(s.x1, x), min(bottom, y), max(top, y)
	}
	if high := top - bottom; s.size <= 0 || high > 3*s.size {
		s.size = high // of fonts drawn by the document itself
	}
	isNumber := !math.IsNaN(s.x0+s.x1+s.y+s.size) && !math.IsInf(s.x0+s.x1+s.y+s.size, 0)
	return isNumber && s.size > 1 && s.x1 > s.x0, nil
}

// Font flags (ISO 32000-1, 9.8.2). go-pdfium 1.21.4 mistakes each for the one before it.
const fixedPitch, serif, symbolic, italic, forceBold = 1 << 0, 1 << 1, 1 << 2, 1 << 6, 1 << 18

// style determines the appearance of a text.
func (r *reader) style(o references.FPDF_PAGEOBJECT, text string) (s style, err error) {
	color, err := r.FPDFPageObj_GetFillColor(&requests.FPDFPageObj_GetFillColor{PageObject: o})
	if err == nil {
		s.color = color.FillColor
	} else {
		s.color = structs.FPDF_COLOR{A: 255}
	}
	if err := r.memory.handle(); err != nil {
		return s, err
	}
	font, err := r.FPDFTextObj_GetFont(&requests.FPDFTextObj_GetFont{PageObject: o})
	if err != nil {
		return s, r.fatal(err)
	}
	name := ""
	if got, err := r.FPDFFont_GetBaseFontName(&requests.FPDFFont_GetBaseFontName{Font: font.Font}); err == nil {
		name = got.BaseFontName
	}
	flags, err := r.FPDFFont_GetFlags(&requests.FPDFFont_GetFlags{Font: font.Font})
	if err != nil {
		return s, r.fatal(err)
	}
	s.named(name)
	has := func(flag uint32) bool { return flags.Flags&flag != 0 }
	s.serif = (s.serif || has(serif|symbolic)) && !sansName.MatchString(name)                               // TeX's fonts have no other flags
	s.mono = s.mono || has(fixedPitch) && !strings.ContainsFunc(text, withoutSpaces) && r.isMono(font.Font) // Chinese and Japanese are always monospaced
	s.italic, s.bold = s.italic || has(italic), s.bold || has(forceBold)
	return s, nil
}

// isMono reports whether narrow and wide letters of a font have equal widths: the flags of fonts are often wrong.
func (r *reader) isMono(font references.FPDF_FONT) bool {
	narrow, err := r.FPDFFont_GetGlyphWidth(&requests.FPDFFont_GetGlyphWidth{Font: font, Glyph: 'i', FontSize: 1000})
	if err != nil {
		return false
	}
	wide, err := r.FPDFFont_GetGlyphWidth(&requests.FPDFFont_GetGlyphWidth{Font: font, Glyph: 'm', FontSize: 1000})
	return err == nil && narrow.GlyphWidth == wide.GlyphWidth
}

// matrix returns the transformation of an object.
func (f *file) matrix(o references.FPDF_PAGEOBJECT) (matrix, error) {
	got, err := f.FPDFPageObj_GetMatrix(&requests.FPDFPageObj_GetMatrix{PageObject: o})
	if err != nil {
		return matrix{}, err
	}
	m := got.Matrix
	return matrix{float64(m.A), float64(m.B), float64(m.C), float64(m.D), float64(m.E), float64(m.F)}, nil
}

func (f *file) links(on requests.Page) (found []link, err error) {
	for at := 0; len(found) < maxTexts; {
		if err := f.memory.handle(); err != nil {
			return found, err
		}
		next, err := f.FPDFLink_Enumerate(&requests.FPDFLink_Enumerate{Page: on, StartPos: at})
		if err != nil || next.Link == nil || next.NextStartPos == nil {
			return found, f.fatal(err)
		}
		at = *next.NextStartPos
		rect, err := f.FPDFLink_GetAnnotRect(&requests.FPDFLink_GetAnnotRect{Link: *next.Link})
		if err != nil || rect.Rect == nil {
			if err := f.fatal(err); err != nil {
				return found, err
			}
			found = append(found, link{})
			continue
		}
		b := rect.Rect
		found = append(found, link{float64(b.Left), float64(b.Bottom), float64(b.Right), float64(b.Top)})
	}
	return found, nil
}

// linkAt returns the number of the link that contains a text, or 0.
func (p *page) linkAt(s *span) int {
	x, y := turn((s.x0+s.x1)/2, s.y+s.size/4, -s.angle)
	for i, l := range p.links {
		if l.left <= x && x <= l.right && l.bottom <= y && y <= l.top {
			return i + 1
		}
	}
	return 0
}

// matrix is a transformation in PDF: x' = a·x + c·y + e, y' = b·x + d·y + f.
type matrix struct{ a, b, c, d, e, f float64 }

var identity = matrix{a: 1, d: 1}

// then returns the transformation by m followed by n.
func (m matrix) then(n matrix) matrix {
	return matrix{
		m.a*n.a + m.b*n.c, m.a*n.b + m.b*n.d, m.c*n.a + m.d*n.c, m.c*n.b + m.d*n.d,
		m.e*n.a + m.f*n.c + n.e, m.e*n.b + m.f*n.d + n.f,
	}
}

// turn returns a point of the page in coordinates rotated by an angle, in which text of that angle runs to the right.
func turn(x, y, angle float64) (float64, float64) {
	sin, cos := math.Sincos(angle)
	return x*cos + y*sin, y*cos - x*sin
}
