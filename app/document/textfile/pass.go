package textfile

import (
	"context"
	"io"
	"strings"
	"unicode"

	"dragoman/app/admission"
	"dragoman/app/document"
)

// pass is one way through a document, from its start to its end.
type pass struct {
	text     string // the document, in UTF-8 without a byte order mark
	encoding encoding
	options  document.Options

	ctx        context.Context
	out        io.Writer
	translator document.Translate
	at         int // how much of the text is written
}

// copy writes the document as it is up to a byte.
func (p *pass) copy(end int) error {
	_, err := io.WriteString(p.out, p.text[p.at:end])
	p.at = end
	return err
}

// replace writes what comes before start as it is, and a text in place of the bytes up to end.
func (p *pass) replace(start, end int, text string) error {
	if err := p.copy(start); err != nil {
		return err
	}
	p.at = end
	_, err := io.WriteString(p.out, text)
	return err
}

// translate returns what becomes of a segment: a text without white space around it.
func (p *pass) translate(text string) (string, error) {
	if err := admission.Work(p.ctx, 0); err != nil {
		return "", err
	}
	translation, err := p.translator(document.Segment{Text: text})
	if err != nil || translation == text {
		return text, err
	}
	return strings.TrimSpace(strings.Map(clean, translation)), nil
}

// clean has a space for the characters that formats cannot write, which no translation needs.
func clean(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' || r == '\uFEFF' || r == '\uFFFE' || r == '\uFFFF' {
		return ' '
	}
	return r
}

// value translates the text that the bytes from start to end stand for, and writes what encode makes of
// its translation. White space around it stays; a text without a letter does as a whole.
func (p *pass) value(start, end int, text string, encode func(text string) string) error {
	before, inner, after := trimmed(text)
	if !hasLetter(inner) {
		return nil
	}
	translation, err := p.translate(inner)
	if err != nil || translation == inner {
		return err
	}
	return p.replace(start, end, encode(before+translation+after))
}

// trimmed cuts the white space off a text.
func trimmed(text string) (before, inner, after string) {
	rest := strings.TrimLeftFunc(text, unicode.IsSpace)
	inner = strings.TrimRightFunc(rest, unicode.IsSpace)
	return text[:len(text)-len(rest)], inner, rest[len(inner):]
}

func hasLetter(text string) bool { return strings.ContainsFunc(text, unicode.IsLetter) }

// oneLine makes the line ends in a text, and the white space beside them, one space.
func oneLine(text string) string {
	if !strings.ContainsAny(text, lineEnds) {
		return text
	}
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(lineEnds, r) })
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

// lineEnds are what programs end a line at.
const lineEnds = "\r\n\v\f\u001c\u001d\u001e\u0085\u2028\u2029"

// lineNumber is that of a byte of the document, from 1 on, for errors.
func (p *pass) lineNumber(at int) int { return strings.Count(p.text[:at], "\n") + 1 }
