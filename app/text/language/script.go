package language

import (
	"iter"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// script is a set of writing systems; what scriptOf returns has one of them.
type script uint64

// scriptNames are the writing systems of the languages, as [unicode.Scripts] calls
// them. The frequent ones come first; a script's place is its bit.
var scriptNames = strings.Fields(`Latin Han Hiragana Katakana Hangul Bopomofo Cyrillic Arabic Devanagari Bengali Thai
	Greek Hebrew Tamil Gujarati Gurmukhi Kannada Malayalam Oriya Sinhala Georgian Armenian Ethiopic Myanmar Khmer Lao
	Mongolian Javanese Sundanese Adlam Telugu Tibetan Tifinagh Ol_Chiki`)

// The scripts with rules of their own, in the same order.
const (
	latin script = 1 << iota
	han
	hiragana
	katakana
	hangul
	bopomofo
	other script = 1 << 63 // letters of a writing system that is not in scriptNames
)

// dense are the scripts with a syllable or a word in each letter.
const dense = han | hiragana | katakana | hangul

// Scripts are the writing systems that running text in a language is in today, as [unicode.Scripts] calls them; none for codes of
// no family.
func Scripts(code string) (names []string) {
	for i, name := range scriptNames {
		if entries[code].scripts>>i&1 != 0 {
			names = append(names, name)
		}
	}
	return names
}

// scriptTables has the letters of each script.
var scriptTables = func() (tables []*unicode.RangeTable) {
	for _, name := range scriptNames {
		tables = append(tables, unicode.Scripts[name])
	}
	return tables
}()

// scriptOf returns the script of a letter. Runes that are not letters have none,
// and neither have the letters that several scripts share, such as ー.
func scriptOf(r rune) script {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return latin
		}
		return 0
	}
	if !unicode.IsLetter(r) {
		return 0
	}
	for i, s := range scriptTables {
		if unicode.Is(s, r) {
			return 1 << i
		}
	}
	if unicode.In(r, unicode.Common, unicode.Inherited) {
		return 0
	}
	return other
}

// word is a run of letters of one script.
type word struct {
	text    string
	script  script
	letters int
	capital bool // there is a capital letter in it
}

// words returns the words of a text. Anything that is not a letter divides them,
// as does a change of the script.
func words(text string) iter.Seq[word] {
	return func(yield func(word) bool) {
		var w word
		start := 0
		for i, r := range text {
			s := scriptOf(r)
			if s != w.script {
				if w.text = text[start:i]; w.letters > 0 && !yield(w) {
					return
				}
				w, start = word{script: s}, i
			}
			if s != 0 {
				w.letters++
				w.capital = w.capital || unicode.IsUpper(r)
			}
		}
		if w.text = text[start:]; w.letters > 0 {
			yield(w)
		}
	}
}

// Letters do not all say as much about the language of a text. A dense script says
// in one what others say in two or three. A word with a capital letter is often a
// name or an acronym, which is the same in many languages. Weights are in thirds of
// a letter of an ordinary word.
const (
	plainWeight   = 3
	denseWeight   = 8
	capitalWeight = 1
)

// weight says how much a word tells about the language of its text.
func (w word) weight() int {
	if w.capital {
		return w.letters * capitalWeight
	}
	return w.full()
}

// full is the weight of a word that is taken for one of the language, be it a name.
func (w word) full() int {
	if w.script&dense != 0 {
		return w.letters * denseWeight
	}
	return w.letters * plainWeight
}

// maxSample bounds what is read of a text, in bytes, and so the time that it takes.
// Texts do not change their language later on often enough to read them all.
const maxSample = 4096

// sample returns the beginning of a text, cut between runes.
func sample(text string) string {
	if len(text) <= maxSample {
		return text
	}
	end := maxSample
	for end > maxSample-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// noise matches tags of markup, and what is made of ASCII but is not a word of a
// language: links, addresses, paths, file names, versions, identifiers.
var noise = regexp.MustCompile(`</?[A-Za-z][^<>]*>|[!-;=?-~]*(?:[@/\\_0-9]|\.[A-Za-z])[!-;=?-~]*`)

// prose returns a text without noise.
func prose(text string) string { return noise.ReplaceAllString(text, " ") }
