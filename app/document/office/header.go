package office

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"

	"dragoman/app/document"
	"dragoman/app/document/tagged"
	"dragoman/app/text/markup"
)

// Headers and footers of Excel sheets are texts with codes:
//
//	&L&"Arial,Bold"&12Annual report&RPage &P of &N
//
// &L, &C and &R begin a part, some codes set the font, and some are fields. The text between two codes that are not fields is one
// text.

// maxHeader is Excel's maximum number of characters, codes included.
const maxHeader = 255

// headerCode matches a code, headerField a field that is shown as text or picture.
var (
	headerCode    = regexp.MustCompile(`(?is)&(?:"[^"]*"|K[0-9A-F+-]{6}|\d+|[PN][+-]\d+|.|$)`)
	headerField   = regexp.MustCompile(`(?i)^&(?:[PN]|[DTGAFZ]$)`)
	headerSize    = regexp.MustCompile(`^&\d`)
	startsInDigit = regexp.MustCompile(`^\d`)
)

// header translates the texts of a header.
func (w *walker) header(source string) string {
	var out strings.Builder
	room := maxHeader - characters(source)
	from, code := 0, ""
	text := func(raw string) {
		translation := w.headerText(code, raw, room)
		room -= characters(translation) - characters(raw)
		out.WriteString(translation)
	}
	for _, m := range headerCode.FindAllStringIndex(source, -1) {
		next := source[m[0]:m[1]]
		if next == "&&" || headerField.MatchString(next) {
			continue
		}
		text(source[from:m[0]])
		out.WriteString(next)
		from, code = m[1], next
	}
	text(source[from:])
	return out.String()
}

// headerText translates a text of a header that follows a code, with the fields in it; room is the number of characters by which
// it may grow.
func (w *walker) headerText(code, raw string, room int) string {
	p, at := &paragraph{Paragraph: tagged.New()}, 0
	for _, m := range headerCode.FindAllStringIndex(raw, -1) {
		p.lines(tagged.Style{}, raw[at:m[0]])
		if field := raw[m[0]:m[1]]; field == "&&" {
			p.Text(tagged.Style{}, "&")
		} else {
			p.Special(field)
		}
		at = m[1]
	}
	p.lines(tagged.Style{}, raw[at:])
	text, changed, err := p.Rewrite(w.translate, func(text string) string { return strings.ReplaceAll(text, "&", "&&") })
	if headerSize.MatchString(code) && startsInDigit.MatchString(text) {
		text = " " + text // otherwise the digit would belong to the font size
	}
	switch {
	case err != nil || !changed:
	case characters(text)-characters(raw) > max(room, 0):
		err = document.ErrTooLong
	case !slices.Equal(codesOf(code+text), codesOf(code+raw)):
		err = fmt.Errorf("%w: a text of a header becomes a code", markup.ErrLost)
	}
	w.looks.Check(w.options.Fits(err))
	if err != nil || !changed {
		return raw
	}
	return text
}

// codesOf returns the sorted codes of part of a header.
func codesOf(text string) []string {
	codes := slices.DeleteFunc(headerCode.FindAllString(text, -1), func(code string) bool { return code == "&&" })
	slices.Sort(codes)
	return codes
}

// characters returns the length in Excel's characters, UTF-16 units.
func characters(text string) int { return len(utf16.Encode([]rune(text))) }
