// Package wrap joins the lines of plain text that somebody has wrapped at a width, and wraps text again.
//
//	wrap.go       which lines go on in the next one
//	paragraph.go  texts of several lines
//	fill.go       lines of a text
package wrap

import (
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mode says whether a text is wrapped: whether a line end is only the end of the place for words.
type Mode string

// The modes. The zero Mode is what its user says.
const (
	Auto Mode = "auto" // where it clearly is
	On   Mode = "on"
	Off  Mode = "off"
)

// Known says whether there is such a mode; "" is one.
func (m Mode) Known() bool { return m == "" || m == Auto || m == On || m == Off }

// Line is one of a text, in bytes, without its line end.
type Line struct{ Start, End int }

// Lines are the lines of a text, which end at \r\n or one of the characters in ends.
func Lines(text, ends string) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		for start := 0; start < len(text); {
			end, next := len(text), len(text)
			if n := strings.IndexAny(text[start:], ends); n >= 0 {
				end = start + n
				_, size := utf8.DecodeRuneInString(text[end:])
				next = end + size
				if strings.HasPrefix(text[end:], "\r\n") {
					next++
				}
			}
			if !yield(Line{start, end}) {
				return
			}
			start = next
		}
	}
}

// Paragraphs are all lines of a text, those together that one text goes on through: where it is wrapped, as it clearly is
// or as the mode says.
func Paragraphs(text string, m Mode) iter.Seq[Paragraph] {
	return func(yield func(Paragraph) bool) {
		lines := make([]Line, 0, strings.Count(text, "\n")+1) // 16 bytes each
		lines = slices.AppendSeq(lines, Lines(text, "\r\n"))
		width, ok := 0, false
		if m == Auto {
			width, ok = widthOf(text, lines)
		}
		goes := func(l, next Line) bool {
			if m == On {
				return startsNothing(text, l, next)
			}
			return ok && goesOn(text, l, next, width)
		}
		for i := 0; i < len(lines); {
			end := i + 1
			for end < len(lines) && goes(lines[end-1], lines[end]) {
				end++
			}
			for k := i; k < end; k++ { // without their indentation
				raw := text[lines[k].Start:lines[k].End]
				lines[k].Start = lines[k].End - len(strings.TrimLeft(raw, " \t"))
			}
			if !yield(Of(text, lines[i:end])) {
				return
			}
			i = end
		}
	}
}

// Wrapped are the paragraphs of a text that are wrapped, in order.
func Wrapped(text string, m Mode) iter.Seq[Paragraph] {
	return func(yield func(Paragraph) bool) {
		if m == Off || !strings.Contains(text, "\n") {
			return
		}
		for p := range Paragraphs(text, m) {
			if p.lines > 1 && !yield(p) {
				return
			}
		}
	}
}

// The least and the most characters of a width that texts are wrapped at, and how many lines have to go on.
const leastWidth, mostWidth, leastWrapped = 40, 120, 3

// widthOf is the width that a text is wrapped at, the longest line's; false where it is not clearly wrapped: nine in ten
// of the lines that another one follows had no place for its first word.
func widthOf(text string, lines []Line) (width int, ok bool) {
	for _, l := range lines {
		width = max(width, utf8.RuneCountInString(text[l.Start:l.End]))
	}
	if width < leastWidth || width > mostWidth {
		return 0, false
	}
	followed, full := 0, 0
	for i, l := range lines[:max(0, len(lines)-1)] {
		switch {
		case goesOn(text, l, lines[i+1], width):
			full++
			followed++
		case mayGoOn(text, l, lines[i+1]) && !isHeading(text, lines, i):
			followed++
		}
	}
	return width, full >= leastWrapped && full*10 >= followed*9
}

// isHeading says whether a line looks like the heading of the lines behind it: nothing is above it, it does not end as a
// sentence does, and the next line starts one.
func isHeading(text string, lines []Line, i int) bool {
	raw := strings.TrimSpace(text[lines[i].Start:lines[i].End])
	last, _ := utf8.DecodeLastRuneInString(raw)
	first, _ := utf8.DecodeRuneInString(strings.TrimSpace(text[lines[i+1].Start:lines[i+1].End]))
	return (i == 0 || strings.TrimSpace(text[lines[i-1].Start:lines[i-1].End]) == "") &&
		(unicode.IsLetter(last) || unicode.IsDigit(last) || last == ')') && unicode.IsLetter(first) && !unicode.IsLower(first)
}

// listItem is what a line starts with that begins something of its own.
var listItem = regexp.MustCompile("^(?:`{3}|~{3})|" + `^(?:[-*+•–—>#|]|\d{1,3}[.)]|\(?[A-Za-z][.)])(?:\s|$)`)

// startsNothing says whether two lines have text, and the second one begins nothing of its own.
func startsNothing(text string, l, next Line) bool {
	there := strings.TrimSpace(text[next.Start:next.End])
	return there != "" && strings.TrimSpace(text[l.Start:l.End]) != "" && !listItem.MatchString(there)
}

// mayGoOn says whether a line, which has several words, may go on in the next one.
func mayGoOn(text string, l, next Line) bool {
	return startsNothing(text, l, next) && len(strings.Fields(text[l.Start:l.End])) > 1
}

// goesOn says whether a line goes on in the next one: it has no place for its first word.
func goesOn(text string, l, next Line, width int) bool {
	if !mayGoOn(text, l, next) {
		return false
	}
	word := strings.Fields(text[next.Start:next.End])[0]
	return utf8.RuneCountInString(strings.TrimRight(text[l.Start:l.End], " \t"))+1+utf8.RuneCountInString(word) > width
}

// Join makes one line of lines without white space at their ends.
func Join(lines []string) string {
	var out strings.Builder
	for i, line := range lines {
		if i > 0 && !WithoutSpace(lines[i-1], line) {
			out.WriteByte(' ')
		}
		out.WriteString(line)
	}
	return out.String()
}

// WithoutSpace says whether two lines are one text without a space between them.
func WithoutSpace(before, after string) bool {
	return wideEnd.MatchString(before) && wideStart.MatchString(after)
}

var (
	wideEnd   = regexp.MustCompile(`[\p{Han}\p{Hiragana}\p{Katakana}ー、。，．！？：；」』）】…]$`)
	wideStart = regexp.MustCompile(`^[\p{Han}\p{Hiragana}\p{Katakana}ー「『（【]`)
)
