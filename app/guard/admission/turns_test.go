package admission

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/budget"
)

// works begins works of callers in their order, each of so many slices, and returns whose slices came in
// which order.
func works(t *testing.T, turns *Turns, slices int, callers ...string) string {
	for _, caller := range callers {
		turns.charge(caller, mostUsed, isAside) // or it would begin aside
	}
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
					time.Sleep(timeSlice)
					if err := budget.Work(ctx, 1); err != nil {
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
		turns := newTurns(1)
		order := works(t, turns, 4, "a", "a", "a", "a", "b", "c")
		assert.Less(t, strings.LastIndex(order, "b"), 13, "b has its four slices in four circles: %s", order)
		assert.Equal(t, 16, strings.Count(order, "a"))
		time.Sleep(time.Second) // the last rest
		assert.Zero(t, turns.atWork())
	})
}

// Callers have about equal times, also where the slices of one end late.
func TestTurnsAreEqualTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(2)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		slices := map[string]time.Duration{"a": 5 * timeSlice, "b": timeSlice, "c": timeSlice}
		had := make(map[string]time.Duration)
		var all sync.WaitGroup
		for caller, slice := range slices {
			turns.charge(caller, mostUsed, isAside) // or it would begin aside
			all.Go(func() {
				_, err := turns.Do(ctx, caller, func(ctx context.Context) error {
					for {
						had[caller] += slice // one works at a time: the race detector would see two
						time.Sleep(slice)
						if err := budget.Work(ctx, 1); err != nil {
							return err
						}
					}
				})
				assert.ErrorIs(t, err, context.DeadlineExceeded)
			})
		}
		all.Wait()
		for caller := range slices {
			assert.InEpsilon(t, had["a"], had[caller], 0.25, caller)
		}
		time.Sleep(time.Second) // the last rest
		assert.Zero(t, turns.atWork())
	})
}

// Work takes its part of the cores and no more: a slice is followed by a rest, for whoever is next.
func TestTurnsRest(t *testing.T) {
	for rest, want := range map[float64]time.Duration{0: 8 * timeSlice, 1: 15 * timeSlice, 3: 29 * timeSlice} {
		synctest.Test(t, func(t *testing.T) {
			turns := newTurns(1)
			turns.rest = rest
			begun := time.Now()
			works(t, turns, 4, "a", "b")
			assert.InDelta(t, want, time.Since(begun), float64(3*timeSlice), "rest %v", rest)
			time.Sleep(time.Second) // the last rest
		})
	}
}

// Who leaves gives up the turn, or the place in the queue, and nobody waits for it.
func TestTurnsEndWithTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(1)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 8)
		for i := range 8 {
			go func() {
				_, err := turns.Do(ctx, fmt.Sprint(i%3), func(ctx context.Context) error {
					for {
						time.Sleep(time.Millisecond)
						if err := budget.Work(ctx, 1); err != nil {
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
		done, err := turns.Do(t.Context(), "b", func(ctx context.Context) error { return budget.Work(ctx, 7) })
		assert.NoError(t, err)
		assert.EqualValues(t, 7, done)
		_, err = turns.Do(t.Context(), "b", func(context.Context) error { return errors.New("own") })
		assert.EqualError(t, err, "own")
		time.Sleep(time.Second) // the last rest
		assert.Zero(t, turns.atWork())
	})
}

// A work that is given up ends its turn without a rest: whoever waits goes on at once, however long the slice was.
func TestTurnsOfWorksThatAreGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(1)
		turns.rest = 3
		for _, caller := range []string{"a", "b"} {
			turns.charge(caller, mostUsed, isAside) // or it would begin aside
		}
		ctx, cancel := context.WithCancel(t.Context())
		var both sync.WaitGroup
		both.Go(func() {
			_, err := turns.Do(ctx, "a", func(ctx context.Context) error {
				<-ctx.Done()
				return ctx.Err()
			})
			assert.ErrorIs(t, err, context.Canceled)
		})
		synctest.Wait()
		var begun time.Time
		both.Go(func() {
			_, err := turns.Do(t.Context(), "b", func(context.Context) error {
				begun = time.Now()
				return nil
			})
			assert.NoError(t, err)
		})
		time.Sleep(time.Minute)
		ended := time.Now()
		cancel()
		both.Wait()
		assert.Equal(t, ended, begun)
		time.Sleep(time.Second) // the last rest
		assert.Zero(t, turns.atWork())
	})
}

// However many works others have, of whatever length, who has used little works at once. Who has used much waits, and no
// more than one of these works at a time.
func TestWhoUsesLittleDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(1)
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		working, most := 0, 0 // in turns: the race detector would see two
		for i := range 20 {
			all.Go(func() {
				caller := fmt.Sprint("heavy", i%3)
				for ctx.Err() == nil {
					_, _ = turns.Do(ctx, caller, func(ctx context.Context) error {
						for range 1 + i%4 {
							inTurn := budget.TurnOf(ctx).(*turn).state == hasTurn
							if inTurn {
								working++
								most = max(most, working)
							}
							time.Sleep(time.Duration(1+i) * 7 * time.Millisecond)
							if inTurn {
								working--
							}
							if err := budget.Work(ctx, 1); err != nil {
								return err
							}
						}
						return nil
					})
				}
			})
		}
		time.Sleep(3 * time.Second)
		for range 100 {
			begun := time.Now()
			require.NoError(t, turns.spend(t.Context(), "light", time.Millisecond))
			assert.Zero(t, time.Since(begun))
			_, err := turns.Do(t.Context(), "light", func(context.Context) error { return nil })
			require.NoError(t, err)
			assert.Zero(t, time.Since(begun))
			time.Sleep(time.Millisecond * recovery)
		}
		cancel()
		all.Wait()
		assert.Equal(t, 1, most)
		time.Sleep(5 * time.Second) // rests
		assert.Zero(t, turns.atWork())
	})
}

// Of what is queued no more goes on at a time than there are turns, whoever it is of; who has used little works beside it.
func TestQueuedWorkIsInTurns(t *testing.T) {
	for cores, turns := range map[int]int{1: 1, 2: 1, 8: 2, 16: 4} {
		synctest.Test(t, func(t *testing.T) {
			m := New(1)
			m.turns = newTurns(cores)
			ctx := With(t.Context(), m.Lease("a"))
			var all sync.WaitGroup
			var working, most atomic.Int64
			for i := range 20 {
				all.Go(func() {
					done, err := Queue(ctx, fmt.Sprint(i), func(ctx context.Context) error {
						for range 5 {
							now := working.Add(1)
							most.Store(max(most.Load(), now))
							time.Sleep(timeSlice)
							working.Add(-1)
							if err := budget.Work(ctx, 1); err != nil {
								return err
							}
						}
						return nil
					})
					assert.NoError(t, err)
					assert.EqualValues(t, 5, done)
				})
			}
			time.Sleep(timeSlice / 2)
			begun := time.Now()
			_, err := Do(ctx, "light", func(context.Context) error { return nil })
			assert.NoError(t, err)
			assert.Zero(t, time.Since(begun))
			all.Wait()
			assert.EqualValues(t, turns, most.Load(), "%d cores", cores)
			time.Sleep(time.Second) // the last rest
		})
	}
}

// What is expected is paid for like what is done: nobody has more of the processor by it.
func TestSpend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(1)
		begun := time.Now()
		const each, count = 50 * time.Millisecond, 40
		for range count {
			require.NoError(t, turns.spend(t.Context(), "a", each))
		}
		assert.GreaterOrEqual(t, time.Since(begun), (count-2)*each)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		assert.ErrorIs(t, turns.spend(ctx, "a", each), context.Canceled)
		time.Sleep(time.Second)
		assert.Zero(t, turns.atWork())
	})
}

// Callers are forgotten when what they have used is.
func TestCallersAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(1)
		for i := range 5000 {
			require.NoError(t, turns.spend(t.Context(), fmt.Sprint(i), time.Millisecond))
			time.Sleep(time.Millisecond)
		}
		assert.Less(t, len(turns.accounts), 1100)
	})
}

// Where there is nobody else, what is done is counted all the same.
func TestWorkWithoutTurns(t *testing.T) {
	done, err := Do(t.Context(), "a", func(ctx context.Context) error { return budget.Work(ctx, 5) })
	assert.NoError(t, err)
	assert.EqualValues(t, 5, done)
	assert.NoError(t, Spend(t.Context(), "a", time.Hour))
}

// atWork is how many works wait or have the only turn.
func (t *Turns) atWork() int {
	t.line.Lock()
	defer t.line.Unlock()
	return 1 - t.line.Free + len(t.line.Waiting)
}
