package wrap

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// Atom is a part of a text that is never broken across lines.
type Atom struct {
	Text  string
	Width int  // in visible characters
	Space bool // whether a space precedes it
}

// Atoms cuts a text at spaces outside tags and, if ideographs is set, also between ideographs.
func Atoms(looks *char.Looks, text string, ideographs bool) (list []Atom) {
	var a Atom
	depth, start := 0, 0
	lastClose := strings.LastIndexAny(text, "}>")
	previous := rune(0)
	cut := func(end int, space bool) {
		if a.Text = text[start:end]; a.Text != "" {
			list = append(list, a)
		}
		a = Atom{Space: space}
	}
	for i, r := range text {
		looks.Past(1)
		switch {
		case (r == '<' || r == '{') && i < lastClose:
			depth++
		case (r == '>' || r == '}') && depth > 0:
			depth--
			continue
		case depth == 0 && (r == ' ' || strings.ContainsRune(LineEnds, r)):
			cut(i, true)
			start = i + utf8.RuneLen(r)
		case depth == 0 && ideographs && isIdeograph(previous) && isIdeograph(r):
			cut(i, false)
			start = i
		}
		if depth == 0 && r != ' ' && !unicode.Is(unicode.M, r) {
			a.Width++
		}
		previous = r
	}
	cut(len(text), false)
	return list
}

// isIdeograph reports whether a line may end beside r without a space.
func isIdeograph(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// Fill puts atoms into lines of at most width characters; a longer atom gets a line of its own. mayStart reports whether an atom
// may start a line; nil allows all.
func Fill(looks *char.Looks, list []Atom, width int, mayStart func(string) bool) (lines []string) {
	var line strings.Builder
	used := 0
	for i, a := range list {
		looks.Past(len(a.Text))
		space := 0
		if a.Space {
			space = 1
		}
		switch {
		case i == 0:
		case used+space+a.Width > width && (mayStart == nil || mayStart(a.Text)):
			lines = append(lines, line.String())
			line.Reset()
			used = 0
		case a.Space:
			line.WriteByte(' ')
			used++
		}
		line.WriteString(a.Text)
		used += a.Width
	}
	return append(lines, line.String())
}

// LineEnds are the characters that end a line in programs.
const LineEnds = "\r\n\v\f\u001c\u001d\u001e\u0085\u2028\u2029"
