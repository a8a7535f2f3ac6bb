package translate

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The next action after each flaw. All attempts translate 20 tokens into 20.
func TestJudge(t *testing.T) {
	plain := strategy{markers: unmasked}
	masked, strict := strategy{}, strategy{markers: unmasked, strict: true}
	placed, inPlace := strategy{markers: unmasked, terms: constrained}, strategy{markers: unmasked, terms: constrainedInPlace}
	marked := strategy{terms: asMarkers}
	with := func(change func(*attempt)) attempt {
		a := attempt{strategy: plain, source: 20, styles: 2}
		change(&a)
		return a
	}
	for name, test := range map[string]struct {
		attempt attempt
		want    verdict
	}{
		"nothing wrong":   {with(func(*attempt) {}), verdict{}},
		"an echo":         {with(func(a *attempt) { a.flags = SourceEcho }), verdict{}},
		"a wrong script":  {with(func(a *attempt) { a.flags = WrongScript }), verdict{}},
		"no text":         {with(func(a *attempt) { a.flags = Empty }), verdict{}},
		"cut off":         {with(func(a *attempt) { a.flags, a.longest = Truncated, 92 }), verdict{tryAgain, strategy{markers: unmasked, length: 92}}},
		"at the limit":    {with(func(a *attempt) { a.flags = Truncated }), verdict{tryAgain, strict}},
		"cut off, longer": {with(func(a *attempt) { a.flags, a.longest, a.length = Truncated, 92, 92 }), verdict{tryAgain, strategy{markers: unmasked, length: 92, strict: true}}},
		"cut off, strict": {with(func(a *attempt) { a.flags, a.strategy = Truncated, strict }), verdict{action: splitFiner}},
		"a loop cut off":  {with(func(a *attempt) { a.flags, a.longest = Truncated|Loop, 92 }), verdict{tryAgain, strict}},
		"a strict loop":   {with(func(a *attempt) { a.flags, a.strategy = Loop, strict }), verdict{action: splitFiner}},
		"a short one":     {with(func(a *attempt) { a.flags, a.strategy, a.source = Loop, strict, 15 }), verdict{}},
		"a deep one":      {with(func(a *attempt) { a.flags, a.strategy, a.depth = Loop, strict, 2 }), verdict{}},
		"parts left out":  {with(func(a *attempt) { a.flags = TooShort }), verdict{action: splitFiner}},
		"in few tokens":   {with(func(a *attempt) { a.flags, a.source = TooShort, 15 }), verdict{}},

		"a marker made up":       {with(func(a *attempt) { a.flags = MarkupLost }), verdict{tryAgain, strict}},
		"made up, strict":        {with(func(a *attempt) { a.flags, a.strategy = MarkupLost, strict }), verdict{}},
		"a number lost":          {with(func(a *attempt) { a.flags, a.kept = MarkupLost, true }), verdict{tryAgain, masked}},
		"with a marker":          {with(func(a *attempt) { a.flags, a.kept, a.strategy = MarkupLost, true, masked }), verdict{tryAgain, strategy{markers: 1}}},
		"with the last marker":   {with(func(a *attempt) { a.flags, a.kept, a.markers = MarkupLost, true, 1 }), verdict{action: splitAround}},
		"cut off and markup":     {with(func(a *attempt) { a.flags, a.kept, a.strategy = Truncated|MarkupLost, true, strict }), verdict{action: splitFiner}},
		"a number in a part":     {with(func(a *attempt) { a.flags, a.kept = TooShort|MarkupLost, true }), verdict{tryAgain, masked}},
		"a term before markup":   {with(func(a *attempt) { a.flags, a.kept, a.otherTerms = GlossaryMissed|MarkupLost, true, []strategy{placed} }), verdict{tryAgain, placed}},
		"no way left for a term": {with(func(a *attempt) { a.flags, a.kept = GlossaryMissed|MarkupLost, true }), verdict{}},

		"placed, and both are compared": {with(func(a *attempt) { a.strategy, a.otherTerms = placed, []strategy{inPlace, marked} }), verdict{tryAgain, inPlace}},
		"placed well":                   {with(func(a *attempt) { a.strategy, a.otherTerms = inPlace, []strategy{marked} }), verdict{}},
		"placed well before":            {with(func(a *attempt) { a.strategy, a.flags, a.otherTerms = inPlace, Loop, []strategy{marked} }), verdict{}},
		"placed badly":                  {with(func(a *attempt) { a.strategy, a.flags, a.best, a.otherTerms = inPlace, Loop, Loop, []strategy{marked} }), verdict{tryAgain, marked}},
		"marked": {with(func(a *attempt) {
			a.strategy, a.flags, a.otherTerms = marked, GlossaryMissed, []strategy{{markers: 1, terms: asMarkers}}
		}), verdict{}},
		"a marker lost": {with(func(a *attempt) {
			a.strategy, a.flags, a.otherTerms = marked, MarkupLost, []strategy{{markers: 1, terms: asMarkers}}
		}), verdict{tryAgain, strategy{markers: 1, terms: asMarkers}}},
	} {
		assert.Equal(t, test.want, judge(test.attempt), name)
	}
}

// A language model is asked again, and no other model is: it would answer the same.
func TestJudgeOfLanguageModels(t *testing.T) {
	for _, flags := range []Flags{Refused, Chatter, WrongLanguage, WrongScript, SourceEcho, Empty, TooShort, Chatter | MarkupLost} {
		a := attempt{flags: flags, source: 8, prompted: true, strategy: strategy{markers: unmasked}}
		for again := range mostAgain {
			next := a.strategy
			next.again++
			assert.Equal(t, verdict{tryAgain, next}, judge(a), "%s after %d", flags.Names(), again)
			a.strategy = next
		}
		a.flags &^= MarkupLost
		assert.Equal(t, verdict{}, judge(a), "%s in the end", flags.Names())
		assert.Equal(t, verdict{}, judge(attempt{flags: flags &^ MarkupLost, source: 8, strategy: strategy{markers: unmasked}}), "another model")
	}
	a := attempt{flags: Chatter | Loop, source: 8, prompted: true}
	assert.True(t, judge(a).strategy.strict, "a loop has a better remedy")
}
