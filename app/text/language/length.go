package language

import (
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
	percent := lettersOf(code)
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

// lettersOf returns the length of a text in a language in percent of English: that of a relative if its own is not known, or that
// of most languages in its script.
func lettersOf(code string) int {
	e := entries[code]
	for _, near := range []string{code, Base(code), Group(code)} {
		if other := entries[near]; other.letters > 0 && other.scripts == e.scripts {
			return other.letters
		}
	}
	const arabicLetters = 80 // short vowels are not written
	switch {
	case e.scripts&(han|hiragana) != 0:
		return entries["zh"].letters
	case e.scripts == entries["ar"].scripts:
		return arabicLetters
	}
	return englishLetters
}
