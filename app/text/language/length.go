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

// Length returns how many letters a text in a language would probably have in English, so that lengths in two languages can be
// compared. Good translations of a sentence have half to twice the length. Codes of no family count as English.
func Length(text, code string) (letters float64) {
	percent := cmp.Or(lengths()[code], englishLetters)
	letter := englishLetters / float64(percent)
	ascii := letter
	if percent < denseLetters { // a Latin name in Chinese
		ascii = 1
	}
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			if char.IsASCIILetter(byte(r)) || char.IsASCIIDigit(byte(r)) {
				letters += ascii
			}
		case char.IsPlainLetter(r) || unicode.In(r, unicode.L, unicode.N, unicode.M):
			letters += letter
		}
	}
	return letters
}

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
