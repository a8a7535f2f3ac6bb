package textfile

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// plain is the kind of plain text: each line is a segment, and in a file that is clearly wrapped at a width each
// paragraph.
func plain(p *pass) error {
	lines := slices.AppendSeq(make([]line, 0, strings.Count(p.text, "\n")+1), linesIn(p.text, "\r\n")) // 16 bytes each
	width, ok := wrappedAt(p.text, lines)
	for i := 0; i < len(lines); {
		end := i + 1
		for ok && end < len(lines) && goesOn(p.text, lines[end-1], lines[end], width) {
			end++
		}
		var err error
		if end == i+1 {
			err = p.value(lines[i].start, lines[i].end, p.text[lines[i].start:lines[i].end], oneLine)
		} else {
			err = wrapped{pass: p, lines: behindIndent(p.text, lines[i:end])}.rewrite()
		}
		if err != nil {
			return err
		}
		i = end
	}
	return nil
}

// The least and the most characters of a width that texts are wrapped at, and how many lines have to go on.
const leastWidth, mostWidth, leastWrapped = 40, 120, 3

// wrappedAt is the width that a text is wrapped at, the longest line's; false where it is not clearly wrapped: nine in ten
// of the lines that another one follows had no place for its first word.
func wrappedAt(text string, lines []line) (width int, ok bool) {
	for _, l := range lines {
		width = max(width, utf8.RuneCountInString(text[l.start:l.end]))
	}
	if width < leastWidth || width > mostWidth {
		return 0, false
	}
	followed, full := 0, 0
	for i, l := range lines[:max(0, len(lines)-1)] {
		if mayGoOn(text, l, lines[i+1]) {
			followed++
			if goesOn(text, l, lines[i+1], width) {
				full++
			}
		}
	}
	return width, full >= leastWrapped && full*10 >= followed*9
}

// listItem is what a line starts with that begins something of its own.
var listItem = regexp.MustCompile(`^(?:[-*+•–—>#|]|\d{1,3}[.)]|\(?[A-Za-z][.)])(?:\s|$)`)

// mayGoOn says whether a line, which has several words, may go on in the next one.
func mayGoOn(text string, l, next line) bool {
	here, there := strings.Fields(text[l.start:l.end]), strings.Fields(text[next.start:next.end])
	return len(here) > 1 && len(there) > 0 && !listItem.MatchString(strings.TrimSpace(text[next.start:next.end]))
}

// goesOn says whether a line goes on in the next one: it has no place for its first word.
func goesOn(text string, l, next line, width int) bool {
	if !mayGoOn(text, l, next) {
		return false
	}
	word := strings.Fields(text[next.start:next.end])[0]
	return utf8.RuneCountInString(strings.TrimRight(text[l.start:l.end], " \t"))+1+utf8.RuneCountInString(word) > width
}

// behindIndent are lines without the white space that they start with.
func behindIndent(text string, lines []line) []line {
	list := make([]line, len(lines))
	for i, l := range lines {
		list[i] = line{l.end - len(strings.TrimLeft(text[l.start:l.end], " \t")), l.end}
	}
	return list
}
