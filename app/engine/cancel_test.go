package engine

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var errGone = errors.New("the client has gone")

func TestTranslateWithoutTime(t *testing.T) {
	m := newToy()
	e := start(t, m, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errGone)
	_, err := e.Translate(ctx, Request{}, sentences(2, 1)...)
	assert.ErrorIs(t, err, errGone)
	_, err = e.Translate(ctx, Request{})
	assert.ErrorIs(t, err, errGone)
	assert.Zero(t, e.Stats().QueuedRequests)
}

// A cancelled request is answered at once, its sentences leave before the next
// step, and who waited for their room gets it.
func TestCancelWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := stepping()
		e := start(t, m, rows(3))
		ctx, cancel := context.WithCancelCause(t.Context())
		a := send(ctx, e, Normal, sentence(5, 1, 1), sentence(30, 2, 1), sentence(30, 3, 1))
		synctest.Wait()
		next := sentence(4, 4, 3)
		b := send(t.Context(), e, Normal, next)
		time.Sleep(7500 * time.Microsecond) // the first sentence is done
		require.Equal(t, 2, e.Stats().RunningSentences)
		cancel(errGone)
		a.fails(t, errGone)
		assert.Equal(t, 7500*time.Microsecond, a.took)
		time.Sleep(time.Millisecond)
		s := e.Stats()
		assert.Equal(t, 1, s.RunningSentences)
		assert.EqualValues(t, 2, s.SentencesCancelled)
		b.want(t, next)
		assert.Equal(t, 8*time.Millisecond, b.results[0].Queued)
	})
}

func TestCancelWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := stepping()
		e := start(t, m, rows(1))
		running, last := sentence(10, 1, 1), sentence(5, 4, 1)
		a := send(t.Context(), e, Normal, running)
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(t.Context())
		b := send(ctx, e, Normal, sentence(10, 2, 1), sentence(10, 3, 1))
		synctest.Wait()
		c := send(t.Context(), e, Normal, last)
		time.Sleep(3500 * time.Microsecond)
		cancel(errGone)
		b.fails(t, errGone)
		a.want(t, running)
		c.want(t, last)
		assert.Equal(t, 15*time.Millisecond, c.took)
		assert.EqualValues(t, 2, m.joined.Load(), "the cancelled ones never join")
		assert.EqualValues(t, 15, m.steps.Load())
	})
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := stepping()
		e := start(t, m, rows(1))
		ctx, cancel := context.WithTimeout(t.Context(), 12500*time.Microsecond)
		defer cancel()
		a := send(ctx, e, Normal, sentence(20, 1, 1))
		synctest.Wait()
		b := send(ctx, e, Normal, sentence(20, 2, 1))
		a.fails(t, context.DeadlineExceeded)
		b.fails(t, context.DeadlineExceeded)
		assert.Equal(t, 12500*time.Microsecond, a.took)
		assert.Equal(t, 12500*time.Microsecond, b.took)
		time.Sleep(time.Second)
		assert.EqualValues(t, 13, m.steps.Load(), "the current step is the last")
		assert.EqualValues(t, 1, m.joined.Load())
	})
}

func TestIdenticalSentencesDecodeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := stepping()
		e := start(t, m, nil)
		same, beams, other := sentence(10, 1, 1), sentence(10, 1, 2), sentence(10, 1, 1)
		other.Prefix = []int64{2, 9} // the same text into another language
		a := send(t.Context(), e, Normal, same, beams, same, other)
		time.Sleep(4500 * time.Microsecond)
		b := send(t.Context(), e, Normal, same)
		a.want(t, same, beams, same, other)
		b.want(t, same)
		assert.EqualValues(t, 3, m.joined.Load())
		assert.EqualValues(t, 2, e.Stats().SentencesShared)

		assert.Equal(t, 5500*time.Microsecond, b.took, "it gets on a running one")
		assert.Zero(t, b.results[0].Queued)
		assert.Equal(t, 5500*time.Microsecond, b.results[0].Computed)
		shared := []bool{a.results[0].Shared, a.results[1].Shared, a.results[2].Shared, a.results[3].Shared, b.results[0].Shared}
		assert.Equal(t, []bool{false, false, true, false, true}, shared)
		first := 0
		for _, r := range append(slices.Clone(a.results), b.results...) {
			if r.First {
				first++
			}
		}
		assert.EqualValues(t, e.Stats().Joins, first)
		want := alone(t, same).Tokens[0]
		for _, r := range []Result{a.results[0], a.results[2], b.results[0]} {
			assert.Equal(t, want, r.Tokens[0], "another's tokens")
			r.Tokens[0] = -1
		}

		c := send(t.Context(), e, Normal, same)
		c.want(t, same)
		assert.EqualValues(t, 4, m.joined.Load(), "what is done is not kept")
	})
}

// A shared sentence leaves only when the last of those who wait for it has gone,
// in the queue and in the batch.
func TestCancelOfSharedSentences(t *testing.T) {
	for name, first := range map[string]Job{"running": sentence(3, 9, 1), "waiting": sentence(30, 9, 1)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := stepping()
				e := start(t, m, rows(1))
				ahead := send(t.Context(), e, Normal, first)
				synctest.Wait()
				job := sentence(20, 1, 1)
				ctx := make([]context.Context, 3)
				cancel := make([]context.CancelCauseFunc, 3)
				requests := make([]*sent, 3)
				for i := range requests {
					ctx[i], cancel[i] = context.WithCancelCause(t.Context())
					requests[i] = send(ctx[i], e, Normal, job, job)
					synctest.Wait()
				}
				time.Sleep(8500 * time.Microsecond)
				cancel[0](errGone)
				requests[0].fails(t, errGone)
				time.Sleep(2 * time.Millisecond)
				cancel[2](errGone)
				requests[2].fails(t, errGone)
				requests[1].want(t, job, job)
				ahead.want(t, first)
				assert.EqualValues(t, 2, m.joined.Load())
				assert.False(t, requests[1].results[0].Shared, "who it was first decoded for has gone")
				assert.True(t, requests[1].results[1].Shared)
				assert.Zero(t, e.Stats().SentencesCancelled)
				cancel[1](nil)
			})
		})
	}
}

// A request that comes between the last cancellation and the next step takes the
// sentence over.
func TestAbandonedSentenceIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := stepping()
		e := start(t, m, nil)
		ctx, cancel := context.WithCancelCause(t.Context())
		job := sentence(20, 1, 1)
		a := send(ctx, e, Normal, job)
		time.Sleep(8200 * time.Microsecond)
		cancel(errGone)
		a.fails(t, errGone)
		b := send(t.Context(), e, Normal, job)
		b.want(t, job)
		assert.Equal(t, 11800*time.Microsecond, b.took)
		assert.EqualValues(t, 1, m.joined.Load())
	})
}

func TestHigherPriorityRaisesASharedSentence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := stepping()
		jobs := map[string]Job{}
		for i, name := range []string{"running", "normal", "low", "last"} {
			jobs[name] = sentence(5, i, 1)
		}
		joined := watch(m, jobs)
		e := start(t, m, rows(1))
		for _, r := range []struct {
			name string
			p    Priority
		}{{"running", Normal}, {"normal", Normal}, {"last", Low}, {"low", Low}, {"low", High}, {"last", Low}} {
			s := send(t.Context(), e, r.p, jobs[r.name])
			synctest.Wait()
			defer s.want(t, jobs[r.name])
		}
		time.Sleep(time.Second)
		assert.Equal(t, []string{"running", "low", "normal", "last"}, joined.order())
	})
}

// What a request shares takes no room in the queue, and it counts as waiting only
// while a sentence of its own does.
func TestSharedSentencesDoNotFillTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, stepping(), rows(1))
		running, waiting := sentence(20, 1, 1), sentence(10, 2, 1)
		all := []*sent{send(t.Context(), e, Normal, running)}
		time.Sleep(1500 * time.Microsecond)
		for range 4 {
			all = append(all, send(t.Context(), e, Normal, running))
			time.Sleep(time.Millisecond)
		}
		all = append(all, send(t.Context(), e, Normal, running, waiting))
		time.Sleep(time.Millisecond)
		all = append(all, send(t.Context(), e, Normal, waiting))
		time.Sleep(time.Millisecond)
		s := e.Stats()
		assert.Equal(t, []int{2, 1, 10}, []int{s.QueuedRequests, s.QueuedSentences, s.QueuedTokens})
		for i, request := range all {
			<-request.done
			assert.NoError(t, request.err, "request %d", i)
		}
	})
}

// To cancel a request looks at each sentence that it shares once, however many of its
// jobs and of others wait for it.
func TestCancelVisitsEachSentenceOnce(t *testing.T) {
	l := newLoop(config(), newToy(), idle(newToy()))
	job := sentence(5, 1, 1)
	many := slices.Repeat([]Job{job}, 20_000)
	first, others := post(l, Request{}, job), make([]*call, 100)
	for i := range others {
		others[i] = post(l, Request{Caller: "others"}, many[:200]...)
	}
	large := post(l, Request{}, many...)
	l.receive()
	require.Len(t, l.sequences, 1)
	for _, s := range l.sequences {
		assert.Len(t, s.waiters, 102, "one for each call, not for each job")
		for _, c := range append(others, large) {
			assert.Len(t, c.waits, 1)
			l.finish(c, errAbandoned)
		}
		assert.Len(t, s.waiters, 1)
		assert.Same(t, first, s.waiters[0].call)
		assert.Zero(t, s.waiters[0].index)
	}
	l.finish(first, errAbandoned)
	assert.Empty(t, l.sequences)
}
