package admission

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
)

// works begins works of callers in their order, each of so many slices, and returns whose slices came in
// which order.
func works(t *testing.T, turns *Turns, slices int, callers ...string) string {
	var (
		log  strings.Builder
		wait []<-chan error
	)
	for _, caller := range callers {
		ended := make(chan error, 1)
		wait = append(wait, ended)
		go func() {
			_, err := turns.Do(t.Context(), caller, func(ctx context.Context) error {
				for range slices {
					log.WriteString(caller) // one works at a time: the race detector would see two
					time.Sleep(slice)
					if err := Work(ctx, 1); err != nil {
						return err
					}
				}
				return nil
			})
			ended <- err
		}()
		synctest.Wait()
	}
	for _, ended := range wait {
		assert.NoError(t, <-ended)
	}
	return log.String()
}

// However many works a caller begins, another's has every second slice.
func TestTurnsAreCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns()
		order := works(t, turns, 4, "a", "a", "a", "a", "b", "c")
		assert.Less(t, strings.LastIndex(order, "b"), 13, "b has its four slices in four circles: %s", order)
		assert.Equal(t, 16, strings.Count(order, "a"))
		assert.Empty(t, turns.callers)
		assert.Empty(t, turns.waiting)
		assert.Zero(t, turns.places.taken)
	})
}

// Work takes its part of the cores and no more: a slice is followed by a rest, for whoever is next.
func TestTurnsRest(t *testing.T) {
	for rest, want := range map[float64]time.Duration{0: 8 * slice, 1: 15 * slice, 3: 29 * slice} {
		synctest.Test(t, func(t *testing.T) {
			turns := NewTurns()
			turns.rest = rest
			begun := time.Now()
			works(t, turns, 4, "a", "b")
			assert.InDelta(t, want, time.Since(begun), float64(3*slice), "rest %v", rest)
			time.Sleep(time.Second) // the last rest
		})
	}
}

// Who leaves gives up the turn, or the place in the queue, and nobody waits for it.
func TestTurnsEndWithTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 8)
		for i := range 8 {
			go func() {
				_, err := turns.Do(ctx, fmt.Sprint(i%3), func(ctx context.Context) error {
					for {
						time.Sleep(time.Millisecond)
						if err := Work(ctx, 1); err != nil {
							return err
						}
					}
				})
				ended <- err
			}()
		}
		time.Sleep(time.Second)
		cancel()
		for range 8 {
			require.ErrorIs(t, <-ended, context.Canceled)
		}
		done, err := turns.Do(t.Context(), "b", func(ctx context.Context) error { return Work(ctx, 7) })
		assert.NoError(t, err)
		assert.EqualValues(t, 7, done)
		_, err = turns.Do(t.Context(), "b", func(context.Context) error { return errors.New("own") })
		assert.EqualError(t, err, "own")
		assert.Zero(t, turns.places.taken)
		assert.Empty(t, turns.waiting)
		time.Sleep(time.Second) // the last rest
	})
}

// A caller cannot fill the queue.
func TestTurnsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns()
		ctx, cancel := context.WithCancel(t.Context())
		begin := func(caller string) error {
			ended := make(chan error, 1)
			go func() {
				_, err := turns.Do(ctx, caller, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
				ended <- err
			}()
			synctest.Wait()
			select {
			case err := <-ended:
				return err
			default:
				return nil
			}
		}
		var own *PlacesError
		n := 0
		for err := begin("a"); !errors.As(err, &own); err = begin("a") {
			n++
		}
		assert.Equal(t, mostTurns/2, n)
		assert.True(t, own.Own)
		assert.NoError(t, begin("b"))
		cancel()
		synctest.Wait()
		time.Sleep(time.Second)
	})
}
