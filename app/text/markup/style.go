package markup

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"dragoman/app/text/char"
)

// style defines the form of markers: the number of a group between two signs.
type style struct {
	open, close string
	// written matches the marker in all forms that models produce: with up to two spaces, full-width, in other brackets, in
	// another case, with other digits.
	written *regexp.Regexp
}

// styles are the styles of Mask, in the order in which to try them. They differ in kind, so that a model that drops one may copy
// the next.
//
// The bundled model was trained to copy these four (scripts/training/things.py); docs/benchmarks.md has the success rates. The
// order is a guess about models trained on web pages, which contain footnotes and product codes.
var styles = [...]style{
	{"[", "]", markerForm(`[\[［⟦【〔〚「]_(\p{Nd}+)_[\]］⟧】〕〛」]`)},
	{"XA", "", markerForm(`[XxＸｘ]_[AaＡａ]_(\p{Nd}+)`)},
	{"<", ">", markerForm(`[<＜〈《‹«]_(\p{Nd}+)_[>＞〉》›»]`)},
	{"#", "", markerForm(`[#＃]_(\p{Nd}+)`)},
}

// markerForm compiles a form in which _ stands for at most two spaces.
func markerForm(form string) *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(form, "_", `[\t\p{Zs}]{0,2}`))
}

// Styles is the number of styles of [Sentence.Mask].
const Styles = len(styles)

func (s style) marker(number int) string { return s.open + strconv.Itoa(number) + s.close }

// mark is a marker found in a text.
type mark struct {
	start, end int
	number     int // 0 for a number that Mask does not assign
}

// longestNumber is the maximum number of digits of a marker.
const longestNumber = 7

// find returns the markers in a text, in order.
func (s style) find(looks *char.Looks, text string) []mark {
	if !strings.ContainsFunc(text, unicode.IsDigit) {
		return nil
	}
	var marks []mark
	end := 0 // of the last marker
	for _, found := range looks.FindAll(s.written, text) {
		m := mark{start: found[0], end: found[1]}
		digits := strings.Map(char.PlainDigit, text[found[2]:found[3]])
		inWord := char.IsASCIILetter(s.open[0]) && m.start > end && isASCIIWord(text[m.start-1])
		if inWord || len(digits) > longestNumber {
			continue
		}
		if digits[0] != '0' {
			m.number, _ = strconv.Atoi(digits)
		}
		marks, end = append(marks, m), m.end
	}
	return marks
}

// residue counts the signs of markers in a text without markers. Letters count only as whole words.
func (s style) residue(text string) int {
	text = strings.Map(halfWidth, text)
	count := 0
	if !char.IsASCIILetter(s.open[0]) {
		for _, sign := range s.open + s.close {
			count += strings.Count(text, string(sign))
		}
		return count
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r >= 0x80 || !isASCIIWord(byte(r)) }) {
		if word == s.open {
			count++
		}
	}
	return count
}

func halfWidth(r rune) rune {
	if r >= '！' && r <= '～' {
		return r - '！' + '!'
	}
	return r
}

func isASCIIWord(c byte) bool { return char.IsASCIILetter(c) || char.IsASCIIDigit(c) }
