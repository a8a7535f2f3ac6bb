package language

import (
	"context"
	"iter"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// script is a set of writing systems; scriptOf returns a single one.
type script uint64

// scriptNames are the writing systems of the languages, by their names in [unicode.Scripts], frequent ones first. The index of a
// script is its bit.
var scriptNames = strings.Fields(`Latin Han Hiragana Katakana Hangul Bopomofo Cyrillic Arabic Devanagari Bengali Thai
	Greek Hebrew Tamil Gujarati Gurmukhi Kannada Malayalam Oriya Sinhala Georgian Armenian Ethiopic Myanmar Khmer Lao
	Mongolian Javanese Sundanese Adlam Telugu Tibetan Tifinagh Ol_Chiki`)

// The scripts with rules of their own, in the order of scriptNames.
const (
	latin script = 1 << iota
	han
	hiragana
	katakana
	hangul
	bopomofo
	cyrillic
	greek script = 1 << 11
	other script = 1 << 63 // letters of a writing system that is not in scriptNames
)

// dense are the scripts in which a letter is a syllable or a word.
const dense = han | hiragana | katakana | hangul

// Scripts returns the writing systems of present-day running text in a language, by their names in [unicode.Scripts]; nil for
// codes of no family.
func Scripts(code string) (names []string) {
	for i, name := range scriptNames {
		if entries[code].scripts>>i&1 != 0 {
			names = append(names, name)
		}
	}
	return names
}

// scriptTables are the letters of each script.
var scriptTables = func() (tables []*unicode.RangeTable) {
	for _, name := range scriptNames {
		tables = append(tables, unicode.Scripts[name])
	}
	return tables
}()

// scriptOf returns the script of a letter. It returns 0 for other runes, and for letters that several scripts share, such as ー.
func scriptOf(r rune) script {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return latin
		}
		return 0
	}
	if char.IsPlainLetter(r) {
		return plainScript(r)
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

// plainScript returns the script of a letter of [char.IsPlainLetter].
func plainScript(r rune) script {
	switch {
	case r < 0x370:
		return latin
	case r < 0x400:
		return greek
	case r < 0x530:
		return cyrillic
	case r < 0x30A0:
		return hiragana
	case r < 0x3100:
		return katakana
	case r < 0xA000:
		return han
	}
	return hangul
}

// scriptsIn returns the scripts of the letters in a text.
func scriptsIn(looks *char.Looks, text string) (found script) {
	for text != "" {
		part := sample(text)
		looks.Past(len(part))
		for _, r := range part {
			if r >= utf8.RuneSelf {
				found |= scriptOf(r)
			} else if char.IsASCIILetter(byte(r)) {
				found |= latin
			}
		}
		text = text[len(part):]
	}
	return found
}

// word is a run of letters of one script.
type word struct {
	text    string
	script  script
	letters int
	capital bool // whether it has a capital letter
}

// words yields the words of a text, divided by runes that are not letters and by changes of script.
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
				w.capital = w.capital || s&dense == 0 && unicode.IsUpper(r)
			}
		}
		if w.text = text[start:]; w.letters > 0 {
			yield(w)
		}
	}
}

// Letters differ in their evidence for the language of a text. One letter of a dense script corresponds to two or three of
// others. A word with a capital letter is often a name or an acronym, which is the same in many languages. Weights are in thirds
// of a letter of an ordinary word.
const (
	plainWeight   = 3
	denseWeight   = 8
	capitalWeight = 1
)

// weight returns the evidence of a word for the language of its text.
func (w word) weight() int {
	if w.capital {
		return w.letters * capitalWeight
	}
	return w.full()
}

// full returns the weight of a word that is assumed to belong to the language, even if it is a name.
func (w word) full() int {
	if w.script&dense != 0 {
		return w.letters * denseWeight
	}
	return w.letters * plainWeight
}

// maxSample limits the bytes read of a text, and thereby the time. Texts rarely change their language later on.
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

// noise matches markup tags, and ASCII text that is not a word of a language: links, addresses, paths, file names, versions,
// identifiers.
var noise = regexp.MustCompile(`</?[A-Za-z][^<>]*>|[!-;=?-~]*(?:[@/\\_0-9]|\.[A-Za-z])[!-;=?-~]*`)

// prose returns a text without noise.
func prose(text string) string {
	for i := range len(text) {
		if c := text[i]; char.OneOf(c, `<@/\_`) || char.IsASCIIDigit(c) || c == '.' && i+1 < len(text) && char.IsASCIILetter(text[i+1]) {
			return noise.ReplaceAllString(text, " ")
		}
	}
	return text
}

// Foreign returns the byte ranges of the runs of letters in a text that are neither in a script of the language nor in Latin. It
// returns nil for codes of no family, and if such letters outweigh the others, as the text is then in another language. It fails
// with ctx's error.
func Foreign(ctx context.Context, text, code string) (runs [][2]int, err error) {
	scripts := entries[code].scripts
	if scripts == 0 {
		return nil, nil
	}
	err = char.Look(ctx, len(text), func(l *char.Looks) {
		if scriptsIn(l, text)&^(scripts|latin) != 0 {
			runs = foreignRuns(l, text, scripts)
		}
	})
	return runs, err
}

func foreignRuns(looks *char.Looks, text string, scripts script) (runs [][2]int) {
	own, foreign, open := 0, 0, false
	for i, r := range text {
		looks.Past(utf8.RuneLen(r))
		switch s := scriptOf(r); {
		case s == 0:
			open = open && (unicode.IsLetter(r) || unicode.IsMark(r))
		case s&(scripts|latin) != 0:
			own += plainWeight
			open = false
		default:
			foreign += word{script: s, letters: 1}.full()
			if !open {
				runs = append(runs, [2]int{i, i})
			}
			open = true
		}
		if open {
			runs[len(runs)-1][1] = i + len(string(r))
		}
	}
	if foreign > own {
		return nil
	}
	return runs
}

// enoughWeight is the minimum weight of foreign letters for detecting a wrong script: 12 letters of plain words, 5 of a dense
// script, 36 of words with capitals.
const enoughWeight = 12 * plainWeight

// WrongScript reports whether a text cannot be in a language because it is written in another script: a translation into Japanese
// without any Japanese letter. It returns true only if that is certain, since a short text may be correct in any language (OK,
// NATO, Linux 6.1, New York Times, https://example.com) and a long one may contain foreign words.
//
// Letters of the language's own scripts are weighed against other letters. Links, paths and identifiers do not count; a foreign
// word with a capital letter, which may be a name, counts a third; a letter of a dense script (Han, kana, Hangul) almost three
// times. The script is wrong if the foreign letters have enough weight and the own ones weigh less than a ninth of them.
//
// It returns false for codes of no family. Japanese includes Han, so Chinese text is accepted as Japanese. Only the first
// kilobytes are read.
func WrongScript(text, code string) bool {
	return outweighed(text, entries[code].scripts, word.weight, enoughWeight)
}

// outweighed reports whether the letters of other scripts have enough weight to tell the language of a text, and those of some
// scripts weigh less than a ninth of them; alone is the weight that is enough without any of the latter. It returns false without
// scripts.
func outweighed(text string, scripts script, weightOfForeign func(word) int, alone int) bool {
	if scripts == 0 {
		return false
	}
	own, foreign := 0, 0
	for w := range words(prose(sample(text))) {
		if w.script&scripts != 0 {
			own += w.full()
		} else {
			foreign += weightOfForeign(w)
		}
	}
	return foreign >= enoughWeight && own*9 < foreign || own == 0 && foreign >= alone
}

// WrongSource reports whether a text is certainly not in a language from which it is to be translated: its letters are neither in
// the language's scripts nor in Latin, in which every language has names. As for [WrongScript], only the first kilobytes are read.
func WrongSource(text, code string) bool {
	scripts := entries[code].scripts
	const four = 4 * plainWeight // letters
	return scripts != 0 && outweighed(text, scripts|latin, word.full, four)
}

// LeftCharacters reports whether a translation from one language to another that has no Han, kana or Hangul has such letters of
// the source language: a date or a word stayed as it was. As for [WrongScript], only the first kilobytes are read.
func LeftCharacters(translation, from, to string) bool {
	left := entries[from].scripts & dense
	if left == 0 || entries[to].scripts == 0 || entries[to].scripts&dense != 0 {
		return false
	}
	return scriptsIn(nil, sample(translation))&left != 0
}

// StrangeLetters reports whether a translation has letters that belong neither to its language nor to its source: kana in Chinese,
// Cyrillic in French. Latin letters belong everywhere. As for [WrongScript], only the first kilobytes are read.
func StrangeLetters(source, translation, code string) bool {
	const several = 2
	known := entries[code].scripts
	if known == 0 {
		return false
	}
	known |= latin | other
	known |= scriptsIn(nil, sample(source))
	strange := 0
	for w := range words(prose(sample(translation))) {
		if w.script&known == 0 {
			strange += w.letters
		}
	}
	return strange >= several
}
