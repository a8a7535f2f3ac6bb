package wait

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		has := make(map[string]int)
		l := Line[string]{
			Next:   func([]*Waiter[string], time.Time) int { return 0 },
			Change: func(of string, _ time.Time, n int) { has[of] += n },
			Free:   2,
		}
		take := func(ctx context.Context, of string, need int, front bool) <-chan error {
			l.Lock()
			defer l.Unlock()
			w, done := l.Join(of, need, front), make(chan error, 1)
			go func() { done <- l.Await(ctx, w) }()
			return done
		}
		require.NoError(t, <-take(t.Context(), "narrow", 1, false))
		errGone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		wide := take(ctx, "wide", 2, false)
		late := take(t.Context(), "late", 1, false)
		synctest.Wait()
		assert.Equal(t, map[string]int{"narrow": 1}, has, "the free unit is kept for the first")
		cancel(errGone)
		require.ErrorIs(t, <-wide, errGone)
		require.NoError(t, <-late)
		assert.Equal(t, map[string]int{"narrow": 1, "wide": 0, "late": 1}, has)

		last, front := take(t.Context(), "last", 1, false), take(t.Context(), "front", 1, true)
		l.Release("late", 1)
		require.NoError(t, <-front)
		l.Release("front", 1)
		require.NoError(t, <-last)
		require.ErrorIs(t, <-take(ctx, "gone", 1, false), errGone)
		l.Release("last", 1)
		l.Release("narrow", 1)
		require.ErrorIs(t, <-take(ctx, "gone", 1, false), errGone, "its units and its end come at once")
		assert.Equal(t, 2, l.Free)
		assert.Empty(t, l.Waiting)
	})
}
