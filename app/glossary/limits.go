package glossary

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/fault"
	"dragoman/app/guard/bound"
	"dragoman/app/text/excerpt"
	"dragoman/app/translate"
)

// DeepL has the same limits.
const (
	MaxNameBytes = bound.Term // of a glossary's name
	MaxTermBytes = bound.Term // of a term, and of its translation
)

// Limits are the limits of glossaries.
type Limits struct {
	Terms    int   // of a dictionary
	Bytes    int64 // of all terms of a glossary, as TSV
	PerOwner int   // number of glossaries
}

// checkName fails on an invalid name of a glossary.
func checkName(name string) error {
	if strings.TrimSpace(name) == "" || len(name) > MaxNameBytes || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return ErrName
	}
	return nil
}

// Check normalizes the terms of a dictionary for storage: it trims white space, and sets the target of a term without one, which
// is never translated, to its source. It fails with a [*fault.ItemError] on the first invalid or repeated term; place returns the place
// of term i.
func Check(list []translate.Term, place func(i int) string) error {
	seen := make(map[string]int, len(list))
	for i := range list {
		t := &list[i]
		t.Source, t.Target = strings.TrimSpace(t.Source), strings.TrimSpace(t.Target)
		if t.Source == "" {
			return wrong(place(i), "the source is empty: a term has a source, and a target unless it is never translated")
		}
		if why := cmp.Or(wrongWith("source", t.Source), wrongWith("target", t.Target)); why != "" {
			return wrong(place(i), "%s", why)
		}
		if first, ok := seen[t.Source]; ok {
			return wrong(place(i), "%q is there already, in %s: a term has one translation", excerpt.Of(t.Source), place(first))
		}
		seen[t.Source] = i
		if t.Target == "" {
			t.Target = t.Source
		}
	}
	return nil
}

// wrongWith returns the fault of a term's text, or "".
func wrongWith(name, text string) string {
	switch {
	case len(text) > MaxTermBytes:
		return fmt.Sprintf("the %s has %d bytes, at most %d are allowed", name, len(text), MaxTermBytes)
	case !utf8.ValidString(text):
		return fmt.Sprintf("the %s is not UTF-8", name)
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }):
		return fmt.Sprintf("the %s %q has a control character or a line break", name, excerpt.Of(text))
	}
	return ""
}

// checkCount fails if a dictionary has too many terms.
func (l Limits) checkCount(p Pair, terms int) error {
	if terms > l.Terms {
		return fault.New(fault.TooLarge, "", "the dictionary from %s has more than %d terms: divide it between several glossaries", p, l.Terms)
	}
	return nil
}

// check fails if a glossary exceeds a limit.
func (l Limits) check(g Glossary) error {
	for _, d := range g.Dictionaries {
		if err := l.checkCount(d.Pair, d.Terms); err != nil {
			return err
		}
	}
	if n := g.bytes(); int64(n) > l.Bytes {
		return fault.New(fault.TooLarge, "", "the terms of the glossary have %d bytes, at most %d are allowed: divide it", n, l.Bytes)
	}
	return nil
}
