package moses

import (
	"slices"
	"strings"
)

// Tokenize splits a text into words and punctuation marks, some of which are escaped as in XML, like MosesTokenizer.
func (l *Language) Tokenize(text string) []string {
	text = l.separate(text)
	text = l.commas(text)
	text = l.apostrophes(text)
	words := l.dots(strings.FieldsFunc(text, IsSpace))
	for i, word := range words {
		words[i] = escape.Replace(word)
	}
	return words
}

// escape escapes the characters with a meaning in Moses.
var escape = strings.NewReplacer("&", "&amp;", "|", "&#124;", "<", "&lt;", ">", "&gt;", "'", "&apos;", `"`, "&quot;", "[", "&#91;", "]", "&#93;")

// separate puts spaces around characters outside words, except some marks, and around several dots. Control characters are
// removed.
func (l *Language) separate(text string) string {
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case IsSpace(r):
			return ' '
		case r < ' ':
			return -1
		}
		return r
	}, text))
	var b strings.Builder
	b.Grow(len(text))
	for i, r := range text {
		switch {
		case r == '.' && i > 0 && text[i-1] == '.': // written with the first dot
		case r == '.':
			rest := strings.TrimLeft(text[i:], ".")
			if dots := text[i : len(text)-len(rest)]; len(dots) > 1 {
				b.WriteString(" " + dots)
				if rest != "" {
					b.WriteByte(' ')
				}
			} else {
				b.WriteByte('.')
			}
		case strings.ContainsRune(" '`,-", r) || l.ownLetter(r) || l.is("digit", r):
			b.WriteRune(r)
		default:
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// commas puts spaces around commas outside numbers.
func (l *Language) commas(text string) string {
	text = between(text, l.noNumber, ",", nil, " , ")
	text = between(text, nil, ",", l.noNumber, " , ")
	if number, ok := strings.CutSuffix(text, ","); ok && number != "" && l.number(lastRune(number)) {
		text = number + " , "
	}
	return text
}

// apostrophes puts spaces around apostrophes outside words, and splits words of the language: before an apostrophe in English,
// after an apostrophe in French and Italian.
func (l *Language) apostrophes(text string) string {
	const a = "'"
	switch l.code {
	case "en":
		text = between(text, l.noLetter, a, l.noLetter, " ' ")
		text = between(text, func(r rune) bool { return !l.letter(r) && !l.number(r) }, a, l.letter, " ' ")
		text = between(text, l.letter, a, l.noLetter, " ' ")
		text = between(text, l.letter, a, l.letter, " '")
		return between(text, l.number, a, func(r rune) bool { return r == 's' }, " '")
	case "fr", "it":
		text = between(text, l.noLetter, a, l.noLetter, " ' ")
		text = between(text, l.noLetter, a, l.letter, " ' ")
		text = between(text, l.letter, a, l.noLetter, " ' ")
		return between(text, l.letter, a, l.letter, "' ")
	}
	return strings.ReplaceAll(text, a, " ' ")
}

// dots splits final dots off words, except of abbreviations, of words before numbers such as "No. 5", and before a word in small
// letters.
func (l *Language) dots(words []string) []string {
	split := make([]string, 0, len(words)+len(words)/8)
	for i, word := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		prefix, ok := strings.CutSuffix(word, ".")
		if !ok || prefix == "" || strings.HasSuffix(prefix, ".") || l.keepsDot(prefix, next) {
			split = append(split, word)
		} else {
			split = append(split, prefix, ".")
		}
	}
	if last := len(split) - 1; last >= 0 {
		if word, ok := strings.CutSuffix(split[last], ".'"); ok {
			split = append(split[:last], word, ".", "'")
		}
	}
	return slices.DeleteFunc(split, func(word string) bool { return word == "" })
}

// keepsDot reports whether a word keeps the dot after it; next is the following word, or "" at the end.
func (l *Language) keepsDot(word, next string) bool {
	return strings.Contains(word, ".") && strings.ContainsFunc(word, l.ownLetter) || l.words[word] ||
		next != "" && (l.is("lower", firstRune(next)) || l.ahead[word] && next[0] >= '0' && next[0] <= '9')
}
