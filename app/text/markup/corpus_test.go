package markup

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/text/markup/corpustest"
)

// sentences are the parsed texts of a line of the corpus.
func sentences(l corpustest.Line) []Sentence {
	split := SplitHTML
	switch l.Format {
	case "xml":
		split = SplitXML
	case "text":
		return []Sentence{must(must(Parse(lasting, l.Text, Text)).In(lasting, l.Lang))}
	}
	var list []Sentence
	for _, p := range must(split(lasting, l.Text)) {
		if p.Unit {
			list = append(list, must(must(p.Parse(lasting)).In(lasting, l.Lang)))
		}
	}
	return list
}

// The corpus is large, and a translation that changes nothing comes back byte for byte in
// every way.
func TestCorpusRoundTrip(t *testing.T) {
	lines, err := corpustest.Read()
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(lines), 400)
	for _, l := range lines {
		assert.Empty(t, l.Damage(l.Text))
		for _, s := range sentences(l) {
			got, err := s.Verify(lasting, s.Text)
			require.NoError(t, err, s.Text)
			assert.Equal(t, s.Original(), got)
			for style := range Styles {
				if m, ok := must2(s.Mask(lasting, style)); ok {
					got, err := m.Restore(lasting, m.Text)
					require.NoError(t, err, "%s: %s", s.Text, m.Text)
					assert.Equal(t, s.Original(), got)
				}
			}
		}
	}
}

// Verify finds every span that is dropped, doubled or changed in one character.
func TestCorpusVerify(t *testing.T) {
	lines, err := corpustest.Read()
	require.NoError(t, err)
	for _, l := range lines {
		for _, s := range sentences(l) {
			for i, span := range s.Spans {
				before, text, after := s.Text[:span.Start], s.spanText(i), s.Text[span.End:]
				if span.Kind == Number || alternative.MatchString(text) || strings.HasSuffix(text, "->") {
					continue // compared by value, see package entity; in any form
				}
				for _, changed := range []string{"", text + "\n" + text, "ж" + text[min(len(text), 1):]} {
					_, err := s.Verify(lasting, before+changed+after)
					assert.ErrorIs(t, err, ErrLost, "%q for %q in %q", changed, text, s.Text)
				}
			}
		}
	}
}

// Nothing of prose is a span but numbers and signs, which the model sees.
func TestCorpusProse(t *testing.T) {
	lines, err := corpustest.Read()
	require.NoError(t, err)
	for _, l := range lines {
		for i, span := range must(must(Parse(lasting, l.Text, Text)).In(lasting, l.Lang)).Spans {
			assert.True(t, l.Kind != "prose" || span.Kind.isSoft(), "%s: span %d is %v", l.Text, i, span)
		}
	}
}

// Every part of the corpus is in spans: what should come back as it is never depends on the
// model alone. Markers of lists, such as "- [x]", are left to package segment.
func TestCorpusSpans(t *testing.T) {
	lines, err := corpustest.Read()
	require.NoError(t, err)
	for _, l := range lines {
		if l.Format != "text" {
			continue // tags are cut off: see html_test.go
		}
		kept := []byte(l.Text)
		for _, span := range must(must(Parse(lasting, l.Text, Text)).In(lasting, l.Lang)).Spans {
			copy(kept[span.Start:], strings.Repeat(" ", span.End-span.Start))
		}
		for _, p := range l.Parts {
			assert.Empty(t, strings.Trim(string(kept[p[0]:p[1]]), "-:.>x \n"), "%s: %s", l.Kind, l.Text)
		}
	}
}
