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

// The draws have the configured distribution: a chi-square test.
func TestPopularity(t *testing.T) {
	tests := []struct {
		n      int
		lambda float64
		want   []float64 // probabilities, calculated by hand
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
	for _, lambda := range []float64{1e-9, 100} { // the command line's bounds
		assert.Less(t, Popularity(3, lambda, rand.NewPCG(1, 0))(), 3)
	}
}

// numbered is a corpus of numbered texts.
func numbered(from string, n int) corpus.Corpus {
	var c corpus.Corpus
	for i := range n {
		c = append(c, corpus.Sentence{From: from, To: "xx", Text: fmt.Sprint(from, i)})
	}
	return c
}

func TestDeck(t *testing.T) {
	c := append(numbered("en", 5), numbered("fr", 3)...)
	pairs := []corpus.Pair{{From: "en", To: "fr"}, {From: "en", To: "ja"}, {From: "fr", To: "en"}}
	d, err := New(Config{Pairs: pairs, Corpus: c, Records: 2, Seed: 1})
	require.NoError(t, err)

	last := d.Order(8)
	seen := map[string]int{}
	for i := range 9 {
		o := d.Order(i)
		assert.Equal(t, pairs[i%3], o.Pair, "pairs take turns")
		require.Len(t, o.Texts, 2)
		for _, text := range o.Texts {
			assert.Equal(t, o.From, text[:2])
			seen[text]++
		}
	}
	assert.Equal(t, last, d.Order(8), "whatever the order of the calls")
	assert.Equal(t, 12, seen["en0"]+seen["en1"]+seen["en2"]+seen["en3"]+seen["en4"])
	for text, n := range seen {
		assert.Contains(t, []int{2, 3}, n, "%s: texts come equally often", text)
	}
}

// Models are drawn by their popularity, independently of the turns of the pairs.
func TestDeckOfModels(t *testing.T) {
	pairs := []corpus.Pair{{From: "en", To: "fr"}, {From: "fr", To: "en"}}
	cfg := Config{Models: 3, Pairs: pairs, Corpus: append(numbered("en", 5), numbered("fr", 3)...), Records: 1, Lambda: 0.3, Seed: 1}
	d, err := New(cfg)
	require.NoError(t, err)
	seen := map[int]int{}
	for i := range 1000 {
		o := d.Order(i)
		assert.Equal(t, pairs[i%2], o.Pair)
		seen[o.Model]++
	}
	assert.Len(t, seen, 3)
	assert.InDelta(t, 743, seen[0], 60)
	assert.InDelta(t, 223, seen[1], 60)

	cfg.Lambda = 0
	d, err = New(cfg)
	require.NoError(t, err)
	assert.Equal(t, []int{0, 1, 2, 0}, []int{d.Order(0).Model, d.Order(1).Model, d.Order(2).Model, d.Order(3).Model}, "models take turns")
}

func TestDeckIsReproducible(t *testing.T) {
	texts := func(seed uint64) []string {
		d, err := New(Config{Pairs: []corpus.Pair{{From: "en", To: "fr"}, {From: "auto", To: "fr"}},
			Corpus: numbered("en", 50), Records: 3, Lambda: 0.5, Seed: seed})
		require.NoError(t, err)
		var all []string
		for i := range 20 {
			all = append(all, d.Order(i).Texts...)
		}
		return all
	}
	assert.Equal(t, texts(1), texts(1))
	assert.NotEqual(t, texts(1), texts(2))
}

func TestDeckRefuses(t *testing.T) {
	for err, cfg := range map[string]Config{
		"no text to translate from en to fr": {Pairs: []corpus.Pair{{From: "en", To: "fr"}}},
		"only for [ja-xx]":                   {Pairs: []corpus.Pair{{From: "en", To: "fr"}}, Corpus: numbered("ja", 1)},
		"from auto to ja":                    {Pairs: []corpus.Pair{{From: "auto", To: "ja"}}, Corpus: numbered("ja", 1)},
	} {
		_, got := New(cfg)
		assert.ErrorContains(t, got, err)
	}
}
