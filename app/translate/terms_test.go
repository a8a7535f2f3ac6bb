package translate

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/app/translate/cache"
	"dragoman/model/search"
)

// withTerms returns the configuration of a model that writes capitals and places the phrases of the search: at the end, or at
// their place in the source.
func withTerms(eng *upper) testConfig {
	if eng.decode == nil {
		eng.decode = placing
	}
	cfg := config(runes{}, eng)
	cfg.Spec.VocabSize = 1 << 22
	return cfg
}

func placing(text string, job engine.Job) (string, bool) {
	out := strings.ToUpper(text)
	for _, phrase := range job.Phrases {
		word := runes{}.Decode(phrase.Forms[0])
		if strings.Contains(text, word) {
			out = strings.Replace(out, strings.ToUpper(word), word, 1)
		} else {
			out += " " + word
		}
	}
	return out, false
}

// tries returns the decoded texts, with the phrases to place and the beams.
func tries(eng *upper) (list []string) {
	for _, r := range eng.requests {
		for _, job := range r.Jobs {
			try := runes{}.Decode(job.Source)
			for _, phrase := range job.Phrases {
				try += fmt.Sprintf(" +%s/%d", runes{}.Decode(phrase.Forms[0]), job.Search.Beams)
			}
			list = append(list, try)
		}
	}
	return list
}

func TestTermsAreTriedInOrder(t *testing.T) {
	lose := func(string, engine.Job) (string, bool) { return "A CAT", false }
	for name, test := range map[string]struct {
		text   string
		terms  []Term
		decode func(string, engine.Job) (string, bool)
		beams  int // that are allowed
		want   string
		flags  Flags
		tries  []string
	}{
		"no term":            {"a dog", []Term{{"cat", "Kater"}}, nil, 4, "A DOG", 0, []string{"a dog"}},
		"the model's own":    {"a cat", []Term{{"cat", "CAT"}}, nil, 4, "A CAT", 0, []string{"a cat"}},
		"placed":             {"a cat", []Term{{"cat", "Kater"}}, nil, 4, "A CAT Kater", 0, []string{"a cat", "a cat +Kater/4", "a Kater +Kater/4"}},
		"two":                {"a cat, dog", []Term{{"cat", "Kater"}, {"dog", "DOG"}}, nil, 9, "A Kater, DOG", 0, []string{"a cat, dog", "a cat, dog +Kater/8 +DOG/8", "a Kater, DOG +Kater/8 +DOG/8"}},
		"stays as it is":     {"a Cat", []Term{{"Cat", "Cat"}}, nil, 4, "A Cat", 0, []string{"a Cat", "a Cat +Cat/4"}},
		"too few beams":      {"a cat", []Term{{"cat", "Kater"}}, nil, 2, "A Kater", 0, []string{"a cat", "a [1]"}},
		"more than a search": {"a cat", []Term{{"cat", strings.Repeat("Kater", 5)}}, nil, 4, "A " + strings.Repeat("Kater", 5), 0, []string{"a cat", "a [1]"}},
		"lost": {"a cat", []Term{{"cat", "Kater"}}, lose, 2, "A CAT", GlossaryMissed,
			[]string{"a cat", "a [1]", "a XA1", "a <1>", "a #1"}},
		"nothing but a term": {"cat", []Term{{"cat", "Kater"}}, nil, 4, "Kater", 0, nil},
		"beside markup":      {"a cat {x}", []Term{{"cat", "Kater"}}, nil, 4, "A CAT {x} Kater", 0, []string{"a cat [1]", "a cat [1] +Kater/4", "a Kater [1] +Kater/4"}},
	} {
		t.Run(name, func(t *testing.T) {
			eng := &upper{decode: test.decode}
			cfg := withTerms(eng)
			cfg.ModelConfig.Limits.Beams = test.beams
			req := texts(test.text)
			req.Terms = test.terms
			got, err := cfg.start(t).Translate(t.Context(), req)
			require.NoError(t, err)
			assert.Equal(t, test.want, got[0].Text)
			assert.Equal(t, test.flags, got[0].Flags)
			assert.Equal(t, test.tries, tries(eng))
		})
	}
}

// Of two searches that place a term, the one with the better score is used, unless it has the term twice.
func TestTermsByScore(t *testing.T) {
	for name, test := range map[string]struct{ first, second outcome }{
		"better": {outcome{score: -1}, outcome{score: -0.5}},
		"once":   {outcome{score: -0.5, extra: 1}, outcome{score: -1}},
		"flags":  {outcome{score: -0.5, flags: GlossaryMissed}, outcome{score: -1, extra: 1}},
	} {
		assert.True(t, test.second.beats(&test.first, true), name)
		assert.False(t, test.first.beats(&test.second, true), name)
	}
	better, worse := outcome{score: -0.5}, outcome{score: -1}
	assert.False(t, better.beats(&worse, false), "scores of other ways mean nothing to each other")
}

func TestTermsAreRefused(t *testing.T) {
	long := strings.Repeat("x", 1025)
	for want, terms := range map[string][]Term{
		`glossary[1].source: "a" is there twice: leave one out`:                  {{"a", "b"}, {"a", "b"}},
		`glossary[0].source: "" is empty, or has white space at an end: write`:   {{"", "b"}},
		`glossary[0].target: " b" is empty, or has white space at an end: write`: {{"a", " b"}},
		`glossary[0].target: "b\nc" has control characters, such as a line end`:  {{"a", "b\nc"}},
		`glossary[0].source: "\xff" is not UTF-8`:                                {{"\xff", "b"}},
		`glossary[1].source: "` + long[:60]:                                      {{"b", "c"}, {long, "b"}},
	} {
		req := texts("a")
		req.Terms = terms
		_, err := withTerms(&upper{}).start(t).Translate(t.Context(), req)
		var e *Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, CodeInvalidOption, e.Code)
		assert.Contains(t, e.Error(), want)
	}
	req := texts("a cat")
	req.To, req.Terms = []string{"fr", "ja"}, []Term{{"cat", "chat"}}
	_, err := withTerms(&upper{}).start(t).Translate(t.Context(), req)
	assert.ErrorContains(t, err, "glossary[0].target: what \"cat\" becomes is in one language: ask for one target language")

	req.Terms = []Term{{"cat", "cat"}}
	got, err := withTerms(&upper{}).start(t).Translate(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, "A CAT", got[1].Text, "CAT is cat in capitals")
}

// Sentences without any of the terms share the cached translations without terms.
func TestTermsInTheCache(t *testing.T) {
	eng := &upper{}
	cfg := withTerms(eng)
	var err error
	cfg.Cache, err = cache.New(cache.Config{Bytes: 1 << 20})
	require.NoError(t, err)
	s := cfg.start(t)
	ask := func(text string, terms ...Term) Result {
		req := texts(text)
		req.Terms = terms
		got, err := s.Translate(t.Context(), req)
		require.NoError(t, err)
		return got[0]
	}
	cat := Term{"cat", "Kater"}
	assert.False(t, ask("a cat").Cached)
	assert.False(t, ask("a cat", cat).Cached)
	assert.Equal(t, "A CAT Kater", ask("a cat", cat).Text)
	assert.True(t, ask("a cat", cat, Term{"dog", "Hund"}).Cached)
	assert.False(t, ask("a cat", Term{"cat", "Katze"}).Cached)
	assert.True(t, ask("a cat", Term{"dog", "Hund"}).Cached)
	assert.Equal(t, "A CAT", ask("a cat").Text)
}

// The joints of pieces mark the ends of words and of sentences.
func TestJoints(t *testing.T) {
	joints := Joints(pieceList{"", "▁cat", "s", "'", "猫", ".", "▁", "5", "é", "▁Mr."})
	assert.Equal(t, search.Joints{0, search.Open, search.GoesOn | search.Open, 0, 0, search.Stop, 0,
		search.GoesOn | search.Open, search.GoesOn | search.Open, search.Stop}, joints)
}

type pieceList []string

func (l pieceList) Size() int                     { return len(l) }
func (l pieceList) Piece(id int64) (string, bool) { return l[id], l[id] != "" }

// On a route with several steps, the first step places the terms, and they stay in later steps.
func TestTermsOnAChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		req := texts("A cat.")
		req.Terms = []Term{{"cat", "Kater"}}
		got, err := chainOf(t, three, nil).Translate(t.Context(), req)
		require.NoError(t, err)
		assert.Equal(t, "A Kater. a b c", got[0].Text)
		assert.Zero(t, got[0].Flags)
		assert.Equal(t, "A Kater. a", got[0].Segments[0].Steps[0].Text)
		assert.Equal(t, "A cat.", got[0].Segments[0].Source)
	})
}
