package translate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
)

var two = map[pair][]string{{"en", "fr"}: {"a>ja", "b>fr"}}
var three = map[pair][]string{{"en", "fr"}: {"a>ja", "b>de", "c>fr"}}

// A sentence enters the next step as soon as it is done.
func TestChainMovesOnAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := chainOf(t, three, nil)
		begin := time.Now()
		got, err := c.Translate(t.Context(), texts("One.", "Two.", "Three.", "Four."))
		require.NoError(t, err)
		assert.Equal(t, []string{"One. a b c", "Two. a b c", "Three. a b c", "Four. a b c"}, textsOf(got))
		assert.Equal(t, 6*time.Second, time.Since(begin), "not 12")
		at := func(event string) int {
			for i, e := range c.events {
				if e == event {
					return i
				}
			}
			return -1
		}
		assert.Less(t, at("b One. a"), at("a Three."))
		assert.Less(t, at("c One. a b"), at("a Four."))
		assert.Equal(t, []string{"pipe", "7"}, []string{got[0].Model, got[0].Version})
		assert.Equal(t, []StepResult{
			{Model: "a", Version: "1", From: "en", To: "ja", Text: "One. a", Score: -0.5},
			{Model: "b", Version: "1", From: "ja", To: "de", Text: "One. a b", Score: -0.5},
			{Model: "c", Version: "1", From: "de", To: "fr", Text: "One. a b c", Score: -0.5},
		}, got[0].Segments[0].Steps)
		assert.Equal(t, "One.", got[0].Segments[0].Source)
		assert.Equal(t, -0.5, got[0].Score)
		assert.Equal(t, 6*time.Millisecond, got[0].Computed, "of all steps")
		for _, s := range c.steppers {
			assert.Equal(t, 4*2+len("One.Two.Three.Four."), s.tokens, "each engine knows what is to come")
		}
	})
}

// One model can be in several steps; each step has its own stream.
func TestChainOfOneModel(t *testing.T) {
	for name, routes := range map[string]map[pair][]string{
		"AA":  {{"en", "fr"}: {"a>ja", "a>fr"}},
		"ABA": {{"en", "fr"}: {"a>ja", "b>de", "a>fr"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := chainOf(t, routes, nil)
			got, err := c.Translate(t.Context(), texts("One.", "Two."))
			require.NoError(t, err)
			want := strings.ToLower(strings.Join(strings.Split(name, ""), " "))
			assert.Equal(t, []string{"One. " + want, "Two. " + want}, textsOf(got))
			assert.Equal(t, 1, c.acquired, "all models at once")
		})
	}
}

// If any steps are in the cache, the others are decoded, and nothing waits forever.
func TestChainWithCache(t *testing.T) {
	for known := range 8 { // bits of the cached steps
		t.Run(fmt.Sprintf("%03b", known), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kept := newCache(t)
				before := chainOf(t, map[pair][]string{{"en", "ja"}: {"a>ja"}, {"ja", "de"}: {"b>de"}, {"de", "fr"}: {"c>fr"}},
					func(_ *chained, cfg *Config) { cfg.Cache = kept })
				for i, req := range []Request{{From: "en", To: []string{"ja"}}, {From: "ja", To: []string{"de"}}, {From: "de", To: []string{"fr"}}} {
					if known&(1<<i) != 0 {
						req.Records = []Record{{Text: "One." + []string{"", " a", " a b"}[i]}}
						req.Whole = true
						_, err := before.Translate(t.Context(), req)
						require.NoError(t, err)
					}
				}
				c := chainOf(t, three, func(_ *chained, cfg *Config) { cfg.Cache = kept })
				req := texts("One.")
				req.Whole = true
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				got, err := c.Translate(ctx, req)
				require.NoError(t, err)
				assert.Equal(t, []string{"One. a b c"}, textsOf(got))
				for i, step := range got[0].Segments[0].Steps {
					assert.Equal(t, known&(1<<i) != 0, step.Cached, "step %d", i)
				}
				assert.Equal(t, known != 0, got[0].Cached)
				assert.Equal(t, known != 7, got[0].Decoded)
				assert.Len(t, c.events, 3-(known&1+known>>1&1+known>>2))

				c.events = nil // next time all steps are cached, beside a new text
				req.Records = append(req.Records, Record{Text: "New."})
				got, err = c.Translate(ctx, req)
				require.NoError(t, err)
				assert.Equal(t, []string{"One. a b c", "New. a b c"}, textsOf(got))
				assert.Len(t, c.events, 3)
			})
		})
	}
}

// Placeholders stay unchanged in all steps.
func TestChainKeepsMarkup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := chainOf(t, two, nil)
		got, err := c.Translate(t.Context(), formatted(texts(`<p>See <b>this</b> at {place} now.</p><p>And <a href="x">that</a>.</p>`), HTML))
		require.NoError(t, err)
		assert.Equal(t, `<p>See <b>this</b> at {place} now. a b</p><p>And <a href="x">that</a>. a b</p>`, got[0].Text)
		got, err = c.Translate(t.Context(), texts("Where is {place}?", "Write to x@example.com now."))
		require.NoError(t, err)
		assert.Equal(t, []string{"Where is {place}? a b", "Write to x@example.com now. a b"}, textsOf(got))
	})
}

// Each step has its own retries and parts.
func TestChainRetriesWithinAStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := 0
		c := chainOf(t, two, func(c *chained, _ *Config) {
			c.steppers["b"].decode = func(text string) string {
				if lost++; lost == 1 {
					return "nothing of it b"
				}
				return text + " b"
			}
		})
		got, err := c.Translate(t.Context(), texts("Go to {place} now."))
		require.NoError(t, err)
		assert.Equal(t, []string{"Go to {place} now. a b"}, textsOf(got))
		assert.Equal(t, 3, len(c.events), "once by a, twice by b: %q", c.events)

		// A sentence that is too long for the second model is split there.
		c = chainOf(t, two, func(c *chained, _ *Config) {
			c.steppers["a"].decode = func(string) string { return strings.Repeat("many words, ", 8) + "end." }
			c.steppers["b"].decode = strings.ToUpper
		})
		got, err = c.Translate(t.Context(), texts("Short."))
		require.NoError(t, err)
		assert.Equal(t, []string{strings.ToUpper(strings.Repeat("many words, ", 8) + "end.")}, textsOf(got))
		assert.Greater(t, len(c.events), 2)
		assert.Len(t, got[0].Segments[0].Steps, 2)
	})
}

// If a step returns an empty text, the next steps have nothing to do.
func TestChainOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := chainOf(t, three, func(c *chained, _ *Config) {
			c.steppers["a"].decode = func(text string) string { return text }
			c.steppers["b"].decode = func(text string) string {
				if strings.HasPrefix(text, "One") {
					return ""
				}
				return text + " b"
			}
		})
		got, err := c.Translate(t.Context(), texts("One thousand and one nights.", "Two."))
		require.NoError(t, err)
		assert.Equal(t, []string{"", "Two. b c"}, textsOf(got))
		assert.True(t, got[0].Flags.Has(Empty|SourceEcho), got[0].Flags.Names())
		assert.Len(t, got[0].Segments[0].Steps, 2)
		assert.Equal(t, SourceEcho, got[0].Segments[0].Steps[0].Flags)
		assert.Equal(t, Empty, got[0].Segments[0].Steps[1].Flags)
		assert.NotContains(t, c.events, "c ")
	})
}

// If an engine fails in any step, the request fails and the other streams end.
func TestChainFails(t *testing.T) {
	for _, name := range []string{"a", "b", "c"} {
		synctest.Test(t, func(t *testing.T) {
			c := chainOf(t, three, func(c *chained, _ *Config) { c.steppers[name].fails = "Two." })
			var yielded []int
			err := c.Stream(t.Context(), texts("One.", "Two.", "Three.", "Four."), func(i int, _ Result) error {
				yielded = append(yielded, i)
				return nil
			})
			require.ErrorIs(t, err, errEngine, name)
			assert.NotContains(t, yielded, 1)
			assert.NotContains(t, yielded, 3)
		})
	}
	synctest.Test(t, func(t *testing.T) {
		c := chainOf(t, three, nil)
		gone := errors.New("gone")
		err := c.Stream(t.Context(), texts("One.", "Two."), func(int, Result) error { return gone })
		require.ErrorIs(t, err, gone)
	})
}

func TestChainIsCancelled(t *testing.T) {
	for _, after := range []time.Duration{0, time.Second / 2, 3 * time.Second / 2, 5 * time.Second / 2} {
		synctest.Test(t, func(t *testing.T) {
			c := chainOf(t, three, nil)
			gone := errors.New("gone")
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(after, func() { cancel(gone) })
			_, err := c.Translate(ctx, texts("One.", "Two.", "Three."))
			require.ErrorIs(t, err, gone)
			_, err = c.Translate(ctx, texts("One.", "Two.", "Three."))
			require.ErrorIs(t, err, gone, "also before anything is planned")
		})
	}
}

// Models are released, however a request ends.
func TestChainIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := chainOf(t, two, func(_ *chained, cfg *Config) { cfg.MaxSentences, cfg.MaxTokens = 2, 50 })
		for code, req := range map[Code]Request{
			CodeTooManySentences: texts("One. Two. Three."),
			CodeTooManyTokens:    texts(strings.Repeat("a", 60)),
			CodeInvalidOption:    {From: "en", To: []string{"fr"}, Options: Options{Beams: 100}},
			CodeUnknownLanguage:  {From: "fr", To: []string{"en"}, Records: texts("One.").Records},
		} {
			_, err := c.Translate(t.Context(), req)
			refused, ok := errors.AsType[*Error](err)
			require.True(t, ok, err)
			assert.Equal(t, code, refused.Code)
		}
		c.refuse = errEngine
		_, err := c.Translate(t.Context(), texts("One."))
		require.ErrorIs(t, err, errEngine)
	})
}

// Each target language, and each language of a text, has its own models. A request acquires all models at once.
func TestRoutesOfManyModels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := chainOf(t, map[pair][]string{{"en", "fr"}: {"a>fr"}, {"en", "ja"}: {"a>fr", "b>ja"}, {"de", "fr"}: {"c>fr"}, {"de", "ja"}: {"c>ja"}},
			func(c *chained, _ *Config) { c.detector = byFirst{} })
		req := texts("en One.", "de Zwei.", "fr Trois.", "12")
		req.From, req.To = Auto, []string{"fr", "ja"}
		c.routes[pair{"fr", "ja"}] = []string{"b>ja"}
		got, err := c.Translate(t.Context(), req)
		require.NoError(t, err)
		assert.Equal(t, []string{"en One. a", "de Zwei. c", "fr Trois.", "12", "en One. a b", "de Zwei. c", "fr Trois. b", "12"}, textsOf(got))
		var by []string
		for _, r := range got {
			by = append(by, r.Model)
		}
		assert.Equal(t, []string{"a", "c", "", "", "pipe", "c", "b", ""}, by)
		assert.Equal(t, 1, c.acquired)
	})
}

// byFirst detects the language that the first word of a text names.
type byFirst struct{}

func (byFirst) Detect(text string) (string, float64, bool) {
	code, _, ok := strings.Cut(text, " ")
	if !ok {
		return "", 0, false
	}
	return code, 1, true
}

// A truncated step is flagged, with its numbers.
func TestChainTruncated(t *testing.T) {
	c := chainOf(t, two, nil)
	cut := &upper{decode: func(text string, _ engine.Job) (string, bool) { return text, true }}
	m := *c.models["a"]
	m.Engine = cut
	c.models["a"] = &m
	c.routes = map[pair][]string{{"en", "fr"}: {"a>ja", "a>fr"}}
	req := texts("One.")
	_, err := c.Translate(t.Context(), req)
	unfinished, ok := errors.AsType[*Error](err)
	require.True(t, ok, err)
	assert.Equal(t, CodeUnfinished, unfinished.Code)
	req.Flagged = true
	got, err := c.Translate(t.Context(), req)
	require.NoError(t, err)
	assert.True(t, got[0].Flags.Has(Truncated))
}
