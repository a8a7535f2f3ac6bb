// Package wrap joins the lines of plain text that somebody has wrapped at a width, and wraps text again.
//
//	wrap.go       which lines go on in the next one
//	paragraph.go  texts of several lines
//	fill.go       lines of a text
package wrap

import (
	"context"
	"iter"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
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
// or as the mode says. The last one has an error where ctx ends.
func Paragraphs(ctx context.Context, text string, m Mode) iter.Seq2[Paragraph, error] {
	return func(yield func(Paragraph, error) bool) {
		t := lined{text: text, mode: m}
		err := char.Look(ctx, len(text), t.read)
		for i := 0; i < len(t.lines) && err == nil; {
			var p Paragraph
			err = char.Look(ctx, len(text), func(l *char.Looks) { p, i = t.paragraph(l, i) })
			if err == nil && !yield(p, nil) {
				return
			}
		}
		if err != nil {
			yield(Paragraph{}, err)
		}
	}
}

// lined is a text in lines.
type lined struct {
	text  string
	mode  Mode
	lines []Line
	width int
	clear bool // it is wrapped at the width
}

func (t *lined) read(looks *char.Looks) {
	t.lines = make([]Line, 0, strings.Count(t.text, "\n")+1) // 16 bytes each
	for l := range Lines(t.text, "\r\n") {
		looks.Past(1 + l.End - l.Start)
		t.lines = append(t.lines, l)
	}
	if t.mode == Auto {
		t.width, t.clear = widthOf(looks, t.text, t.lines)
	}
}

// goes says whether a line goes on in the next one.
func (t *lined) goes(l, next Line) bool {
	if t.mode == On {
		return startsNothing(t.text, l, next)
	}
	return t.clear && goesOn(t.text, l, next, t.width)
}

// paragraph is the one that line i starts, and the line behind it.
func (t *lined) paragraph(looks *char.Looks, i int) (p Paragraph, end int) {
	end = i + 1
	for end < len(t.lines) && t.goes(t.lines[end-1], t.lines[end]) {
		looks.Past(t.lines[end].End - t.lines[end].Start)
		end++
	}
	for k := i; k < end; k++ { // without their indentation
		raw := t.text[t.lines[k].Start:t.lines[k].End]
		t.lines[k].Start = t.lines[k].End - len(strings.TrimLeft(raw, " \t"))
	}
	return of(looks, t.text, t.lines[i:end]), end
}

// Wrapped are the paragraphs of a text that are wrapped, in order. The last one has an error where ctx ends.
func Wrapped(ctx context.Context, text string, m Mode) iter.Seq2[Paragraph, error] {
	return func(yield func(Paragraph, error) bool) {
		if m == Off || !strings.Contains(text, "\n") {
			return
		}
		for p, err := range Paragraphs(ctx, text, m) {
			if (p.lines > 1 || err != nil) && !yield(p, err) {
				return
			}
		}
	}
}

// The least and the most characters of a width that texts are wrapped at, and how many lines have to go on.
const leastWidth, mostWidth, leastWrapped = 40, 120, 3

// widthOf is the width that a text is wrapped at, the longest line's; false where it is not clearly wrapped: nine in ten
// of the lines that another one follows had no place for its first word.
func widthOf(looks *char.Looks, text string, lines []Line) (width int, ok bool) {
	for _, l := range lines {
		looks.Past(1 + l.End - l.Start)
		width = max(width, utf8.RuneCountInString(text[l.Start:l.End]))
	}
	if width < leastWidth || width > mostWidth {
		return 0, false
	}
	followed, full := 0, 0
	for i, l := range lines[:max(0, len(lines)-1)] {
		looks.Past(1 + l.End - l.Start)
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

// join makes one line of lines without white space at their ends.
func join(looks *char.Looks, lines []string) string {
	var out strings.Builder
	for i, line := range lines {
		looks.Past(1)
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
