package language

import (
	"cmp"
	"sync"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// englishLetters is the length of a text in English, of which the lengths in languagesFile are percentages. They are the numbers of
// letters, digits and marks in the Universal Declaration of Human Rights: 115 in German, 30 in Chinese.
const englishLetters = 100

// denseLetters is the length of a text below which a letter is a syllable or a word: Amharic has 49.
const denseLetters = 50

// Letters are the letters, digits and marks of a text.
type Letters struct {
	ascii, other int
	scripts      script // of the letters
}

// LettersOf counts the letters of a text.
func LettersOf(text string) (l Letters) {
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			if i++; char.IsASCIILetter(c) {
				l.ascii++
				l.scripts |= latin
			} else if char.IsASCIIDigit(c) {
				l.ascii++
			}
			continue
		}
		r, n := char.Decode(text, i)
		if i += n; char.IsPlainLetter(r) || unicode.In(r, unicode.L, unicode.N, unicode.M) {
			l.other++
			l.scripts |= scriptOf(r)
		}
	}
	return l
}

// Length returns how many letters a text in a language would probably have in English, so that lengths in two languages can be
// compared. Good translations of a sentence have half to twice the length. Codes of no family count as English.
func (l Letters) Length(code string) float64 {
	percent := cmp.Or(lengths()[code], englishLetters)
	letter := englishLetters / float64(percent)
	ascii := letter
	if percent < denseLetters { // a Latin name in Chinese
		ascii = 1
	}
	return float64(l.ascii)*ascii + float64(l.other)*letter
}

// Length is [Letters.Length] of a text.
func Length(text, code string) float64 { return LettersOf(text).Length(code) }

// IsOwn reports whether all letters are of the scripts of a language, as in most translations, so that [WrongScript],
// [StrangeLetters] and [LeftCharacters] are false for the text.
func (l Letters) IsOwn(code string) bool { return l.scripts&^entries[code].scripts == 0 }

// lengths holds the length of a text in each language in percent of English, where it differs: its own, or else that of a relative,
// or that of most languages in Arabic script. The search for a relative takes as long as a count of the letters of a sentence.
var lengths = sync.OnceValue(func() map[string]int {
	const arabicLetters = 80 // short vowels are not written
	all, arabic := map[string]int{}, entry{letters: arabicLetters, scripts: entries["ar"].scripts}
	for code, e := range entries {
		for _, near := range []entry{arabic, entries[Group(code)], e} {
			if near.letters > 0 && near.scripts == e.scripts {
				all[code] = near.letters
			}
		}
	}
	return all
})
