package live

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// agreeing is how many translations, the newest included, have to agree. More flicker less and lag more: docs/live.md has
// measured this as the least lag with a normalized erasure below 0.2.
const agreeing = 3

// stable is how many bytes at the beginning of the newest of some translations of an unfinished sentence, the newest last,
// are worth showing as if they were final: what those of its last few states have in common (local agreement, Liu et al.
// 2020).
func stable(translations []string) int {
	if len(translations) < agreeing {
		return 0
	}
	newest := translations[len(translations)-1]
	n := len(newest)
	for _, earlier := range translations[len(translations)-agreeing : len(translations)-1] {
		n = min(n, agreement(newest[:n], earlier))
	}
	return n
}

// agreement is how many bytes at the beginning of a are whole words, or characters of scripts without
// spaces, that b begins with, too.
func agreement(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if n == len(a) && n == len(b) {
		return n
	}
	// A word that goes on in one of them is not the same.
	end := 0
	for tokens := words.FromString(a); tokens.Next(); {
		if tokens.End() > n {
			break
		}
		end = tokens.End()
	}
	if end == n && n < len(b) && joinsWord(a[:n], b[n:]) {
		end = wordBefore(a, n)
	}
	return len(strings.TrimRightFunc(a[:end], unicode.IsSpace))
}

// joinsWord says whether a word that ends with a goes on with b.
func joinsWord(a, b string) bool {
	tokens := words.FromString(a + b)
	for tokens.Next() {
		if tokens.End() >= len(a) {
			return tokens.End() > len(a)
		}
	}
	return false
}

// wordBefore is where the last word before byte n of a text starts, without the white space and the
// punctuation before that word's place: what is left has one word less.
func wordBefore(text string, n int) int {
	word := 0
	for tokens := words.FromString(text[:n]); tokens.Next(); {
		if r, _ := utf8.DecodeRuneInString(tokens.Value()); unicode.IsLetter(r) || unicode.IsDigit(r) {
			word = tokens.Start()
		}
	}
	return len(strings.TrimRightFunc(text[:word], unicode.IsSpace))
}

// wholeWords is how many bytes at the beginning of an unfinished sentence are whole words: all but the
// one that is being written, in scripts that have spaces between words.
func wholeWords(sentence string) int {
	for end := len(sentence); end > 0; {
		r, width := utf8.DecodeLastRuneInString(sentence[:end])
		if !unicode.In(r, unicode.L, unicode.M, unicode.Nd) && r != '\'' && r != '’' && r != '-' {
			return end
		}
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
			return end
		}
		end -= width
	}
	return 0
}
