package memory

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"dragoman/app/document"
	"dragoman/app/document/xmlpart"
	"dragoman/app/text/excerpt"
	"dragoman/app/text/markup"
)

// Reading tells how to read a file of entries.
type Reading struct {
	TSV bool // or XML: TMX or XLIFF
	// Pair is the pair of languages of a TSV. A language of it that is not "" selects entries of TMX, and is the default of XLIFF.
	Pair Pair
	// Find returns the service's code of a language.
	Find func(code string) (string, bool)
}

// Source returns the entries of a file. Its text is UTF-8, or UTF-16 with a byte order mark.
func (r Reading) Source(in io.Reader) Source {
	return func(add func(string, Entry) error, skip func(string, string)) error {
		text, err := decoded(in)
		if err != nil {
			return err
		}
		if r.TSV {
			return r.tsv(text, add)
		}
		err = (&xmlFile{Reading: r, add: add, skip: skip}).read(text)
		if broken, ok := errors.AsType[*document.Error](err); ok {
			return wrong("", "%s", broken.Reason)
		}
		return err
	}
}

// decoded returns a file as UTF-8 without a byte order mark. The declaration of XML in UTF-16 goes, because it would be wrong.
func decoded(in io.Reader) (*bufio.Reader, error) {
	raw := bufio.NewReader(in)
	head, err := raw.Peek(2)
	if err != nil && err != io.EOF {
		return nil, err
	}
	text := bufio.NewReaderSize(transform.NewReader(raw, unicode.BOMOverride(transform.Nop)), 64<<10)
	if !bytes.Equal(head, []byte("\xFF\xFE")) && !bytes.Equal(head, []byte("\xFE\xFF")) {
		return text, nil
	}
	const most = 256
	start, _ := text.Peek(most)
	if end := bytes.Index(start, []byte("?>")); bytes.HasPrefix(start, []byte("<?xml")) && end > 0 {
		_, err = text.Discard(end + len("?>"))
		return text, err
	}
	return text, nil
}

// tsv reads lines with a source, a tab and a target.
func (r Reading) tsv(text *bufio.Reader, add func(string, Entry) error) error {
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, 2*maxText+len("\t\r\n"))
	n := 0
	for lines.Scan() {
		n++
		place, line := fmt.Sprintf("line %d", n), lines.Text()
		if strings.TrimSpace(line) == "" {
			continue
		}
		source, target, ok := strings.Cut(line, "\t")
		if !ok || strings.Contains(target, "\t") {
			return wrong(place, "a line has a source, a tab and a target")
		}
		if err := add(place, Entry{r.Pair, source, target}); err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return wrong(fmt.Sprintf("line %d", n+1), "it has more than %d bytes", 2*maxText)
	}
	return lines.Err()
}

// xmlFile goes through a TMX or XLIFF.
type xmlFile struct {
	Reading
	add  func(string, Entry) error
	skip func(string, string)

	open  []string // names of the open elements
	tmx   bool
	units int

	from, to string // languages of the file, as it has them
	source   string // language of the sources of the unit
	texts    []variant
	text     *variant // the text that is read; nil outside of texts
	depth    int      // of its element
	parts    []part
	state    string // of an XLIFF target
	code     int    // length of the text before the last inline code
}

// variant is a text in a language.
type variant struct {
	language string // or the name of the element
	text     []byte
	long     bool
}

// part is a marked sentence of a text.
type part struct {
	variant
	id           string
	start, depth int // of the text, and of its element; the depth is 0 after its end
}

// maxVariants is the maximum number of texts of a unit.
const maxVariants = 200

func (f *xmlFile) read(in io.Reader) error {
	err := xmlpart.NewReader(in, "the file", xmlpart.Options{DOCTYPE: true}).Each(func(t xmlpart.Token) error {
		switch t.Kind {
		case xmlpart.Start:
			f.open = append(f.open, t.Name.Local)
			return f.start(t)
		case xmlpart.End:
			err := f.end(t)
			f.open = f.open[:len(f.open)-1]
			return err
		case xmlpart.Text:
			f.write(t.Text)
		}
		return nil
	})
	if err == nil && f.open == nil {
		return wrong("", "the file is empty")
	}
	return err
}

func (f *xmlFile) parent() string {
	if len(f.open) < 2 {
		return ""
	}
	return f.open[len(f.open)-2]
}

func (f *xmlFile) write(text string) {
	if f.text == nil {
		return
	}
	if f.text.long = f.text.long || len(f.text.text)+len(text) > 4*maxText; !f.text.long {
		f.text.text = append(f.text.text, text...)
	}
}

func (f *xmlFile) start(t xmlpart.Token) error {
	name := t.Name.Local
	if len(f.open) == 1 {
		switch f.tmx = name == "tmx"; {
		case name == "xliff":
			f.from, f.to = t.Attribute("srcLang"), t.Attribute("trgLang")
		case !f.tmx:
			return wrong("", "the file is %s, expected TMX or XLIFF", excerpt.Of(name))
		}
		return nil
	}
	if f.text != nil {
		return f.inline(t)
	}
	switch {
	case f.tmx && name == "header":
		f.from = t.Attribute("srclang")
	case f.tmx && name == "tu":
		f.begin()
		f.source = orElse(t.Attribute("srclang"), f.from)
	case f.tmx && name == "tuv":
		return f.variant(t.Attribute("lang"))
	case f.tmx && name == "seg" && f.parent() == "tuv" && len(f.texts) > 0:
		f.openText()
	case !f.tmx && name == "file":
		f.from, f.to = orElse(t.Attribute("source-language"), f.from), orElse(t.Attribute("target-language"), f.to)
	case !f.tmx && (name == "trans-unit" || name == "segment"):
		f.state = t.Attribute("state")
		f.begin()
	case !f.tmx && (name == "source" || name == "target" || name == "seg-source") && (f.parent() == "trans-unit" || f.parent() == "segment"):
		if err := f.variant(name); err != nil {
			return err
		}
		f.openText()
		if state := t.Attribute("state"); name == "target" && state != "" {
			f.state = state
		}
	}
	return nil
}

func orElse(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// begin starts a unit.
func (f *xmlFile) begin() {
	f.units++
	f.texts, f.parts, f.code = f.texts[:0], f.parts[:0], 0
}

// variant adds a text to the unit.
func (f *xmlFile) variant(language string) error {
	if len(f.texts) == maxVariants {
		return wrong(f.place(), "it has more than %d variants", maxVariants)
	}
	f.texts = append(f.texts, variant{language: language})
	return nil
}

// openText makes the last variant the text that is read.
func (f *xmlFile) openText() { f.text, f.depth = &f.texts[len(f.texts)-1], len(f.open) }

func (f *xmlFile) place() string { return fmt.Sprintf("unit %d", f.units) }

// inline starts an element inside of a text. The codes of TMX are the text in them, or get a tag of their own; those of XLIFF are
// the elements, as in a document.
func (f *xmlFile) inline(t xmlpart.Token) error {
	name := t.Name.Local
	switch {
	case name == "mrk":
		if t.Attribute("mtype") != "seg" {
			break
		}
		if len(f.parts) == 2*maxVariants {
			return wrong(f.place(), "it has more than %d marked segments", 2*maxVariants)
		}
		f.parts = append(f.parts, part{variant{language: f.text.language}, t.Attribute("mid"), len(f.text.text), len(f.open)})
	case !f.tmx:
		f.write(string(t.Raw))
	case name != "hi" && name != "sub":
		f.code = len(f.text.text)
	}
	return nil
}

func (f *xmlFile) end(t xmlpart.Token) error {
	name := t.Name.Local
	switch {
	case f.text != nil && len(f.open) == f.depth:
		f.text = nil
	case f.text != nil:
		f.endInline(t)
	case f.tmx && name == "tu":
		return f.unit()
	case !f.tmx && (name == "trans-unit" || name == "segment"):
		return f.segment()
	}
	return nil
}

// codes are the tags of TMX's inline codes without a text.
var codes = map[string]string{"bpt": "<g>", "ept": "</g>", "ph": "<x/>", "it": "<x/>", "ut": "<x/>"}

func (f *xmlFile) endInline(t xmlpart.Token) {
	switch name := t.Name.Local; {
	case name == "mrk":
		for i := range f.parts {
			if p := &f.parts[i]; p.depth == len(f.open) {
				p.text, p.long, p.depth = f.text.text[p.start:], f.text.long, 0
			}
		}
	case !f.tmx:
		f.write(string(t.Raw))
	case codes[name] != "" && len(f.text.text) == f.code:
		f.write(codes[name])
	}
}

// unit adds the entries of a unit of TMX: from the variant in the source language, or the first one, to each other one.
func (f *xmlFile) unit() error {
	want := orElse(f.Pair.From, f.source)
	source := -1
	for i := range f.texts {
		if lang := f.texts[i].language; strings.EqualFold(lang, want) || source < 0 && f.same(lang, want) {
			source = i
		}
	}
	if source < 0 && f.Pair.From == "" && len(f.texts) > 0 && (want == "" || want == "*all*") {
		source = 0
	}
	if source < 0 {
		if f.Pair.From == "" {
			f.skip(f.place(), fmt.Sprintf("it has no text in %q, the source language", excerpt.Of(want)))
		}
		return nil
	}
	for i := range f.texts {
		target := &f.texts[i]
		if i == source || f.Pair.To != "" && !f.same(target.language, f.Pair.To) {
			continue
		}
		if err := f.entry(f.texts[source].language, target.language, &f.texts[source], target); err != nil {
			return err
		}
	}
	return nil
}

// segment adds the entry of a unit of XLIFF, or one for each of its parts. Targets that wait for a translation or
// a review are none.
func (f *xmlFile) segment() error {
	var source, target *variant
	for i := range f.texts {
		switch x := &f.texts[i]; x.language {
		case "source":
			source = x
		case "target":
			target = x
		}
	}
	if source == nil || target == nil || len(bytes.TrimSpace(target.text)) == 0 {
		f.skip(f.place(), "it has no translation")
		return nil
	}
	if f.state == "new" || f.state == "initial" || strings.HasPrefix(f.state, "needs-") {
		f.skip(f.place(), "its state is "+f.state)
		return nil
	}
	from, to, added := orElse(f.from, f.Pair.From), orElse(f.to, f.Pair.To), false
	for i := range f.parts {
		for k := range f.parts {
			if a, b := &f.parts[i], &f.parts[k]; a.language == "seg-source" && b.language == "target" && a.id == b.id && len(bytes.TrimSpace(b.text)) > 0 {
				if err := f.entry(from, to, &a.variant, &b.variant); err != nil {
					return err
				}
				added = true
			}
		}
	}
	if added {
		return nil
	}
	return f.entry(from, to, source, target)
}

// same reports whether two codes are of the same language of the service.
func (f *xmlFile) same(a, b string) bool {
	one, known := f.Find(a)
	other, alsoKnown := f.Find(b)
	return known && alsoKnown && one == other
}

func (f *xmlFile) entry(from, to string, source, target *variant) error {
	var p Pair
	for _, side := range []struct {
		code string
		to   *string
	}{{from, &p.From}, {to, &p.To}} {
		code, ok := f.Find(side.code)
		if !ok {
			f.skip(f.place(), fmt.Sprintf("%q is not a language of any model", excerpt.Of(side.code)))
			return nil
		}
		*side.to = code
	}
	switch {
	case p.From == p.To:
		f.skip(f.place(), "its texts are in the same language")
		return nil
	case source.long || target.long:
		f.skip(f.place(), fmt.Sprintf("a text has more than %d bytes", maxText))
		return nil
	}
	return f.add(f.place(), Entry{p, string(source.text), string(target.text)})
}

// WriteTMX writes entries as TMX 1.4b. Close ends the file.
type WriteTMX struct{ out *bufio.Writer }

// NewTMX begins a file.
func NewTMX(out io.Writer, version string) *WriteTMX {
	w := &WriteTMX{bufio.NewWriter(out)}
	_, _ = fmt.Fprintf(w.out, `<?xml version="1.0" encoding="UTF-8"?>
<tmx version="1.4"><header creationtool="dragoman" creationtoolversion="%s" segtype="sentence" o-tmf="dragoman" adminlang="en" srclang="*all*" datatype="plaintext"/><body>
`, xmlpart.EscapeAttribute(version))
	return w
}

// Add writes an entry.
func (w *WriteTMX) Add(e Entry) error {
	_, err := fmt.Fprintf(w.out, "<tu srclang=%q><tuv xml:lang=%q><seg>%s</seg></tuv><tuv xml:lang=%q><seg>%s</seg></tuv></tu>\n",
		e.From, e.From, markup.XML.Escape(e.Source), e.To, markup.XML.Escape(e.Target))
	return err
}

// Close ends the file.
func (w *WriteTMX) Close() error {
	_, _ = w.out.WriteString("</body></tmx>\n")
	return w.out.Flush()
}
