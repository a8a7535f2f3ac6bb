package textfile

import (
	"context"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"unicode"

	"dragoman/app/budget"
	"dragoman/app/document"
	"dragoman/app/text/char"
	"dragoman/app/text/language"
	"dragoman/app/text/markup"
	"dragoman/app/text/wrap"
)

// pass is one pass through a document, from start to end.
type pass struct {
	ctx       context.Context
	looks     *char.Looks // checks of the context
	text      string      // the document, in UTF-8 without a byte order mark
	lineEnd   string      // the line ending of its first line
	encoding  encoding
	options   document.Options
	formatter formatter
	isPage    bool // of a book, whose attributes are translated on request
	isPiped   bool // it has plural forms of Laravel or Symfony

	out        io.Writer
	translator document.Translate
	at         int // the bytes of text already written

	nested int    // the number of documents around this one
	other  string // the language of the translations that a catalogue has, if it is not the target
}

// run goes through the document. The first error ends it, also that of its context; see [char.Looks].
func (p *pass) run(rewrite func(p *pass)) error {
	return char.Look(p.ctx, math.MaxInt, func(l *char.Looks) {
		p.looks = l
		rewrite(p)
		p.copy(len(p.text))
	})
}

// refuse ends the pass with a [*document.Error].
func (p *pass) refuse(err error, format string, args ...any) {
	p.looks.Check(document.Refuse(err, format, args...))
}

// copy writes the document unchanged up to byte end.
func (p *pass) copy(end int) {
	_, err := io.WriteString(p.out, p.text[p.at:end])
	p.looks.Check(err)
	p.at = end
}

// replace writes the bytes before start unchanged, and text in place of [start, end).
func (p *pass) replace(start, end int, text string) {
	p.copy(start)
	p.at = end
	_, err := io.WriteString(p.out, p.encoding.sections(p.withLineEnds(text, p.text[start:end])))
	p.looks.Check(err)
}

// withLineEnds returns text with the line ending of other, which it replaces, or of the document.
func (p *pass) withLineEnds(text, other string) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	end := p.lineEnd
	if strings.ContainsAny(other, "\r\n") {
		end = lineEnd(other)
	}
	if end != "\r\n" {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, end, "\n"), "\n", end)
}

// hold takes memory for a part of the document before it is read.
func (p *pass) hold(bytes int64) (release func()) {
	release, err := budget.Hold(p.ctx, bytes)
	p.looks.Check(err)
	return release
}

// within rewrites a document inside this one and returns the result.
func (p *pass) within(text string, rewrite func(p *pass)) string {
	var out strings.Builder
	inner := &pass{ctx: p.ctx, looks: p.looks, nested: p.nested + 1, text: text, lineEnd: lineEnd(text), options: p.options, formatter: p.formatter, isPage: p.isPage, out: &out, translator: p.translator}
	rewrite(inner)
	inner.copy(len(text))
	return out.String()
}

// translate returns the translation of a segment, which has no white space at its ends.
func (p *pass) translate(text string) string {
	switch {
	case p.formatter == mf2:
		return p.translateMF2(text)
	case p.formatter == vue || p.isPiped || laravelNumbers.MatchString(text):
		return p.alternatives(text)
	}
	return p.segment(text)
}

// segment returns the translation of a text without patterns in it.
func (p *pass) segment(text string) string {
	p.looks.Past(len(text))
	plain, write := p.formatter.read(text)
	translation, err := p.translator(plain)
	p.looks.Check(err)
	if translation == plain {
		return text
	}
	if !p.formatter.keepsBraces(plain, translation) {
		p.looks.Check(p.options.Fits(fmt.Errorf("%w: a brace of a message came in or is missing", markup.ErrLost)))
		return text
	}
	translation = strings.TrimSpace(strings.Map(clean, strings.ReplaceAll(translation, "\r\n", "\n")))
	if strings.Contains(text, "\r\n") {
		translation = strings.ReplaceAll(translation, "\n", "\r\n")
	}
	return p.icuPlurals(write(translation), 0)
}

// clean replaces characters that the formats cannot contain, and that no translation needs, by a space.
func clean(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' || r == '\uFEFF' || r == '\uFFFE' || r == '\uFFFF' {
		return ' '
	}
	return r
}

// value translates text, which the bytes [start, end) stand for, and replaces them by the encoded translation. White space at the
// ends stays, as does a text without a letter.
func (p *pass) value(start, end int, text string, encode func(text string) string) {
	p.looks.Past(1 + len(text))
	before, inner, after := trimmed(text)
	if !hasLetter(inner) {
		return
	}
	if translation := p.translate(inner); translation != inner {
		p.replace(start, end, encode(before+translation+after))
	}
}

// data is [pass.value] for a value of data or of messages, which may be code.
func (p *pass) data(start, end int, text string, encode func(text string) string) {
	if !p.isCode(text) {
		p.value(start, end, text, encode)
	}
}

// paragraph translates a paragraph, and replaces its lines by the encoded translation, which is one line.
func (p *pass) paragraph(lines wrap.Paragraph, encode func(text string) string) {
	p.value(lines.Start, lines.End, lines.Text, func(text string) string { return encode(oneLine(text)) })
}

// wrapped translates a paragraph, if there is one, and wraps the translation like it.
func (p *pass) wrapped(lines []wrap.Line) {
	if len(lines) > 0 {
		w := wrap.Of(p.looks, p.text, lines)
		p.paragraph(w, func(text string) string { return strings.Join(w.Fill(p.looks, text, false, nil), w.Between) })
	}
}

// trimmed separates the white space at the ends of a text.
func trimmed(text string) (before, inner, after string) {
	rest := strings.TrimLeftFunc(text, unicode.IsSpace)
	inner = strings.TrimRightFunc(rest, unicode.IsSpace)
	return text[:len(text)-len(rest)], inner, rest[len(inner):]
}

// isCode reports whether a value has no natural language: only placeholders, addresses, paths and identifiers. Such values occur
// in data and message files.
func (p *pass) isCode(text string) bool {
	if p.formatter == mf2 && mf2Complex.MatchString(text) && hasLetter(text) {
		return false
	}
	label, _ := markup.CutAccelerator(text)
	return !p.hasLanguage(markup.Parse(p.ctx, label, markup.Text))
}

// parse finds the spans to preserve in a plain text.
func (p *pass) parse(text string) markup.Sentence {
	s, err := markup.Parse(p.ctx, text, markup.Text)
	p.looks.Check(err)
	return s
}

// languageOf returns the language to write in place of that of a catalogue's translations, whose region it keeps. other is the language of
// the translations if that is not the target.
func (p *pass) languageOf(code string) (to, other string) {
	isKnown := language.LocaleOf(code).Language != ""
	isSame := isKnown && language.Group(code) == language.Group(p.options.To) && language.SameScript(code, p.options.To)
	switch {
	case isSame && !strings.ContainsAny(p.options.To, "-_"):
		return code, ""
	case isKnown && !isSame && language.LocaleOf(p.options.To).Language != "":
		other = code
	}
	return p.options.To, other
}

// translated refuses a catalogue that has a translation into another language than the target, unless the translations are what is
// translated.
func (p *pass) translated(other string) {
	if other != "" && !p.options.Also.Has(document.AlsoSource) {
		p.refuse(nil, "the file has translations into %s, and the target is %s: send one without translations, or translate those by --as-source (also=as-source)", other, p.options.To)
	}
}

// checkSource refuses a catalogue whose texts are in another language than the request's, unless its translations are what is translated,
// or its texts are in the request's language: many tools say en-US by default.
func (p *pass) checkSource(code string) {
	was, from := language.LocaleOf(code).Language, language.LocaleOf(p.options.From).Language
	if was != "" && from != "" && language.Group(code) != language.Group(p.options.From) && !p.options.Also.Has(document.AlsoSource) && !p.isWritten(from, was) {
		p.refuse(nil, "the file says that its texts are in %s, and the request says %s: send %[1]s as the source language, or correct the file", code, p.options.From)
	}
}

// isForeign reports whether a code is of another language than the source, as far as that is known.
func (p *pass) isForeign(code string) bool {
	return code != "" && p.options.From != "" && !language.Same(code, p.options.From)
}

// isWritten reports whether the sources of a catalogue are in one language rather than in another one.
func (p *pass) isWritten(code, other string) bool {
	var texts strings.Builder
	for _, m := range sourceElement.FindAllStringSubmatch(p.text, mostDetected) {
		texts.WriteString(tagOrReference.ReplaceAllString(m[1], " ") + "\n")
	}
	return new(language.Judge).IsIn(texts.String(), code, other)
}

var sourceElement = regexp.MustCompile(`<(?:\w+:)?source(?:\s[^<>]*)?>((?s:.*?))</(?:\w+:)?source>`)

// mostDetected is the maximum number of sources of which the language is detected.
const mostDetected = 1000

// hasLanguage reports whether a parsed text has anything to translate, also in ICU messages. err is the error of parsing.
func (p *pass) hasLanguage(s markup.Sentence, err error) bool {
	if err == nil {
		s, err = s.In(p.ctx, "")
	}
	p.looks.Check(err)
	return (!s.Blank() || len(s.Messages()) > 0) && !codeValue.MatchString(s.Text)
}

// codeValue matches words of programs, types of media, and patterns of dates and times such as yyyy-MM-dd.
var codeValue = regexp.MustCompile(`^(?:true|false|null|nil|undefined|(?:application|audio|font|image|message|model|multipart|text|video|x-\w+)/[\w.+*-]+|` + dateField + `(?:(?:[ /.,:-]|'[^']*')+` + dateField + `)+)$`)

const dateField = `(?:y{1,4}|Y{2,4}|M{1,4}|L{3,4}|d{1,4}|D{1,2}|E{1,4}|H{1,2}|h{1,2}|m{1,2}|s{1,2}|S{3}|a|z{1,4}|Z{1,3}|X{1,3})`

func hasLetter(text string) bool { return strings.ContainsFunc(text, unicode.IsLetter) }

// oneLine replaces line ends, with the white space beside them, by single spaces.
func oneLine(text string) string {
	if !strings.ContainsAny(text, wrap.LineEnds) {
		return text
	}
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(wrap.LineEnds, r) })
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

// linesOf returns the lines of the document, which end at \r\n or a character of ends.
func (p *pass) linesOf(ends string) (list []wrap.Line) {
	for l := range wrap.Lines(p.text, ends) {
		p.looks.Past(1 + l.End - l.Start)
		list = append(list, l)
	}
	return list
}

func (p *pass) in(l wrap.Line) string {
	p.looks.Past(1 + l.End - l.Start)
	return p.text[l.Start:l.End]
}

// lineEnd returns the line ending of the first line of a text.
func lineEnd(text string) string {
	i := strings.IndexAny(text, "\r\n")
	switch {
	case i < 0 || text[i] == '\n':
		return "\n"
	case strings.HasPrefix(text[i:], "\r\n"):
		return "\r\n"
	}
	return "\r"
}

// lineNumber returns the line number of a byte of the document, from 1 on, for errors.
func (p *pass) lineNumber(at int) int { return strings.Count(p.text[:at], "\n") + 1 }
