package translate

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/text/markup"
)

// cutTexts have features that the parts of a text may depend on: white space, lines, lists, markup over several sentences, ICU
// messages, terms in scripts without spaces.
var cutTexts = []string{
	"", " ", "\n", "1. ", "Good morning.", "Good morning. How are you? ", "A **bold claim. Is it** true?",
	"one\ntwo\n\nthree", "- first\n- second. Third.\n", "<b>One. Two.</b> Three.", "`code. More` text.\n```\nx. Y.\n```\n",
	"You have {n, plural, one {one file. Look} other {# files}}. Good.", "{n, plural, one {a file} other {files}}", "x {n, select, a {b} other {c}}",
	"今天很好。明天呢？", "Dr. Smith came. He 😀 left! 😀 ", "Line 1\\nLine 2. See https://example.com/a. OK.", "$1 and $2. Costs $3.", "[a. B](https://x.org). C",
}

// joinParts translates the parts of a text and joins the translations.
func joinParts(t testing.TB, s *Service, req Request, text string) string {
	req.Records = []Record{{Text: text}}
	cut, err := s.Cut(t.Context(), req)
	require.NoError(t, err)
	var source, out strings.Builder
	last := ""
	for i, p := range cut.Parts {
		source.WriteString(p.Text)
		if !p.Translated {
			continue
		}
		out.WriteString(cut.Between(i, last))
		results, err := s.Translate(t.Context(), cut.Of(req, p))
		require.NoError(t, err)
		last = results[0].Text
		out.WriteString(last)
	}
	require.Equal(t, text, source.String())
	out.WriteString(cut.Between(len(cut.Parts), last))
	return out.String()
}

// The joined translations of the parts of a text are the translation of the text.
func TestCut(t *testing.T) {
	s := service(t, runes{}, &upper{})
	random := rand.New(rand.NewPCG(1, 2))
	texts := append([]string(nil), cutTexts...)
	for range 300 {
		var text strings.Builder
		for range 1 + random.IntN(6) {
			part := cutTexts[random.IntN(len(cutTexts))]
			text.WriteString(part[:len(part)-len(part)*random.IntN(2)/2])
			text.WriteString([]string{"", " ", "\n", "  "}[random.IntN(4)])
		}
		texts = append(texts, strings.ToValidUTF8(text.String(), ""))
	}
	for _, text := range texts {
		req := Request{From: "en", To: []string{"fr"}, Records: []Record{{Text: text}}, Flagged: true}
		want, err := s.Translate(t.Context(), req)
		require.NoError(t, err)
		parsed, err := markup.Parse(t.Context(), text, markup.Text)
		require.NoError(t, err)
		if whole, err := parsed.Whole(t.Context()); err != nil || whole.Text != text {
			continue // in a text of this form a pair spans sentences, and a part does not see its other end
		}
		assert.Equal(t, want[0].Text, joinParts(t, s, req, text), "%q", text)
	}
}

func TestCutRefuses(t *testing.T) {
	s := service(t, runes{}, &upper{})
	for name, req := range map[string]Request{
		"no record":     {From: "en", To: []string{"fr"}},
		"two languages": {From: "en", To: []string{"fr", "de"}, Records: []Record{{Text: "a"}}},
		"HTML":          {From: "en", To: []string{"fr"}, Records: []Record{{Text: "a"}}, Format: HTML},
		"language":      {From: "en", To: []string{"xx"}, Records: []Record{{Text: "a"}}},
		"not UTF-8":     {From: "en", To: []string{"fr"}, Records: []Record{{Text: "\xff"}}},
		"model":         {From: "en", To: []string{"fr"}, Records: []Record{{Text: "a"}}, Model: "none"},
	} {
		_, err := s.Cut(t.Context(), req)
		var refused *Error
		assert.ErrorAs(t, err, &refused, name)
	}
}

// The same language, or none, has nothing to translate.
func TestCutOfWhatStays(t *testing.T) {
	s := service(t, runes{}, &upper{})
	cut, err := s.Cut(t.Context(), Request{From: "fr", To: []string{"fr"}, Records: []Record{{Text: "a. b"}}})
	require.NoError(t, err)
	assert.Equal(t, []Part{{Text: "a. b"}}, cut.Parts)
	assert.Equal(t, "a. b", cut.Between(1, ""))
}

func TestBeginningOfAPart(t *testing.T) {
	s := service(t, runes{}, &upper{})
	cut, err := s.Cut(t.Context(), Request{From: "en", To: []string{"fr"}, Records: []Record{{Text: "See https://example.com/a now"}}})
	require.NoError(t, err)
	require.Len(t, cut.Parts, 1)
	p := cut.Parts[0]
	assert.False(t, cut.Ended)
	for n, want := range map[int]string{0: "", 3: "See", 4: "See", 10: "See", 25: "See https://example.com/a", 28: "See https://example.com/a no"} {
		beginning := p.Beginning(n)
		assert.Equal(t, want, beginning.Text, n)
		assert.Equal(t, want != "", beginning.Translated, n)
	}
	assert.NotEqual(t, p.Key(), p.Beginning(25).Key())
	assert.Equal(t, p.Key(), p.Beginning(len(p.Text)).Key())
}
