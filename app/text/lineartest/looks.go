package lineartest

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Looks is a context that counts how often it is looked at, and ends with one of the looks. It is safe for concurrent use.
type Looks struct {
	context.Context
	end  context.CancelFunc
	last int

	mu    sync.Mutex // guards count
	count int
}

// Looked makes a context within another one that ends with look number last, from 1 on; 0 is never.
func Looked(within context.Context, last int) *Looks {
	l := &Looks{last: last}
	l.Context, l.end = context.WithCancel(within)
	return l
}

// Err implements [context.Context].
func (l *Looks) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count++; l.count == l.last {
		l.end()
	}
	return l.Context.Err()
}

// Count is how often the context was looked at.
func (l *Looks) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

// mostBetween are the bytes of a text that are gone through at most between two looks, on average.
const mostBetween = 8 << 10

// mostBehind is how often an ended context is looked at more: by what is unwound, and what is only begun.
const mostBehind = 8

// AssertLooks fails the test if work, which goes through a text of so many bytes, looks at its context too seldom, or goes on
// when that has ended in the middle: it returns the context's error then.
func AssertLooks(t *testing.T, what string, bytes int, work func(ctx context.Context) error) {
	t.Helper()
	all := Looked(t.Context(), 0)
	require.NoError(t, work(all), what)
	assert.GreaterOrEqual(t, all.Count(), bytes/mostBetween, "%s: looks at the context while going through %d bytes", what, bytes)
	ctx := Looked(t.Context(), all.Count()/2+1)
	err := work(ctx)
	require.ErrorIs(t, err, context.Canceled, "%s: returned for a context that ended with look %d of %d", what, ctx.last, all.Count())
	assert.LessOrEqual(t, ctx.Count(), ctx.last+mostBehind, "%s: it goes on when its context has ended with look %d", what, ctx.last)
}
