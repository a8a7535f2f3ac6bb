package translate

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
)

// ledger is a [Ceiling] that records its calls.
type ledger struct {
	mu                sync.Mutex // guards the rest
	refuse            error
	callers           []string
	expected, decoded int
	open              int
}

func (l *ledger) Decode(caller string, expected int) (func(int), error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuse != nil {
		return nil, l.refuse
	}
	l.callers, l.expected = append(l.callers, caller), l.expected+expected
	l.open++
	return func(decoded int) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.open--
		l.decoded += decoded
	}, nil
}

// Decoded tokens count once per beam, including retries and the maximum cost of a request that ends early. Answers without the
// engine do not count.
func TestCeiling(t *testing.T) {
	const text = "abc" // 5 tokens with the language and the end; 4 of them in the translation
	own := len(tokensOf("ABC"))
	for _, test := range []struct {
		name    string
		request func(*Request)
		decode  func(string, engine.Job) (string, bool)
		yield   error
		decoded int
	}{
		{name: "one beam", decoded: 5 + own},
		{name: "four beams", request: func(r *Request) { r.Options.Beams = 4 }, decoded: 4 * (5 + own)},
		{name: "two languages", request: func(r *Request) { r.To = []string{"fr", "ja"} }, decoded: 2 * (5 + own)},
		{name: "its own language", request: func(r *Request) { r.To = []string{"en"} }},
		{name: "no letters", request: func(r *Request) { r.Records[0].Text = "--" }},
		{name: "two tries", decode: func(text string, job engine.Job) (string, bool) {
			return strings.ToUpper(text), job.Search.MaxLength < 41
		}, decoded: 2 * (5 + own)},
		{name: "an answer that nobody takes", request: func(r *Request) { r.Records = append(r.Records, Record{"2", "abd"}) },
			yield: errors.New("gone"), decoded: 5 + own + 5 + 40},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := &ledger{}
			cfg := config(runes{}, &upper{decode: test.decode})
			cfg.Ceiling = l
			req := texts(text)
			req.Caller, req.Flagged = "somebody", true
			if test.request != nil {
				test.request(&req)
			}
			err := cfg.start(t).Stream(t.Context(), req, func(int, Result) error { return test.yield })
			require.ErrorIs(t, err, test.yield)
			assert.Equal(t, test.decoded, l.decoded)
			assert.Zero(t, l.open, "each is ended")
			for _, caller := range l.callers {
				assert.Equal(t, "somebody", caller)
			}
		})
	}
}

// A caller without tokens left gets nothing decoded, by one model or by several.
func TestCeilingRefuses(t *testing.T) {
	full := errors.New("used up")
	eng := &upper{}
	cfg := config(runes{}, eng)
	cfg.Ceiling = &ledger{refuse: full}
	_, err := cfg.start(t).Translate(t.Context(), texts("abc"))
	require.ErrorIs(t, err, full)
	assert.Empty(t, eng.requests)

	c := chainOf(t, map[pair][]string{{"en", "fr"}: {"a>ja", "b>fr"}}, func(_ *chained, cfg *Config) { cfg.Ceiling = &ledger{refuse: full} })
	_, err = c.Translate(context.Background(), texts("abc"))
	require.ErrorIs(t, err, full)
}
