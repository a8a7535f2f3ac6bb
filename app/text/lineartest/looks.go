package lineartest

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Looks is a context that counts its checks, and ends at one of them. It is safe for concurrent use.
type Looks struct {
	context.Context
	end  context.CancelFunc
	last int

	mu    sync.Mutex // guards count
	count int
}

// Looked returns a context within another one that ends at check number last, from 1 on, or never if last is 0.
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

// Count returns the number of checks of the context.
func (l *Looks) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

// mostBetween is the maximum average number of bytes between two checks.
const mostBetween = 8 << 10

// mostBehind is the maximum number of checks of an ended context, by work being unwound or just begun.
const mostBehind = 8

// AssertLooks fails the test if work, which goes through a text of the given number of bytes, checks its context too rarely, or
// does not stop with the context's error if it ends midway.
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
