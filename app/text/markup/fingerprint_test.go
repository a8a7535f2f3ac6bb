package markup

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFingerprint(t *testing.T) {
	assert.Empty(t, read("no markup", Text).Fingerprint())

	twice := read("<b>a</b> c <b>a</b>", Text)
	first, second := twice.Slice(0, 8), twice.Slice(11, 19)
	assert.Equal(t, first.Text, second.Text)
	assert.NotEqual(t, first.Spans, second.Spans, "pairs have other numbers")
	assert.Equal(t, first.Fingerprint(), second.Fingerprint())

	s := Sentence{Text: "abcdef", Spans: []Span{{Start: 1, End: 2, Pair: 7}, {Start: 3, End: 4, Pair: -7}}}
	for name, change := range map[string]func(s *Sentence){
		"none":   func(s *Sentence) { s.Spans = nil },
		"one":    func(s *Sentence) { s.Spans = s.Spans[:1] },
		"start":  func(s *Sentence) { s.Spans[1].Start = 2 },
		"end":    func(s *Sentence) { s.Spans[1].End = 5 },
		"kind":   func(s *Sentence) { s.Spans[1].Kind = Tag },
		"pair":   func(s *Sentence) { s.Spans[1].Pair = 0 },
		"closes": func(s *Sentence) { s.Spans[1].Pair = 7 },
	} {
		other := Sentence{Text: s.Text, Spans: append([]Span(nil), s.Spans...)}
		change(&other)
		assert.NotEqual(t, s.Fingerprint(), other.Fingerprint(), name)
	}
}
