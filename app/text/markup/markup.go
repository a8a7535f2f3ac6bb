// Package markup preserves the parts of a text that a translation must not change: numbers, URLs, e-mail addresses, placeholders,
// code, tags, Markdown, emoji and more. The models were not trained on them: they translate variable names, drop emoji and close
// tags that were never opened.
//
// [Parse] finds the spans of a text by the syntax of each, and [Sentence.In] all other words that are no prose of the text's
// language. [Sentence.Slice] cuts the text into sentences at places that cut no
// span ([Sentence.Inside]). Each sentence is then translated in one of three ways, tried in this order until one is verified:
//
//  1. As it is, where the model can be expected to copy all spans ([Sentence.AsIs]):
//     [Sentence.Verify] compares the translation with the sentence.
//  2. Masked: [Sentence.Mask] puts markers that models tend to copy in place of the
//     spans, [Masked.Restore] puts the spans back into the translation. There are
//     [Styles] styles of markers, in the order in which to try them.
//  3. In parts: [Sentence.Around] splits the sentence at its spans. Each part that
//     is not fixed is translated like a sentence of its own. The spans are sure to
//     be kept, at a price in quality: the model sees fragments.
//
// # HTML and XML
//
// [SplitHTML] and [SplitXML] cut a document into pieces that stay as they are and units to translate, whose inline tags are
// spans. The text of a unit has its entities decoded and its white space collapsed. Translations that this package returns
// (Verify, Restore, [Sentence.Original]) are markup again: text is escaped, tags are unchanged.
//
// # Guarantees
//
// A translation returned by Verify or Restore has every span exactly as often as the sentence, and as the same bytes. Pairs of
// tags and of Markdown's marks nest as in the sentence, and a pair with content still has content. Numbers and signs alone are
// left to the model. Numbers are compared by value: 1,234.5 may become 1 234,5, 10,000 may become 1万 and 21 may become vingt et
// un (entity.Compare documents the rules). Signs are counted. Identifiers, such as 10.0.19045 and AB-1234-X, are not numbers but
// spans of code, as is every word that is not written like one, such as T800 and m² (see prose.go). The branches of an ICU message
// are translated as texts of their own ([Sentence.Messages]).
//
// # Files
//
// A text passes through the files in this order:
//
//	html.go, xml.go, token.go    a document of HTML or XML is cut into units
//	scan.go                      the one pass over a text for spans with a syntax
//	recognizers.go               the table of recognizers for each character
//	  placeholder.go, printf.go  the variables of messages and templates
//	  link.go, identifier.go     what the shape of a word does not tell: URLs, and identifiers that look like numbers
//	  sign.go, emoji.go, number.go
//	quantity.go                  numbers with currencies and units, and dates in characters, by the language
//	exprtoken.go, prose.go       the one pass over its words, which holds all that are no prose
//	expression.go, bracket.go    expressions joined by operators and brackets, and single letters
//	joined.go                    spans that tags divide
//	line.go                      recognizers at the start of a line only, such as those for subtitles
//	tag.go, markdown.go          tags and marks, which come in pairs
//	icu.go                       the branches of messages, which are texts of their own
//	mask.go, style.go            markers in place of spans
//	assemble.go                  spans in place of markers, in the translation
//	verify.go                    the same where spans are their own markers
//	around.go                    the parts between spans
//	accelerator.go               marks of the letters that select labels
//	terms.go, termspans.go       terms of a glossary and their translations
//	sign.go, residue.go          comparison of signs, symbols and names; package entity compares numbers
//
// All functions take any text, valid UTF-8 or not, run in time linear in its length and are safe for concurrent use. Functions
// with a context check it as they go through a text, and fail with its error; their other results are invalid then.
package markup

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode"

	"golang.org/x/net/html"

	"dragoman/app/text/char"
	"dragoman/app/text/entity"
)

// ErrLost is wrapped by the error for a translation that did not preserve its spans. Error messages have numbers, but no text of
// the sentence.
var ErrLost = errors.New("markup lost")

// Kind is the kind of a span.
type Kind uint8

// The kinds of spans.
const (
	Number      Kind = iota // 5, 1,234.5, 12:30, 50%, $20, 3rd
	Sign                    // <, {, =, |, ->: signs that models tend to copy
	Emoji                   // a run of emoji or symbols, with their joiners
	Placeholder             // {name}, ${x}, %s, %(name)s, {{x}}, <%= x %>, :name, \n
	Code                    // `x`, <code>x</code>, times of subtitles, and every token that is no prose: https://example.com, a@example.com, src/main.go, @name, #topic, f(), --all, AB-1234-X, H₂O, userName
	Tag                     // <b>, </b>, <br/>, <!-- x -->
	Entity                  // &lt;
	Markdown                // **, [, ](https://example.com), ![x](y.png)
	TermKind                // a term that the model places: see Sentence.WithTerms
	FixedTerm               // a masked term: see Sentence.Protected
	Formula                 // H<sub>2</sub>O: see Sentence.Whole
)

// Format is the format of a text.
type Format uint8

// The formats of a text.
const (
	// Text is plain text, which may have Markdown and tags in it.
	Text Format = iota
	// HTML is a unit of an HTML document, as [HTMLPiece.Text] returns it.
	HTML
	// XML is a unit of an XML document.
	XML
	// CDATA is the text of a CDATA section of XML.
	CDATA
)

// hasTags reports whether a < starts a tag by the rules of HTML or XML.
func (f Format) hasTags() bool { return f == HTML || f == XML }

// Escape returns plain text escaped for the format.
func (f Format) Escape(text string) string {
	switch f {
	case HTML, XML:
		return htmlEscaper.Replace(text)
	case CDATA:
		return strings.ReplaceAll(text, "]]>", "]]]]><![CDATA[>")
	}
	return text
}

// htmlEscaper does not escape quotes: they have no meaning outside tags.
var htmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Span is a part of a text that must be preserved.
type Span struct {
	Start, End int // in bytes of the text
	Kind       Kind
	// Pair links the two ends of a pair, such as <b> and </b>: the same number, positive at the opening end, negative at the
	// closing end, 0 for spans that are neither. The other end may be in another sentence.
	Pair int
	Term *Term // the translation of a term; nil for all other spans
}

// Sentence is a text with the spans that must be preserved. Methods do not change it.
type Sentence struct {
	Text   string
	Spans  []Span // in order, not overlapping, none empty
	format Format

	from, to string      // language codes, "" if unknown: see Between
	looks    *char.Looks // nil except while a function with a context works on the sentence
}

// Parse finds the spans of a text of any length that have a syntax of their own. Ambiguous text counts as markup: a span held by mistake stays in the source
// language, but a span translated by mistake is broken.
func Parse(ctx context.Context, text string, format Format) (Sentence, error) {
	return Sentence{}.within(ctx, len(text), func(s Sentence) Sentence { return parse(scanner{text: text, form: format, looks: s.looks}) })
}

func parse(s scanner) Sentence {
	s.ahead = map[string]int{}
	return Sentence{Text: s.text, Spans: s.run(), format: s.form, looks: s.looks}
}

// within returns the result of work on the sentence. work goes through the given number of bytes and checks ctx.
func (s Sentence) within(ctx context.Context, bytes int, work func(s Sentence) Sentence) (made Sentence, err error) {
	err = char.Look(ctx, bytes, func(l *char.Looks) {
		s.looks = l
		made = work(s)
		made.looks = nil
	})
	return made, err
}

// Between returns the sentence with its language and the language of its translations, as codes. Numbers in words are compared
// only if both are known.
func (s Sentence) Between(from, to string) Sentence {
	s.from, s.to = from, to
	return s
}

// Slice returns bytes [start, end) of the text as a sentence, with the spans that lie entirely in it.
func (s Sentence) Slice(start, end int) Sentence {
	start = min(max(start, 0), len(s.Text))
	end = min(max(end, start), len(s.Text))
	part := Sentence{Text: s.Text[start:end], format: s.format, from: s.from, to: s.to}
	first := sort.Search(len(s.Spans), func(i int) bool { return s.Spans[i].Start >= start })
	for _, span := range s.Spans[first:] {
		if span.End > end {
			break
		}
		span.Start, span.End = span.Start-start, span.End-start
		part.Spans = append(part.Spans, span)
	}
	return part
}

// Inside reports whether a cut before byte at would cut a span in two.
func (s Sentence) Inside(at int) bool {
	i := sort.Search(len(s.Spans), func(i int) bool { return s.Spans[i].End > at })
	return i < len(s.Spans) && s.Spans[i].Start < at
}

// HasLines reports whether a span of several lines, such as a block of code, overlaps bytes [start, end).
func (s Sentence) HasLines(start, end int) bool {
	first := sort.Search(len(s.Spans), func(i int) bool { return s.Spans[i].End > start })
	for i := first; i < len(s.Spans) && s.Spans[i].Start < end; i++ {
		from, to := s.Spans[i].Start, s.Spans[i].End
		middle := min(max(from, start), to) // searches from the nearest byte: one span may be queried once for each of its lines
		if strings.LastIndexByte(s.Text[from:middle], '\n') >= 0 || strings.IndexByte(s.Text[middle:to], '\n') >= 0 {
			return true
		}
	}
	return false
}

// Opened returns at, or the start of the pairs that open right before it: a cut belongs before them.
func (s Sentence) Opened(at int) int {
	i := sort.Search(len(s.Spans), func(i int) bool { return s.Spans[i].End >= at })
	for ; i >= 0 && i < len(s.Spans) && s.Spans[i].End == at && s.Spans[i].Pair > 0; i-- {
		at = s.Spans[i].Start
	}
	return at
}

// Trimmed returns the range [start, end) without white space at its ends.
func (s Sentence) Trimmed(start, end int) (from, to int) {
	from = end - len(strings.TrimLeftFunc(s.Text[start:end], unicode.IsSpace))
	to = from + len(strings.TrimRightFunc(s.Text[from:end], unicode.IsSpace))
	return from, to
}

// lineBreaks are the spans that show as line breaks.
var lineBreaks = set(`\n \r \r\n \N \\n <br> <br/>`)

// Lines returns the ranges into which line breaks written as spans, such as \n and <br>, cut the text, in order. The breaks are
// ranges of their own, so that the ranges, joined, are the text. Text in pairs, such as **, is not cut.
//
// A short list of words without spaces, such as yes/no and id;name;price, is cut in the same way at its separators, and a line of
// a table at its gaps.
func (s Sentence) Lines() [][2]int {
	var list [][2]int
	if s.isList() {
		at := 0
		for _, separator := range listSeparator.FindAllStringIndex(s.Text, -1) {
			list = append(list, [2]int{at, separator[0]}, [2]int{separator[0], separator[1]})
			at = separator[1]
		}
		return append(list, [2]int{at, len(s.Text)})
	}
	start, depth := 0, 0
	whole := s.wholePairs()
	if s.format == Text && len(s.Spans) == 0 {
		if columns := s.columns(); columns != nil {
			return columns
		}
	}
	for i, span := range s.Spans {
		s.looks.Past(1)
		switch {
		case span.Pair > 0 && whole[span.Pair]:
			depth++
		case span.Pair < 0 && whole[-span.Pair]:
			depth--
		case depth == 0 && lineBreaks[strings.ReplaceAll(s.spanText(i), " ", "")]:
			list = append(list, [2]int{start, span.Start}, [2]int{span.Start, span.End})
			start = span.End
		}
	}
	return append(list, [2]int{start, len(s.Text)})
}

// isList reports whether the sentence is a short list of words without spaces, and no name of a file or format.
func (s Sentence) isList() bool {
	return len(s.Text) <= longestList && s.AsIs() && wordList.MatchString(s.Text) && !consonantItem.MatchString(s.Text) &&
		(strings.ToUpper(s.Text) != s.Text || char.IsUnspaced(char.First(s.Text)))
}

// columns returns the ranges into which two or more spaces cut a line of a table, or nil: one gap of two spaces is a slip.
func (s Sentence) columns() (list [][2]int) {
	if !strings.Contains(s.Text, "  ") || strings.Contains(strings.TrimRight(s.Text, "\r\n"), "\n") {
		return nil
	}
	gaps := s.looks.FindAll(columnGap, s.Text)
	if len(gaps) == 0 || len(gaps) == 1 && gaps[0][1]-gaps[0][0] == 2 && s.Text[gaps[0][0]] != ':' {
		return nil
	}
	at := 0
	for _, gap := range gaps {
		_, n := char.Decode(s.Text, gap[0]) // the sign before the spaces stays with its word
		list = append(list, [2]int{at, gap[0] + n}, [2]int{gap[0] + n, gap[1]})
		at = gap[1]
	}
	return append(list, [2]int{at, len(s.Text)})
}

// columnGap matches spaces between columns, with the character before, which ends no sentence.
var columnGap = regexp.MustCompile(`[^\s.!?。！？…"”»)] {2,}`)

const listItem = `(?:\pL{2,}|[\p{Han}\p{Hiragana}\p{Katakana}])`

// longestList is the maximum length in bytes of a list of words.
const longestList = 120

var (
	wordList = regexp.MustCompile(`^` + listItem + `(?:/` + listItem + `)+$|^` + listItem + `(?:[;|]` + listItem + `)+$|^` + listItem + `(?:[,，、]` + listItem + `){2,}$`)
	// shortList matches lists that are certainly no path: yes/no, but not origin/main.
	shortList     = regexp.MustCompile(`^(?:\pL{1,5}/\pL{1,5}|[^/]*)$`)
	consonantItem = regexp.MustCompile(`(?:^|[/;|,])` + consonants + `(?:$|[/;|,])`)
	listSeparator = regexp.MustCompile(`[/;|,，、]`)
)

// isSoft reports whether spans of the kind may be left in the text that the model sees: they are counted in the translation, at
// any position.
func (k Kind) isSoft() bool { return k == Number || k == Sign || k == TermKind }

// AsIs reports whether to translate the sentence as it is first: all of its spans are signs, terms, or numbers, which models copy
// well or write by the rules of the language.
func (s Sentence) AsIs() bool {
	return !slices.ContainsFunc(s.Spans, func(span Span) bool { return !span.Kind.isSoft() })
}

// Blank reports whether the sentence has no letter outside its spans, and so nothing to translate. Its translation is then
// [Sentence.Original].
func (s Sentence) Blank() bool {
	at := 0
	for _, span := range s.Spans {
		if hasLetter(s.Text[at:span.Start]) {
			return false
		}
		at = span.End
	}
	return !hasLetter(s.Text[at:])
}

// IsWritten reports whether a number of the sentence is written in another way in other languages: 30 August 1991, 8万円.
func (s Sentence) IsWritten() bool {
	return slices.ContainsFunc(s.Spans, func(span Span) bool {
		text := s.Text[span.Start:span.End]
		return span.Kind == Number && (entity.Write(text, s.from, "ja") != text || entity.Write(text, s.from, "en") != text)
	})
}

// Original returns the sentence in the form of a translation: Text, escaped for the format, with the targets of its terms.
func (s Sentence) Original() string {
	if s.format == Text && s.to == "" && !s.HasTerms() {
		return s.Text // all other formats may need escapes
	}
	a := assembly{sentence: s}
	a.original(0, len(s.Text), 0)
	return a.out.String()
}

// Escape returns plain text as text of the sentence's format.
func (s Sentence) Escape(text string) string { return s.format.Escape(text) }

// output returns the text of span i, which is not a term, for a translation. In HTML and XML, all of it but its tags is text.
func (s Sentence) output(i int) string {
	if kind := s.Spans[i].Kind; kind == Tag || kind == Entity {
		return s.spanText(i)
	}
	return s.Within(s.Spans[i].Start, s.Spans[i].End)
}

// Within returns bytes [start, end) of a span, such as the part of a message between two branches, as they are in a translation.
func (s Sentence) Within(start, end int) string {
	if s.format.hasTags() {
		return s.format.escapeAround(s.Text[start:end])
	}
	return s.format.Escape(s.Text[start:end])
}

// escapeAround escapes the text around the tags of HTML or XML. References stay as they are: decoded text has none but those that
// it must have.
func (f Format) escapeAround(text string) string {
	if !strings.ContainsAny(text, "<>&") {
		return text
	}
	tokens, end := tokenize(nil, text, f)
	var out strings.Builder
	plain := func(text string) {
		for i := range len(text) {
			switch c := text[i]; {
			case c == '<':
				out.WriteString("&lt;")
			case c == '>':
				out.WriteString("&gt;")
			case c == '&' && !startsEntity(text[i:]) && !(f == XML && reference.MatchString(text[i:])):
				out.WriteString("&amp;")
			default:
				out.WriteByte(c)
			}
		}
	}
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case t.Kind == html.TextToken && !strings.HasPrefix(text[t.Start:], cdata):
			plain(text[t.Start:t.End])
			continue
		case t.opaque && t.Partner > 0: // as it is, like the text of a script
			i = t.Partner
		}
		out.WriteString(text[t.Start:tokens[i].End])
	}
	plain(text[end:])
	return out.String()
}

func (s Sentence) spanText(i int) string {
	return s.Text[s.Spans[i].Start:s.Spans[i].End]
}

func hasLetter(text string) bool {
	return strings.IndexFunc(text, unicode.IsLetter) >= 0
}

// Translated returns a translation of the sentence as a sentence of the same format, with its own spans.
func (s Sentence) Translated(ctx context.Context, translation string) (Sentence, error) {
	return s.within(ctx, len(translation), func(s Sentence) Sentence { return s.translated(translation) })
}

func (s Sentence) translated(translation string) Sentence {
	if s.format == Text {
		return parse(scanner{text: translation, looks: s.looks})
	}
	return HTMLPiece{Raw: translation, Unit: true, format: s.format}.parse(s.looks)
}
