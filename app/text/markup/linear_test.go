package markup

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"dragoman/app/text/lineartest"
)

// all does with a text what a service does.
func all(text string, format Format) {
	if format == HTML {
		for _, p := range must(SplitHTML(lasting, text)) {
			_ = must(p.Text(lasting))
		}
	}
	s := must(must(Parse(lasting, text, format)).In(lasting, "en"))
	if m, ok := must2(s.Mask(lasting, 0)); ok {
		_, _ = m.Restore(lasting, m.Text)
	}
	_, _ = s.Verify(lasting, text)
	_ = must(s.Around(lasting))
}

func TestWorkIsLinear(t *testing.T) {
	counted := lineartest.New(t)
	part, whole := hostile(1<<13), hostile(1<<16)
	for _, unit := range slices.Sorted(maps.Keys(whole)) {
		for _, format := range []Format{Text, HTML} {
			counted.Assert(fmt.Sprintf("%q, format %d", unit, format), part[unit], whole[unit], func(text string) { all(text, format) })
		}
	}
}

// everything does with a text what a service may do, as the text of a unit too.
func everything(text string, format Format) {
	all(text, format)
	switch format {
	case HTML, XML:
		split := map[Format]func(context.Context, string) ([]HTMLPiece, error){HTML: SplitHTML, XML: SplitXML}[format]
		for _, p := range must(split(lasting, text)) {
			must(p.Prose(lasting))
		}
	}
	terms := NewTerms([]Term{{"a", "b"}, {"5", "6"}, {"«", "»"}, {"★", "☆"}, {"日", "day"}})
	s, readings := must2(must(Parse(lasting, text, format)).CutReadings(lasting))
	_ = readings.Restore(text)
	s = must(must(s.In(lasting, "en")).WithTerms(lasting, terms))
	at := 0
	for line := range strings.Lines(s.Text) {
		_ = s.HasLines(at, at+len(line))
		at += len(line)
	}
	_, _, _, _ = s.Lines(), must(s.Noted(lasting)), s.Messages(), s.Fingerprint()
	if r := s.Entities(text); r != nil {
		_ = r.Replace(text)
	}
	whole := must(s.Whole(lasting)).Between("en", "fr")
	_, _ = whole.InPlace(), whole.TermForms()
	for _, s := range []Sentence{whole, whole.Protected()} {
		_, _ = s.Verify(lasting, s.Text)
		for style := range Styles {
			if m, ok := must2(s.Mask(lasting, style)); ok {
				_, _ = m.Restore(lasting, m.Text)
			}
		}
	}
	must(whole.Spaced(lasting, text))
}

func TestTimeIsLinear(t *testing.T) {
	timed := lineartest.NewTimed(t)
	formats, i := []Format{Text, HTML, Text, XML}, 0
	for what, text := range lineartest.Texts(slices.Sorted(maps.Keys(hostile(1 << 8)))...) {
		format := formats[i%len(formats)]
		timed.Assert(fmt.Sprintf("%s, format %d", what, format), text, func(text string) { everything(text, format) })
		i++
	}
	for _, nested := range [][3]string{
		{"<b>", "a", "</b>"}, {"<0>", "1", "</0>"}, {"<ruby>", "a", "</ruby>"}, {"(", "a", ")"}, {"«(", "a", ")»"}, {"„", "a", "“"}, {"'", "a", "'"}, {"[", "a", "](b)"}, {"*a ", "a", "*"},
		{"**a ", "b", "*"}, {"{a,plural,other{", "b", "}}"}, {" ", "a", "{x}true"}, {"a", "{x}", "{x}'a"}, {"<b>a", " ", "</b> "}, {"a<b>", "a", "   "}, {"<code>", "a", "</code>"}, {"{", "a", "}"},
	} {
		for _, format := range formats[1:] {
			timed.Assert(fmt.Sprintf("%q, format %d", nested, format), func(size int) string {
				return "x " + strings.Repeat(nested[0], size/2/len(nested[0])) + nested[1] + strings.Repeat(nested[2], size/2/len(nested[2])) + " y"
			}, func(text string) { everything(text, format) })
		}
	}
}

// BenchmarkExponent reports how time grows with the length of hostile texts: 1 is linear.
func BenchmarkExponent(b *testing.B) {
	for unit := range hostile(1) {
		for _, format := range []Format{Text, HTML} {
			b.Run(fmt.Sprintf("%q/%d", unit, format), func(b *testing.B) {
				lineartest.ReportExponent(b, func(size int) string { return strings.Repeat(unit, size/len(unit)) }, func(text string) { all(text, format) })
			})
		}
	}
}

func BenchmarkParse(b *testing.B) {
	texts := hostile(1 << 20)
	texts["prose"] = repeat("The quick brown fox jumps over the lazy dog, and nobody at the inn was surprised by it. ")
	texts["mixed"] = repeat("Hi {name}, 5 of 1,234 at https://x.y/z or a@b.com: **bold** <b>tag</b> 😀 日本語のテキスト。 ")
	for unit, text := range texts {
		b.Run(unit, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				must(must(Parse(lasting, text, Text)).In(lasting, "en"))
			}
		})
	}
}

func BenchmarkAll(b *testing.B) {
	text := "Hi {name}, 5 of 1,234 people at https://x.y/z said: **this is bold** and <b>this a tag</b> 😀."
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		all(text, Text)
	}
}

func BenchmarkSplitHTML(b *testing.B) {
	text := repeat("<p>Hi <b>Tom</b> &amp; <a href='x'>Jerry</a>, how do you do?</p>\n")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		must(SplitHTML(lasting, text))
	}
}

// repeat makes a text of 1 MiB of one.
func repeat(text string) string {
	return string(slices.Repeat([]byte(text), (1<<20)/len(text)))
}
