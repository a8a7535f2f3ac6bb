package segment

import (
	"strings"
	"testing"
)

// document is a text of about 1 MB in a language.
func document(lang string) string {
	var b strings.Builder
	for b.Len() < 1<<20 {
		for _, rule := range golden {
			if rule.lang == lang || lang == "" {
				b.WriteString(strings.ReplaceAll(rule.marked, "¦", ""))
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

func BenchmarkSplit(b *testing.B) {
	for _, lang := range []string{"en", "de", "ru", "ar", "hi", "ja", ""} {
		name := lang
		if lang == "" {
			name = "all"
		}
		b.Run(name, func(b *testing.B) {
			text := document(lang)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				must(Split(lasting, text, lang))
			}
		})
	}
}

func BenchmarkJoin(b *testing.B) {
	text := document("")
	pieces := must(Split(lasting, text, "en"))
	own := texts(pieces)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		must(Join(lasting, pieces, own, "en", "ja"))
	}
}

func BenchmarkFiner(b *testing.B) {
	text := strings.ReplaceAll(document("en")[:1<<14], "\n", " ")
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		must(Finer(lasting, text, "en"))
	}
}
