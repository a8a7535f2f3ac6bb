package language

import (
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sentence is a line of the fixture: everyday sentences, three per language.
type sentence struct{ code, text string }

func sentences(t testing.TB) []sentence {
	data, err := os.ReadFile("testdata/sentences.tsv")
	require.NoError(t, err)
	var list []sentence
	for line := range strings.Lines(string(data)) {
		code, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		require.True(t, ok, line)
		list = append(list, sentence{code, text})
	}
	return list
}

// score is the result of a detector on the fixture.
type score struct {
	right      float64 // share of the texts
	confidence float64 // mean
}

// measure detects the language of the sentences in these languages, each shortened by cut, and logs errors.
func measure(t *testing.T, codes []string, cut func(sentence) []string) score {
	d := newDetector(t, codes...)
	var sum score
	all := 0.0
	for _, s := range sentences(t) {
		if !slices.Contains(codes, s.code) {
			continue
		}
		for _, text := range cut(s) {
			code, confidence, _ := d.Detect(text)
			all++
			sum.confidence += confidence
			if code == s.code {
				sum.right++
			} else {
				t.Logf("%s taken for %s (%.2f): %s", s.code, code, confidence, text)
			}
		}
	}
	return score{sum.right / all, sum.confidence / all}
}

// whole leaves sentences as they are.
func whole(s sentence) []string { return []string{s.text} }

// firstWords leaves the first three words.
func firstWords(s sentence) []string {
	fields := strings.Fields(s.text)
	return []string{strings.Join(fields[:min(3, len(fields))], " ")}
}

// eachWord leaves one word at a time, of five letters or more.
func eachWord(s sentence) []string {
	var list []string
	for _, field := range strings.Fields(s.text) {
		if field = strings.TrimFunc(field, func(r rune) bool { return !unicode.IsLetter(r) }); utf8.RuneCountInString(field) >= 5 {
			list = append(list, field)
		}
	}
	return list
}

func TestAccuracy(t *testing.T) {
	few := []string{"de", "en", "fr", "ja", "zh"}
	for _, test := range []struct {
		name  string
		codes []string
		cut   func(sentence) []string
		least float64
	}{
		{"sentences, 5 languages", few, whole, 1},
		{"3 words, 5 languages", few, firstWords, 1},
		{"1 word, 5 languages", few, eachWord, 0.9},
		{"sentences, 100 languages", m2m100(), whole, 0.99},
		{"3 words, 100 languages", m2m100(), firstWords, 0.92},
		{"sentences, 202 languages", nllb(t), whole, 0.99},
		{"1 word, 100 languages", m2m100(), eachWord, 0.78},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := measure(t, test.codes, test.cut)
			t.Logf("%.3f right, confidence %.3f", got.right, got.confidence)
			assert.GreaterOrEqual(t, got.right, test.least)
		})
	}
}

// A text in a language outside of the detector's list is detected as that language, and few texts in the list's languages are.
func TestForeign(t *testing.T) {
	few := []string{"de", "en", "fr", "ja", "zh"}
	d := newDetector(t, few...)
	for _, test := range []struct {
		name        string
		cut         func(sentence) []string
		told, wrong float64
	}{
		{"sentences", whole, 0.97, 0},
		{"3 words", firstWords, 0.92, 0},
		{"1 word", eachWord, 0.7, 0.02},
	} {
		told, foreign, wrong, own := 0.0, 0.0, 0.0, 0.0
		for _, s := range sentences(t) {
			for _, text := range test.cut(s) {
				code, _, ok := d.Detect(text)
				other := ok && !slices.Contains(few, code)
				if slices.Contains(few, s.code) {
					own++
					if other {
						wrong++
						t.Logf("%s taken for %s: %s", s.code, code, text)
					}
					continue
				}
				foreign++
				if other {
					told++
				}
			}
		}
		t.Logf("%s: %.3f of %.0f told, %.3f of %.0f wrong", test.name, told/foreign, foreign, wrong/own, own)
		assert.GreaterOrEqual(t, told/foreign, test.told, test.name)
		assert.LessOrEqual(t, wrong/own, test.wrong, test.name)
	}
}

// The confidence is calibrated: its mean equals the share of correct answers.
func TestConfidence(t *testing.T) {
	for name, cut := range map[string]func(sentence) []string{"3 words": firstWords, "1 word": eachWord} {
		got := measure(t, m2m100(), cut)
		assert.InDelta(t, got.right, got.confidence, 0.04, name)
	}
}
