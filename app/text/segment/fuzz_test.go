package segment

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/text/char"
	"dragoman/app/text/lineartest"
)

// seeds are texts for the fuzzers, hostile ones among them.
var seeds = append([]string{
	"", " ", "\r\n", "a", ".", "。", "\xff", "a\xffb. \xe2\x80", "\u0301", " \u0301a", "\u200d", "👩‍👧‍👦", "🇩🇪🇫🇷",
	"Mr. Smith (who is old. And wise.) left... “Why?” he asked. ¿Sí? 1. No. 5\n- [x] done\r\n| a | b |\t",
	"「はい。そうです。」と言った。３．１４", "ไทย ไทย", "है| अब॥", "\u0600 a", "a\u200c.\u200f b", "Hi! :-) Bye. . . . Yes… No",
	"« Quoi ? » Non.", "１．一", "（二）", "x ____________ y", "a.\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301 B",
}, long...)

// long has units of texts that may take long when they are repeated.
var long = []string{
	"a", ".", "。", " ", "Mr. ", "a. ", "A. ", "(", ")", "(a.)", "\n", "\r\n", "\t", "|", "| ", "1. ", "1.", "- ", "> ", "#",
	"中", "中。", "“。”", "?", "…", ". ", "… ", "\u0301", "a\u0301", " \u0301", "\u200b", "🎉", "👩‍👧", "🇩🇪", "\xff", "\xe2\x80",
	"ไทย", "ไทย ", ". )", "a.) ", "a. (", "5 ", "5. ", ".5) ", "a.\u0301 ", "U.S. ", "z. B. ", ". . ", "!\"", ":) ", "a! :) ", "[1]", "a.[1] ",
	"http://a.b?c! ", "a?b", "中!http://", "①", "一、", "* ", "*", "— ", "a b", "a\u00ad", "\u0600", "\x00",
}

func FuzzSplit(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed, "en")
		f.Add(seed, "de")
	}
	for _, rule := range golden {
		f.Add(rule.marked, rule.lang)
	}
	f.Fuzz(func(t *testing.T, text, lang string) {
		pieces := must(Split(lasting, text, lang))
		checkPieces(t, text, pieces)
		checkSentences(t, pieces)
		wrapped := must(SplitWrapped(lasting, text, lang))
		checkPieces(t, text, wrapped)
		if !strings.ContainsAny(text, "\n\r\v\f\u0085\u2028\u2029") {
			assert.Equal(t, pieces, wrapped)
		}
	})
}

// huge has the units of long for texts of a megabyte.
var huge = []string{"a", ".", "。", " ", ")", "Mr. ", "中", "\n", "ไทย "}

// between puts units of at most size bytes between words: UAX #29 looks for the "B" from every position before it.
func between(unit string, size int) string {
	return "Word. " + strings.Repeat(unit, size/len(unit)) + " B"
}

// both splits a text as the service does.
func both(text string) {
	must(Join(lasting, must(Split(lasting, text, "en")), nil, "en", "ja"))
	must(Finer(lasting, text, "en"))
}

func TestWorkIsLinear(t *testing.T) {
	counted := lineartest.New(t)
	for _, unit := range long {
		counted.Assert(fmt.Sprintf("%q", unit), strings.Repeat(unit, 1<<13/len(unit)), strings.Repeat(unit, 1<<16/len(unit)), both)
		counted.Assert(fmt.Sprintf("%q between words", unit), between(unit, 1<<13), between(unit, 1<<16), both)
	}
}

// BenchmarkExponent reports how time grows with the length of hostile texts: 1 is linear.
func BenchmarkExponent(b *testing.B) {
	for _, unit := range long {
		b.Run(fmt.Sprintf("%q", unit), func(b *testing.B) {
			lineartest.ReportExponent(b, func(size int) string { return between(unit, size) }, both)
		})
	}
}

// A text of a single unit loses only spaces.
func TestLongTextsStayWhole(t *testing.T) {
	check := func(unit, text string) {
		joined := must(Join(lasting, must(Split(lasting, text, "en")), nil, "en", "ja"))
		assert.Equal(t, len(withoutSpaces(text)), len(withoutSpaces(joined)), "%d bytes of %q", len(text), unit)
	}
	for _, unit := range long {
		check(unit, strings.Repeat(unit, 1<<15/len(unit)))
		check(unit, between(unit, 1<<15))
	}
	size := 1 << 20
	if testing.Short() {
		size = 1 << 18
	}
	for _, unit := range huge {
		check(unit, between(unit, size))
	}
}

func TestTimeIsLinear(t *testing.T) {
	timed := lineartest.NewTimed(t)
	for what, text := range lineartest.Texts(long...) {
		timed.Assert(what, text, func(text string) {
			both(text)
			_, err := SplitWrapped(t.Context(), text, "ja")
			require.NoError(t, err)
			_, err = Ends(t.Context(), text, "de")
			require.NoError(t, err)
		})
	}
}

// The short way to a boundary finds what the tables find, from wherever the search goes on.
func FuzzBoundaries(f *testing.F) {
	for _, seed := range []string{"He came. She left.", "Mr. and Mrs. X. y z", "A.B. C! d? E", "No. 5. a", "x. (y) z. W", "a!. B. c", "“A.” B. É. f. G", "。日本. Ab", "1. A. \u0301b. C"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := cell{text: text, rules: rulesOf("en"), standard: boundaries{text: text}}
		for i := range text {
			if r, _ := char.Decode(text, i); !terminal(r) || i > 0 && terminal(lastRune(text[:i])) {
				continue
			}
			e := c.ending(i)
			if e.next == len(text) {
				break
			}
			behind := char.Skip(text, e.next, func(r rune) bool { return opening(r) || closing(r) || blank(r) })
			all := boundaries{text: text}
			require.Equal(t, all.between(e.stop, behind), c.standard.behind(e, behind), "%q at %d", text, i)
		}
	})
}
