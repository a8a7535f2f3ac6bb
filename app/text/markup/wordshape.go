package markup

import (
	"regexp"
	"strings"
	"unicode"

	"dragoman/app/text/char"
)

// shape describes the characters of a word.
type shape struct {
	lower, upper, digits int
	numeric              bool // ½, ², ①, and superscript letters
	symbol               bool // a sign that words do not have
	inner                bool // a capital behind a small letter, or small letters behind capitals
	other                bool // letters of a script whose prefixes and suffixes touch digits
}

func shapeOf(text string) (f shape) {
	capitals, before := 0, ' '
	for _, r := range text {
		switch {
		case isNumeric(r):
			f.numeric = true
		case unicode.IsDigit(r):
			f.digits++
		case unicode.IsUpper(r):
			f.upper++
			f.inner = f.inner || unicode.IsLower(before)
			capitals++
		case unicode.IsLetter(r), unicode.IsMark(r):
			f.lower++
			f.inner = f.inner || unicode.IsUpper(before) && capitals > 1
			f.other = f.other || r > 0x052F && r < 0x1E00
		case r == '·' && unicode.ToLower(before) == 'l': // Catalan
		case char.OneOfRunes(r, "'’-‐‑().:\u00ad\u200c\u200d"):
		case !char.IsMinus(r):
			f.symbol = true
		}
		if !unicode.IsLetter(r) && !unicode.IsMark(r) {
			capitals = 0
		}
		if !unicode.IsMark(r) {
			before = r
		}
	}
	return f
}

// isNumeric reports whether r is numeric but not a digit of a script: ½, ², ①, Ⅳ, ª, ᵉ. 〇 is a digit in Chinese.
func isNumeric(r rune) bool {
	switch {
	case r < 0x80 || r == '〇':
		return false
	case r == 'ª', r == 'º', r == 'µ', r >= 0x02B0 && r <= 0x02B8, r >= 0x1D2C && r <= 0x1D6A, r >= 0x1D9B && r <= 0x1DBF:
		return true
	}
	return unicode.In(r, unicode.No, unicode.Nl) || r >= 0x207A && r <= 0x208E || r >= 0x2090 && r <= 0x209C
}

// oddPart returns the part of a word without spaces that is not plain, or 0, 0 for a plain word.
func oddPart(looks *char.Looks, text string) (from, to int) {
	f := shapeOf(text)
	looks.Past(len(text))
	letters := f.lower + f.upper
	to = len(text)
	if f.numeric {
		if a := noteForm.FindStringIndex(text); a != nil {
			return a[1], to
		}
		if !looks.Match(ordinalForm, text) {
			return 0, to
		}
		return 0, 0
	}
	switch {
	case letters == 0 && f.digits == 0:
		if f.symbol && strings.ContainsFunc(text, isOddSymbol) {
			return 0, to
		}
		return 0, 0
	case letters == 0:
		if strings.ContainsFunc(text, isOddSymbol) || strings.ContainsAny(text, "′″‰‱") || strings.Contains(text, "::") {
			return 0, to
		}
		return 0, 0
	case f.digits > 0 && (f.other || looks.Match(ordinalForm, text) || looks.Match(countForm, text)):
		return 0, 0
	case f.digits == 0 && !f.symbol:
		return lettersPart(looks, text, f)
	case f.digits == 0 && !strings.ContainsFunc(text, isOddSign) && !isCodeSlash(text):
		if f.inner {
			return core(looks, text)
		}
		return 0, 0
	}
	return core(looks, text)
}

// lettersPart is oddPart for a word of letters and signs that may stand between them.
func lettersPart(looks *char.Looks, text string, f shape) (from, to int) {
	dot := strings.IndexByte(text, '.')
	switch {
	case f.inner && !looks.Match(pluralForm, text) && dot < 0:
		return core(looks, text)
	case dot > 0 && looks.Match(dottedForm, text), dot == 0 && char.IsLetterOrDigit(char.First(text[1:])), strings.Contains(text, "::"), strings.IndexByte(text, ':') > 0 && looks.Match(colonForm, text):
		return 0, len(text)
	}
	return 0, 0
}

// isOddSymbol reports whether r is a symbol other than currencies, minus signs, signs of numbers and the symbols of countedNames.
func isOddSymbol(r rune) bool {
	return r >= 0x80 && unicode.In(r, unicode.Sm, unicode.So, unicode.Sk) && !char.IsMinus(r) && !isSymbol(r) && r != '\uFFFC' && r != '\uFFFD'
}

// isOddSign reports whether r never occurs inside a word. One asterisk may stand between letters.
func isOddSign(r rune) bool {
	return char.OneOfRunes(r, "&+=@#$%^~|<>\\_`·!?[") || isOddSymbol(r) || unicode.Is(unicode.Sc, r)
}

// isCodeSlash reports whether a word with a slash is a path, a unit or made of abbreviations, as opposed to an alternative such
// as he/she.
func isCodeSlash(text string) bool {
	n := strings.Count(text, "/")
	switch {
	case n == 0:
		return false
	case text[0] == '/' || n > 1 && strings.ToLower(text) == text, strings.Contains(text, "//"), fileForm.MatchString(text):
		return true
	}
	if genderForm.MatchString(text) {
		return false
	}
	for part := range strings.SplitSeq(text, "/") {
		if len([]rune(part)) == 1 || part == "" || !strings.ContainsFunc(part, isVowel) {
			return true
		}
	}
	return strings.ToUpper(text) == text
}

// isVowel reports whether r may be a vowel. Letters outside ASCII may be.
func isVowel(r rune) bool { return r >= 0x80 || char.OneOfRunes(r, "aeiouyAEIOUY") }

var (
	// noteForm matches a word with a note reference: "the theory²".
	noteForm = regexp.MustCompile(`^\pL\p{Ll}{3,}`)
	// ordinalForm matches ordinals, decades and times of day.
	ordinalForm = regexp.MustCompile(`^(?i:n\.º|\d+(?:st|nd|rd|th|er|re|ère|e|es|è|ème|ième|nde?|te[rnms]?|de|ste[rnms]?|[ºª]|\.?[ap]\.?m|uhr)|\d*0['’]?s|\d{1,2}h(?:\d\d)?|\d{1,2}[:.]\d\d ?(?:h|[ap]\.?m|uhr))$`)
	// countForm matches a number before a plain word or behind a colon, and a year behind a word.
	countForm = regexp.MustCompile(`^(?:[+-]?\p{Sc}?\d[\d.,:'’-]*(?:\p{Sc}|%)?(?:-?\p{Ll}{4,}|-\p{Ll}+|-\p{Lu}\p{Ll}{3,}|/\pL{4,})(?:-\pL+)*|\p{Lu}\pL{2,}:\d+|\p{Ll}+-(?:1\d|20)\d\ds?)$`)
	// fileForm: src/main.go, and the types of files.
	fileForm = regexp.MustCompile(`/[\w-]*\.[a-z][a-z0-9]{0,4}$|^(?:application|multipart)/|^text/(?:css|csv|html|plain|xml)$|^image/(?:gif|jpeg|png|svg|webp)`)
	// genderForm: alumno/a
	genderForm = regexp.MustCompile(`^\pL{3,}/(?:as?|o|os|e|es|r|n|in|innen)$`)
	// pluralForm matches ordinals in Roman numerals, and abbreviations in the plural.
	pluralForm = regexp.MustCompile(`^(?:[IVXLC]+(?:e|er|re|ème|ª|º)|\p{Lu}+['’]?s)$`)
	// dottedForm and colonForm match names with dots and colons: foo.bar, xmlns:foo; not e.g., and not the start of a next
	// sentence.
	dottedForm = regexp.MustCompile(`^(?:[A-Za-z]\w*\.)*(?:[A-Za-z][\w-]{3,}\.[a-z][\w-]*|[a-z]\w*\.[a-z][\w-]{3,}|[a-z]\w+\.[a-z][\w-]+|[A-Za-z]\w+(?:\.[A-Za-z]\w+){2,}|[A-Z]+\.[A-Z]{3,}|[A-Z]{2,}\.[A-Z]{2,}|[A-Z]{3,}\.[A-Z]+)$`)
	colonForm  = regexp.MustCompile(`^[a-z][\w-]*(?::\w[\w-]*)+$`)
	// elision and wordTail match what a language attaches to a held word: l'iPhone, the iPhone's, CO2-Steuer.
	elision  = regexp.MustCompile(`^\pL{1,4}['’]`)
	wordTail = regexp.MustCompile(`^(.*?\p{Lu}.*?)((?:['’]\pL{1,3})|(?:-\p{L}?\p{Ll}{3,})+)$`)
)

// core returns the range of a held word without the prefix and suffix that the language attaches.
func core(looks *char.Looks, text string) (from, to int) {
	to = len(text)
	if to > longestExpression {
		return 0, to
	}
	if m := elision.FindString(text); m != "" && !strings.Contains(text, "@") && shapeOf(text[len(m):]) != (shape{}) {
		if a, b := oddPart(looks, text[len(m):]); a < b {
			return len(m) + a, len(m) + b
		}
	}
	if m := wordTail.FindStringSubmatch(text); m != nil {
		if a, b := oddPart(looks, m[1]); a < b {
			return a, b
		}
	}
	return 0, to
}
