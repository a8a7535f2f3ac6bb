package openai

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/translate"
)

// part is a piece of a message: what stays, and then a text to translate, "" where there is none.
type part struct {
	before string
	text   string
	// write makes what stands for the text in the answer; nil: the translation.
	write func(r translate.Result) string
}

// paragraphs is how many paragraphs of a text are at most translated by themselves, so that a stream can have them one by one.
const paragraphs = 64

// maxParts bounds the texts of a message.
const maxParts = 10_000

// Programs send several texts at once, between separators or after numbers, and expect as many back.
var (
	separator = regexp.MustCompile(`(?m)^[ \t]*(?:%%|---+|===+|\|\|\|)[ \t]*$`)
	numbered  = regexp.MustCompile(`^\s*(?:\[\d+\]|\(\d+\)|<\d+>|#?\d+[.)、](?:\s|$)|#\d+|\d+\s*[|:：]|(?i:line) ?\d+:)\s*`)
	blank     = regexp.MustCompile(`\n[ \t]*\n\s*`)
)

// split divides a text at all that separates texts; what divides it comes back as it was.
func split(text string) ([]part, error) {
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		if parts, ok, err := splitJSON(text); ok || err != nil {
			return parts, err
		}
	}
	var s splitter
	at := 0
	for _, m := range separator.FindAllStringIndex(text, -1) {
		s.block(text[at:m[0]])
		s.keep(text[m[0]:m[1]])
		at = m[1]
	}
	s.block(text[at:])
	return s.end()
}

// splitter collects parts.
type splitter struct {
	parts []part
	kept  strings.Builder // before the next part
}

func (s *splitter) keep(text string) { s.kept.WriteString(text) }

// translate adds a text, whose white space around it stays as it is.
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

// add adds a text behind what was kept. One more than may be is enough for end to refuse them.
func (s *splitter) add(text string, write func(r translate.Result) string) {
	if len(s.parts) <= maxParts {
		s.parts = append(s.parts, part{s.kept.String(), text, write})
	}
	s.kept.Reset()
}

func (s *splitter) end() ([]part, error) {
	if len(s.parts) > maxParts {
		return nil, dialect.RefuseAs(fault.TooManyRecords, "the message has more than %d texts: send several requests", maxParts)
	}
	return append(s.parts, part{before: s.kept.String()}), nil
}

// block divides what is between separators.
func (s *splitter) block(text string) {
	lines := strings.SplitAfter(text, "\n")
	numbers := 0
	for _, line := range lines {
		if numbered.MatchString(line) || isTiming(line) {
			numbers++
		}
	}
	if numbers >= 2 {
		s.lines(lines)
		return
	}
	breaks := blank.FindAllStringIndex(text, paragraphs)
	if len(breaks) == paragraphs {
		breaks = nil // it is translated as a whole
	}
	at := 0
	for _, m := range breaks {
		s.translate(text[at:m[0]])
		s.keep(text[m[0]:m[1]])
		at = m[1]
	}
	s.translate(text[at:])
}

// isTiming says whether a line is that of a subtitle's times.
func isTiming(line string) bool { return strings.Contains(line, "-->") }

// lines divides numbered lines, and what follows each up to the next one.
func (s *splitter) lines(lines []string) {
	var item strings.Builder
	flush := func() {
		s.translate(item.String())
		item.Reset()
	}
	for _, line := range lines {
		number := numbered.FindString(line)
		switch {
		case isTiming(line) || !strings.ContainsFunc(line, unicode.IsLetter):
			flush()
			s.keep(line)
			continue
		case number != "":
			flush()
			s.keep(number)
		}
		item.WriteString(line[len(number):])
	}
	flush()
}

// splitJSON has all strings of a JSON value translated which have letters, but for the names of members. ok is
// false where it is no JSON.
func splitJSON(text string) (parts []part, ok bool, err error) {
	var s splitter
	in := jsontext.NewDecoder(bytes.NewBufferString(text), jsontext.AllowDuplicateNames(true))
	at := 0
	for {
		kind, within, length := in.PeekKind(), jsontext.Kind(0), int64(0)
		if in.StackDepth() > 0 {
			within, length = in.StackIndex(in.StackDepth())
		}
		if kind != '"' || within == '{' && length%2 == 0 {
			if _, err := in.ReadToken(); err != nil {
				return nil, false, nil
			}
		} else {
			value, err := in.ReadValue()
			if err != nil {
				return nil, false, nil
			}
			end := int(in.InputOffset())
			var plain string
			if err := json.Unmarshal(value, &plain); err != nil {
				return nil, false, nil
			}
			number := numbered.FindString(plain)
			if rest := plain[len(number):]; strings.ContainsFunc(rest, unicode.IsLetter) {
				s.keep(text[at : end-len(value)])
				s.add(rest, func(r translate.Result) string { return quote(number + r.Text) })
				at = end
			}
		}
		if in.StackDepth() == 0 {
			break
		}
	}
	if strings.TrimSpace(text[in.InputOffset():]) != "" {
		return nil, false, nil
	}
	s.keep(text[at:])
	parts, err = s.end()
	return parts, true, err
}

// quote writes a text as a string in JSON.
func quote(text string) string {
	quoted, err := jsontext.AppendQuote(nil, text)
	if err != nil { // bytes that are no UTF-8, which a translation has not
		return `""`
	}
	return string(quoted)
}

// kiss is a message of KISS Translator, see its src/config/api.js.
type kiss struct {
	Target   string            `json:"targetLanguage"`
	Segments []kissSegment     `json:"segments"`
	Glossary map[string]string `json:"glossary"`
}

type kissSegment struct {
	ID   jsontext.Value `json:"id"`
	Text string         `json:"text"`
}

// readKiss reads a message of KISS Translator. ok is false where it is none.
func readKiss(text string) (parts []part, target string, terms []translate.Term, ok bool) {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return nil, "", nil, false
	}
	var k kiss
	atMost := dialect.AtMost[kissSegment](maxParts, func(jsontext.Pointer) error { return errors.ErrUnsupported })
	if err := json.Unmarshal([]byte(text), &k, json.WithUnmarshalers(atMost)); err != nil || k.Target == "" || k.Segments == nil {
		return nil, "", nil, false
	}
	var s splitter
	s.keep(`{"translations":[`)
	for i, segment := range k.Segments {
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
	for source, to := range k.Glossary {
		if to == "" {
			to = source
		}
		terms = append(terms, translate.Term{Source: source, Target: to})
	}
	s.keep("]}")
	return append(s.parts, part{before: s.kept.String()}), k.Target, terms, true
}
