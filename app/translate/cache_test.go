package translate

import (
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/cache"
	"dragoman/app/engine"
)

// cached makes a service with a cache, which other services may share.
func cached(t *testing.T, c *cache.Cache, eng Engine, change func(*Config)) *Service {
	cfg := config(runes{}, eng)
	cfg.Cache, cfg.Model = c, "model"
	change(&cfg)
	s, err := New(cfg)
	require.NoError(t, err)
	return s
}

func newCache(t *testing.T) *cache.Cache {
	c, err := cache.New(cache.Config{Bytes: 1 << 20})
	require.NoError(t, err)
	return c
}

func same(*Config) {}

// texts makes a request from en to fr.
func texts(list ...string) Request {
	req := Request{From: "en", To: "fr"}
	for _, text := range list {
		req.Records = append(req.Records, Record{"id of " + text, text})
	}
	return req
}

// sources are the texts that the engine was given last.
func (u *upper) sources() []string {
	var list []string
	for _, job := range u.request.Jobs {
		list = append(list, runes{}.Decode(job.Source))
	}
	return list
}

func TestCacheAnswersWhatWasTranslated(t *testing.T) {
	eng, c := &upper{}, newCache(t)
	s := cached(t, c, eng, same)
	got, err := s.Translate(t.Context(), texts("one", "two"))
	require.NoError(t, err)
	assert.Equal(t, []Result{
		{Record: Record{"id of one", "ONE"}, Decoded: true}, {Record: Record{"id of two", "TWO"}, Decoded: true},
	}, got)

	// The ids are the request's own, and only what is missing is decoded.
	got, err = s.Translate(t.Context(), Request{From: "en", To: "fr",
		Records: []Record{{"a", "two"}, {"b", "new"}, {"c", "one"}, {"d", "two"}}})
	require.NoError(t, err)
	assert.Equal(t, []Result{
		{Record: Record{"a", "TWO"}, Cached: true}, {Record: Record{"b", "NEW"}, Decoded: true},
		{Record: Record{"c", "ONE"}, Cached: true}, {Record: Record{"d", "TWO"}, Cached: true},
	}, got)
	assert.Equal(t, []string{"new"}, eng.sources())

	// Where all is there, the engine is left alone, be it as busy as it likes.
	eng.err = engine.ErrBusy
	got, err = s.Translate(t.Context(), texts("new", "one"))
	require.NoError(t, err)
	assert.Equal(t, []Record{{"id of new", "NEW"}, {"id of one", "ONE"}}, records(got))
	assert.Equal(t, 2, eng.calls)
	stats := c.Stats()
	assert.Equal(t, []uint64{5, 3}, []uint64{stats.Hits, stats.Misses})
}

// A translation is taken from the cache only where everything that made it is equal.
func TestCacheTellsTranslationsApart(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Config)
		req    Request
		hit    bool
	}{
		{"all the same", same, texts("one"), true},
		{"another priority", same, Request{From: "en", To: "fr", Records: []Record{{"1", "one"}}, Priority: engine.Low}, true},
		{"another model", func(c *Config) { c.Model = "other" }, texts("one"), false},
		{"more beams", func(c *Config) { c.Search.Beams = 2 }, texts("one"), false},
		{"another length", func(c *Config) { c.Search.MaxLength = 11 }, texts("one"), false},
		{"another penalty", func(c *Config) { c.Search.LengthPenalty = 1e-9 }, texts("one"), false},
		{"another source language", same, Request{From: "ja", To: "fr", Records: []Record{{"1", "one"}}}, false},
		{"another target language", same, Request{From: "en", To: "ja", Records: []Record{{"1", "one"}}}, false},
		{"the languages exchanged", same, Request{From: "fr", To: "en", Records: []Record{{"1", "one"}}}, false},
		{"another case", same, texts("One"), false},
		{"white space", same, texts("one "), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, eng := newCache(t), &upper{}
			_, err := cached(t, c, &upper{}, same).Translate(t.Context(), texts("one"))
			require.NoError(t, err)
			got, err := cached(t, c, eng, test.change).Translate(t.Context(), test.req)
			require.NoError(t, err)
			assert.Equal(t, test.hit, got[0].Cached)
			assert.Equal(t, !test.hit, got[0].Decoded)
			assert.Equal(t, !test.hit, eng.calls == 1)
		})
	}
}

func TestCacheIsNotTouchedWithoutNeed(t *testing.T) {
	c := newCache(t)
	s := cached(t, c, &upper{}, same)
	got, err := s.Translate(t.Context(), texts("", " \t\u3000"))
	require.NoError(t, err)
	assert.Equal(t, []Result{{Record: Record{"id of ", ""}}, {Record: Record{"id of  \t\u3000", " \t\u3000"}}}, got)
	got, err = s.Translate(t.Context(), Request{From: "en", To: "en", Records: []Record{{"1", "one"}}})
	require.NoError(t, err)
	assert.Equal(t, []Result{{Record: Record{"1", "one"}}}, got)
	require.NoError(t, s.WarmUp(t.Context()))
	assert.Equal(t, cache.Stats{}, c.Stats())

	// What the tokenizer drops shows after the look-up only.
	_, err = s.Translate(t.Context(), texts("\u200b"))
	require.NoError(t, err)
	assert.Equal(t, cache.Stats{Misses: 1}, c.Stats())
}

func TestCacheHoldsNothingThatFailed(t *testing.T) {
	c, eng := newCache(t), &upper{err: errors.New("boom")}
	s := cached(t, c, eng, same)
	_, err := s.Translate(t.Context(), texts("one", "two"))
	assert.ErrorIs(t, err, eng.err)
	assert.Zero(t, c.Stats().Entries)

	// The one that has no end fails the request; the others need not be made again.
	eng.err, eng.truncated = nil, 2
	got, err := s.Translate(t.Context(), texts("one", "two", "three"))
	var refused *Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "records[1].text", refused.Field)
	assert.Nil(t, got)
	assert.Equal(t, 2, c.Stats().Entries)
	eng.truncated = 0
	got, err = s.Translate(t.Context(), texts("one", "two", "three"))
	require.NoError(t, err)
	assert.Equal(t, []string{"two"}, eng.sources())
	assert.Equal(t, []Record{{"id of one", "ONE"}, {"id of two", "TWO"}, {"id of three", "THREE"}}, records(got))
}

func TestCacheInUseByMany(t *testing.T) {
	c := newCache(t)
	var wg sync.WaitGroup
	for range 8 {
		s := cached(t, c, &upper{}, same)
		wg.Go(func() {
			for i := range 200 {
				letter := string(rune('a' + i%20))
				got, err := s.Translate(t.Context(), texts(letter, "same"))
				if !assert.NoError(t, err) || !assert.Equal(t, string(rune('A'+i%20)), got[0].Text) {
					return
				}
			}
		})
	}
	wg.Wait()
	assert.Equal(t, 21, c.Stats().Entries)
}
