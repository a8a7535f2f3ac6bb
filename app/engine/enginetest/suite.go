// Package enginetest tests the behaviour that translate expects of an engine, local or remote, by [Run].
package enginetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/app/schedule"
	"dragoman/app/translate"
	"dragoman/model/search"
)

// Start starts an engine that decodes with a model and a configuration. close closes it, or the end of the test does. The engine
// is ready when Start returns.
type Start func(t *testing.T, m *Model, cfg engine.Config) (e translate.Engine, close func())

// patience is the time that a test waits for an expected event.
const patience = 30 * time.Second

// Config returns a configuration with ample room for the tests that do not limit it.
func Config() engine.Config {
	return engine.Config{
		Log: slog.New(slog.DiscardHandler), Rows: 100, MaxBeams: 5, MaxLength: 25_000, PrefillTokens: 1000,
		QueueRequests: 1000, QueueTokens: 100_000,
	}
}

// Run tests engines.
func Run(t *testing.T, start Start) {
	for name, test := range map[string]func(*testing.T, Start){
		"results are those of sentences alone":   results,
		"results may cause more jobs":            chain,
		"nothing to do":                          nothing,
		"ids are the caller's again":             reused,
		"same sentences":                         same,
		"sentences with phrases":                 phrases,
		"several hypotheses":                     hypotheses,
		"a window at a time":                     window,
		"more jobs":                              more,
		"error of next":                          errorOfNext,
		"error of each":                          errorOfEach,
		"invalid jobs":                           invalid,
		"priorities":                             priorities,
		"no time":                                noTime,
		"a client that goes":                     cancelled,
		"a deadline":                             deadline,
		"waiting for more ends with the context": idle,
		"too many requests":                      busy,
		"closing":                                closing,
		"many requests":                          many,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, start)
		})
	}
}

func options(beams, maxLength int) search.Options {
	return search.Options{Beams: beams, MaxLength: maxLength, LengthPenalty: 1, EarlyStopping: search.StopEarly, RepetitionPenalty: 1}
}

// Jobs returns n different jobs of 3 to 20 source tokens, with 1 to 3 beams.
func Jobs(n int) []engine.Job {
	jobs := make([]engine.Job, n)
	for i := range jobs {
		source := []int64{5, int64(i % 60), int64(i / 60 % 60), int64(i / 3600)}
		for len(source) < 3+i*7%18 {
			source = append(source, int64(10+(i*len(source))%50))
		}
		jobs[i] = engine.Job{Source: append(source, 2), Prefix: []int64{2, 6}, Search: options(1+i%3, 60)}
	}
	return jobs
}

// endless returns a job that takes very long.
func endless() engine.Job {
	return engine.Job{Source: []int64{Endless, 9, 2}, Prefix: []int64{2, 6}, Search: options(1, 25_000)}
}

// never returns an each function for requests that get no result.
func never(t *testing.T) func(int, engine.Result) error {
	return func(job int, _ engine.Result) error {
		assert.Fail(t, "a result", "of job %d", job)
		return nil
	}
}

// want requires the results of jobs to equal the results of each job alone.
func want(ctx context.Context, t *testing.T, e translate.Engine, req engine.Request, jobs ...engine.Job) {
	got := make([]int, len(jobs))
	err := e.Stream(ctx, req, engine.List(jobs...), func(job int, r engine.Result) error {
		got[job]++
		j := jobs[job]
		assert.Equal(t, Alone(t, j.Source, j.Prefix, j.Search, j.Phrases...), r.Result, "job %d", job)
		assert.GreaterOrEqual(t, r.Queued, time.Duration(0))
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, slices.Repeat([]int{1}, len(jobs)), got, "results by job")
}

// forgets requires all sentences to leave a model.
func forgets(t *testing.T, m *Model) {
	assert.Eventually(t, func() bool { return m.Inside() == 0 }, patience, time.Millisecond)
}

// decodes waits until a model has n sentences.
func decodes(t *testing.T, m *Model, n int) {
	assert.Eventually(t, func() bool { return m.Inside() >= n }, patience, time.Millisecond)
}

func results(t *testing.T, start Start) {
	e, _ := start(t, &Model{}, Config())
	want(t.Context(), t, e, engine.Request{Caller: "a", Tokens: 2000, Beams: 3}, Jobs(200)...)
	require.NoError(t, e.Err())
}

func chain(t *testing.T, start Start) {
	e, _ := start(t, &Model{}, Config())
	jobs, done := Jobs(5), 0
	todo := jobs[:1]
	err := e.Stream(t.Context(), engine.Request{}, func() (job engine.Job, ok bool, err error) {
		if len(todo) == 0 {
			return job, false, nil
		}
		job, todo = todo[0], nil
		return job, true, nil
	}, func(job int, _ engine.Result) error {
		assert.Equal(t, done, job)
		if done++; done < len(jobs) {
			todo = jobs[done : done+1]
		}
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, len(jobs), done)
}

func nothing(t *testing.T, start Start) {
	m := &Model{}
	e, _ := start(t, m, Config())
	before := m.Joined() // the warm-up counts too
	require.NoError(t, e.Stream(t.Context(), engine.Request{}, engine.List(), never(t)))
	assert.Equal(t, before, m.Joined())
}

// reused tests that the slices of next may be reused at the next call.
func reused(t *testing.T, start Start) {
	e, _ := start(t, &Model{}, Config())
	jobs, at := Jobs(50), 0
	source, prefix := make([]int64, 0, 100), make([]int64, 0, 10)
	err := e.Stream(t.Context(), engine.Request{}, func() (job engine.Job, ok bool, err error) {
		if at == len(jobs) {
			return job, false, nil
		}
		job = jobs[at]
		at++
		source, prefix = append(source[:0], job.Source...), append(prefix[:0], job.Prefix...)
		job.Source, job.Prefix = source, prefix
		return job, true, nil
	}, func(job int, r engine.Result) error {
		j := jobs[job]
		assert.Equal(t, Alone(t, j.Source, j.Prefix, j.Search), r.Result, "job %d", job)
		r.Tokens[0] = -1 // results belong to the caller
		return nil
	})
	require.NoError(t, err)
}

func same(t *testing.T, start Start) {
	e, _ := start(t, &Model{}, Config())
	job := Jobs(4)[3]
	right := Alone(t, job.Source, job.Prefix, job.Search)
	err := e.Stream(t.Context(), engine.Request{}, engine.List(slices.Repeat([]engine.Job{job}, 20)...), func(_ int, r engine.Result) error {
		assert.Equal(t, right, r.Result)
		clear(r.Tokens)
		return nil
	})
	require.NoError(t, err)
}

// hypotheses tests identical sentences with different numbers of hypotheses: each result has its number, belongs to its caller,
// and the best hypothesis is the same for all.
func hypotheses(t *testing.T, start Start) {
	e, _ := start(t, &Model{}, Config())
	var jobs []engine.Job
	for range 4 {
		for n := range 6 {
			jobs = append(jobs, Jobs(4)[3])
			jobs[len(jobs)-1].Search = options(5, 60)
			jobs[len(jobs)-1].Search.Hypotheses = n
		}
	}
	right := Alone(t, jobs[5].Source, jobs[5].Prefix, jobs[5].Search)
	require.Len(t, right.Others, 4)
	err := e.Stream(t.Context(), engine.Request{}, engine.List(jobs...), func(job int, r engine.Result) error {
		n := max(1, jobs[job].Search.Hypotheses)
		assert.Equal(t, right.Tokens, r.Tokens, "job %d", job)
		assert.Len(t, r.Others, n-1)
		for i, other := range r.Others {
			assert.Equal(t, right.Others[i], other, "job %d", job)
			clear(other.Tokens)
		}
		return nil
	})
	require.NoError(t, err)
	job := Jobs(1)[0]
	job.Search = options(2, 60)
	job.Search.Hypotheses = 3
	require.ErrorIs(t, e.Stream(t.Context(), engine.Request{}, engine.List(job), never(t)), engine.ErrInvalid)
}

// window tests that at most a window of sentences is handed over, however many a request has.
func window(t *testing.T, start Start) {
	e, _ := start(t, &Model{}, Config())
	jobs := Jobs(4000)
	for i := range jobs {
		jobs[i].Search.Beams = 1
	}
	next, handed, done, most := engine.List(jobs...), 0, 0, 0
	err := e.Stream(t.Context(), engine.Request{}, func() (engine.Job, bool, error) {
		job, ok, err := next()
		if ok {
			handed++
		}
		most = max(most, handed-done)
		return job, ok, err
	}, func(int, engine.Result) error {
		done++
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, len(jobs), done)
	assert.Less(t, most, len(jobs)/2)
}

// more tests that a request with More stays open while it has no jobs, and takes new ones when it is woken.
func more(t *testing.T, start Start) {
	e, _ := start(t, &Model{}, Config())
	wake, jobs, results := make(chan struct{}), make(chan engine.Job, 10), make(chan int, 10)
	ended := make(chan error)
	go func() {
		ended <- e.Stream(t.Context(), engine.Request{More: wake}, func() (job engine.Job, ok bool, err error) {
			select {
			case job = <-jobs:
				return job, true, nil
			default:
				return job, false, nil
			}
		}, func(job int, _ engine.Result) error {
			results <- job
			return nil
		})
	}()
	all := Jobs(4)
	jobs <- all[0]
	wake <- struct{}{}
	assert.Equal(t, 0, <-results)
	wake <- struct{}{} // next has no job
	jobs <- all[1]
	jobs <- all[2]
	wake <- struct{}{}
	assert.ElementsMatch(t, []int{1, 2}, []int{<-results, <-results})
	select {
	case err := <-ended:
		require.Fail(t, "it has ended", "%v", err)
	default:
	}
	jobs <- all[3]
	close(wake) // next is called for the last time
	require.NoError(t, <-ended)
	assert.Equal(t, 3, <-results)
}

var errBoom = errors.New("boom")

func errorOfNext(t *testing.T, start Start) {
	m := &Model{StepTime: time.Millisecond}
	e, _ := start(t, m, Config())
	first, ready := engine.List(endless()), make(chan struct{}, 1)
	wake := make(chan struct{})
	go func() {
		decodes(t, m, 1)
		ready <- struct{}{}
		wake <- struct{}{}
	}()
	err := e.Stream(t.Context(), engine.Request{More: wake}, func() (engine.Job, bool, error) {
		select {
		case <-ready:
			return engine.Job{}, false, errBoom
		default:
			return first()
		}
	}, never(t))
	require.ErrorIs(t, err, errBoom)
	forgets(t, m)
}

func errorOfEach(t *testing.T, start Start) {
	m := &Model{StepTime: time.Millisecond}
	e, _ := start(t, m, Config())
	calls := 0
	err := e.Stream(t.Context(), engine.Request{}, engine.List(append(Jobs(2), endless())...), func(int, engine.Result) error {
		calls++
		return errBoom
	})
	require.ErrorIs(t, err, errBoom)
	assert.Equal(t, 1, calls)
	forgets(t, m)
}

// phrases tests that phrases are placed, beside the same sentences without any and with others.
func phrases(t *testing.T, start Start) {
	e, _ := start(t, &Model{}, Config())
	var jobs []engine.Job
	for i, job := range Jobs(6) {
		one := search.Phrase{Forms: [][]int64{{int64(20 + i), 41}, {42}}}
		for _, list := range [][]search.Phrase{nil, {one}, {one, one}, {{Forms: one.Forms, First: [][]int64{{43}}}}} {
			job.Phrases = list
			jobs = append(jobs, job)
		}
	}
	want(t.Context(), t, e, engine.Request{}, jobs...)
}

// invalid tests that an invalid job fails its own request and no other, whatever is decoded before the job, and that the error
// has the job's number.
func invalid(t *testing.T, start Start) {
	e, _ := start(t, &Model{}, Config())
	good := Jobs(3)
	for name, change := range map[string]func(*engine.Job){
		"no source":              func(j *engine.Job) { j.Source = nil },
		"no prefix":              func(j *engine.Job) { j.Prefix = nil },
		"source too long":        func(j *engine.Job) { j.Source = make([]int64, spec.MaxPositions+1) },
		"prefix too long":        func(j *engine.Job) { j.Search.MaxLength = 2 },
		"id outside":             func(j *engine.Job) { j.Source = []int64{60} },
		"negative id":            func(j *engine.Job) { j.Prefix = []int64{-1} },
		"too many beams":         func(j *engine.Job) { j.Search.Beams = 6 },
		"an empty phrase":        func(j *engine.Job) { j.Phrases = []search.Phrase{{}} },
		"phrase id outside":      func(j *engine.Job) { j.Phrases = []search.Phrase{{Forms: [][]int64{{60}}}} },
		"no beams":               func(j *engine.Job) { j.Search.Beams = 0 },
		"too long":               func(j *engine.Job) { j.Search.MaxLength = 25_001 },
		"no repetition penalty":  func(j *engine.Job) { j.Search.RepetitionPenalty = 0 },
		"unknown early stopping": func(j *engine.Job) { j.Search.Beams, j.Search.EarlyStopping = 2, "sometimes" },
	} {
		t.Run(name, func(t *testing.T) {
			bad := good[2]
			change(&bad)
			err := e.Stream(t.Context(), engine.Request{}, engine.List(good[0], good[1], bad), func(int, engine.Result) error { return nil })
			require.ErrorIs(t, err, engine.ErrInvalid)
			assert.ErrorContains(t, err, "invalid job 2: ")
			want(t.Context(), t, e, engine.Request{}, good...)
		})
	}
}

func priorities(t *testing.T, start Start) {
	e, _ := start(t, &Model{}, Config())
	for _, p := range []schedule.Priority{schedule.Low, schedule.Normal, schedule.High} {
		want(t.Context(), t, e, engine.Request{Priority: p}, Jobs(5)...)
	}
	for _, p := range []schedule.Priority{schedule.Low - 1, schedule.High + 1} {
		err := e.Stream(t.Context(), engine.Request{Priority: p}, engine.List(Jobs(1)...), never(t))
		assert.ErrorIs(t, err, engine.ErrInvalid)
	}
}

var errGone = errors.New("the client has gone")

func noTime(t *testing.T, start Start) {
	m := &Model{}
	e, _ := start(t, m, Config())
	before := m.Joined()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errGone)
	err := e.Stream(ctx, engine.Request{}, func() (job engine.Job, ok bool, err error) {
		assert.Fail(t, "next is called")
		return job, false, nil
	}, never(t))
	require.ErrorIs(t, err, errGone)
	assert.Equal(t, before, m.Joined())
}

// cancelled tests that a cancelled request leaves, and that others are not affected.
func cancelled(t *testing.T, start Start) {
	m := &Model{StepTime: time.Millisecond}
	e, _ := start(t, m, Config())
	ctx, cancel := context.WithCancelCause(t.Context())
	var other sync.WaitGroup
	defer other.Wait()
	go func() {
		decodes(t, m, 2)
		other.Go(func() { want(t.Context(), t, e, engine.Request{Caller: "b"}, Jobs(20)...) })
		cancel(errGone)
	}()
	second := endless()
	second.Source[1] = 10
	err := e.Stream(ctx, engine.Request{Caller: "a"}, engine.List(endless(), second), never(t))
	require.ErrorIs(t, err, errGone)
	forgets(t, m)
}

func deadline(t *testing.T, start Start) {
	m := &Model{StepTime: time.Millisecond}
	e, _ := start(t, m, Config())
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := e.Stream(ctx, engine.Request{}, engine.List(endless()), never(t))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	forgets(t, m)
}

func idle(t *testing.T, start Start) {
	e, _ := start(t, &Model{}, Config())
	ctx, cancel := context.WithCancelCause(t.Context())
	err := e.Stream(ctx, engine.Request{More: make(chan struct{})}, func() (job engine.Job, ok bool, err error) {
		cancel(errGone)
		return job, false, nil
	}, never(t))
	require.ErrorIs(t, err, errGone)
}

// busy tests that a refused request is told when to come back, and gets the place of a request that has ended.
func busy(t *testing.T, start Start) {
	cfg := Config()
	cfg.QueueRequests = 1
	e, _ := start(t, &Model{}, cfg)
	wake, inside, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		var once sync.Once
		ended <- e.Stream(t.Context(), engine.Request{More: wake}, func() (job engine.Job, ok bool, err error) {
			once.Do(func() { close(inside) })
			return job, false, nil
		}, never(t))
	}()
	<-inside
	err := e.Stream(t.Context(), engine.Request{Caller: "other"}, engine.List(Jobs(1)...), never(t))
	var busy *engine.BusyError
	require.ErrorAs(t, err, &busy)
	assert.Equal(t, 1, busy.Requests)
	assert.GreaterOrEqual(t, busy.RetryAfter(), 1)
	close(wake)
	require.NoError(t, <-ended)
	want(t.Context(), t, e, engine.Request{Caller: "other"}, Jobs(1)...)
}

// closing tests that admitted requests end when the engine is closed, and that new ones are refused.
func closing(t *testing.T, start Start) {
	m := &Model{StepTime: time.Millisecond}
	e, closeEngine := start(t, m, Config())
	ended := make(chan error)
	go func() { ended <- e.Stream(t.Context(), engine.Request{}, engine.List(endless()), never(t)) }()
	go func() {
		ended <- e.Stream(t.Context(), engine.Request{More: make(chan struct{})}, engine.List(), never(t))
	}()
	decodes(t, m, 1)
	closeEngine()
	for range 2 {
		require.ErrorIs(t, <-ended, engine.ErrClosed)
	}
	err := e.Stream(t.Context(), engine.Request{}, engine.List(Jobs(1)...), never(t))
	require.ErrorIs(t, err, engine.ErrClosed)
	forgets(t, m)
}

// many tests that concurrent requests, some of which are cancelled, get the results of their own sentences.
func many(t *testing.T, start Start) {
	m := &Model{}
	e, _ := start(t, m, Config())
	jobs := Jobs(300)
	var group sync.WaitGroup
	for i := range 40 {
		group.Go(func() {
			req := engine.Request{Caller: fmt.Sprint(i % 4), Priority: schedule.Priority(i%3 - 1), Tokens: 100}
			mine := jobs[i*7 : i*7+20]
			if i%5 > 0 {
				want(t.Context(), t, e, req, mine...)
				return
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			err := e.Stream(ctx, req, engine.List(mine...), func(int, engine.Result) error {
				cancel(errGone)
				return nil
			})
			if err != nil { // or all results came together
				assert.ErrorIs(t, err, errGone)
			}
		})
	}
	group.Wait()
	forgets(t, m)
}
