package textfile

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// atom is a part of a text that no line end goes into.
type atom struct {
	text  string
	width int  // characters that are shown
	space bool // whether a space is before it
}

// atoms cuts a text at spaces outside of tags; with ideographs also between those.
func atoms(text string, ideographs bool) (list []atom) {
	var a atom
	depth, start := 0, 0
	lastClose := strings.LastIndexAny(text, "}>")
	previous := rune(0)
	cut := func(end int, space bool) {
		if a.text = text[start:end]; a.text != "" {
			list = append(list, a)
		}
		a = atom{space: space}
	}
	for i, r := range text {
		switch {
		case (r == '<' || r == '{') && i < lastClose:
			depth++
		case (r == '>' || r == '}') && depth > 0:
			depth--
			continue
		case depth == 0 && (r == ' ' || strings.ContainsRune(lineEnds, r)):
			cut(i, true)
			start = i + utf8.RuneLen(r)
		case depth == 0 && ideographs && isIdeograph(previous) && isIdeograph(r):
			cut(i, false)
			start = i
		}
		if depth == 0 && r != ' ' && !unicode.Is(unicode.M, r) {
			a.width++
		}
		previous = r
	}
	cut(len(text), false)
	return list
}

// isIdeograph says whether a line may end beside a character without a space.
func isIdeograph(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// fill puts atoms into lines of at most some characters; one that is longer has a line of its own. mayStart
// says whether an atom may start a line; nil: any may.
func fill(list []atom, width int, mayStart func(string) bool) (lines []string) {
	var line strings.Builder
	used := 0
	for i, a := range list {
		space := 0
		if a.space {
			space = 1
		}
		switch {
		case i == 0:
		case used+space+a.width > width && (mayStart == nil || mayStart(a.text)):
			lines = append(lines, line.String())
			line.Reset()
			used = 0
		case a.space:
			line.WriteByte(' ')
			used++
		}
		line.WriteString(a.text)
		used += a.width
	}
	return append(lines, line.String())
}

// balance shares a text between at most n lines so that the longest is as short as can be. mayStart says
// whether a line may start with a word.
func balance(text string, n int, mayStart func(word string) bool) []string {
	list := atoms(text, true)
	high := 0
	for _, a := range list {
		high += a.width + 1
	}
	low := 1
	for low < high { // the least width at which n lines do
		if middle := (low + high) / 2; len(fill(list, middle, mayStart)) <= n {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return fill(list, high, mayStart)
}
