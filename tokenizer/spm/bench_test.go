package spm

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/tokenizer/internal/goldentest"
)

// The benchmarks run over the corpus goldens: English, French, Japanese, German
// and Chinese sentences. One operation is all of them.

func BenchmarkEncode(b *testing.B) {
	model, texts := benchmarkTexts(b)
	var normalized []byte
	var tokens []Token
	total := 0
	for b.Loop() {
		for _, text := range texts {
			normalized = model.AppendNormalized(normalized[:0], text)
			tokens = model.AppendTokens(tokens[:0], normalized)
			total += len(tokens)
		}
	}
	report(b, len(texts), total)
}

func BenchmarkNormalize(b *testing.B) {
	model, texts := benchmarkTexts(b)
	var normalized []byte
	for b.Loop() {
		for _, text := range texts {
			normalized = model.AppendNormalized(normalized[:0], text)
		}
	}
	report(b, len(texts), 0)
}

func BenchmarkDecode(b *testing.B) {
	model, texts := benchmarkTexts(b)
	pieces := make([][]string, len(texts))
	for i, text := range texts {
		pieces[i] = model.Encode(text)
	}
	total := 0
	for b.Loop() {
		for _, p := range pieces {
			model.Decode(p)
			total += len(p)
		}
	}
	report(b, len(texts), total)
}

// BenchmarkLongWord encodes 10,000 letters without a space.
func BenchmarkLongWord(b *testing.B) {
	model, _ := benchmarkTexts(b)
	text := strings.Repeat("antidisestablishmentarianism", 10_000/28)
	normalized := model.AppendNormalized(nil, text)
	var tokens []Token
	for b.Loop() {
		tokens = model.AppendTokens(tokens[:0], normalized)
	}
	b.ReportMetric(float64(b.N)*float64(len(text))/b.Elapsed().Seconds(), "letters/s")
}

func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		_, err := Open(bundledModel)
		require.NoError(b, err)
	}
}

func benchmarkTexts(b *testing.B) (*Model, []string) {
	model, err := Open(bundledModel)
	require.NoError(b, err)
	var texts []string
	for _, r := range goldentest.Read(b, "../testdata/corpus.jsonl.gz") {
		texts = append(texts, r.Text)
	}
	return model, texts
}

func report(b *testing.B, lines, tokens int) {
	b.ReportMetric(float64(b.N)*float64(lines)/b.Elapsed().Seconds(), "lines/s")
	if tokens > 0 {
		b.ReportMetric(float64(tokens)/b.Elapsed().Seconds(), "tokens/s")
	}
}
