package pdf

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"dragoman/app/document"
)

const (
	// maxPages is the maximum number of pages.
	maxPages = 1000
	// maxTexts is the maximum number of words of a page, and maxAllTexts that of a document: the lines of a page take up to a second.
	maxTexts, maxAllTexts = 20_000, 2_000_000
	// spanCost is the memory of a word beside its letters.
	spanCost = 320
)

// file is a document. Its memory is taken from the request of ctx. It is not safe for concurrent use.
type file struct {
	*memory
	objects     *objects
	pages       []leaf
	letterings  map[string]*lettering // by reference
	prefix      string                // of the names of new resources
	takesHidden bool                  // reads hidden text, too
	words       int                   // read so far
}

// open opens a document. The caller must close it.
func open(ctx context.Context, in io.ReaderAt, size int64) (*file, error) {
	return openWithin(ctx, in, size, maxMemory)
}

const damaged = "the PDF is damaged: open it in a viewer, and print or save it as a PDF again"

// openWithin opens a document that may take most bytes of memory.
func openWithin(ctx context.Context, in io.ReaderAt, size, most int64) (*file, error) {
	head := make([]byte, min(size, 1<<10)) // viewers search no further for the signature
	if _, err := in.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	start := bytes.Index(head, []byte("%PDF"))
	if start < 0 {
		return nil, document.Refuse(nil, damaged)
	}
	f := &file{memory: &memory{ctx: ctx, most: most}, letterings: map[string]*lettering{}}
	var err error
	ended := f.look(func() { err = f.load(io.NewSectionReader(in, int64(start), size-int64(start))) })
	err = cmp.Or(ended, err)
	if err == nil {
		return f, nil
	}
	f.release()
	if errors.Is(err, errUnreadable) {
		err = document.Refuse(err, damaged)
	}
	return nil, err
}

// load reads a document.
func (f *file) load(in *io.SectionReader) (err error) {
	f.take(in.Size())
	data := make([]byte, in.Size())
	for at := 0; at < len(data); at += 1 << 20 {
		part := data[at:min(at+1<<20, len(data))]
		f.work(len(part))
		if _, err := io.ReadFull(in, part); err != nil {
			return err
		}
	}
	if f.objects, err = parseObjects(data, f.memory); err != nil {
		return err
	}
	for n := 0; f.prefix == "" || bytes.Contains(data, []byte("/"+f.prefix)); n++ {
		f.prefix = fmt.Sprintf("Tr%d", n)
	}
	f.pages, err = f.objects.leaves()
	return err
}

// page is a page as it was read.
type page struct {
	leaf
	content      *content
	spans        []*span
	links        []link
	rules, marks []box
	aliases      map[string]string  // names of the resources of groups, by category and value
	added        map[string][]entry // those resources, by category
	isUnreadable bool               // some of its content
	left         int                // texts that cannot be translated
	whole        map[int]bool       // the links that have a whole text
}

// span is a word or a part of a word in one style. Its position is in the page's coordinates, rotated so that its line runs to
// the right: see [turn].
type span struct {
	letters   []*letter
	text      string
	font      style
	size      float64 // of the font, in points
	angle     float64 // of its line, counterclockwise, in radians
	x0, x1    float64 // its origin, and the end of its last advance
	y         float64 // of its baseline
	nth       int     // in the order of the page's content
	spaced    float64 // where the spaces before it end; NaN if there are none
	isSpaced  bool    // a space separates it from the word before it in its line
	inPart    int     // a link that only a part of its text is in
	isChanged bool    // it is translated, or moves
	kept      bool    // it moves with the surrounding text, but is not translated: code, or a sign of a formula
}

// style is the appearance of a text.
type style struct {
	serif, mono, bold, italic, math bool
	raised                          bool // a superscript by its shape
	color                           string
	link                            int // number of the link on the page, from 1 on
	mode                            int // of rendering
}

// link is a link on a page.
type link struct {
	box
	number int    // of the first link on the page that leads to the same place, from 1 on
	value  []byte // its annotation
}

// reader reads a page.
type reader struct {
	*file
	page *page
	seen *seen
	// The word that is being read, and the spaces behind it.
	word   *span
	spaces float64
}

// read reads the nth page.
func (f *file) read(n int, s *seen) *page {
	p := &page{leaf: f.pages[n], aliases: map[string]string{}, whole: map[int]bool{}, added: map[string][]entry{}}
	r := &reader{file: f, page: p, seen: s, spaces: math.NaN()}
	f.links(p)
	var data []byte
	contents := p.dict.get("Contents")
	list := f.objects.list(contents)
	if list == nil && contents != nil {
		list = [][]byte{contents}
	}
	for _, part := range list {
		_, more, err := f.objects.stream(part)
		if err != nil {
			p.isUnreadable = true
			continue
		}
		f.take(int64(len(more)) + 1)
		data = append(append(data, more...), '\n')
	}
	f.work(len(data))
	p.content = r.content(data, p.resources, state{ctm: identity, width: 1, stretched: 1})
	if p.content.scan() != nil {
		p.isUnreadable = true
	}
	for _, s := range p.spans {
		s.text = textOf(s.letters)
		if p.whole[s.inPart] {
			s.font.link = 0 // the area of the link is wrong
		}
	}
	return p
}

// content returns a content stream that begins in a state.
func (r *reader) content(data []byte, resources dict, s state) *content {
	return &content{reader: r, data: data, resources: resources, known: map[string]map[string][]byte{}, state: s, tm: identity, lm: identity, path: path{box: noBox}}
}

// shown adds the letters of an operator to the words of the page.
func (c *content) shown(s *show) {
	m, p := s.start, c.page
	var all strings.Builder
	for i := range s.letters {
		all.WriteString(s.letters[i].text)
	}
	text := all.String()
	angle := math.Round(math.Atan2(m.b, m.a)*1000) / 1000
	size := math.Abs(s.size) * math.Hypot(m.c, m.d) * s.lettering.em
	isHidden := s.mode == 3
	switch {
	case s.mode > 3: // it clips later drawing
		return
	case strings.TrimSpace(text) == "":
		last := s.letters[len(s.letters)-1]
		x, _ := turn(last.x, last.y, angle)
		c.spaces = x + last.advance*s.size/1000*s.scale
		return
	case isHidden && !c.takesHidden:
		c.seen.hidden++
		return
	case (m.a*m.d-m.b*m.c > 0) == s.lettering.isMirrored, s.lettering.isVertical, s.lettering.isUnsure, !(size > 1 && size < 1e4), s.stretched <= 0, s.size < 0:
		p.left++
		return
	case !isReadable(text):
		c.seen.unreadable++
	}
	font := s.lettering.styleOf(text)
	font.color, font.mode = colorOf(s.fill), s.mode
	if s.mode == 1 {
		font.color = colorOf(s.stroke)
	}
	at := make([]int, len(s.letters)) // links
	inside := 0
	for i, l := range s.letters {
		if at[i] = p.linkAt(l.x, l.y, size, angle); at[i] == at[0] || strings.TrimSpace(l.text) == "" {
			inside++
		}
	}
	isWhole := inside == len(at) && at[0] > 0
	if isWhole {
		p.whole[at[0]] = true
	}
	for i := range s.letters {
		l := &s.letters[i]
		if l.x < p.box[0]-size || l.x > p.box[2]+size || l.y < p.box[1]-size || l.y > p.box[3]+size {
			continue // outside the page
		}
		x, y := turn(l.x, l.y, angle)
		end := x + (l.advance*s.size/1000)*s.scale
		if strings.TrimSpace(l.text) == "" {
			c.spaces = end
			continue
		}
		font.link, font.raised = p.numberOf(at[i]), s.lettering.raised[l.code]
		if w := c.word; w != nil && math.IsNaN(c.spaces) && w.font == font && w.angle == angle && math.Abs(w.size-size) < 0.01*size && math.Abs(w.y-y) < 0.02*size &&
			x-w.x1 < letterGap*size && x-w.x1 > -letterGap*size {
			w.letters = append(w.letters, l)
			w.x1 = max(w.x1, end)
			continue
		}
		if len(p.spans) >= maxTexts {
			c.looks.Check(document.TooLarge("a page of the PDF has more than %d words: it cannot be translated", maxTexts))
		}
		if c.file.words++; c.file.words > maxAllTexts {
			c.looks.Check(document.TooLarge("the PDF has more than %d words: divide it", maxAllTexts))
		}
		c.take(spanCost)
		c.word = &span{letters: []*letter{l}, font: font, size: size, angle: angle, x0: x, x1: max(end, x), y: y, nth: len(p.spans), spaced: c.spaces, kept: l.text == unknown}
		if p.spans = append(p.spans, c.word); !isWhole {
			c.word.inPart = at[i]
		}
		c.spaces = math.NaN()
	}
	c.work(len(text) * (1 + len(p.links)/64))
}

// textOf returns the text of letters.
func textOf(letters []*letter) string {
	var text strings.Builder
	for _, l := range letters {
		text.WriteString(l.text)
	}
	return text.String()
}

// letterGap is the maximum gap between the letters of a word, relative to the size.
const letterGap = 0.1

// colorOf returns the color of a text: black and other colors may be written in several ways.
func colorOf(c color) string {
	operands := strings.Fields(c.value)
	var values []float64
	for _, o := range operands {
		values = append(values, number([]byte(o)))
	}
	if c.space != "" && !strings.HasPrefix(c.space, "/DeviceRGB ") && !strings.HasPrefix(c.space, "/DeviceGray ") {
		return c.space + c.value
	}
	switch len(operands) {
	case 0:
		return "0 0 0"
	case 2:
		return fmt.Sprintf("%.3g %.3[1]g %.3[1]g", values[0])
	case 4:
		return fmt.Sprintf("%.3g %.3g %.3g", values[0], values[1], values[2])
	case 5:
		if k := values[3]; values[0]+values[1]+values[2] == 0 {
			return fmt.Sprintf("%.3g %.3[1]g %.3[1]g", 1-k)
		}
	}
	return c.value
}

// isReadable reports whether the letters of a text are known.
func isReadable(text string) bool {
	unknownLetters := strings.Count(text, unknown)
	return unknownLetters*4 < len([]rune(text))
}

// links reads the links of a page.
func (f *file) links(p *page) {
	last := ""
	for _, value := range f.objects.list(p.dict.get("Annots")) {
		d := f.objects.dict(value)
		kind := string(d.get("Subtype"))
		if kind != "/Link" && kind != "/Widget" {
			continue
		}
		f.take(spanCost)
		l := link{number: len(p.links) + 1, value: value}
		if to := string(d.get("A")) + string(d.get("Dest")); to == last && to != "" {
			l.number = p.links[len(p.links)-1].number
		} else {
			last = to
		}
		if r := f.objects.list(d.get("Rect")); len(r) == 4 {
			x0, y0, x1, y1 := f.objects.number(r[0]), f.objects.number(r[1]), f.objects.number(r[2]), f.objects.number(r[3])
			l.box = box{min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)}
		}
		if kind == "/Widget" { // a text grows no further than to the field of a form
			if len(p.rules) < maxRules {
				p.rules = append(p.rules, box{l.left, l.bottom, l.left, l.top})
			}
			continue
		}
		if p.links = append(p.links, l); len(p.links) > maxTexts {
			f.looks.Check(document.TooLarge("a page of the PDF has more than %d links: it cannot be translated", maxTexts))
		}
	}
}

// numberOf returns the number of the nth link, from 1 on, or 0.
func (p *page) numberOf(n int) int {
	if n == 0 {
		return 0
	}
	return p.links[n-1].number
}

// linkAt returns the link that contains a letter, from 1 on, or 0.
func (p *page) linkAt(x, y, size, angle float64) int {
	dx, dy := turn(0.1*size, 0.25*size, -angle)
	x, y = x+dx, y+dy
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

// scale returns how much longer a transformation makes lengths.
func (m matrix) scale() float64 { return math.Sqrt(math.Abs(m.a*m.d - m.b*m.c)) }

// turn returns a point of the page in coordinates rotated by an angle, in which text of that angle runs to the right.
func turn(x, y, angle float64) (float64, float64) {
	sin, cos := math.Sincos(angle)
	return x*cos + y*sin, y*cos - x*sin
}
