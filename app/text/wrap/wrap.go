// Package wrap joins the lines of plain text that was wrapped at a width, and wraps text again.
//
//	wrap.go       detection of wrapped lines
//	paragraph.go  wrapped texts
//	fill.go       filling of lines
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

// Mode tells whether the lines of a text are wrapped, so that line ends carry no meaning.
type Mode string

// The modes. Callers define the meaning of the zero Mode.
const (
	Auto Mode = "auto" // if the text is clearly wrapped
	On   Mode = "on"
	Off  Mode = "off"
)

// Known reports whether the mode exists; "" is known.
func (m Mode) Known() bool { return m == "" || m == Auto || m == On || m == Off }

// Line is the byte range of a line, without its line end.
type Line struct{ Start, End int }

// Lines yields the lines of a text, which end at \r\n or a character of ends.
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

// Paragraphs yields all lines of a text, joined into paragraphs where they are wrapped, as detected or as the mode says. If ctx
// ends, the last pair is its error.
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

// lined is a text with its lines.
type lined struct {
	text  string
	mode  Mode
	lines []Line
	width int
	clear bool // whether it is clearly wrapped at the width
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

// goes reports whether a line continues in the next one.
func (t *lined) goes(l, next Line) bool {
	if t.mode == On {
		return startsNothing(t.text, l, next)
	}
	return t.clear && goesOn(t.text, l, next, t.width)
}

// paragraph returns the paragraph that starts at line i, and the number of the line behind it.
func (t *lined) paragraph(looks *char.Looks, i int) (p Paragraph, end int) {
	end = i + 1
	for end < len(t.lines) && t.goes(t.lines[end-1], t.lines[end]) {
		looks.Past(t.lines[end].End - t.lines[end].Start)
		end++
	}
	for k := i; k < end; k++ { // removes the indentation
		raw := t.text[t.lines[k].Start:t.lines[k].End]
		t.lines[k].Start = t.lines[k].End - len(strings.TrimLeft(raw, " \t"))
	}
	return Of(looks, t.text, t.lines[i:end]), end
}

// Wrapped yields the wrapped paragraphs of a text, in order. If ctx ends, the last pair is its error.
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

// The minimum and maximum width in characters of wrapped text, and the minimum number of continued lines.
const leastWidth, mostWidth, leastWrapped = 40, 120, 3

// widthOf returns the width at which a text is wrapped, the length of its longest line. ok is false if the text is not clearly
// wrapped: in nine of ten lines with a successor, the first word of the successor must not have fit.
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

// isHeading reports whether a line looks like the heading of the following lines: nothing precedes it, it does not end like a
// sentence, and the next line starts one.
func isHeading(text string, lines []Line, i int) bool {
	raw := strings.TrimSpace(text[lines[i].Start:lines[i].End])
	last, _ := utf8.DecodeLastRuneInString(raw)
	first, _ := utf8.DecodeRuneInString(strings.TrimSpace(text[lines[i+1].Start:lines[i+1].End]))
	return (i == 0 || strings.TrimSpace(text[lines[i-1].Start:lines[i-1].End]) == "") &&
		(unicode.IsLetter(last) || unicode.IsDigit(last) || last == ')') && unicode.IsLetter(first) && !unicode.IsLower(first)
}

// listItem matches the start of a line that begins an item of its own.
var listItem = regexp.MustCompile("^(?:`{3}|~{3})|" + `^(?:[-*+•–—>#|]|\d{1,3}[.)]|\(?[A-Za-z][.)])(?:\s|$)`)

// StartsItem reports whether a line without white space at its start begins an item of a list.
func StartsItem(line string) bool { return listItem.MatchString(line) }

// startsNothing reports whether both lines have text and the second one begins no item of its own.
func startsNothing(text string, l, next Line) bool {
	there := strings.TrimSpace(text[next.Start:next.End])
	return there != "" && strings.TrimSpace(text[l.Start:l.End]) != "" && !StartsItem(there)
}

// mayGoOn reports whether a line may continue in the next one: it has several words.
func mayGoOn(text string, l, next Line) bool {
	return startsNothing(text, l, next) && len(strings.Fields(text[l.Start:l.End])) > 1
}

// goesOn reports whether a line continues in the next one: the next word did not fit.
func goesOn(text string, l, next Line, width int) bool {
	if !mayGoOn(text, l, next) {
		return false
	}
	word := strings.Fields(text[next.Start:next.End])[0]
	return utf8.RuneCountInString(strings.TrimRight(text[l.Start:l.End], " \t"))+1+utf8.RuneCountInString(word) > width
}

// join joins lines without white space at their ends into one.
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

// WithoutSpace reports whether two lines are joined without a space.
func WithoutSpace(before, after string) bool {
	return wideEnd.MatchString(before) && wideStart.MatchString(after)
}

var (
	wideEnd   = regexp.MustCompile(`[\p{Han}\p{Hiragana}\p{Katakana}ー、。，．！？：；」』）】…]$`)
	wideStart = regexp.MustCompile(`^[\p{Han}\p{Hiragana}\p{Katakana}ー「『（【]`)
)
