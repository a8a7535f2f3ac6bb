// Package numbers reads the numbers in a text, in digits of all scripts and in words, and compares the numbers of a translation
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

// Compare returns an error if a translation has other numbers than its source. Numbers are compared by value, at any position:
//
//   - Numbers may be in any order, in any digits and with any separators: 1,234.5 equals 1.234,5 and 1 234,5, and 10,000 equals
//     1万. If 1,234 may have two values, either is accepted.
//   - 0 to 12 may be spelled out; a number from 2 to 12, or one that counts no noun, then needs digits or a word. If the words of
//     a language are unknown, it needs digits.
//   - Text that may be a word (三十, XX) may stand for a number, and is not an extra number.
//   - 0 to 100 in words (twenty, vingt et un, 二十个) are equivalent to digits, in languages with a lexicon. Words may be missing,
//     as languages count in different places, but not if another number was added. Words that often have another meaning, such as
//     one, may be missing and may be added.
//   - If words form a number that is not read (two hundred, half past two), numbers in words are not compared.
//   - A new number is allowed if none is missing: the source may have spelled it out. A repeated number of the source is not
//     allowed, unless it is small.
//   - Times and dates are compared number by number, times as a whole, versions as a whole; 3 PM equals 15:00.
//   - Percent signs are not compared, as languages have words for them. A minus sign is, unless a word stands for it. Currency
//     signs beside numbers are counted.
//
// from and to are language codes, "" if unknown: then 0 to 12 may be missing, as long as no other number was added. Numbers in
// words are compared if both languages have a lexicon. Compare also fails with ctx's error.
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

// comparison holds the settings of a comparison.
type comparison struct {
	looks  *char.Looks
	words  bool // compare numbers in words, too
	strict bool // small numbers must be present
}

// differences compares in two rounds: first whole numbers, then the remaining ones by their parts. It returns the counts of
// missing, new and repeated numbers.
func (c comparison) differences(want, got []numeral) (missing, fresh, repeated int) {
	foundWant, foundGot := c.match(want, got)
	c.looks.Past(char.BetweenLooks) // the following code goes through long lists
	leftWant, leftGot := left(want, foundWant), left(got, foundGot)
	if slices.ContainsFunc(leftWant, numeral.isTime) && slices.ContainsFunc(leftGot, numeral.isTime) {
		for i := range leftGot { // the digits of a different time do not help
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
	// New numbers in words, words that may have another meaning, and numbers that may replace a missing number in words.
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

// isFound reports whether a number was found by its parts: all of them, or all but small ones.
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

// parts replaces numbers with parts by their parts.
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

// match assigns to each number of want a number of got with a common reading. Numbers with one reading choose first, then those
// with several, then words; each takes a word only if there are no digits.
func (c comparison) match(want, got []numeral) (foundWant, foundGot []bool) {
	foundWant, foundGot = make([]bool, len(want)), make([]bool, len(got))
	at := map[string][]int{} // from values to positions in got, words last
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

// currencies matches currency signs beside numbers.
var currencies = regexp.MustCompile(`\p{Sc}[ \x{a0}\x{202f}]?\pN|\pN[ \x{a0}\x{202f}]?\p{Sc}`)

func saysMinus(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(beside().minus, func(word string) bool { return strings.Contains(text, word) })
}
