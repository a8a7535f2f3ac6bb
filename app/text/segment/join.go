package segment

import (
	"context"
	"math"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// Join replaces the sentences of the pieces by translations, in order. Sentences without a translation stay as they are, and
// surplus translations are ignored: pass one for each sentence.
//
// Text between sentences is unchanged, except for the spaces between two sentences of a line if the languages from and to (codes)
// use them differently: a language with spaces gets one where the source has none, and a single space is removed where Chinese or
// Japanese follows punctuation of its own.
//
// If from equals to and the translations are the sentences, Join is the inverse of [Split] and [Finer].
func Join(ctx context.Context, pieces []Piece, translations []string, from, to string) (joined string, err error) {
	err = char.Look(ctx, math.MaxInt, func(l *char.Looks) { joined = join(l, pieces, translations, from, to) })
	return joined, err
}

func join(looks *char.Looks, pieces []Piece, translations []string, from, to string) string {
	source, target := spacingOf(from), spacingOf(to)
	var b strings.Builder
	last := "" // the translation right before
	for i, p := range pieces {
		looks.Past(len(p.Text))
		if !p.Sentence {
			inside := i > 0 && pieces[i-1].Sentence && i+1 < len(pieces) && pieces[i+1].Sentence
			b.WriteString(gap(p.Text, last, source, target, inside))
			continue
		}
		if i > 0 && pieces[i-1].Sentence && source > target {
			b.WriteByte(' ')
		}
		last = p.Text
		if len(translations) > 0 {
			last, translations = translations[0], translations[1:]
		}
		b.WriteString(last)
	}
	return b.String()
}

// gap returns the text in a translation for text, a piece that is not a sentence, behind the translation last. inside tells
// whether it is between two sentences.
func gap(text, last string, source, target spacing, inside bool) string {
	switch {
	case !inside || source == target:
	case text == " " && target == noSpaces:
		if r := lastRune(strings.TrimSuffix(last, notes.FindString(last))); r >= utf8.RuneSelf && unicode.IsPunct(r) {
			return ""
		}
	case text == "\u3000" && source == noSpaces:
		return " "
	}
	return text
}

// notes matches note references at the end of a sentence.
var notes = regexp.MustCompile(`(?:(?:<[^<>]*>)+[\w*†‡§[\]().,]{0,8})*<[^<>]*>$|(?:\[\^?[^\[\]\s]{1,32}\])+$|[¹²³⁰⁴-⁹]+$`)

// spacing describes where a language writes spaces, from most to least.
type spacing int

const (
	betweenWords     spacing = iota
	betweenSentences         // and clauses
	noSpaces
)

// spacingOf returns the spacing of a language's usual script.
func spacingOf(lang string) spacing {
	switch lang {
	case "zh", "ja", "yue":
		return noSpaces
	case "th", "lo", "km", "my", "shn", "bo", "dz":
		return betweenSentences
	}
	return betweenWords
}
