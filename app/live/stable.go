package live

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// agreeing is the number of translations, the newest included, that have to agree. A larger number flickers less and lags more:
// by the measurements in docs/live.md, this number has the least lag with a normalized erasure below 0.2.
const agreeing = 3

// stable returns the number of bytes at the beginning of the last of translations, which is the newest translation of an
// unfinished sentence, that are worth showing as if they were final: the common prefix of the translations of the sentence's last
// few states (local agreement, Liu et al. 2020).
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

// agreement returns the length in bytes of the longest common beginning of a and b that consists of whole words, or of characters
// of scripts without spaces.
func agreement(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if n == len(a) && n == len(b) {
		return n
	}
	// A word that continues in one of the two texts is not the same word.
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

// joinsWord reports whether a word that ends with a continues with b.
func joinsWord(a, b string) bool {
	tokens := words.FromString(a + b)
	for tokens.Next() {
		if tokens.End() >= len(a) {
			return tokens.End() > len(a)
		}
	}
	return false
}

// wordBefore returns the start of the last word before byte n of a text, without white space and punctuation before it: the text
// up to there has one word less.
func wordBefore(text string, n int) int {
	word := 0
	for tokens := words.FromString(text[:n]); tokens.Next(); {
		if r, _ := utf8.DecodeRuneInString(tokens.Value()); unicode.IsLetter(r) || unicode.IsDigit(r) {
			word = tokens.Start()
		}
	}
	return len(strings.TrimRightFunc(text[:word], unicode.IsSpace))
}

// wholeWords returns the number of bytes at the beginning of an unfinished sentence that are whole words: all but the one that is
// being written, in scripts with spaces between words.
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
