package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"dragoman/model"
	"dragoman/model/search"
)

// options are search settings for the toy.
func options(beams int) search.Options {
	return search.Options{Beams: beams, MaxLength: 40, LengthPenalty: 1, EarlyStopping: search.StopEarly, RepetitionPenalty: 1}
}

// start makes an engine that is closed at the end of the test.
func start(t *testing.T, m *toy, opts search.Options, rows, concurrency int) *Engine {
	e, err := New(Config{Model: m, Search: opts, Rows: rows, Concurrency: concurrency})
	require.NoError(t, err)
	t.Cleanup(func() {
		e.Close()
		assert.Zero(t, m.open.Load(), "batches left open")
	})
	return e
}

// makeJobs makes n different jobs with sources of 3 to 20 tokens.
func makeJobs(n int) []Job {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	jobs := make([]Job, n)
	for i := range jobs {
		ids := []int64{5}
		for range 1 + rng.IntN(18) {
			ids = append(ids, 10+rng.Int64N(50))
		}
		jobs[i].Source = model.Source{IDs: append(ids, int64(i), 2), Prefix: []int64{2, 6 + int64(i%3)}}
	}
	return jobs
}

// alone decodes one job with nothing else in the batch and no engine around it.
func alone(t *testing.T, m *toy, opts search.Options, job Job) search.Result {
	ctx := t.Context()
	b, err := m.NewBatch(opts.Beams)
	require.NoError(t, err)
	defer b.Close()
	s, err := search.New(opts, job.Source.Prefix, m.spec.EOS, m.spec.VocabSize)
	require.NoError(t, err)
	c, err := b.Join(ctx, []model.Source{job.Source}, s.Candidates())
	for {
		require.NoError(t, err)
		rows := make([]model.Row, c.Width)
		for w := range rows {
			rows[w] = c.Row(0, w)
		}
		done, err2 := s.Advance(rows)
		require.NoError(t, err2)
		if done {
			return s.Result()
		}
		c, err = b.Step(ctx, s.Tokens(), s.Parents(), s.Candidates())
	}
}

// Whatever shares the batch, a sentence's translation is the one it has alone,
// and results come in the order of the jobs.
func TestTranslateEqualsDecodingAlone(t *testing.T) {
	for _, test := range []struct{ beams, rows, jobs, room int }{
		{1, 1, 7, 1},
		{1, 4, 30, 4},
		{1, 100, 30, 30},
		{2, 5, 20, 2},
		{5, 3, 6, 1}, // a sentence that takes more rows than there are
		{5, 40, 33, 8},
	} {
		t.Run(fmt.Sprintf("%d beams, %d rows, %d jobs", test.beams, test.rows, test.jobs), func(t *testing.T) {
			m, jobs := newToy(), makeJobs(test.jobs)
			opts := options(test.beams)
			opts.NoRepeatNgramSize, opts.RepetitionPenalty = 3, 1.5 // so that searches need different k
			e := start(t, m, opts, test.rows, 1)

			results, err := e.Translate(t.Context(), jobs)
			require.NoError(t, err)
			assert.EqualValues(t, test.room, m.largest.Load(), "sentences at one time")
			require.Len(t, results, len(jobs))
			for i, job := range jobs {
				assert.Equal(t, alone(t, newToy(), opts, job), results[i], "job %d", i)
			}
		})
	}
}

func TestTranslateDecodesEqualJobsOnce(t *testing.T) {
	m, jobs := newToy(), makeJobs(3)
	other := jobs[0]
	other.Source.Prefix = []int64{2, 9} // the same text into another language
	e := start(t, m, options(2), 100, 1)

	results, err := e.Translate(t.Context(), []Job{jobs[0], jobs[1], jobs[0], other, jobs[2], jobs[0]})
	require.NoError(t, err)
	assert.EqualValues(t, 4, m.joined.Load())
	assert.Equal(t, results[0], results[2])
	assert.Equal(t, results[0], results[5])
	assert.NotEqual(t, results[0].Tokens, results[3].Tokens)
	results[0].Tokens[0] = -1
	assert.NotEqual(t, results[0].Tokens, results[2].Tokens, "results share memory")
}

func TestKeyTellsSourcesApart(t *testing.T) {
	keys := map[string]bool{}
	sources := []model.Source{
		{IDs: []int64{1, 2}, Prefix: []int64{3}}, {IDs: []int64{1}, Prefix: []int64{3, 2}}, {IDs: []int64{3, 1, 2}},
		{IDs: []int64{2}, Prefix: []int64{3, 1}}, {IDs: []int64{128111}}, {IDs: []int64{-1}}, {},
	}
	for _, s := range sources {
		keys[key(s)] = true
	}
	assert.Len(t, keys, len(sources))
}

func TestTranslateNothing(t *testing.T) {
	m := newToy()
	m.newBatchErr = errors.New("not to be called")
	results, err := start(t, m, options(1), 1, 1).Translate(t.Context(), nil)
	assert.NoError(t, err)
	assert.Empty(t, results)
}

func TestTranslateTellsTruncation(t *testing.T) {
	m, opts := newToy(), options(1)
	opts.MaxLength = 4
	results, err := start(t, m, opts, 10, 1).Translate(t.Context(),
		[]Job{{model.Source{IDs: []int64{5, 11, 12, 13, 14, 15, 16, 2}, Prefix: []int64{2, 6}}}})
	require.NoError(t, err)
	assert.True(t, results[0].Truncated)
}

func TestTranslatePassesErrorsOn(t *testing.T) {
	boom := errors.New("boom")
	steps := 0
	for name, change := range map[string]func(*toy){
		"new batch": func(m *toy) { m.newBatchErr = boom },
		"join":      func(m *toy) { m.onJoin = func([]model.Source) error { return boom } },
		"step": func(m *toy) {
			m.onStep = func(context.Context) error {
				if steps++; steps == 3 {
					return boom
				}
				return nil
			}
		},
		"close": func(m *toy) { m.closeErr = boom },
	} {
		t.Run(name, func(t *testing.T) {
			m := newToy()
			change(m)
			results, err := start(t, m, options(2), 4, 1).Translate(t.Context(), makeJobs(5))
			assert.ErrorIs(t, err, boom)
			assert.Nil(t, results, "a partial result")
		})
	}
}

func TestTranslateRefusesBrokenSources(t *testing.T) {
	e := start(t, newToy(), options(1), 4, 1)
	_, err := e.Translate(t.Context(), []Job{{model.Source{IDs: []int64{5, 2}}}})
	assert.ErrorContains(t, err, "prefix")
	_, err = e.Translate(t.Context(), makeJobs(2))
	assert.NoError(t, err, "the engine works on after an error")
}

func TestCancelMidDecode(t *testing.T) {
	m := newToy()
	ctx, cancel := context.WithCancel(t.Context())
	steps := 0
	m.onStep = func(context.Context) error { // the model itself does not look at ctx
		if steps++; steps == 2 {
			cancel()
		}
		return nil
	}
	results, err := start(t, m, options(2), 4, 1).Translate(ctx, makeJobs(9))
	assert.ErrorIs(t, err, context.Canceled)
	assert.Nil(t, results)
	assert.Equal(t, 2, steps, "no step after the cancellation")
	assert.Zero(t, m.open.Load(), "the batch is closed")
}

func TestDeadlineIsTheError(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	_, err := start(t, newToy(), options(1), 4, 1).Translate(ctx, makeJobs(1))
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}

// held makes an engine whose first request stands in its first step until
// release is closed.
func held(t *testing.T, concurrency int) (e *Engine, entered, release chan struct{}) {
	m := newToy()
	entered, release = make(chan struct{}), make(chan struct{})
	m.onStep = func(ctx context.Context) error {
		select {
		case entered <- struct{}{}:
			<-release
		case <-release:
		}
		return nil
	}
	e, err := New(Config{Model: m, Search: options(1), Rows: 4, Concurrency: concurrency})
	require.NoError(t, err)
	t.Cleanup(func() { assert.Zero(t, m.open.Load(), "batches left open") })
	return e, entered, release
}

func TestBusy(t *testing.T) {
	e, entered, release := held(t, 1)
	var g errgroup.Group
	g.Go(func() error { _, err := e.Translate(t.Context(), makeJobs(1)); return err })
	<-entered

	_, err := e.Translate(t.Context(), makeJobs(1))
	assert.ErrorIs(t, err, ErrBusy)
	assert.EqualError(t, err, "too many requests are waiting: 1 requests run or wait")
	close(release)
	require.NoError(t, g.Wait())
	_, err = e.Translate(t.Context(), makeJobs(1))
	assert.NoError(t, err, "there is room again")
	e.Close()
}

func TestCancelWhileWaiting(t *testing.T) {
	e, entered, release := held(t, 2)
	var g errgroup.Group
	g.Go(func() error { _, err := e.Translate(t.Context(), makeJobs(1)); return err })
	<-entered

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := e.Translate(ctx, makeJobs(1))
	assert.ErrorIs(t, err, context.Canceled)
	close(release)
	require.NoError(t, g.Wait())
	e.Close()
}

func TestCloseStopsWhatRunsAndWaits(t *testing.T) {
	e, entered, release := held(t, 3)
	errs := make(chan error, 3)
	for range 3 {
		go func() { _, err := e.Translate(t.Context(), makeJobs(4)); errs <- err }()
	}
	<-entered
	closed := make(chan struct{})
	go func() { e.Close(); close(closed) }()

	// The two that wait end at once; the one in the model's step cannot.
	assert.ErrorIs(t, <-errs, ErrClosed)
	assert.ErrorIs(t, <-errs, ErrClosed)
	select {
	case <-closed:
		t.Error("Close returned while the model was in use")
	default:
	}
	close(release)
	assert.ErrorIs(t, <-errs, ErrClosed)
	<-closed
	_, err := e.Translate(t.Context(), makeJobs(1))
	assert.ErrorIs(t, err, ErrClosed)
}

func TestTranslateConcurrently(t *testing.T) {
	m, opts := newToy(), options(3)
	e := start(t, m, opts, 12, 8)
	var g errgroup.Group
	for n := range 8 {
		g.Go(func() error {
			jobs := makeJobs(n + 1)
			results, err := e.Translate(t.Context(), jobs)
			for i := range results {
				assert.Equal(t, alone(t, newToy(), opts, jobs[i]), results[i])
			}
			return err
		})
	}
	require.NoError(t, g.Wait())
	assert.EqualValues(t, 4, m.largest.Load())
}

func TestNewRefuses(t *testing.T) {
	long := options(1)
	long.MaxLength = 1001
	for _, test := range []struct {
		opts              search.Options
		rows, concurrency int
		want              string
	}{
		{search.Options{}, 1, 1, "beams is 0"},
		{long, 1, 1, "max length is 1001, but the model has 1000 positions"},
		{options(1), 0, 1, "0 rows and 1 requests"},
		{options(1), 1, 0, "1 rows and 0 requests"},
	} {
		_, err := New(Config{Model: newToy(), Search: test.opts, Rows: test.rows, Concurrency: test.concurrency})
		assert.ErrorContains(t, err, test.want)
	}
}
