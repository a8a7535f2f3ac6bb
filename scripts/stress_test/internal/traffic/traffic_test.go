package traffic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"dragoman/scripts/stress_test/internal/corpus"
)

// What is drawn has the distribution that it is said to have: a chi-square test.
func TestPopularity(t *testing.T) {
	tests := []struct {
		n      int
		lambda float64
		want   []float64 // probabilities, worked out by hand
	}{
		{1, 0.3, []float64{1}},
		{2, 0.3, []float64{1 / 1.3, 0.3 / 1.3}},
		{3, 0.3, []float64{1 / 1.345, 0.3 / 1.345, 0.045 / 1.345}},
		{3, 2, []float64{1. / 5, 2. / 5, 2. / 5}},
	}
	const draws = 20000
	for _, test := range tests {
		draw, seen := Popularity(test.n, test.lambda, rand.NewPCG(11, 0)), make([]float64, test.n)
		for range draws {
			seen[draw()]++
		}
		statistic := 0.0
		for k, p := range test.want {
			statistic += math.Pow(seen[k]-draws*p, 2) / (draws * p)
		}
		if test.n == 1 {
			assert.Zero(t, statistic)
			continue
		}
		p := distuv.ChiSquared{K: float64(test.n - 1)}.Survival(statistic)
		assert.Greater(t, p, 0.001, "n %d, lambda %v: seen %v", test.n, test.lambda, seen)
	}
	for _, lambda := range []float64{1e-9, 100} { // the bounds that the command line has
		assert.Less(t, Popularity(3, lambda, rand.NewPCG(1, 0))(), 3)
	}
}

// numbered is a corpus of texts that name themselves.
func numbered(from string, n int) corpus.Corpus {
	var c corpus.Corpus
	for i := range n {
		c = append(c, corpus.Sentence{From: from, To: "xx", Text: fmt.Sprint(from, i)})
	}
	return c
}

func models(pairs ...corpus.Pair) []Model {
	var list []Model
	for _, p := range pairs {
		list = append(list, Model{URL: "http://localhost", Pair: p})
	}
	return list
}

func TestDeck(t *testing.T) {
	c := append(numbered("en", 5), numbered("fr", 3)...)
	d, err := New(Config{Models: models(corpus.Pair{From: "en", To: "fr"}, corpus.Pair{From: "en", To: "ja"}, corpus.Pair{From: "fr", To: "en"}),
		Corpus: c, Records: 2, Seed: 1})
	require.NoError(t, err)

	seen := map[string]int{}
	for i := range 9 {
		o := d.Deal()
		assert.Equal(t, i%3, o.Model, "models take turns")
		texts := d.Texts(o)
		require.Len(t, texts, 2)
		for _, text := range texts {
			assert.Equal(t, d.Models()[o.Model].From, text[:2])
			seen[text]++
		}
	}
	assert.Equal(t, 12, seen["en0"]+seen["en1"]+seen["en2"]+seen["en3"]+seen["en4"])
	for text, n := range seen {
		assert.Contains(t, []int{2, 3}, n, "%s: texts come equally often", text)
	}
}

func TestDeckIsReproducible(t *testing.T) {
	texts := func(seed uint64) []string {
		d, err := New(Config{Models: models(corpus.Pair{From: "en", To: "fr"}, corpus.Pair{From: "auto", To: "fr"}),
			Corpus: numbered("en", 50), Records: 3, Lambda: 0.5, Seed: seed})
		require.NoError(t, err)
		var all []string
		for range 20 {
			all = append(all, d.Texts(d.Deal())...)
		}
		return all
	}
	assert.Equal(t, texts(1), texts(1))
	assert.NotEqual(t, texts(1), texts(2))
}

func TestDeckRefuses(t *testing.T) {
	en := corpus.Pair{From: "en", To: "fr"}
	tests := map[string]struct {
		cfg Config
		err string
	}{
		"no models":  {Config{Corpus: numbered("en", 1), Records: 1}, "needs a model"},
		"no records": {Config{Models: models(en), Corpus: numbered("en", 1)}, "at least one record"},
		"no corpus":  {Config{Models: models(en), Records: 1}, "no text to translate from en to fr"},
		"language":   {Config{Models: models(en), Corpus: numbered("ja", 1), Records: 1}, "only for [ja-xx]"},
		"auto":       {Config{Models: models(corpus.Pair{From: "auto", To: "ja"}), Corpus: numbered("ja", 1), Records: 1}, "from auto to ja"},
	}
	for name, test := range tests {
		_, err := New(test.cfg)
		assert.ErrorContains(t, err, test.err, name)
	}
}
