package translate

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/app/translate/cache"
)

// cached returns a service with a cache, which other services may share.
func cached(t *testing.T, c *cache.Cache, eng Engine, change func(*testConfig)) *Service {
	cfg := config(runes{}, eng)
	cfg.Cache = c
	change(&cfg)
	s := cfg.start(t)
	return s
}

func newCache(t *testing.T) *cache.Cache {
	c, err := cache.New(cache.Config{Bytes: 1 << 20})
	require.NoError(t, err)
	return c
}

func same(*testConfig) {}

// marks returns for each result whether it was cached and decoded.
func marks(results []Result) []string {
	var list []string
	for _, r := range results {
		list = append(list, fmt.Sprintf("%s %t %t", r.Text, r.Cached, r.Decoded))
	}
	return list
}

func TestCacheAnswersWhatWasTranslated(t *testing.T) {
	eng, c := &upper{}, newCache(t)
	s := cached(t, c, eng, same)
	got, err := s.Translate(t.Context(), texts("one", "Two. Three."))
	require.NoError(t, err)
	assert.Equal(t, []string{"ONE false true", "TWO. THREE. false true"}, marks(got))

	// Only the missing sentences are decoded.
	got, err = s.Translate(t.Context(), texts("Two.", "Three. New.", "one", "Two.\n\nThree."))
	require.NoError(t, err)
	assert.Equal(t, []string{"TWO. true false", "THREE. NEW. true true", "ONE true false", "TWO.\n\nTHREE. true false"}, marks(got))
	assert.Equal(t, []string{"New."}, sources(eng.last()))
	assert.Equal(t, -0.5, got[0].Score)
	assert.Equal(t, []int{6, 4}, []int{got[0].SourceTokens, got[0].TargetTokens})

	// A request that the cache answers completely does not need the engine, which may be busy.
	eng.err = engine.ErrBusy
	got, err = s.Translate(t.Context(), texts("New.", "one"))
	require.NoError(t, err)
	assert.Equal(t, []string{"NEW.", "ONE"}, textsOf(got))
	assert.Len(t, eng.requests, 2)
	stats := c.Stats()
	assert.Equal(t, []uint64{5, 4}, []uint64{stats.Hits, stats.Misses})
}

// A cached translation is used only if all its inputs are equal.
func TestCacheTellsTranslationsApart(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*testConfig)
		req    Request
		hit    bool
	}{
		{"all the same", same, texts("one"), true},
		{"another priority", same, Request{From: "en", To: []string{"fr"}, Records: []Record{{"1", "one"}}, Priority: Low}, true},
		{"another model", func(c *testConfig) { c.Identity = "other" }, texts("one"), false},
		{"the format by its name", same, formatted(texts("one"), Text), true},
		{"another format", same, formatted(texts("one"), HTML), false},
		{"as a whole", same, Request{From: "en", To: []string{"fr"}, Records: []Record{{"1", "one"}}, Whole: true}, false},
		{"once", same, Request{From: "en", To: []string{"fr"}, Records: []Record{{"1", "one"}}, Once: true}, false},
		{"more beams", func(c *testConfig) { c.Search.Beams = 2 }, texts("one"), false},
		{"another length", func(c *testConfig) { c.Search.MaxLength = 11 }, texts("one"), false},
		{"another penalty", func(c *testConfig) { c.Search.LengthPenalty = 1e-9 }, texts("one"), false},
		{"another source language", same, Request{From: "ja", To: []string{"fr"}, Records: []Record{{"1", "one"}}}, false},
		{"another target language", same, Request{From: "en", To: []string{"ja"}, Records: []Record{{"1", "one"}}}, false},
		{"the languages exchanged", same, Request{From: "fr", To: []string{"en"}, Records: []Record{{"1", "one"}}}, false},
		{"another case", same, texts("One"), false},
		{"white space around", same, texts("  one\n"), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, eng := newCache(t), &upper{}
			_, err := cached(t, c, &upper{}, same).Translate(t.Context(), texts("one"))
			require.NoError(t, err)
			got, err := cached(t, c, eng, test.change).Translate(t.Context(), test.req)
			require.NoError(t, err)
			assert.Equal(t, test.hit, got[0].Cached)
			assert.Equal(t, !test.hit, got[0].Decoded)
			assert.Equal(t, !test.hit, len(eng.requests) == 1)
		})
	}
}

func formatted(req Request, f Format) Request {
	req.Format = f
	return req
}

// The same text with and without a placeholder.
func TestCacheTellsWhatIsKeptApart(t *testing.T) {
	c := newCache(t)
	s := cached(t, c, &upper{}, same)
	for text, format := range map[string]Format{"<p>a &lt;b&gt; c</p>": HTML, "<p>a <b>c</b></p>": HTML} {
		got, err := s.Translate(t.Context(), formatted(texts(text), format))
		require.NoError(t, err)
		assert.False(t, got[0].Cached, "%s", text)
	}
}

func TestCacheIsNotTouchedWithoutNeed(t *testing.T) {
	c := newCache(t)
	s := cached(t, c, &upper{}, same)
	got, err := s.Translate(t.Context(), texts("", " \t\u3000", "42"))
	require.NoError(t, err)
	assert.Equal(t, []string{" false false", " \t\u3000 false false", "42 false false"}, marks(got))
	got, err = s.Translate(t.Context(), Request{From: "en", To: []string{"en"}, Records: []Record{{"1", "one"}}})
	require.NoError(t, err)
	assert.Equal(t, []string{"one false false"}, marks(got))
	assert.Equal(t, cache.Stats{}, c.Stats())
}

// Failed sentences are not cached; finished sentences of the same request are.
func TestCacheHoldsNothingThatFailed(t *testing.T) {
	c, eng := newCache(t), &upper{err: errors.New("boom")}
	s := cached(t, c, eng, same)
	_, err := s.Translate(t.Context(), texts("one", "two"))
	assert.ErrorIs(t, err, eng.err)
	assert.Zero(t, c.Stats().Entries)

	eng.err = nil
	eng.decode = func(text string, _ engine.Job) (string, bool) {
		return strings.ToUpper(text), strings.Contains(text, "w")
	}
	got, err := s.Translate(t.Context(), texts("one", "two", "three"))
	var refused *Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "records[1].text", refused.Field)
	assert.Nil(t, got)
	assert.Equal(t, 3, c.Stats().Entries, "the flagged one too: it would come out the same")
	got, err = s.Translate(t.Context(), texts("one", "three"))
	require.NoError(t, err)
	assert.Equal(t, []string{"ONE true false", "THREE true false"}, marks(got))

	req := texts("two")
	req.Flagged = true
	got, err = s.Translate(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, []string{"TWO true false"}, marks(got))
	assert.Equal(t, Truncated, got[0].Flags)
}

func TestCacheInUseByMany(t *testing.T) {
	c := newCache(t)
	var wg sync.WaitGroup
	for range 8 {
		s := cached(t, c, &upper{}, same)
		wg.Go(func() {
			for i := range 200 {
				word := "a" + string(rune('a'+i%20))
				got, err := s.Translate(t.Context(), texts(word, "same"))
				if !assert.NoError(t, err) || !assert.Equal(t, strings.ToUpper(word), got[0].Text) {
					return
				}
			}
		})
	}
	wg.Wait()
	assert.Equal(t, 21, c.Stats().Entries)
}
