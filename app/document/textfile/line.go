package textfile

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// line is one of a document, without its line end.
type line struct{ start, end int }

// linesIn are the lines of a text, which end at \r\n or one of the characters in ends.
func linesIn(text, ends string) iter.Seq[line] {
	return func(yield func(line) bool) {
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
			if !yield(line{start, end}) {
				return
			}
			start = next
		}
	}
}

// linesOf collects them.
func linesOf(text, ends string) []line { return slices.Collect(linesIn(text, ends)) }

// lineEnd is what ends the first line of a text.
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
