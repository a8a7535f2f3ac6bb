package translate

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
)

// wide returns a service whose searches keep as many hypotheses as beams says.
func wide(t *testing.T, beams int, eng Engine) *Service {
	cfg := config(runes{}, eng)
	cfg.Search.Beams = beams
	return cfg.start(t)
}

// numbered returns hypotheses with their numbers.
func numbered(text string, job engine.Job) (list []string) {
	for i := 2; i <= job.Search.Hypotheses; i++ {
		list = append(list, fmt.Sprintf("%s %s", strings.ToUpper(text), strings.Repeat("i", i)))
	}
	return list
}

// better returns n translations of texts.
func better(n int, list ...string) Request {
	req := texts(list...)
	req.Alternatives = n
	return req
}

func alternativesOf(list []Alternative) []string {
	var texts []string
	for _, a := range list {
		texts = append(texts, a.Text)
	}
	return texts
}

func TestAlternativesOfASentence(t *testing.T) {
	for _, test := range []struct {
		name   string
		text   string
		n      int
		others []string
		want   []string
	}{
		{"all", "a", 4, []string{"B", "C", "D"}, []string{"A", "B", "C", "D"}},
		{"no more than are wanted", "a", 2, []string{"B", "C", "D"}, []string{"A", "B"}},
		{"the best alone", "a", 1, []string{"B", "C", "D"}, []string{"A"}},
		{"the same text in other tokens", "a", 4, []string{"A ", "B", " B"}, []string{"A", "B"}},
		{"others instead of the same", "a", 2, []string{"A ", " A", "D"}, []string{"A", "D"}},
		{"without an end", "a", 4, []string{"B…", "C", "D…"}, []string{"A", "C"}},
		{"empty", "a", 4, []string{"", " ", "D"}, []string{"A", "D"}},
		{"a loop", "a", 4, []string{strings.Repeat("HA ", 12), "C", "D"}, []string{"A", "C", "D"}},
		{"another script", "one two three", 4, []string{"один два три четыре пять шесть", "C", "D"}, []string{"ONE TWO THREE", "C", "D"}},
		{"a number is lost", "at 17", 4, []string{"17 à", "à 18", "à"}, []string{"AT 17", "17 à"}},
		{"nothing to translate", "17", 4, nil, []string{"17"}},
		{"nothing", "", 4, nil, []string{""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			eng := &upper{others: func(string, engine.Job) []string { return test.others }}
			got, err := wide(t, 4, eng).Translate(t.Context(), better(test.n, test.text))
			require.NoError(t, err)
			assert.Equal(t, test.want, alternativesOf(got[0].Alternatives))
			assert.Equal(t, got[0].Text, got[0].Alternatives[0].Text)
			assert.LessOrEqual(t, len(eng.requests), 1, "nothing but what is decoded without them")
			for _, s := range got[0].Segments {
				assert.Equal(t, got[0].Alternatives, s.Alternatives)
			}

			without, err := wide(t, 4, &upper{}).Translate(t.Context(), texts(test.text))
			require.NoError(t, err)
			assert.Nil(t, without[0].Alternatives)
			got[0].Alternatives = nil
			for i := range got[0].Segments {
				got[0].Segments[i].Alternatives = nil
			}
			assert.Equal(t, without, got, "the plain answer")
		})
	}
}

func TestAlternativesHaveScores(t *testing.T) {
	got, err := wide(t, 3, &upper{others: numbered}).Translate(t.Context(), better(3, "a"))
	require.NoError(t, err)
	assert.Equal(t, []Alternative{{Text: "A", Score: -0.5}, {Text: "A ii", Score: -0.75}, {Text: "A iii", Score: -1}}, got[0].Alternatives)
}

// The k-th alternative of a text consists of the k-th of each sentence, or of its best.
func TestAlternativesOfSeveralSentences(t *testing.T) {
	eng := &upper{others: func(text string, job engine.Job) []string {
		if text == "Two." {
			return []string{"DEUX."}
		}
		return numbered(text, job)
	}}
	got, err := wide(t, 4, eng).Translate(t.Context(), better(3, " One.\n\nTwo.\n3"))
	require.NoError(t, err)
	assert.Equal(t, []string{" ONE.\n\nTWO.\n3", " ONE. ii\n\nDEUX.\n3", " ONE. iii\n\nTWO.\n3"}, alternativesOf(got[0].Alternatives))
	assert.Equal(t, []string{"TWO.", "DEUX."}, alternativesOf(got[0].Segments[1].Alternatives))
}

func TestAlternativesKeepMarkup(t *testing.T) {
	eng := &upper{others: func(text string, job engine.Job) []string {
		return []string{"<A>", "un " + strings.TrimSpace(text[strings.Index(text, "one")+3:]), "un"}
	}}
	req := better(4, "<p title=\"x\">one <b>two</b></p>\n<hr>\n<p>one {place}</p>")
	req.Format = HTML
	got, err := wide(t, 4, eng).Translate(t.Context(), req)
	require.NoError(t, err)
	require.NotEmpty(t, got[0].Alternatives)
	for _, a := range got[0].Alternatives {
		assert.True(t, strings.HasPrefix(a.Text, "<p title=\"x\">") && strings.Contains(a.Text, "</b></p>\n<hr>\n<p>"), a.Text)
		assert.Contains(t, a.Text, "{place}</p>")
	}
}

// If the search is too narrow, the plain translation stays, and a wider search adds alternatives.
func TestAlternativesOfAWiderSearch(t *testing.T) {
	eng := &upper{
		decode: func(text string, job engine.Job) (string, bool) {
			return fmt.Sprintf("%s %s", strings.ToUpper(text), strings.Repeat("o", job.Search.Beams)), false
		},
		others: numbered,
	}
	s := wide(t, 2, eng)
	got, err := s.Translate(t.Context(), better(4, "Ab. Cd."))
	require.NoError(t, err)
	assert.Equal(t, "AB. oo CD. oo", got[0].Text)
	assert.Equal(t, []string{"AB. oo CD. oo", "AB. oooo CD. oooo", "AB. ii CD. ii", "AB. iii CD. iii"}, alternativesOf(got[0].Alternatives))
	require.Len(t, eng.requests, 2)
	for i, want := range []struct{ beams, hypotheses int }{{2, 0}, {4, 4}} {
		require.Len(t, eng.requests[i].Jobs, 2)
		for _, job := range eng.requests[i].Jobs {
			assert.Equal(t, want.beams, job.Search.Beams)
			assert.Equal(t, want.hypotheses, job.Search.Hypotheses)
		}
	}
	assert.Equal(t, 10+20, eng.requests[0].Tokens, "the engine knows what is to come")

	without, err := s.Translate(t.Context(), texts("Ab. Cd."))
	require.NoError(t, err)
	assert.Equal(t, without[0].Text, got[0].Text)
}

// The wider search uses the strategy of the plain translation.
func TestAlternativesOfASentenceThatWasTriedAgain(t *testing.T) {
	eng := &upper{
		decode: func(text string, job engine.Job) (string, bool) {
			if job.Search.NoRepeatNgramSize == 0 {
				return strings.Repeat("HA ", 12), false
			}
			return strings.ToUpper(text), false
		},
		others: numbered,
	}
	got, err := wide(t, 1, eng).Translate(t.Context(), better(3, "a"))
	require.NoError(t, err)
	assert.Equal(t, []string{"A", "A ii", "A iii"}, alternativesOf(got[0].Alternatives))
	assert.Zero(t, got[0].Flags)
	require.Len(t, eng.requests, 3)
	assert.Equal(t, strictNgram, eng.last().Jobs[0].Search.NoRepeatNgramSize)
	assert.Equal(t, 3, eng.last().Jobs[0].Search.Beams)
}

// Alternatives of a sentence that is translated in parts consist of alternatives of its parts.
func TestAlternativesOfParts(t *testing.T) {
	for beams := range 4 {
		eng := &upper{
			decode: func(text string, _ engine.Job) (string, bool) { return strings.ToUpper(text), len(text) > 14 },
			others: numbered,
		}
		got, err := wide(t, 1+beams, eng).Translate(t.Context(), better(2, "one two three, four five six"))
		require.NoError(t, err)
		assert.Equal(t, []string{"ONE TWO THREE, FOUR FIVE SIX", "ONE TWO THREE, ii FOUR FIVE SIX ii"}, alternativesOf(got[0].Alternatives))
		assert.Equal(t, []Alternative{{Text: got[0].Text, Score: -0.5}, {Text: got[0].Alternatives[1].Text, Score: -0.75}}, got[0].Segments[0].Alternatives)
	}
}

// A route of several steps has the alternatives of its last step.
func TestAlternativesOfAChain(t *testing.T) {
	for name, routes := range map[string]map[pair][]string{
		"three models": three,
		"one model":    {{"en", "fr"}: {"a>ja", "a>fr"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := chainOf(t, routes, nil)
				plain, err := c.Translate(t.Context(), texts("One.", "Two."))
				require.NoError(t, err)
				for _, s := range c.steppers {
					s.others = func(text string) []string { return []string{text + " ii"} }
				}
				got, err := c.Translate(t.Context(), better(2, "One.", "Two."))
				require.NoError(t, err)
				assert.Equal(t, textsOf(plain), textsOf(got))
				last := got[0].Segments[0].Steps[len(got[0].Segments[0].Steps)-2].Text
				assert.Equal(t, []Alternative{{Text: got[0].Text, Score: -0.5}, {Text: last + " ii", Score: -0.75}}, got[0].Alternatives)
				assert.Equal(t, got[0].Alternatives, got[0].Segments[0].Alternatives)
			})
		})
	}
}

// A plain translation in the cache does not replace alternatives. Alternatives are not cached.
func TestAlternativesAndTheCache(t *testing.T) {
	eng, c := &upper{others: numbered}, newCache(t)
	s := cached(t, c, eng, func(c *testConfig) { c.Search.Beams = 2 })
	first, err := s.Translate(t.Context(), texts("one"))
	require.NoError(t, err)
	for range 2 {
		got, err := s.Translate(t.Context(), better(2, "one"))
		require.NoError(t, err)
		assert.Equal(t, []string{"ONE", "ONE ii"}, alternativesOf(got[0].Alternatives))
		assert.Equal(t, first[0].Text, got[0].Text)
		assert.Equal(t, []bool{false, true}, []bool{got[0].Cached, got[0].Decoded})
	}
	require.Len(t, eng.requests, 3)

	got, err := s.Translate(t.Context(), better(2, "two")) // the plain translation is cached
	require.NoError(t, err)
	plain, err := s.Translate(t.Context(), texts("one", "two"))
	require.NoError(t, err)
	assert.Equal(t, []string{"ONE true false", "TWO true false"}, marks(plain))
	assert.Equal(t, plain[1].Text, got[0].Text)
	assert.Nil(t, plain[1].Alternatives)
	assert.Len(t, eng.requests, 4)
}

func TestAlternativesAreBounded(t *testing.T) {
	s := wide(t, 1, &upper{others: numbered}) // at most 4 beams
	for _, n := range []int{-1, 5, 1 << 40, math.MaxInt, math.MinInt} {
		for _, list := range [][]string{{"a"}, nil} {
			_, err := s.Translate(t.Context(), better(n, list...))
			var refused *Error
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, CodeInvalidOption, refused.Code)
			assert.Equal(t, "alternatives", refused.Field)
		}
	}
	_, err := s.Translate(t.Context(), better(5, "a"))
	assert.EqualError(t, err, "alternatives: 5 translations of each text are wanted, the best one included: ask for 4 or fewer, for so many beams are allowed (MAX_BEAMS)")
	got, err := s.Translate(t.Context(), better(4, "a"))
	require.NoError(t, err)
	assert.Len(t, got[0].Alternatives, 4)

	// A text that is in the target language already needs no model, which might refuse it.
	req := better(5, "a")
	req.To = []string{"en"}
	got, err = s.Translate(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, []Alternative{{Text: "a"}}, got[0].Alternatives)
}

// Sentences that are decoded once, without retries, have alternatives as well.
func TestAlternativesOnce(t *testing.T) {
	req := better(3, "a")
	req.Once = true
	got, err := wide(t, 1, &upper{others: numbered}).Translate(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, []string{"A", "A ii", "A iii"}, alternativesOf(got[0].Alternatives))
}
