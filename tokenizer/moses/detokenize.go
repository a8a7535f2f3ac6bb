package moses

import (
	"slices"
	"strings"
	"unicode/utf8"
)

func firstRune(s string) rune { r, _ := utf8.DecodeRuneInString(s); return r }
func lastRune(s string) rune  { r, _ := utf8.DecodeLastRuneInString(s); return r }

// unescape is the inverse of escape, and also reads the output of older versions of Moses.
var unescape = strings.NewReplacer("&bar;", "|", "&#124;", "|", "&lt;", "<", "&gt;", ">", "&bra;", "[", "&ket;", "]", "&quot;", `"`, "&apos;", "'",
	"&#91;", "[", "&#93;", "]", "&amp;", "&")

// attach tells to which neighbour, if any, a word is attached without a space.
type attach int

const (
	toNone attach = iota
	toNext
	toPrevious
)

// Detokenize joins words separated by spaces to a text, like MosesDetokenizer.
func (l *Language) Detokenize(text string) string {
	text = strings.ReplaceAll(" "+text+" ", " @-@ ", "-")
	words := strings.FieldsFunc(unescape.Replace(text), IsSpace)
	j := joiner{Language: l, words: words, quotes: map[string]int{}}
	var b strings.Builder
	b.Grow(len(text))
	space := false // whether a space precedes the next word
	for i, word := range words {
		to := j.attach(i)
		if to != toPrevious && space || l.code == "fr" && slices.Contains([]string{"?", "!", ":", ";", `\`, "%"}, word) {
			b.WriteByte(' ')
		}
		b.WriteString(word)
		space = to != toNext
	}
	return strings.TrimPrefix(b.String(), " ")
}

// joiner is the state of joining a text.
type joiner struct {
	*Language
	words  []string
	quotes map[string]int // number of each quotation mark so far
}

// attach returns the attachment of word i. attach must be called with each word in order.
func (j *joiner) attach(i int) attach {
	word, previous, next := j.words[i], "", ""
	if i > 0 {
		previous = j.words[i-1]
	}
	if i+1 < len(j.words) {
		next = j.words[i+1]
	}
	letter := func(r rune) bool { return j.is("letter", r) }
	switch {
	case j.code != "ko" && j.is("cjk", firstRune(word)):
		if previous != "" && j.is("cjk", lastRune(previous)) {
			return toPrevious
		}
		return toNone
	case consistsOf(word, func(r rune) bool { return strings.ContainsRune("([{¿¡", r) || j.is("currency", r) }):
		return toNext
	case consistsOf(word, func(r rune) bool { return strings.ContainsRune(`,.?!:;\%}])`, r) }):
		return toPrevious
	case j.code == "en" && previous != "" && word[0] == '\'' && letter(firstRune(word[1:])):
		return toPrevious
	case j.code == "cs" && i > 1 && isNumber(word) && j.endsWithFraction():
		return toPrevious
	case slices.Contains([]string{"fr", "it", "ga"}, j.code) && strings.HasSuffix(word, "'") && letter(lastRune(word[:len(word)-1])) &&
		letter(firstRune(next)):
		return toNext
	case consistsOf(word, func(r rune) bool { return strings.ContainsRune("'\"„“`", r) }):
		return j.quote(word, previous)
	}
	return toNone
}

// endsWithFraction reports whether the last words are a number and a point: sacremoses makes the same check for the words before
// a number.
func (j *joiner) endsWithFraction() bool {
	last := j.words[len(j.words)-2:]
	return isNumber(last[0]) && (last[1] == "." || last[1] == ",")
}

// quote is attach for quotation marks: the first, third and so on of a kind open.
func (j *joiner) quote(word, previous string) attach {
	key := word
	if consistsOf(word, func(r rune) bool { return r == '„' || r == '“' }) {
		key = `"`
	}
	if j.code == "cs" && word == "„" {
		j.quotes[key] = 0
	}
	if j.code == "cs" && word == "“" {
		j.quotes[key] = 1
	}
	if j.quotes[key]%2 == 0 {
		if j.code == "en" && word == "'" && strings.HasSuffix(previous, "s") { // the Joneses'
			return toPrevious
		}
		j.quotes[key]++
		return toNext
	}
	j.quotes[key]++
	return toPrevious
}

func consistsOf(word string, class func(rune) bool) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return !class(r) })
}

func isNumber(word string) bool {
	return consistsOf(word, func(r rune) bool { return '0' <= r && r <= '9' })
}
