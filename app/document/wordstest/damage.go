package wordstest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Damage says what is wrong with a translation of a case, whose source is read of the same format. It knows no
// words: it looks at tags, styles, spaces, ends of words, and at what has to stay together.
func (f Format) Damage(c Case, source, result Paragraph) (damage []string) {
	add := func(format string, args ...any) { damage = append(damage, fmt.Sprintf(format, args...)) }
	if source.Nested && !result.Nested {
		add("not nested: %q", result.Tags)
	}
	if f.Tagged {
		if !sameItems(source.Tags, result.Tags) {
			add("tags: %q, not %q", result.Tags, source.Tags)
		}
	} else {
		for _, lost := range without(source.marks(), result.marks()) {
			add("nothing is %s any more", lost)
		}
	}
	for _, fresh := range without(result.marks(), source.marks()) {
		add("something is %s", fresh)
	}
	if !sameItems(source.points(), result.points()) {
		add("points: %q, not %q", result.points(), source.points())
	}
	for _, torn := range result.torn() {
		add("a word is torn: %s", torn)
	}
	text := result.Text()
	if s := doubled.FindString(text); s != "" && !doubled.MatchString(source.Text()) {
		add("a space too many: %q", s)
	}
	if text != strings.TrimSpace(text) && source.Text() == strings.TrimSpace(source.Text()) {
		add("spaces at an end")
	}
	if before := source.Text(); strings.Count(text, "*") != strings.Count(before, "*") || strings.Count(text, "](") != strings.Count(before, "](") {
		add("marks in the text")
	}
	want, got := source.Canonical(), result.Canonical()
	for _, kept := range c.Kept() {
		if strings.Count(want, kept) != strings.Count(got, kept) {
			add("%s is not whole", kept)
		}
	}
	return damage
}

// doubled are two spaces, and one before a sign that has none in any language.
var doubled = regexp.MustCompile(`[ \x{00A0}\x{202F}]{2}|[\pL\pN] [,.)]|\( `)

// marks are what words of a paragraph are in, sorted.
func (p Paragraph) marks() (list []string) {
	for _, r := range p.Runs {
		if strings.ContainsFunc(r.Text, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }) {
			list = append(list, r.Marks...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (p Paragraph) points() (list []string) {
	for _, r := range p.Runs {
		if r.Point != "" {
			list = append(list, r.Point)
		}
	}
	return list
}

// without are the items of a that are not in b.
func without(a, b []string) (list []string) {
	for _, x := range a {
		if !slices.Contains(b, x) {
			list = append(list, x)
		}
	}
	return list
}

func sameItems(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// torn are the places in words where a tag stands or a style ends, but for a letter in a frame of its own, raised and
// lowered text, where a capital follows a small letter, and between two links.
func (p Paragraph) torn() (list []string) {
	for i := range p.Runs {
		a := p.Runs[i]
		if a.Text == "" {
			continue
		}
		next := i + 1
		for next < len(p.Runs) && p.Runs[next].Text == "" {
			next++
		}
		if next == len(p.Runs) {
			break
		}
		b := p.Runs[next]
		x, _ := utf8.DecodeLastRuneInString(a.Text)
		y, _ := utf8.DecodeRuneInString(b.Text)
		exempt := slices.Contains(a.Marks, "frame") || a.raised() != "" || b.raised() != "" || unicode.IsLower(x) && unicode.IsUpper(y) || len(without(links(a), links(b))) > 0 && len(links(b)) > 0
		if unicode.In(x, unicode.Latin) && unicode.In(y, unicode.Latin) && !exempt {
			list = append(list, fmt.Sprintf("%q|%q", a.Text, b.Text))
		}
	}
	return list
}

func links(r Run) (list []string) {
	for _, m := range r.Marks {
		if strings.HasPrefix(strings.TrimPrefix(m, "<"), "a ") {
			list = append(list, m)
		}
	}
	return list
}
