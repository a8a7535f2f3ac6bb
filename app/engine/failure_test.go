package engine

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/fault"
	"dragoman/model"
)

var errBoom = errors.New("boom")

// nth returns a hook that fails, by error or by panic, on its calls numbered from
// first to last.
func nth(first, last int, panics bool) func() error {
	calls := 0
	return func() error {
		if calls++; calls < first || calls > last {
			return nil
		}
		if panics {
			panic(errBoom)
		}
		return errBoom
	}
}

// Whatever part of the model fails, and however: who decodes at that time, or is
// about to, gets the error; who waits gets a translation from a new batch.
func TestBrokenBatch(t *testing.T) {
	for name, test := range map[string]struct {
		set     func(m *toy, hook func() error)
		call    int
		batches int
		waiting int // when it fails
	}{
		"new batch": {func(m *toy, hook func() error) { m.onNew = hook }, 1, 1, 1},
		"join":      {func(m *toy, hook func() error) { m.onJoin = func([][]int64) error { return hook() } }, 1, 2, 1},
		"step":      {func(m *toy, hook func() error) { m.onStep = func([]model.Feed) error { return hook() } }, 4, 2, 3},
	} {
		for _, panics := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, panic %v", name, panics), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					m := stepping()
					var log bytes.Buffer
					e := start(t, m, func(c *Config) { c.Rows, c.Log = 2, slog.New(slog.NewTextHandler(&log, nil)) })
					test.set(m, nth(test.call, test.call, panics))
					waits := []Job{sentence(6, 3, 1), sentence(7, 4, 2)}
					// The last sentence of a waits when the first two fail.
					a := send(t.Context(), e, High, sentence(8, 1, 1), sentence(9, 2, 1), sentence(9, 5, 1))
					synctest.Wait()
					b := send(t.Context(), e, Normal, waits...)
					<-a.done
					require.ErrorContains(t, a.err, "boom")
					assert.Nil(t, a.results)
					b.want(t, waits...)

					var p *fault.PanicError
					if assert.Equal(t, panics, errors.As(a.err, &p)); panics {
						assert.Equal(t, errBoom, p.Value)
						assert.Contains(t, string(p.Stack), "failure_test.go", "where it happened")
						assert.Contains(t, log.String(), "failure_test.go")
					} else {
						assert.ErrorIs(t, a.err, errBoom)
					}
					assert.Contains(t, log.String(), "decoding failed")
					assert.Contains(t, log.String(), fmt.Sprintf("sentences=2 waiting=%d", test.waiting))
					assert.EqualValues(t, test.batches, m.batches.Load())
					s := e.Stats()
					assert.EqualValues(t, 1, s.BrokenBatches)
					assert.EqualValues(t, 2, s.SentencesFailed)
					assert.EqualValues(t, 1, s.SentencesCancelled, "the rest of the failed request")
				})
			})
		}
	}
}

// A model that is broken for good fails every request, each with its error, and
// the loop comes to rest; when the model works again, so does the engine.
func TestModelThatStaysBroken(t *testing.T) {
	for name, set := range map[string]func(m *toy, hook func() error){
		"new batch": func(m *toy, hook func() error) { m.onNew = hook },
		"join":      func(m *toy, hook func() error) { m.onJoin = func([][]int64) error { return hook() } },
		"step":      func(m *toy, hook func() error) { m.onStep = func([]model.Feed) error { return hook() } },
		"leave and close": func(m *toy, hook func() error) {
			m.onLeave = func() {
				if hook() != nil {
					panic(errBoom)
				}
			}
			m.onClose = func() error {
				if m.batches.Load() <= 20 {
					panic("cannot close")
				}
				return nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := stepping()
				e := start(t, m, rows(1))
				set(m, nth(1, 20, false))
				for i := range 20 {
					s := send(t.Context(), e, Normal, sentence(5, i, 1))
					defer func() {
						<-s.done
						assert.ErrorContains(t, s.err, "boom")
					}()
				}
				time.Sleep(time.Minute) // would not pass while the loop spins
				assert.EqualValues(t, 20, e.Stats().BrokenBatches)
				job := sentence(5, 21, 1)
				send(t.Context(), e, Normal, job).want(t, job)
			})
		})
	}
}

// An error that leaves the batch as it was is no reason to give up its sentences.
func TestRefusedByTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := stepping()
		e := start(t, m, nil)
		running := sentence(10, 1, 5)
		a := send(t.Context(), e, Normal, running)
		synctest.Wait()
		m.onJoin = func([][]int64) error { return fmt.Errorf("%w: too odd", model.ErrInput) }
		b := send(t.Context(), e, Normal, sentence(7, 2, 2), sentence(7, 3, 1))
		b.fails(t, model.ErrInput)
		m.onJoin = nil
		a.want(t, running)
		s := e.Stats()
		assert.Zero(t, s.BrokenBatches)
		assert.EqualValues(t, 1, m.batches.Load())
	})
}

// Candidates that make no sense fail their sentence, not those beside it.
func TestBadCandidates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := stepping()
		e := start(t, spoiled{m}, nil)
		good := []Job{sentence(10, 1, 5), sentence(12, 3, 1)}
		a := send(t.Context(), e, Normal, good...)
		b := send(t.Context(), e, Normal, sentence(11, 2, 2)) // the only one with two beams
		<-b.done
		assert.ErrorContains(t, b.err, "the model's candidates")
		a.want(t, good...)
		assert.Zero(t, e.Stats().BrokenBatches)
	})
}

// A fault of the scheduler itself must not leave callers hanging: with nothing in
// the batch to blame, everybody who waits is told.
func TestPanicOutsideOfTheModel(t *testing.T) {
	m := newToy()
	l := newLoop(config(), m, idle(m))
	c := post(l, Request{}, sentences(3, 1)...)
	l.batch.active = append(l.batch.active, nil) // a sequence that is none
	l.round(t.Context())
	outcomes := c.session.Session.Results()
	require.Len(t, outcomes, 3)
	var p *fault.PanicError
	assert.ErrorAs(t, outcomes[0].Err, &p)
	assert.Empty(t, l.sequences)
	assert.Zero(t, l.mailbox.tokens.Load())
}

// A model that works on goroutines of its own hands over their stack.
func TestPanicElsewhere(t *testing.T) {
	var p *fault.PanicError
	require.ErrorAs(t, fault.Protect(func() error { panic(&model.Panic{Value: errBoom, Stack: []byte("where it happened\n")}) }), &p)
	assert.Equal(t, errBoom, p.Value)
	assert.Contains(t, string(p.Stack), "where it happened\n")
	assert.Contains(t, string(p.Stack), "failure_test.go", "who called")
}

func TestClose(t *testing.T) {
	for name, test := range map[string]struct {
		join  time.Duration // that a source token takes
		after time.Duration // that Close comes after the requests
		want  time.Duration // that Close takes: the rest of the step
	}{
		"before anything":   {0, 0, 0},
		"during a step":     {0, 3500 * time.Microsecond, 0},
		"while they join":   {time.Millisecond, 5500 * time.Microsecond, 0},
		"when all are done": {0, time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := stepping()
				m.joinTime = test.join
				e := start(t, m, rows(2))
				running := send(t.Context(), e, Normal, sentence(20, 1, 1), sentence(20, 2, 1))
				waiting := send(t.Context(), e, Normal, sentence(20, 3, 1))
				time.Sleep(test.after)
				begin := time.Now()
				e.Close()
				assert.Equal(t, test.want, time.Since(begin))
				assert.Zero(t, m.open.Load())
				for _, s := range []*sent{running, waiting} {
					if <-s.done; test.after < time.Second {
						assert.ErrorIs(t, s.err, ErrClosed)
						assert.Nil(t, s.results)
						assert.Equal(t, test.after, s.took)
					} else {
						assert.NoError(t, s.err)
					}
				}
				steps := m.steps.Load()
				e.Close() // again
				_, err := e.Translate(t.Context(), Request{}, sentences(1, 1)...)
				assert.ErrorIs(t, err, ErrClosed)
				time.Sleep(time.Second)
				assert.Equal(t, steps, m.steps.Load(), "the model is not used any more")
				s := e.Stats()
				assert.Zero(t, s.BrokenBatches)
			})
		})
	}
}

// Requests that come while the engine is closed are refused or fail, whatever Close has
// done by then.
func TestCloseBesideRequests(t *testing.T) {
	for range 100 {
		e := start(t, newToy(), nil)
		var requests []*sent
		for i := range 4 {
			requests = append(requests, send(t.Context(), e, Normal, sentence(5, i, 1)))
		}
		go e.Close()
		for i, s := range requests {
			if <-s.done; s.err != nil {
				assert.ErrorIs(t, s.err, ErrClosed)
			} else {
				s.want(t, sentence(5, i, 1))
			}
		}
	}
}

func TestTranslateAfterClose(t *testing.T) {
	e := start(t, newToy(), func(c *Config) { c.QueueRequests = 1 })
	e.Close()
	for range 3 { // nothing piles up
		_, err := e.Translate(t.Context(), Request{}, sentences(1, 1)...)
		assert.ErrorIs(t, err, ErrClosed)
	}
	assert.Zero(t, e.Stats().QueuedRequests)
}

// A step that does not look at its context holds up Close, but nobody else.
func TestCloseWaitsForTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newToy()
		m.onStep = func([]model.Feed) error { time.Sleep(time.Minute); return nil }
		e := start(t, m, nil)
		s := send(t.Context(), e, Normal, sentence(5, 1, 1))
		time.Sleep(time.Second)
		begin := time.Now()
		closed := make(chan struct{})
		go func() { defer close(closed); e.Close() }()
		s.fails(t, ErrClosed)
		assert.Equal(t, time.Second, s.took)
		<-closed
		assert.Equal(t, 59*time.Second, time.Since(begin))
	})
}
