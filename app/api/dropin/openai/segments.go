package openai

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/translate"
)

// part is a piece of a message: literal text, and then a text to translate, or "".
type part struct {
	before string
	text   string
	// write returns the replacement of the text in the answer; nil: the translation.
	write func(r translate.Result) string
}

// paragraphs is the maximum number of paragraphs that are translated separately, so that a stream can send them one by one.
const paragraphs = 64

// maxParts is the maximum number of texts in a message.
const maxParts = 10_000

// Programs send several texts at once, separated or numbered, and expect the same number of translations.

var separators = []string{"%%", "|||", "---", "===", "==WEBLATE_PART=="}

// separates reports whether a line is a separator, which may have more of the characters - or =.
func separates(line string) bool {
	line = strings.Trim(line, " \t\r\n")
	return slices.Contains(separators, line) || len(line) > 3 && (strings.Trim(line, "-") == "" || strings.Trim(line, "=") == "")
}

const space = " \t\n\f\r"

// number returns the length of the number at the start of a line, with the white space around it: [1], (1), <1>, 1., 1), 1、, #1,
// 1|, 1: or line 1:. number returns 0 if the line has no number.
func number(line string) int {
	rest := strings.TrimLeft(line, space)
	begun, ok := rest, false
	digits := func() bool {
		n := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		rest = rest[n:]
		return n > 0
	}
	has := func(signs ...string) bool {
		return slices.ContainsFunc(signs, func(sign string) bool {
			after, found := strings.CutPrefix(rest, sign)
			rest = after
			return found
		})
	}
	switch {
	case has("["):
		ok = digits() && has("]")
	case has("("):
		ok = digits() && has(")")
	case has("<"):
		ok = digits() && has(">")
	case len(rest) > 4 && strings.EqualFold(rest[:4], "line"):
		rest = strings.TrimPrefix(rest[4:], " ")
		ok = digits() && has(":")
	default:
		hash := has("#")
		if !digits() {
			return 0
		}
		behind := rest
		if ok = has(".", ")", "、") && (rest == "" || strings.ContainsRune(space, rune(rest[0]))); ok {
			break
		}
		if rest, ok = behind, hash; !hash {
			rest = strings.TrimLeft(rest, space)
			ok = has("|", ":", "：")
		}
	}
	if !ok || begun == "" {
		return 0
	}
	return len(line) - len(strings.TrimLeft(rest, space))
}

// cutBlank cuts a text at its first empty line; blank includes the white space around it.
func cutBlank(text string) (before, blank, after string, ok bool) {
	for at := 0; ; {
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			return text, "", "", false
		}
		begin := at + end
		at = begin + 1
		if rest := strings.TrimLeft(text[at:], " \t"); strings.HasPrefix(rest, "\n") {
			after = strings.TrimLeft(rest, space)
			return text[:begin], text[begin : len(text)-len(after)], after, true
		}
	}
}

// split splits a text at all separators, which are preserved.
func split(text string) ([]part, error) {
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		if parts, ok, err := splitJSON(text); ok || err != nil {
			return parts, err
		}
	}
	var s splitter
	if !slices.ContainsFunc(separators, func(mark string) bool { return strings.Contains(text, mark) }) {
		s.block(text)
		return s.end()
	}
	begin, at := 0, 0 // start of the block, and of the line
	for line := range strings.Lines(text) {
		if s.full() {
			break
		}
		if separates(line) {
			s.block(text[begin:at])
			s.keep(line)
			begin = at + len(line)
		}
		at += len(line)
	}
	s.block(text[begin:])
	return s.end()
}

// splitter collects parts.
type splitter struct {
	parts []part
	kept  strings.Builder // literal text before the next part
}

func (s *splitter) keep(text string) { s.kept.WriteString(text) }

// translate adds a text. The white space around the text is preserved.
func (s *splitter) translate(text string) {
	inner := strings.TrimSpace(text)
	if !strings.ContainsFunc(inner, unicode.IsLetter) {
		s.keep(text)
		return
	}
	before, after, _ := strings.Cut(text, inner)
	s.keep(before)
	s.add(inner, nil)
	s.keep(after)
}

// full reports whether there are more texts than allowed.
func (s *splitter) full() bool { return len(s.parts) > maxParts }

// add adds a text after the literal text. add ignores texts beyond one too many, which is enough for end to refuse the message.
func (s *splitter) add(text string, write func(r translate.Result) string) {
	if !s.full() {
		s.parts = append(s.parts, part{s.kept.String(), text, write})
	}
	s.kept.Reset()
}

func (s *splitter) end() ([]part, error) {
	if s.full() {
		return nil, dialect.RefuseAs(fault.TooManyRecords, "the message has more than %d texts: send several requests", maxParts)
	}
	return append(s.parts, part{before: s.kept.String()}), nil
}

// block splits the text between separators.
func (s *splitter) block(text string) {
	if text == "" || text == "\n" {
		s.keep(text)
		return
	}
	if isNumbered(text) {
		s.lines(text)
		return
	}
	if isQuoted(text) {
		for line := range strings.Lines(text) {
			s.quotation(line)
		}
		return
	}
	var breaks []string // texts and the blanks between them
	for rest, ok := text, true; ok && len(breaks) < 2*paragraphs; {
		var before, blank string
		before, blank, rest, ok = cutBlank(rest)
		breaks = append(breaks, before, blank)
	}
	if len(breaks) == 2*paragraphs {
		breaks = []string{text, ""} // too many paragraphs: the text is translated as a whole
	}
	for i := 0; i < len(breaks); i += 2 {
		s.translate(breaks[i])
		s.keep(breaks[i+1])
	}
}

// someLines is the number of lines within which numbered text has two numbers.
const someLines = 1000

// isNumbered reports whether the lines of a text are numbered, or subtitles.
func isNumbered(text string) bool {
	numbers, n := 0, 0
	for line := range strings.Lines(text) {
		if number(line) > 0 || isTiming(line) {
			numbers++
		}
		if n++; numbers == 2 || n == someLines {
			break
		}
	}
	return numbers == 2
}

// isQuoted reports whether each line of a text is in quotation marks, as in lists of strings; not in dialogs, where a mark
// before the line's last one ends a quotation.
func isQuoted(text string) bool {
	quoted := false
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if len(line) < 2 || line[0] != '"' || line[len(line)-1] != '"' {
			return false
		}
		inner := line[1 : len(line)-1]
		if at := strings.IndexByte(inner, '"'); at > 0 && !strings.ContainsRune(` ([{\\`, rune(inner[at-1])) {
			return false
		}
		quoted = true
	}
	return quoted
}

// quotation adds a line in quotation marks.
func (s *splitter) quotation(line string) {
	begin, end := strings.IndexByte(line, '"'), strings.LastIndexByte(line, '"')
	if begin == end {
		s.keep(line)
		return
	}
	s.keep(line[:begin+1])
	s.translate(line[begin+1 : end])
	s.keep(line[end:])
}

// isTiming reports whether a line has the times of a subtitle.
func isTiming(line string) bool { return strings.Contains(line, "-->") }

// lines splits numbered lines, each with the lines up to the next number.
func (s *splitter) lines(text string) {
	begin, at := 0, 0 // start of the text to translate, and of the line
	for line := range strings.Lines(text) {
		kept := len(line)
		if !isTiming(line) && strings.ContainsFunc(line, unicode.IsLetter) {
			kept = number(line)
		}
		if s.full() {
			return
		}
		if kept > 0 {
			if begin < at {
				s.translate(text[begin:at])
			}
			s.keep(line[:kept])
			begin = at + kept
		}
		at += len(line)
	}
	s.translate(text[begin:])
}

// splitJSON splits a JSON value into its strings that have letters, except the names of members. ok is false if the text is not
// JSON.
func splitJSON(text string) (parts []part, ok bool, err error) {
	var s splitter
	in := jsontext.NewDecoder(bytes.NewBufferString(text), jsontext.AllowDuplicateNames(true))
	at := 0
	for begun := false; !begun || in.StackDepth() > 0; begun = true {
		if in.PeekKind() != '"' || isName(in) {
			if _, err := in.ReadToken(); err != nil {
				return nil, false, nil
			}
			continue
		}
		value, err := in.ReadValue()
		if err != nil {
			return nil, false, nil
		}
		end := int(in.InputOffset())
		if kept, rest := numberedString(value); rest != "" {
			s.keep(text[at : end-len(value)])
			s.add(rest, func(r translate.Result) string { return quote(kept + r.Text) })
			at = end
		}
		if s.full() {
			break
		}
	}
	if strings.TrimSpace(text[in.InputOffset():]) != "" && !s.full() {
		return nil, false, nil
	}
	s.keep(text[at:])
	parts, err = s.end()
	return parts, true, err
}

// isName reports whether the next string is the name of a member.
func isName(in *jsontext.Decoder) bool {
	kind, length := in.StackIndex(in.StackDepth())
	return kind == '{' && length%2 == 0
}

// numberedString splits a JSON string into its number and the rest, which is "" if it has no letters.
func numberedString(value jsontext.Value) (kept, rest string) {
	if !bytes.ContainsFunc(value, unicode.IsLetter) { // an escaped letter has a letter too
		return "", ""
	}
	plain, err := jsontext.AppendUnquote(nil, value)
	if err != nil { // not of a value that was read before
		return "", ""
	}
	kept = string(plain)
	if kept, rest = kept[:number(kept)], kept[number(kept):]; !strings.ContainsFunc(rest, unicode.IsLetter) {
		return "", ""
	}
	return kept, rest
}

// quote returns a text as a JSON string.
func quote(text string) string {
	quoted, err := jsontext.AppendQuote(nil, text)
	if err != nil { // bytes that are not UTF-8, which no translation has
		return `""`
	}
	return string(quoted)
}

// order is a message with the languages and the texts in JSON: of KISS Translator, see its src/config/api.js, with
// targetLanguage and segments, and of Weblate since 5.15, see its weblate/machinery/llm.py, with target_language and strings.
type order struct {
	Target   string         `json:"targetLanguage"`
	Segments []segment      `json:"segments"`
	Glossary jsontext.Value `json:"glossary"`

	WeblateSource string         `json:"source_language"`
	WeblateTarget string         `json:"target_language"`
	Strings       []segment      `json:"strings"`
	Units         jsontext.Value `json:"units"` // translations to evaluate
}

// segment is a text of KISS Translator or Weblate.
type segment struct {
	ID     jsontext.Value `json:"id"`
	Text   string         `json:"text"`
	Source string         `json:"source"`
}

// readOrder reads a message with languages and texts in JSON. ok is false for other texts; without parts the message asks for
// something else than translations.
func readOrder(text string) (parts []part, languages pair, terms []translate.Term, ok bool) {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return nil, pair{}, nil, false
	}
	var o order
	atMost := dialect.AtMost[segment](maxParts, func(jsontext.Pointer) error { return errors.ErrUnsupported })
	if err := json.Unmarshal([]byte(text), &o, json.WithUnmarshalers(atMost)); err != nil {
		return nil, pair{}, nil, false
	}
	var s splitter
	switch {
	case o.Target != "" && o.Segments != nil:
		o.kiss(&s)
		languages.to = []string{o.Target}
	case o.WeblateTarget != "" && o.Strings != nil:
		o.weblate(&s)
		languages.to = []string{o.WeblateTarget}
		if o.WeblateSource != "" {
			languages.from = []string{o.WeblateSource}
		}
	default:
		return nil, pair{}, nil, o.WeblateTarget != "" && o.Units != nil
	}
	return append(s.parts, part{before: s.kept.String()}), languages, o.terms(), true
}

// kiss answers with a list of translations in an object.
func (o order) kiss(s *splitter) {
	s.keep(`{"translations":[`)
	for i, segment := range o.Segments {
		if i > 0 {
			s.keep(",")
		}
		s.keep(`{"id":` + segment.ID.String())
		if !strings.ContainsFunc(segment.Text, unicode.IsLetter) {
			s.keep(`,"text":` + quote(segment.Text) + `}`)
			continue
		}
		s.add(segment.Text, func(r translate.Result) string {
			return `,"text":` + quote(r.Text) + `,"sourceLanguage":` + quote(dialect.Regional().SourceOf(r)) + `}`
		})
	}
	s.keep("]}")
}

// weblate answers with a list of strings.
func (o order) weblate(s *splitter) {
	var texts []string
	for _, segment := range o.Strings {
		texts = append(texts, segment.Source)
	}
	s.list(texts)
}

// list adds a JSON list of texts.
func (s *splitter) list(texts []string) {
	s.keep("[")
	for i, text := range texts {
		if i > 0 {
			s.keep(",")
		}
		s.quoted(text)
	}
	s.keep("]")
}

// quoted adds a text as a JSON string.
func (s *splitter) quoted(text string) {
	if !strings.ContainsFunc(text, unicode.IsLetter) {
		s.keep(quote(text))
		return
	}
	s.add(text, func(r translate.Result) string { return quote(r.Text) })
}

// terms reads the glossary, which is an object of KISS Translator, whose terms come sorted, or a list of Weblate.
func (o order) terms() (terms []translate.Term) {
	var pairs map[string]string
	var list []struct{ Source, Target string }
	if json.Unmarshal(o.Glossary, &pairs) != nil && json.Unmarshal(o.Glossary, &list, json.MatchCaseInsensitiveNames(true)) != nil {
		return nil
	}
	for _, source := range slices.Sorted(maps.Keys(pairs)) {
		terms = append(terms, translate.Term{Source: source, Target: cmp.Or(pairs[source], source)})
	}
	for _, entry := range list {
		terms = append(terms, translate.Term{Source: entry.Source, Target: cmp.Or(entry.Target, entry.Source)})
	}
	return terms
}
