package translate

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/app/text/markup/corpustest"
)

// corpusService returns a service that decodes with eng, with the corpus's languages and no relevant limits.
func corpusService(t *testing.T, eng Engine) *Service {
	cfg := config(runes{}, eng)
	cfg.Spec.VocabSize = 105
	cfg.Languages = []string{"de", "en", "fr", "ja", "zh"}
	cfg.Search.MaxLength, cfg.Limits.MaxLength, cfg.Spec.MaxPositions = 4000, 4000, 4000
	s := cfg.start(t)
	return s
}

// translateLine translates a line of the corpus into another language.
func translateLine(t *testing.T, s *Service, l corpustest.Line) Result {
	to := "fr"
	if l.Lang == to {
		to = "en"
	}
	results, err := s.Translate(t.Context(), Request{
		From: l.Lang, To: []string{to}, Records: []Record{{Text: l.Text}}, Format: Format(l.Format), Flagged: true,
	})
	require.NoError(t, err)
	return results[0]
}

// letterAlone matches a letter by itself, whose case a translation may change.
var letterAlone = regexp.MustCompile(`\b[A-Za-z]\b`)

// shout writes text in capitals, and uncased letters as 字.
func shout(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Lo, r) {
			return '字'
		}
		return r
	}, strings.ToUpper(text))
}

// englishNumber matches numbers in words that mean something else in French, or nothing: billion is another power of ten.
var englishNumber = regexp.MustCompile(`billion|hundred degrees|ve pounds`)

// With an engine that writes capitals, all prose is translated and all placeholders stay.
func TestCorpusIsKeptAndProseTranslated(t *testing.T) {
	lines, err := corpustest.Read()
	require.NoError(t, err)
	s := corpusService(t, &upper{decode: func(text string, _ engine.Job) (string, bool) { return shout(text), false }})
	for _, l := range lines {
		r := translateLine(t, s, l)
		want, got := l.Prose(shout), r.Text
		if l.Lang == "ja" || l.Lang == "zh" { // French has spaces between sentences
			want, got = strings.ReplaceAll(want, " ", ""), strings.ReplaceAll(got, " ", "")
		}
		assert.Equal(t, letterAlone.ReplaceAllStringFunc(want, strings.ToUpper), letterAlone.ReplaceAllStringFunc(got, strings.ToUpper), "%s: %s", l.Kind, l.Text)
		if !englishNumber.MatchString(l.Text) {
			assert.Zero(t, r.Flags&MarkupLost, l.Text)
		}
	}
}

// If an engine damages anything other than letters, it is restored or flagged.
func TestCorpusDamageIsFlagged(t *testing.T) {
	lines, err := corpustest.Read()
	require.NoError(t, err)
	letters := func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsSpace(r) {
			return unicode.ToUpper(r)
		}
		return -1
	}
	for name, decode := range map[string]func(string) string{
		"drops signs":   func(text string) string { return strings.Map(letters, text) },
		"adds a marker": func(text string) string { return text + " <1>" },
		"says it twice": func(text string) string { return text + " " + text },
		"adds spaces":   func(text string) string { return strings.Join(strings.Split(text, ""), " ") },
		"says nothing":  func(string) string { return "" },
		"turns brackets": func(text string) string {
			return strings.NewReplacer("[", "]", "]", "[", "<", "{", ">", "}", "{", "<", "}", ">").Replace(text)
		},
	} {
		s := corpusService(t, &upper{decode: func(text string, _ engine.Job) (string, bool) { return decode(text), false }})
		for _, l := range lines {
			if r := translateLine(t, s, l); r.Flags == 0 {
				if len(l.Damage(letterAlone.ReplaceAllStringFunc(r.Text, strings.ToLower))) > 0 {
					assert.Empty(t, l.Damage(r.Text), "%s: %s: %s", name, l.Text, r.Text)
				}
			}
		}
	}
}
