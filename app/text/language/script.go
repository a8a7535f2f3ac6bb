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

// Foreign returns the runs of letters in a text, from byte to byte, that are of no script which
// texts in a language are written in: neither its own nor Latin. It is nil where such
// letters outweigh the others, for the text is in another language then, and for codes of no family. It fails with ctx's error.
func Foreign(ctx context.Context, text, code string) (runs [][2]int, err error) {
	scripts := entries[code].scripts
	if scripts == 0 {
		return nil, nil
	}
	err = char.Look(ctx, len(text), func(l *char.Looks) { runs = foreignRuns(l, text, scripts) })
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

// enoughWeight is the weight of foreign letters from which on a text can be told to
// be in the wrong script: 12 letters of plain words, 5 of a dense script, 36 of
// words with capitals.
const enoughWeight = 12 * plainWeight

// WrongScript says whether a text cannot be in a language because it is written in
// another script: a translation into Japanese without any Japanese letter. It says
// so only where it is sure, since a short text may be right in any language (OK,
// NATO, Linux 6.1, New York Times, https://example.com) and a long one may have
// foreign words in it.
//
// Letters of the language's own scripts are weighed against those of others. Links,
// paths and identifiers do not count; a foreign word with a capital letter, which
// may be a name, counts for a third; a letter of a dense script (Han, kana, Hangul)
// for almost three. The script is wrong where the foreign letters are enough to
// tell and the own ones weigh less than a ninth of them.
//
// It is false for codes of no family. Japanese has Han among its scripts,
// so a Chinese text passes for Japanese. Only the first kilobytes are read.
func WrongScript(text, code string) bool {
	scripts := entries[code].scripts
	if scripts == 0 {
		return false
	}
	own, foreign := 0, 0
	for w := range words(prose(sample(text))) {
		if w.script&scripts != 0 {
			own += w.full()
		} else {
			foreign += w.weight()
		}
	}
	return foreign >= enoughWeight && own*9 < foreign
}
