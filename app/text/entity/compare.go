// Package entity reads the numbers in a text with what belongs to them, and compares those of a translation with those of its
// source: values in digits of all scripts and in words, their joints (ranges, scores, times, dates, fractions), units, currencies,
// percent, signs, Roman numerals. Words and units are those of Unicode's CLDR (words.txt, units.txt: scripts/entitywords).
package entity

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"dragoman/app/text/char"
)

// Compare returns an error if a translation has other numbers than its source. Numbers are compared by value, with their joints,
// units and signs, at any position:
//
//   - Numbers may be in any order, in any digits and with any separators: 1,234.5 equals 1.234,5 and 1 234,5, and 10,000 equals
//     1万. If 1,234 may have two values, either is accepted.
//   - 0 to 12 may be spelled out; a number from 2 to 12, or one that counts no noun, then needs digits or a word. If the words of
//     a language are unknown, it needs digits.
//   - Text that may be a word (三十, XX) may stand for a number, and is not an extra number.
//   - Numbers in words (twenty, vingt et un, zweihundertfünfzig, 二十个) are equivalent to digits, in languages with a lexicon.
//     Words may be missing, as languages count in different places, but not if another number was added. Words that often have
//     another meaning, such as one, may be missing and may be added.
//   - Words that form a number that is not read (half past two) may stand for any one number.
//   - A new number is allowed if none is missing: the source may have spelled it out. A repeated number of the source is not
//     allowed, unless it is small and has no unit.
//   - The numbers of a range, score or ratio keep their order and stay joined: 20–25 is neither 20.25 nor 20:25. Dates are compared
//     number by number, times and versions as a whole; 3 PM equals 15:00, and 1.10 is not 1.1.
//   - A symbol of a unit, percent or a currency needs one of its names in the language; a name must not become that of another
//     unit. A minus sign needs a sign or its word.
//   - Roman numerals of two or more letters need a number of their value.
//
// from and to are language codes, "" if unknown: then 0 to 12 may be missing, as long as no other number was added. Numbers in
// words are compared if both languages have a lexicon. Compare also fails with ctx's error.
func Compare(ctx context.Context, source, translation, from, to string) (err error) {
	ended := char.Look(ctx, len(source)+len(translation), func(l *char.Looks) { err = compare(l, source, translation, from, to) })
	return cmp.Or(ended, err)
}

func compare(looks *char.Looks, source, translation, from, to string) error {
	source = undivided(plainNumbers(source))
	words := from // the language whose words are read
	if to == "" {
		words = ""
	}
	want := read(looks, source, words)
	if len(want) == 0 {
		return nil
	}
	c := comparison{looks: looks, strict: to != "", reads: lexiconOf(to).reads, from: from, to: to, translation: translation}
	c.words = c.reads && lexiconOf(from).reads
	required := 0
	for _, n := range want {
		if !n.optional || n.unit.ids != nil && n.is(string(removed)) || (n.word || n.month && n.held) && c.words || n.roman && c.strict {
			required++
		}
	}
	if required == 0 {
		return nil
	}
	c.plain = undivided(plainNumbers(translation))
	got := read(looks, c.plain, to)
	pairs, missing, fresh, repeated := c.differences(source, want, got)
	if missing > 0 || repeated > 0 {
		return fmt.Errorf("the numbers differ: %d of %d missing, %d new, %d repeated",
			missing, required, fresh, repeated)
	}
	return c.compareBeside(source, pairs, want, got)
}

// undivided returns a text without the markers that stand within numbers.
func undivided(text string) string {
	if !strings.ContainsRune(text, removed) {
		return text
	}
	return acrossTags.ReplaceAllString(text, "$1$2$3")
}

// acrossTags matches a number that tags divide: <b>3</b>.5. Markers may have spaces beside them.
var acrossTags = regexp.MustCompile(`(\d)(?: ?\x{FFFC} ?)*([.,])(?: ?\x{FFFC} ?)*(\d)`)

// comparison holds the settings of a comparison.
type comparison struct {
	looks       *char.Looks
	words       bool // compare numbers in words, too
	strict      bool // small numbers must be present
	reads       bool // the words of the translation's language for 0 and 1 are known
	from, to    string
	translation string
	plain       string // the translation as its numbers refer to it
}

// pairing is a number of the source with its number in the translation.
type pairing struct{ want, got *numeral }

// mostEffort is the maximum number of bytes in which units are searched that are not beside their number.
const mostEffort = 1 << 18

// compareBeside compares what stands beside numbers that are equal: signs and units.
func (c comparison) compareBeside(source string, pairs []pairing, want, got []numeral) error {
	signs, units, effort := [2]int{}, 0, 0
	for _, p := range pairs {
		c.looks.Past(1)
		if p.want.negative && !p.got.negative {
			signs[0]++
		} else if p.got.negative && !p.want.negative {
			signs[1]++
		}
		if c.strict && units == 0 && effort < mostEffort && !(p.want.hour && p.got.hour) && p.want.unit.ids != nil && !p.want.unit.isLike(p.got.unit) {
			if effort += len(want) + len(got) + len(source) + len(c.translation); !c.hasUnit(p, source, want, got) {
				units++
			}
		}
	}
	if signs[0] > 0 && !saysMinus(c.translation, c.to) || signs[1] > 0 && !saysMinus(source, c.from) {
		return fmt.Errorf("%d numbers with another sign", signs[0]+signs[1])
	}
	if units > 0 {
		return fmt.Errorf("%d numbers with another unit", units)
	}
	return nil
}

// hasUnit reports whether a number of a translation, which does not have the unit of the number in the source beside it, has that
// unit all the same: a unit is not repeated for each number of a range or list, and words may stand between them.
func (c comparison) hasUnit(p pairing, source string, want, got []numeral) bool {
	unit := p.want.unit
	switch {
	case p.got.unit.ids != nil:
		return unit.isNamedShort(p.got.unit, c.translation)
	case !unit.sign || lexiconOf(c.to).units == nil:
		return true
	}
	have := 0
	for _, n := range got {
		c.looks.Past(1)
		if unit.isLike(n.unit) {
			if have++; n.start >= p.got.end && c.isRange(p.got.end, n.start) || n.end <= p.got.start && c.isRange(n.end, p.got.start) {
				return true
			}
		}
	}
	apart := unit.count(source, []string{everywhere, c.from}, mostCandidates) // names that are beside no number: "in ms"
	for _, n := range want {
		c.looks.Past(1)
		if unit.isLike(n.unit) {
			apart--
		}
	}
	have += max(0, apart)
	return unit.count(c.translation, []string{everywhere, c.to, c.from}, have+1) > have
}

// saysNone reports whether the translation may say 0 by a word that is no number: no errors.
func (c comparison) saysNone() bool {
	words := beside().words["none "+c.to]
	if words == nil {
		return true
	}
	for word := range strings.FieldsFuncSeq(strings.ToLower(c.translation), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if slices.ContainsFunc(words, func(none string) bool {
			return word == none || char.IsUnspaced(char.First(none)) && strings.Contains(word, none)
		}) {
			return true
		}
	}
	return false
}

// isRange reports whether the text between two numbers of the translation joins them, as in "5 to 10 %".
func (c comparison) isRange(end, start int) bool {
	const near = 10 // bytes
	between := c.plain[min(end, len(c.plain)):min(start, len(c.plain))]
	return len(between) < near && strings.TrimSpace(between) != "" && !strings.Contains(between, ",")
}

// differences compares in two rounds: first whole numbers, then the remaining ones by their parts. It returns the numbers that
// are equal, and the counts of missing, new and repeated numbers.
func (c comparison) differences(source string, want, got []numeral) (pairs []pairing, missing, fresh, repeated int) {
	partner := c.match(want, got)
	taken := make([]bool, len(got))
	for i, k := range partner {
		if k >= 0 {
			taken[k] = true
			pairs = append(pairs, pairing{&want[i], &got[k]})
		}
	}
	for i := 1; i < len(want); i++ { // 8:00–10:00
		c.looks.Past(1)
		a, b := partner[i-1], partner[i]
		if a >= 0 && b >= 0 && rangeSign.MatchString(source[want[i-1].end:max(want[i-1].end, want[i].start)]) && !c.isJoined(got[a], got[b]) {
			missing++
		}
	}
	c.looks.Past(char.BetweenLooks) // the following code goes through long lists
	leftWant, leftGot := left(want, func(i int) bool { return partner[i] >= 0 }), left(got, func(i int) bool { return taken[i] })
	c.withhold(leftWant, leftGot)
	partsWant, partsGot := parts(leftWant), parts(leftGot)
	partner = c.match(partsWant, partsGot)
	foundGot := make([]bool, len(partsGot))
	for i, k := range partner {
		if k >= 0 {
			foundGot[k] = true
			pairs = append(pairs, pairing{&partsWant[i], &partsGot[k]})
		}
	}

	c.looks.Past(char.BetweenLooks)
	values := map[string]bool{}
	for _, n := range slices.Concat(want, parts(want)) {
		c.looks.Past(1)
		for _, reading := range n.readings {
			values[reading] = true
		}
	}
	// New numbers in words, words that may have another meaning, and numbers that may replace a missing number in words.
	spelled, unsure, other := 0, 0, 0
	extra := left(partsGot, func(i int) bool { return foundGot[i] })
	for _, n := range extra {
		c.looks.Past(1)
		if n.isCount() && !n.part {
			other++
		}
		switch {
		case c.words && n.part:
		case c.words && n.word:
			spelled++
		case c.words && (n.spelled || n.han) && !n.is("1"):
			unsure++
		case n.optional:
		case (!n.small || n.unit.ids != nil) && slices.ContainsFunc(n.readings, func(r string) bool { return values[r] }):
			repeated++
		default:
			fresh++
		}
	}
	months := slices.ContainsFunc(extra, func(n numeral) bool { return n.month })
	unreadWant := count(want, numeral.isPart)
	unread := count(got, numeral.isPart) + unreadWant // half past two is neither half nor two
	one, small, words := 0, 0, 0
	for _, n := range leftWant {
		c.looks.Past(1)
		whole := partner[:max(1, len(n.parts))]
		partner = partner[len(whole):]
		switch {
		case n.part:
		case n.word && c.words && whole[0] < 0:
			if words++; slices.ContainsFunc(n.unit.ids, func(id string) bool { return isKept(id) || id == "angle-degree" }) {
				missing++
			}
		case n.month && (n.held || months) && c.words && whole[0] < 0, n.roman && c.strict && whole[0] < 0:
			missing++
		case n.optional, c.isFound(n, whole, partsGot):
		case c.strict && n.small && (n.held || n.is("0") && !c.saysNone() || !n.is("0") && (!n.is("1") || c.reads && c.to != "en")): // no errors; a dog
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
	if fresh > 0 { // an article does not stand for 1 where another number has come in
		for _, p := range pairs {
			if !p.want.optional && p.got.vague {
				missing++
			}
		}
	}
	if fresh+spelled+unsure > 0 {
		missing += small
	}
	if other > 0 {
		missing += max(0, words-unread)
	}
	return pairs, missing, fresh + max(0, spelled-unreadWant), repeated
}

// withhold removes the parts of numbers of a translation that cannot stand for numbers of the source: 20.25 and 20:25 are not 20
// and 25.
func (c comparison) withhold(want, got []numeral) {
	values := map[string]int{}
	months, hours, dates := false, false, false
	for _, n := range want {
		c.looks.Past(1)
		months, hours = months || n.month, hours || n.hour
		dates = dates || n.form == dateOnly || n.form == dotted || n.form == listed
		for _, part := range parts([]numeral{n}) {
			months, hours = months || part.month || isMonth(part.readings), hours || part.hour && n.form != chain
			for _, reading := range part.readings {
				values[reading]++
			}
		}
	}
	times := slices.ContainsFunc(want, numeral.isTime)
	for i := range got {
		c.looks.Past(1)
		n := &got[i]
		allowed := true
		switch n.form {
		case clock:
			allowed = hours && !times
		case dotted:
			allowed = months || dates || !c.strict
		case grouped, chain:
			uses := map[string]int{}
			for _, part := range n.parts {
				allowed = allowed && slices.ContainsFunc(part.readings, func(r string) bool { return uses[r] < values[r] })
				for _, r := range part.readings {
					uses[r]++ // 4:4 is not 4
				}
			}
		}
		if !allowed {
			n.parts = nil
		}
	}
}

func isMonth(readings []string) bool {
	return slices.ContainsFunc(readings, func(r string) bool { return strings.HasPrefix(r, "month") })
}

// isFound reports whether a number was found by its parts: all of them, or all but small ones; those of a chain in their order.
func (c comparison) isFound(n numeral, partner []int, got []numeral) bool {
	switch {
	case n.parts == nil:
		return partner[0] >= 0
	case n.form == clock:
		return partner[0] >= 0 && (partner[1] >= 0 || n.parts[1].is("0"))
	case n.form == dotted && c.strict && !slices.ContainsFunc(partner, func(k int) bool { return k >= 0 && (got[k].month || got[k].hour || isMonth(got[k].readings)) }):
		return false // 0.25 is not 0 and 25
	}
	all, large := true, 0
	for i, part := range n.parts {
		if partner[i] < 0 && (c.strict || !part.small) {
			return false
		}
		all = all && partner[i] >= 0
		if !part.small {
			large++
		}
		if n.form == chain && i > 0 && partner[i] >= 0 && partner[i-1] >= 0 && !c.isJoined(got[partner[i-1]], got[partner[i]]) {
			return false
		}
	}
	return all || large > 0
}

// isJoined reports whether one number of the translation stands behind another one, with something that joins them.
func (c comparison) isJoined(a, b numeral) bool {
	if b.start < a.start || a.end == 0 || b.end == 0 {
		return b.start >= a.start
	}
	between := strings.TrimSpace(c.plain[min(a.end, len(c.plain)):min(max(a.end, b.start), len(c.plain))])
	return between != "" && !strings.ContainsAny(between, ".!?;。！？；")
}

// rangeSign matches what joins two numbers of a range that have their own units or minutes.
var rangeSign = regexp.MustCompile(`^ ?[-–—~〜～] ?$`)

func left(list []numeral, found func(int) bool) []numeral {
	var rest []numeral
	for i, n := range list {
		if !found(i) {
			rest = append(rest, n)
		}
	}
	return rest
}

func count(list []numeral, is func(numeral) bool) (n int) {
	for _, one := range list {
		if is(one) {
			n++
		}
	}
	return n
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

// mostCandidates is the maximum number of equal numbers that are compared by their units.
const mostCandidates = 16

// match assigns to each number of want the position of a number of got with a common reading, or -1. Numbers with one reading
// choose first, then those with several, then words; each takes a word only if there are no digits, and prefers its own unit and
// sign.
func (c comparison) match(want, got []numeral) (partner []int) {
	found := make([]bool, len(got))
	at := map[string][]int{} // from values to positions in got, words last
	for _, words := range []bool{false, true} {
		for i, n := range got {
			c.looks.Past(1)
			for _, reading := range n.readings {
				if n.optional == words && reading != "" {
					at[reading] = append(at[reading], i)
				}
			}
		}
	}
	take := func(n *numeral) int {
		c.looks.Past(1)
		for _, reading := range n.readings {
			best := -1
			for len(at[reading]) > 0 && found[at[reading][0]] {
				at[reading] = at[reading][1:]
			}
			for _, i := range at[reading][:min(len(at[reading]), mostCandidates)] {
				if found[i] || n.held && !n.month && got[i].vague {
					continue
				}
				if best < 0 || !n.month && isMonth(got[best].readings) && !isMonth(got[i].readings) {
					best = i
				}
				if n.isLike(got[i]) && (n.month || !isMonth(got[best].readings) || !isMonth(got[i].readings)) {
					best = i
					break
				}
			}
			if best >= 0 {
				found[best] = true
				return best
			}
		}
		return -1
	}
	partner = make([]int, len(want))
	for turn := range 3 {
		for i := range want {
			if turn == choosesAt(want[i]) {
				partner[i] = take(&want[i])
			}
		}
	}
	return partner
}

// isLike reports whether a number with the same value also has the same unit and sign.
func (n *numeral) isLike(other numeral) bool {
	return n.negative == other.negative && !n.optional == !other.optional &&
		(n.unit.ids == nil && other.unit.ids == nil || n.unit.isLike(other.unit))
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

// saysMinus reports whether a text has words that stand for a minus sign behind its number: 5 degrees below zero.
func saysMinus(text, lang string) bool {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, word := range words {
		if slices.ContainsFunc(beside().words["frost"], func(frost string) bool {
			return word == frost || char.IsUnspaced(char.First(frost)) && strings.Contains(word, frost)
		}) {
			return true
		}
		if i+1 < len(words) && slices.Contains(beside().words["below"], word) {
			zero, known := lexiconOf(lang).words[words[i+1]]
			if known && zero.value == 0 || words[i+1] == "0" || lang == "" {
				return true
			}
		}
	}
	return false
}
