package segment

import (
	"context"
	"math"
	"strings"
	"unicode"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"dragoman/app/text/char"
)

// Finer cuts a sentence in two if it is too long for the model or the model fails on it: at the end of a clause near the middle
// if there is one, otherwise between words, otherwise between characters, but never inside a user-perceived character (grapheme
// cluster). lang is the sentence's language, as for [Split].
//
// The pieces are like those of Split. Each sentence in them is shorter than the given one, unless that is a single character,
// which is returned as it is. For parts of a maximum size, call Finer again for larger parts; the depth of these calls is
// logarithmic.
func Finer(ctx context.Context, sentence, lang string) ([]Piece, error) {
	return split(ctx, sentence, lang, (*splitter).halve)
}

// halve finds the two sentences into which the text is cut.
func (s *splitter) halve() {
	sentence := s.text
	f := finer{text: sentence, rules: s.rules, cost: math.Inf(1)}
	start, end := -1, 0 // from the first visible character to the end of the last one so far
	for characters := graphemes.FromString(sentence); characters.Next(); {
		s.looks.Past(characters.End() - characters.Start())
		if strings.TrimFunc(characters.Value(), hidden) == "" {
			continue
		}
		if start < 0 {
			start = characters.Start()
		} else {
			f.consider(end, characters.Start())
		}
		end = characters.End()
	}
	add := func(from, to int) {
		if hasLetter(sentence[from:to]) {
			s.spans = append(s.spans, span{from, to})
		}
	}
	switch {
	case start < 0:
	case math.IsInf(f.cost, 1):
		add(start, end)
	default:
		add(start, f.end)
		add(f.next, end)
	}
}

// hidden reports whether r at the ends of a sentence is not translated.
func hidden(r rune) bool { return blank(r) || ornament(r) || joiner(r) }

// finer searches for the best place to cut.
type finer struct {
	text  string
	rules *rules

	cost      float64 // of the best place so far
	end, next int     // the end of the first part, and the start of the second one
}

// The costs of places to cut, added to the distance from the middle, which is 0 to 0.5 of the length: a comma beats a conjunction,
// which beats a space, unless it is close to an end, and a space always beats a place inside a word.
const (
	costSentence     = 0
	costClause       = 0.05 // behind ";" or ":", before a dash
	costComma        = 0.1  // or a bracket
	costConjunction  = 0.25
	costSpace        = 0.4
	costAbbreviation = 0.5
	costIdeograph    = 1.1
	costInside       = 1.7
)

// consider compares the place between text[:end] and text[next:], separated by white space and ornaments at most, with the best
// one so far.
func (f *finer) consider(end, next int) {
	middle := float64(len(f.text)) / 2
	distance := math.Abs(float64(end+next)/2-middle) / float64(len(f.text))
	if distance >= f.cost { // no kind of place can beat the best one
		return
	}
	if cost := f.kind(end, next) + distance; cost < f.cost {
		f.cost, f.end, f.next = cost, end, next
	}
}

// kind returns the cost of a place by the characters around it.
func (f *finer) kind(end, next int) float64 {
	before := lastRune(f.text[:end])
	after, _ := char.Decode(f.text, next)
	switch spaced := next > end; {
	case !spaced && unicode.IsPunct(after) && !opening(after): // does not start a line, nor a part
		return costInside
	case !spaced && !wide(before) && !wide(after):
		if strings.ContainsRune("—،؛؟۔।॥၊။។", before) {
			return costClause
		}
		return costInside
	case terminal(before) || before == f.rules.mark:
		if before == '.' && f.abbreviated(end, next) {
			return costAbbreviation
		}
		return costSentence
	case strings.ContainsRune(";:؛；：·", before), dash(after) && spaced:
		return costClause
	case strings.ContainsRune(",،、，၊・", before), closeBracket(before), openBracket(after):
		return costComma
	case spaced && conjunctions[f.word(next)]:
		return costConjunction
	case spaced:
		return costSpace
	case opening(after) || closing(before):
		return costComma
	}
	return costIdeograph
}

// conjunctions are words before which a speaker pauses where a text has no commas.
var conjunctions = func() map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq("and or but because while which und oder aber weil denn et ou mais car puis pero porque que mas perché и или но maar och men ale") {
		set[word] = true
	}
	return set
}()

// word returns the word that starts at byte i, or "" for a long one.
func (f *finer) word(i int) string {
	const longest = 16 // in bytes
	rest := f.text[i:min(len(f.text), i+longest)]
	if end := strings.IndexByte(rest, ' '); end > 0 {
		return rest[:end]
	}
	return ""
}

// abbreviated reports whether the full stop before end belongs to an abbreviation.
func (f *finer) abbreviated(end, next int) bool {
	const reach = 64 // in bytes; keeps the search linear
	c := cell{text: f.text, rules: f.rules, from: max(0, end-reach)}
	first, _ := char.Decode(f.text, next)
	return c.abbreviated(ending{start: end - 1, stop: end, tail: end, next: next, first: first})
}
