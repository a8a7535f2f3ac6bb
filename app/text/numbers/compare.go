// Package numbers reads the numbers of a text, in digits of all scripts and in words, and compares those of a translation
// with those of its source.
package numbers

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"dragoman/app/text/char"
)

// Compare returns an error where a translation says other numbers than its source. Numbers are compared by value, wherever they stand:
//
//   - In any order, any digits and with any signs between them: 1,234.5 is 1.234,5
//     and 1 234,5, and 10,000 is 1万. Where 1,234 may be two values, either will do.
//   - 0 to 12 may be spelled out; of 2 to 12, and of those that count no noun, there must be
//     digits or a word then. What the words of a language are may be unknown: then there must be digits.
//   - What may be a word (三十, XX) may stand for a number, and does not count as an extra one.
//   - 0 to 100 in words (twenty, vingt et un, 二十个) stand for digits, and digits for
//     them, in the languages that have a lexicon. Words may be missing, for languages
//     count in different places, but not where another number came in. Words that often
//     mean another thing, one among them, may be missing and come in.
//   - Where words make a number that is not read (two hundred, half past two), nothing is
//     said about those in words.
//   - A new number is allowed where none is missing: the source may have
//     spelled it out. One of the source that is repeated is not, unless it
//     is small.
//   - Times and dates are compared number by number, times in whole, versions as a whole; 3 PM is 15:00.
//   - Signs of percentage are not compared: languages have words for
//     them. A minus sign is, unless there is a word for it. Those of currencies beside numbers are counted.
//
// from and to are the languages, "" where they are not known: 0 to 12 may be missing then, so
// long as no other number came in. Numbers in words are compared where both have a lexicon. It fails with ctx's error, too.
func Compare(ctx context.Context, source, translation, from, to string) (err error) {
	ended := char.Look(ctx, len(source)+len(translation), func(l *char.Looks) { err = compare(l, source, translation, from, to) })
	return cmp.Or(ended, err)
}

func compare(looks *char.Looks, source, translation, from, to string) error {
	c := comparison{looks: looks, words: readsWords(from) && readsWords(to), strict: to != ""}
	if !c.strict {
		from = ""
	}
	want, wantNegative := readNumbers(looks, source, from)
	required := 0
	for _, n := range want {
		if !n.optional || (n.word || n.month && n.held) && c.words {
			required++
		}
	}
	if required == 0 {
		return nil
	}
	got, gotNegative := readNumbers(looks, translation, to)
	missing, fresh, repeated := c.differences(want, got)
	if missing > 0 || repeated > 0 {
		return fmt.Errorf("the numbers differ: %d of %d missing, %d new, %d repeated",
			missing, required, fresh, repeated)
	}
	if n, m := len(looks.FindAll(currencies, source)), len(looks.FindAll(currencies, translation)); c.strict && n > m {
		return fmt.Errorf("%d signs of currencies, %d in the translation", n, m)
	}
	if wantNegative != gotNegative && !saysMinus(source) && !saysMinus(translation) {
		return fmt.Errorf("%d numbers with a minus sign, %d in the translation", wantNegative, gotNegative)
	}
	return nil
}

// comparison is how numbers are compared.
type comparison struct {
	looks  *char.Looks
	words  bool // those in words, too
	strict bool // small ones have to be there
}

// differences compares in two rounds: numbers as a whole, then those that are
// left by their parts.
func (c comparison) differences(want, got []numeral) (missing, fresh, repeated int) {
	foundWant, foundGot := c.match(want, got)
	c.looks.Past(char.BetweenLooks) // what follows goes through long lists
	leftWant, leftGot := left(want, foundWant), left(got, foundGot)
	if slices.ContainsFunc(leftWant, numeral.isTime) && slices.ContainsFunc(leftGot, numeral.isTime) {
		for i := range leftGot { // the digits of another time are no help
			if leftGot[i].time {
				leftGot[i].parts = nil
			}
		}
	}
	partsWant, partsGot := parts(leftWant), parts(leftGot)
	foundParts, foundGot := c.match(partsWant, partsGot)

	c.looks.Past(char.BetweenLooks)
	values := map[string]bool{}
	for _, n := range slices.Concat(want, parts(want)) {
		c.looks.Past(1)
		for _, reading := range n.readings {
			values[reading] = true
		}
	}
	readable := c.words && !slices.ContainsFunc(want, numeral.isPart) && !slices.ContainsFunc(got, numeral.isPart)
	// New numbers in words, those that may be other words, and what may stand for one in words.
	spelled, unsure, other := 0, 0, 0
	for _, n := range left(partsGot, foundGot) {
		c.looks.Past(1)
		if n.isCount() {
			other++
		}
		switch {
		case readable && n.word:
			spelled++
		case readable && n.end > 0 && !n.is("1"):
			unsure++
		case n.optional:
		case !n.small && slices.ContainsFunc(n.readings, func(r string) bool { return values[r] }):
			repeated++
		default:
			fresh++
		}
	}
	one, small, words := 0, 0, 0
	for _, n := range leftWant {
		c.looks.Past(1)
		count := max(1, len(n.parts))
		whole := foundParts[:count]
		foundParts = foundParts[count:]
		switch {
		case readable && n.word && !whole[0]:
			words++
		case n.month && n.held && c.words && !whole[0]:
			missing++
		case n.optional, c.isFound(n, whole):
		case c.strict && n.small && (n.held || !n.is("0") && !n.is("1")):
			missing++
		case n.is("1"):
			one++
		case n.small:
			small++
		default:
			missing++
		}
	}
	if fresh+spelled > 0 {
		missing += one
	}
	if fresh+spelled+unsure > 0 {
		missing += small
	}
	if other > 0 {
		missing += words
	}
	return missing, fresh + spelled, repeated
}

// isFound says whether a number came back by its parts: all of them, or all but
// small ones.
func (c comparison) isFound(n numeral, found []bool) bool {
	switch {
	case n.parts == nil:
		return found[0]
	case n.time:
		return found[0] && (found[1] || n.parts[1].is("0"))
	}
	all, large := true, 0
	for i, part := range n.parts {
		if !found[i] && (c.strict || !part.small) {
			return false
		}
		all = all && found[i]
		if !part.small {
			large++
		}
	}
	return all || large > 0
}

func left(list []numeral, found []bool) []numeral {
	var rest []numeral
	for i, n := range list {
		if !found[i] {
			rest = append(rest, n)
		}
	}
	return rest
}

// parts puts the parts of numbers in the place of those that have any.
func parts(list []numeral) []numeral {
	var all []numeral
	for _, n := range list {
		if n.parts == nil {
			all = append(all, n)
		}
		all = append(all, n.parts...)
	}
	return all
}

// match finds one of got for each of want that may mean the same. Those that have
// one meaning choose first, then those that have more, then words; each takes a
// word only where there are no digits.
func (c comparison) match(want, got []numeral) (foundWant, foundGot []bool) {
	foundWant, foundGot = make([]bool, len(want)), make([]bool, len(got))
	at := map[string][]int{} // where each value is in got, words last
	for _, words := range []bool{false, true} {
		for i, n := range got {
			c.looks.Past(1)
			for _, reading := range n.readings {
				if n.optional == words {
					at[reading] = append(at[reading], i)
				}
			}
		}
	}
	take := func(n numeral) bool {
		c.looks.Past(1)
		for _, reading := range n.readings {
			for len(at[reading]) > 0 {
				i := at[reading][0]
				if n.held && !n.month && got[i].vague {
					break
				}
				at[reading] = at[reading][1:]
				if !foundGot[i] {
					foundGot[i] = true
					return true
				}
			}
		}
		return false
	}
	for turn := range 3 {
		for i, n := range want {
			if turn == choosesAt(n) {
				foundWant[i] = take(n)
			}
		}
	}
	return foundWant, foundGot
}

func choosesAt(n numeral) int {
	switch {
	case n.optional:
		return 2
	case len(n.readings) > 1:
		return 1
	}
	return 0
}

// currencies are signs of currencies that stand beside numbers.
var currencies = regexp.MustCompile(`\p{Sc}[ \x{a0}\x{202f}]?\pN|\pN[ \x{a0}\x{202f}]?\p{Sc}`)

func saysMinus(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(beside().minus, func(word string) bool { return strings.Contains(text, word) })
}
