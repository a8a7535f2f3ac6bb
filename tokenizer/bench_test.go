package tokenizer

import (
	"testing"

	"dragoman/tokenizer/internal/goldentest"
)

// The benchmarks use the corpus goldens. One operation processes all of them.

func BenchmarkEncode(b *testing.B) {
	tok, records := open(b), goldentest.Read(b, "testdata/corpus.jsonl.gz")
	b.ReportAllocs()
	for b.Loop() {
		for _, r := range records {
			if _, err := tok.Encode("fr", "en", r.Text); err != nil {
				b.Fatal(err)
			}
		}
	}
	report(b, records)
}

func BenchmarkDecode(b *testing.B) {
	tok, records := open(b), goldentest.Read(b, "testdata/corpus.jsonl.gz")
	b.ReportAllocs()
	for b.Loop() {
		for _, r := range records {
			tok.Decode(r.IDs)
		}
	}
	report(b, records)
}

func report(b *testing.B, records []goldentest.Record) {
	tokens := 0
	for _, r := range records {
		tokens += len(r.IDs)
	}
	seconds := b.Elapsed().Seconds()
	b.ReportMetric(float64(b.N*len(records))/seconds, "lines/s")
	b.ReportMetric(float64(b.N*tokens)/seconds, "tokens/s")
}
