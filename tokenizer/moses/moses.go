// Package moses splits texts into the words of Moses' tokenizer and these into the pieces of subword-nmt's BPE codes, and joins
// pieces to texts, as Argos Translate does: with sacremoses 0.0.53's MosesPunctNormalizer, MosesTokenizer and MosesDetokenizer,
// and a copy of subword-nmt's apply_bpe.
//
// The originals are chains of regular expressions, each of which scans the whole text. The functions here do the same in the same
// order, in time linear in a text (n log n in the length of a word). Differences:
//   - Runs of dots are not replaced by the letters DOTMULTI meanwhile. A text with these letters keeps them.
//   - sacremoses replaces a no-break space between digits by a comma or a full stop, so that 10 000 becomes ten. Here it stays a space.
//   - sacremoses fails if a Czech text has an apostrophe and a dash before "li". Here the words are separated by spaces.
//   - Argos leaves the mark of an unfinished word, @@, at the end of a text. Here it is removed.
package moses

import (
	"slices"
	"strings"
	"unicode"
)

// separator marks pieces that are continued by the next piece of their word.
const separator = "@@"

// Words splits texts of a language into words, and words into pieces. It is immutable and safe for concurrent use.
type Words struct {
	Language *Language
	Codes    *Codes
}

// Split calls do with each piece of a text. do must not keep the piece.
func (w Words) Split(text string, do func(piece []byte)) {
	var m merger
	for _, word := range w.Language.Tokenize(w.Language.Normalize(text)) {
		w.Codes.split(&m, word, do)
	}
}

// Join returns the text of pieces.
func (w Words) Join(pieces []string) string {
	text := strings.ReplaceAll(strings.Join(pieces, " "), separator+" ", "")
	return w.Language.Detokenize(strings.TrimSuffix(text, separator))
}

// Language splits and joins texts of a language. It is immutable and safe for concurrent use.
type Language struct {
	code         string
	words, ahead map[string]bool // words that keep their dot, always or before a number
	classes      map[string]*unicode.RangeTable
	letters      []*unicode.RangeTable // letters of all languages
	own          []*unicode.RangeTable // letters of this language alone: those of Chinese, Japanese and Korean count only in their own language
}

// NewLanguage returns the language of a code, as in Argos' packages. An unknown language uses the words of English.
func NewLanguage(code string) *Language {
	d := lists()
	l := &Language{code: code, classes: d.classes, words: d.words[code], ahead: d.ahead[code]}
	if l.words == nil {
		l.words, l.ahead = d.words["en"], d.ahead["en"]
	}
	l.letters = []*unicode.RangeTable{d.classes["letter"], d.classes["mark"]}
	l.own = slices.Clone(l.letters)
	for _, class := range map[string][]string{"zh": {"han"}, "ja": {"han", "kana"}, "ko": {"hangul"}, "cjk": {"han", "kana", "hangul"}}[code] {
		l.own = append(l.own, d.classes[class])
	}
	return l
}

// is reports whether a character is in a class of data.txt.
func (l *Language) is(class string, r rune) bool { return unicode.Is(l.classes[class], r) }

func (l *Language) letter(r rune) bool    { return unicode.In(r, l.letters...) }
func (l *Language) noLetter(r rune) bool  { return !l.letter(r) }
func (l *Language) ownLetter(r rune) bool { return unicode.In(r, l.own...) }
func (l *Language) number(r rune) bool    { return l.is("number", r) }
func (l *Language) noNumber(r rune) bool  { return !l.number(r) }
