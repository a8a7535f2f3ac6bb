package moses

import (
	"fmt"
	"strings"
	"testing"

	"dragoman/app/text/lineartest"
)

// hostile has repeated texts on which a chain of regular expressions would be slow.
var hostile = []string{".", "'", "&", "5", "@@", "a", " ", "\"", ",", "(", ".\"", ".\"<", "\u00a0", "5\u00a0", "a'", "5,", "A. ", "\u0301", "中 ",
	"« »", "\x00.", "aba", "s ' "}

// all applies all functions of a tokenizer to a text.
func all(codes *Codes, text string) {
	for _, code := range []string{"en", "fr", "de", "cs", "zh"} {
		w := Words{NewLanguage(code), codes}
		w.Join(split(w, text))
		w.Language.Detokenize(text)
		w.Language.Tokenize(text)
	}
}

func TestWorkIsLinear(t *testing.T) {
	counted := lineartest.New(t)
	codes := open(t, "odd.codes")
	for _, unit := range hostile {
		part, whole := strings.Repeat(unit, 1<<13/len(unit)), strings.Repeat(unit, 1<<16/len(unit))
		counted.Assert(fmt.Sprintf("%q", unit), part, whole, func(text string) { all(codes, text) })
	}
}

// BenchmarkExponent reports how time grows with the length of hostile texts: 1 is linear.
func BenchmarkExponent(b *testing.B) {
	codes := open(b, "odd.codes")
	for _, unit := range hostile {
		b.Run(fmt.Sprintf("%q", unit), func(b *testing.B) {
			lineartest.ReportExponent(b, func(size int) string { return strings.Repeat(unit, size/len(unit)) }, func(text string) { all(codes, text) })
		})
	}
}

// BenchmarkSplit splits a sentence.
func BenchmarkSplit(b *testing.B) {
	w := Words{NewLanguage("en"), open(b, "learned.codes")}
	const text = `"It's the U.S. that didn't sign," said Dr. Smith of No. 5, well-known for $5,300.25 and naïve ideas.`
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		w.Split(text, func([]byte) {})
	}
}

func TestTimeIsLinear(t *testing.T) {
	timed := lineartest.NewTimed(t)
	codes := open(t, "odd.codes")
	for what, text := range lineartest.Texts(hostile...) {
		timed.Assert(what, text, func(text string) { all(codes, text) })
	}
}
