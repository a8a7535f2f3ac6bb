package spm

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/tokenizer/internal/goldentest"
)

// The benchmarks use the corpus goldens: English, French, Japanese, German and Chinese sentences. One operation processes all of
// them.

func BenchmarkEncode(b *testing.B) {
	model, texts := benchmarkTexts(b)
	benchmarkEncode(b, model, texts)
}

// BenchmarkEncodeUnigram does the same with a small unigram model.
func BenchmarkEncodeUnigram(b *testing.B) {
	_, texts := benchmarkTexts(b)
	benchmarkEncode(b, smallUnigram(b), texts)
}

func smallUnigram(b *testing.B) *Model {
	model, err := Parse(unzip(b, "testdata/unigram.model.gz"))
	require.NoError(b, err)
	return model
}

func benchmarkEncode(b *testing.B, model *Model, texts []string) {
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
	b.Run("BPE", func(b *testing.B) { benchmarkLongWord(b, model) })
	b.Run("unigram", func(b *testing.B) { benchmarkLongWord(b, smallUnigram(b)) })
}

func benchmarkLongWord(b *testing.B, model *Model) {
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
		_, err := open(bundledModel)
		require.NoError(b, err)
	}
}

// BenchmarkOpenLarge opens a unigram model of 256,000 pieces that are made up of corpus words.
func BenchmarkOpenLarge(b *testing.B) {
	_, texts := benchmarkTexts(b)
	words := strings.Fields(strings.Join(texts, " "))
	file, seen := (&modelFile{}).piece("<unk>", 0, unknownPiece), map[string]bool{}
	for i := 0; len(seen) < 256_000; i++ {
		word := space + words[i%len(words)]
		if round := i / len(words); round > 0 {
			word += words[(i+31*round)%len(words)]
		}
		if !seen[word] && len(word) < 40 {
			seen[word] = true
			file.piece(word, -float32(i), normalPiece)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		_, err := Parse(file.raw)
		require.NoError(b, err)
	}
}

func benchmarkTexts(b *testing.B) (*Model, []string) {
	model, err := open(bundledModel)
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
