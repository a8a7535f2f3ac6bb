package office

import (
	"bufio"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"math"
	"strings"

	"dragoman/app/budget"
	"dragoman/app/document"
	"dragoman/app/document/tagged"
	"dragoman/app/document/xmlpart"
	"dragoman/app/text/char"
	"dragoman/app/text/language"
)

// maxParagraph is the maximum size in bytes of a paragraph's XML, with all that is anchored in it. A walker holds that much in
// memory.
const maxParagraph = 8 << 20

// paragraphByte is the memory per byte of a paragraph's XML during reading and rewriting, measured at 2 to 11.
const paragraphByte = 12

// maxNested is the maximum depth of paragraphs: a text box in another has depth two.
const maxNested = 16

// walker copies a part and rewrites the paragraphs in it.
type walker struct {
	ctx       context.Context
	looks     *char.Looks // ends the part at its first error
	reader    *xmlpart.Reader
	grammar   grammar
	ahead     []xmlpart.Token // tokens read ahead
	space     [2]string       // the namespace of the last token, and its abbreviation
	translate document.Translate
	options   document.Options
	to        target

	preserve   bool // the part declares that all spaces count
	paragraphs int  // depth of open paragraphs
	size       int  // bytes of the outermost paragraph so far
	remembered int  // bytes remembered of the part: names, styles
	paid       int  // bytes taken from the request's memory
	fields     fields
	keep       map[string]bool // texts that stay because formulas refer to them
	styles     map[string]odfStyle
	languages  map[string]marks // of styles of OpenDocument and Word, by their families and names
	automatic  bool             // the current styles are automatic ones
	cell       marks            // the languages of the current cell

	// Of the passes over a workbook:
	book   *workbook
	sheet  string // the name of the current sheet
	at     corner // the current cell
	rows   int    // how often its row is repeated
	scope  area   // the cells of the current condition
	table  string // the current table
	target string // the cells of the current conditional format

	judge language.Judge

	shownPaths map[string]bool // elements of stores that content controls show
	path       string          // of the current element of a store
	siblings   map[string]int  // by the path without the number
}

// sink receives the bytes of a part.
type sink interface {
	io.Writer
	io.StringWriter
}

// grammar maps elements to their rewritings; other elements are copied. The namespace * matches any namespace. A rewriting
// receives the start of an element and reads to its end.
type grammar map[xml.Name]rewriting

type rewriting func(w *walker, start xmlpart.Token, out sink)

// newLearner returns a walker for the passes that learn which texts of a document stay.
func newLearner(ctx context.Context) *walker {
	return &walker{ctx: ctx, keep: map[string]bool{}, book: newWorkbook(), shownPaths: map[string]bool{}, languages: map[string]marks{}}
}

// rewriter returns a walker that rewrites a part. It keeps the texts that w has learnt, and shares the paths of stores with the
// walkers of other parts.
func (w *walker) rewriter(g grammar, o document.Options, t document.Translate) *walker {
	to := newTarget(o.To)
	to.source = newTarget(o.From).attribute
	return &walker{ctx: w.ctx, grammar: g, keep: w.keep, book: w.book, shownPaths: w.shownPaths, styles: map[string]odfStyle{}, languages: maps.Clone(w.languages),
		to: to, options: o, translate: t.Within(w.ctx)}
}

// look runs work, which ends at the first error; see [char.Looks].
func (w *walker) look(work func()) error {
	around := w.looks
	defer func() { w.looks = around }()
	return char.Look(w.ctx, math.MaxInt, func(l *char.Looks) {
		w.looks = l
		work()
	})
}

// part copies a part.
func (w *walker) part(out io.Writer, in io.Reader, name string) error {
	buffered := bufio.NewWriter(out)
	w.reader = xmlpart.NewReader(in, name, xmlpart.Options{})
	err := w.look(func() {
		for t, isEnd := w.next(); !isEnd; t, isEnd = w.next() {
			if t.Kind == xmlpart.Start {
				w.preserve = t.Attribute("space") == "preserve"
				w.element(t, buffered)
			} else {
				w.put(buffered, t.Raw)
			}
		}
		w.looks.Check(buffered.Flush())
	})
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return document.Refuse(err, "%s is not complete", name)
	}
	return err
}

// put and write write to a sink.
func (w *walker) put(out sink, raw []byte) {
	_, err := out.Write(raw)
	w.looks.Check(err)
}

func (w *walker) write(out sink, raw string) {
	_, err := out.WriteString(raw)
	w.looks.Check(err)
}

// next returns the next token, unless the part ends.
func (w *walker) next() (t xmlpart.Token, isEnd bool) {
	t, err := w.read()
	if err == io.EOF {
		return t, true
	}
	w.looks.Check(err)
	if w.paragraphs > 0 {
		if w.size += len(t.Raw); w.size > maxParagraph {
			w.looks.Check(document.Refuse(nil, "the file has a paragraph of more than %d MiB", maxParagraph>>20))
		}
		if w.paragraphs > maxNested {
			w.looks.Check(document.Refuse(nil, "the file has more than %d paragraphs in each other", maxNested))
		}
	}
	w.looks.Check(w.pay(paragraphByte*w.size + w.remembered))
	if t.Name.Space != w.space[0] { // looked up once for neighbors
		w.space = [2]string{t.Name.Space, short(t.Name.Space)}
	}
	if t.Name.Space = w.space[1]; w.fields.open != nil || t.Name.Space == "w" {
		w.looks.Check(w.fields.note(t))
	}
	return t, false
}

// pay takes memory of the request until the walker has at least that many bytes, in larger steps.
func (w *walker) pay(bytes int) error {
	const step = 64 << 10
	if bytes <= w.paid {
		return nil
	}
	more := (bytes - w.paid + step - 1) / step * step
	if err := budget.Take(w.ctx, int64(more)); err != nil {
		return err
	}
	w.paid += more
	return nil
}

// giveBack releases the memory taken.
func (w *walker) giveBack() { budget.Give(w.ctx, int64(w.paid)) }

// read returns the next token, from those read ahead if there are any.
func (w *walker) read() (xmlpart.Token, error) {
	if len(w.ahead) == 0 {
		return w.reader.Next()
	}
	t := w.ahead[0]
	w.ahead = w.ahead[1:]
	return t, nil
}

// maxAhead is the maximum number of tokens read ahead: white space is one token, or several if comments divide it.
const maxAhead = 16

// follows reports whether an element comes next, after white space at most.
func (w *walker) follows(name xml.Name) bool {
	for {
		if len(w.ahead) == maxAhead || !w.readAhead() {
			return false
		}
		if t := w.ahead[len(w.ahead)-1]; t.Kind != xmlpart.Text || strings.TrimSpace(t.Text) != "" {
			return t.Kind == xmlpart.Start && short(t.Name.Space) == name.Space && t.Name.Local == name.Local
		}
	}
}

// readAhead reads one more token ahead, unless the part ends.
func (w *walker) readAhead() bool {
	t, err := w.reader.Next()
	if err == io.EOF {
		return false // returned again by the next read
	}
	w.looks.Check(err)
	t.Raw = bytes.Clone(t.Raw)
	w.ahead = append(w.ahead, t)
	return true
}

// element copies an element, rewritten by the grammar.
func (w *walker) element(start xmlpart.Token, out sink) {
	for _, name := range [...]xml.Name{start.Name, named("*", start.Name.Local), named("*", "*")} {
		if rewrite := w.grammar[name]; rewrite != nil {
			rewrite(w, start, out)
			return
		}
	}
	w.inner(start, out)
}

// inner copies an element, with its children rewritten by the grammar.
func (w *walker) inner(start xmlpart.Token, out sink) { w.copy(start, out, w.element) }

// inside returns a rewriting of elements whose contents have a grammar of their own.
func inside(g grammar) rewriting {
	return func(w *walker, start xmlpart.Token, out sink) {
		around := w.grammar
		w.grammar = g
		defer func() { w.grammar = around }()
		w.inner(start, out)
	}
}

// also returns a rewriting that applies only if a sort of texts is translated.
func also(sort string, rewrite rewriting) rewriting {
	return func(w *walker, start xmlpart.Token, out sink) {
		if !w.options.Also.Has(sort) {
			w.inner(start, out)
			return
		}
		rewrite(w, start, out)
	}
}

// changed copies an element that change rewrites as a whole.
func (w *walker) changed(start xmlpart.Token, out sink, change func(raw string) string) {
	w.write(out, change(w.bounded(start)))
}

// bounded returns an element unchanged. Its size is limited like that of a paragraph.
func (w *walker) bounded(start xmlpart.Token) string {
	var raw strings.Builder
	w.paragraphs++
	w.verbatim(start, &raw)
	if w.paragraphs--; w.paragraphs == 0 {
		w.size = 0
	}
	return raw.String()
}

// verbatim copies an element unchanged.
func (w *walker) verbatim(start xmlpart.Token, out sink) {
	w.copy(start, out, w.verbatim)
}

// copy copies an element; child handles its children.
func (w *walker) copy(start xmlpart.Token, out sink, child func(start xmlpart.Token, out sink)) {
	w.put(out, start.Raw)
	w.children(func(t xmlpart.Token) {
		if t.Kind == xmlpart.Start {
			child(t, out)
			return
		}
		w.put(out, t.Raw)
	})
}

// children reads to the end of the current element. It passes each child's start to visit, which must read to its end, then all
// other tokens, and finally the element's own end.
func (w *walker) children(visit func(t xmlpart.Token)) {
	for {
		t, isEnd := w.next()
		if isEnd {
			w.looks.Check(io.ErrUnexpectedEOF)
		}
		if visit(t); t.Kind == xmlpart.End {
			return
		}
	}
}

// paragraph is the paragraph being read.
type paragraph struct {
	*tagged.Paragraph
	whole   strings.Builder // unchanged, except that paragraphs in it are rewritten
	head    strings.Builder // the start that stays, with its properties
	tail    string          // the end that stays
	prefix  string          // of the names of its elements, with the colon
	keep    bool            // its own text stays
	dropCap bool            // it is the first letter of the next paragraph
	space   bool            // its text so far ends in white space, or is empty
	started bool            // it has text
	own     string          // its text, or the start of it

	pending  strings.Builder // the opaque part of a field so far
	complete bool            // pending starts with the field's begin
	goBack   string          // the id of that bookmark, once it has begun
}

func (w *walker) begin(start xmlpart.Token) *paragraph {
	w.paragraphs++
	p := &paragraph{Paragraph: tagged.New(), prefix: xmlpart.PrefixOf(string(start.Raw)), space: true}
	p.IsIn = w.isIn
	p.head.Write(start.Raw)
	return p
}

func (w *walker) end(p *paragraph, out sink, encode func(text string) string) {
	content, _ := w.rewritten(p, encode)
	w.write(out, content)
}

// rewritten returns the new content of a paragraph that was read to its end.
func (w *walker) rewritten(p *paragraph, encode func(text string) string) (content string, changed bool) {
	if w.paragraphs--; w.paragraphs == 0 {
		w.size = 0
	}
	if !p.keep {
		translate := w.translate
		if w.book != nil && len(w.book.equal) > 0 && p.own != "" {
			translate = w.consistent(p.own, translate)
		}
		var err error
		content, changed, err = p.Rewrite(translate, encode)
		w.looks.Check(w.options.Fits(err))
	}
	if !changed {
		return p.whole.String(), false
	}
	if p.Lost() && w.options.Restyled != nil {
		w.options.Restyled()
	}
	return p.head.String() + content + p.tail, true
}

// inside reads an element of a paragraph, or the paragraph itself, to its end tag, which it returns. child reads each element in
// it, and text, unless nil, receives its text.
func (w *walker) inside(p *paragraph, start xmlpart.Token, child func(t xmlpart.Token), text func(t string)) (end string) {
	p.whole.Write(start.Raw)
	w.children(func(t xmlpart.Token) {
		switch {
		case t.Kind == xmlpart.Start:
			child(t)
			return
		case t.Kind == xmlpart.End:
			end = string(t.Raw)
		case t.Kind == xmlpart.Text && text != nil:
			text(t.Text)
		}
		p.whole.Write(t.Raw)
	})
	return end
}

// taken returns an element of a paragraph, with the paragraphs in it rewritten.
func (w *walker) taken(p *paragraph, start xmlpart.Token) string {
	var raw strings.Builder
	w.element(start, &raw)
	p.whole.WriteString(raw.String())
	return raw.String()
}

// content returns the text of an element of a paragraph that contains only text.
func (w *walker) content(p *paragraph, start xmlpart.Token) (raw, text string) {
	from, all := p.whole.Len(), strings.Builder{}
	w.inside(p, start, func(t xmlpart.Token) { w.verbatim(t, &p.whole) }, func(t string) { all.WriteString(t) })
	return p.whole.String()[from:], all.String()
}

// run holds the markup around a text of a paragraph.
type run struct {
	tagged.Style
	opaque bool // its text is code, or symbols of a font
	marks  marks
	own    string // its unchanged markup, with its language
	ownEnd string
	opened strings.Builder
}

// open adds to the markup before each part of the run.
func (r *run) open(raw string) {
	r.opened.WriteString(raw)
	r.Open = r.opened.String()
}

// around encloses raw, a part of the run, in the run's markup.
func (r *run) around(raw string) string { return r.Open + raw + r.Close }

// repeats counts the markup that each part of a run repeats as part of the paragraph.
func (w *walker) repeats(r *run) { w.size += len(r.Open) + len(r.Close) }

// run reads a run of text: look receives its properties, the element rPr, and item reads all other elements in it.
func (w *walker) run(p *paragraph, start xmlpart.Token, look func(r *run, properties string), item func(r *run, t xmlpart.Token)) {
	r := &run{Style: tagged.Style{Close: "</" + xmlpart.NameOf(string(start.Raw)) + ">"}}
	r.open(string(start.Raw))
	r.ownEnd = r.Close
	looked := false
	w.inside(p, start, func(t xmlpart.Token) {
		isProperties := t.Name == named(start.Name.Space, "rPr")
		if !looked && !isProperties {
			look(r, "")
		}
		if looked = true; !isProperties {
			w.repeats(r)
			item(r, t)
			return
		}
		raw := w.taken(p, t)
		look(r, raw)
	}, nil)
}

// reading reads a text with its pronunciation, which is dropped if the text changes. The text is in the element base, whose
// elements inBase reads.
func (w *walker) reading(p *paragraph, around *run, start xmlpart.Token, base string, inBase func(t xmlpart.Token)) {
	from := p.whole.Len()
	p.BeginReading()
	w.inside(p, start, func(t xmlpart.Token) {
		if t.Name == named(start.Name.Space, base) {
			inBase(t)
			return
		}
		w.taken(p, t)
	}, nil)
	p.EndReading(around.around(p.whole.String()[from:]))
}

// escape writes text as XML. Characters that XML does not allow become U+FFFD.
func escape(text string) string {
	return escaper.Replace(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return '\uFFFD'
		}
		return r
	}, text))
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#13;")
