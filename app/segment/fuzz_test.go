package segment

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// seeds are texts for the fuzzers, hostile ones among them.
var seeds = append([]string{
	"", " ", "\r\n", "a", ".", "。", "\xff", "a\xffb. \xe2\x80", "\u0301", " \u0301a", "\u200d", "👩‍👧‍👦", "🇩🇪🇫🇷",
	"Mr. Smith (who is old. And wise.) left... “Why?” he asked. ¿Sí? 1. No. 5\n- [x] done\r\n| a | b |\t",
	"「はい。そうです。」と言った。３．１４", "ไทย ไทย", "है| अब॥", "\u0600 a", "a\u200c.\u200f b", "Hi! :-) Bye. . . . Yes… No",
	"« Quoi ? » Non.", "１．一", "（二）", "x ____________ y", "a.\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301 B",
}, long...)

// long are texts that could take long; a unit each, to be repeated.
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
		pieces := Split(text, lang)
		checkPieces(t, text, pieces)
		checkSentences(t, pieces)
	})
}

// Any text takes time that is linear in its length: what is quadratic would take
// minutes for a megabyte, not a fraction of a second. What else the machine does is not
// counted.
func TestLinearTime(t *testing.T) {
	const most = 3 * time.Second
	check := func(unit, text string) {
		start := processorTime(t)
		pieces := Split(text, "en")
		joined := Join(pieces, nil, "en", "ja")
		Finer(text, "en")
		assert.Less(t, processorTime(t)-start, most, "%d bytes of %q", len(text), unit)
		assert.Equal(t, len(withoutSpaces(text)), len(withoutSpaces(joined)), "%q", unit)
	}
	for _, unit := range long {
		many := strings.Repeat(unit, 1<<15/len(unit))
		check(unit, many)
		check(unit, "Word. "+many+" B") // UAX #29 looks for the "B" from everywhere before it
	}
	for _, unit := range []string{"a", ".", "。", " ", ")", "Mr. ", "中", "\n", "ไทย "} {
		check(unit, "Word. "+strings.Repeat(unit, 1<<20/len(unit))+" B")
	}
}

// processorTime is what the test has used so far.
func processorTime(t *testing.T) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
