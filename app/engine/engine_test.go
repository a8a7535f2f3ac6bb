package engine

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/search"
)

// Whatever shares the batch, a sentence's translation is the one it has alone,
// and results come in the order of the jobs.
func TestTranslateEqualsDecodingAlone(t *testing.T) {
	for _, test := range []struct{ beams, rows, jobs, mostRows int }{
		{1, 1, 7, 1},
		{1, 4, 30, 4},
		{1, 100, 30, 30},
		{2, 5, 20, 4},
		{5, 3, 6, 5}, // a sentence that takes more rows than there are
		{5, 40, 33, 40},
	} {
		t.Run(fmt.Sprintf("%d beams, %d rows, %d jobs", test.beams, test.rows, test.jobs), func(t *testing.T) {
			m, jobs := newToy(), sentences(test.jobs, test.beams)
			for i := range jobs { // so that searches need different k
				jobs[i].Search.NoRepeatNgramSize, jobs[i].Search.RepetitionPenalty = i%3, 1+float64(i%2)
			}
			e := start(t, m, rows(test.rows))
			send(t.Context(), e, Normal, jobs...).want(t, jobs...)
			assert.EqualValues(t, test.mostRows, m.mostRows.Load())
			assert.EqualValues(t, test.jobs, m.joined.Load())
		})
	}
}

func TestGreedyAndBeamsShareSteps(t *testing.T) {
	m := newToy()
	jobs := []Job{sentence(8, 1, 5), sentence(12, 2, 1), sentence(8, 3, 2), sentence(5, 4, 1)}
	jobs[1].Prefix = []int64{2, 7, 8, 9, 10} // longer than the others'
	send(t.Context(), start(t, m, nil), Normal, jobs...).want(t, jobs...)
	assert.EqualValues(t, 9, m.mostRows.Load())
	assert.Less(t, int(m.steps.Load()), 25, "they decode together")
}

func TestTranslateNothing(t *testing.T) {
	m := newToy()
	m.onNew = func() error { return errors.New("not to be called") }
	results, err := start(t, m, nil).Translate(t.Context(), Request{})
	assert.NoError(t, err)
	assert.Empty(t, results)
}

func TestTranslateTellsTruncation(t *testing.T) {
	job := sentence(9, 1, 1)
	job.Search.MaxLength = 4
	results, err := start(t, newToy(), nil).Translate(t.Context(), Request{}, job)
	require.NoError(t, err)
	assert.True(t, results[0].Truncated)
	assert.Len(t, results[0].Tokens, 2)
}

// The engine works on after each refusal, and a refused job harms no other.
func TestTranslateRefuses(t *testing.T) {
	m := newToy()
	e := start(t, m, nil)
	for want, change := range map[string]func(*Request, []Job){
		"priority 2 is none of":                                func(r *Request, _ []Job) { r.Priority = 2 },
		"priority -2 is none of":                               func(r *Request, _ []Job) { r.Priority = -2 },
		"job 1: beams is 0":                                    func(_ *Request, jobs []Job) { jobs[1].Search = search.Options{} },
		"job 1: 6 beams, at most 5":                            func(_ *Request, jobs []Job) { jobs[1].Search.Beams = 6 },
		"job 1: max length is 61, at most 60":                  func(_ *Request, jobs []Job) { jobs[1].Search.MaxLength = 61 },
		"job 1: the source is empty":                           func(_ *Request, jobs []Job) { jobs[1].Source = nil },
		"job 1: the source has 101 tokens, the model takes":    func(_ *Request, jobs []Job) { jobs[1].Source = make([]int64, 101) },
		"job 1: id 60 at position 2 is outside":                func(_ *Request, jobs []Job) { jobs[1].Source[2] = 60 },
		"job 1: id -1 at position 0 is outside":                func(_ *Request, jobs []Job) { jobs[1].Source[0] = -1 },
		"job 1: the forced prefix is empty":                    func(_ *Request, jobs []Job) { jobs[1].Prefix = nil },
		"job 1: max length 2 leaves no room":                   func(_ *Request, jobs []Job) { jobs[1].Search.MaxLength = 2 },
		"job 1: id 99 at position 1 is outside the vocabulary": func(_ *Request, jobs []Job) { jobs[1].Prefix[1] = 99 },
	} {
		t.Run(want, func(t *testing.T) {
			req, jobs := Request{}, sentences(3, 1)
			change(&req, jobs)
			_, err := e.Translate(t.Context(), req, jobs...)
			assert.ErrorIs(t, err, ErrInvalid)
			assert.ErrorContains(t, err, want)
			assert.Zero(t, m.joined.Load())
		})
	}
	jobs := sentences(3, 5)
	send(t.Context(), e, High, jobs...).want(t, jobs...)
}

func TestNewRefuses(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"needs a logger":                           func(c *Config) { c.Log = nil },
		"rows is 0":                                func(c *Config) { c.Rows = 0 },
		"max beams is -1":                          func(c *Config) { c.MaxBeams = -1 },
		"prefill tokens is 0":                      func(c *Config) { c.PrefillTokens = 0 },
		"queue requests is 0":                      func(c *Config) { c.QueueRequests = 0 },
		"queue tokens is 0":                        func(c *Config) { c.QueueTokens = 0 },
		"max length is 1: use at least 2":          func(c *Config) { c.MaxLength = 1 },
		"max length is 101, but the model has 100": func(c *Config) { c.MaxLength = 101 },
		"memory is -1":                             func(c *Config) { c.Memory = -1 },
		"memory is 3299 bytes, but one sentence of 100 tokens with 5 beams of 60 tokens can take 3300": func(c *Config) { c.Memory = 3299 },
		"queue wait is -1ns": func(c *Config) { c.QueueWait = -1 },
	} {
		cfg := config()
		change(&cfg)
		_, err := Start(cfg, newToy())
		assert.ErrorContains(t, err, want)
	}
}

func TestLimitsOfTheBatch(t *testing.T) {
	cfg := config()
	assert.Equal(t, 134, cfg.Limits().Rows, "a third more than a caller has")
	cfg.Rows = 3
	assert.Equal(t, 5, cfg.Limits().Rows, "the widest sentence still decodes")
	assert.Equal(t, 60, cfg.Limits().MaxLength)
}

// The engine works on copies: what a caller does with its slices after Translate
// has returned early is its own business.
func TestSourcesAreCopied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newToy()
		m.stepTime = time.Millisecond
		e := start(t, m, rows(1))
		first, job := sentence(10, 1, 1), sentence(10, 2, 1)
		running := send(t.Context(), e, Normal, first)
		synctest.Wait()
		waiting := send(t.Context(), e, Normal, job)
		synctest.Wait()
		want := alone(t, job)
		job.Source[3], job.Prefix[1] = -7, -7
		<-waiting.done
		require.NoError(t, waiting.err)
		assert.Equal(t, want, waiting.results[0].Result)
		running.want(t, first)
	})
}

func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newToy()
		m.stepTime, m.joinTime = 10*time.Millisecond, time.Millisecond
		e := start(t, m, rows(6))
		beams, greedy, waits := sentence(10, 1, 5), sentence(9, 2, 1), sentence(8, 3, 5)
		a := send(t.Context(), e, Normal, beams, greedy, waits, greedy)
		time.Sleep(65 * time.Millisecond) // 19 ms to join, and into the fifth step
		s := e.Stats()
		assert.InDelta(t, 19/0.059, s.SourceTokensPerSecond, 1, "of 27, 19 did not have to wait any longer")
		s.SourceTokensPerSecond, s.WorkPerSecond = 0, 0
		assert.Equal(t, Stats{
			QueuedRequests: 1, QueuedSentences: 1, QueuedTokens: 8,
			RunningSentences: 2, RunningRows: 6, ReservedRows: 6,
			ReservedBytes:   5*40*10 + 10*3 + 40*10 + 9*3,
			SentencesShared: 1, Joins: 1, PrefilledTokens: 19, Steps: 4, SteppedRows: 2 + 6 + 6 + 6,
			Busy: 59 * time.Millisecond, Joining: 19 * time.Millisecond, Stepping: 40 * time.Millisecond,
		}, s)

		a.want(t, beams, greedy, waits, greedy)
		synctest.Wait()
		s = e.Stats()
		assert.Zero(t, s.QueuedRequests+s.QueuedSentences+s.QueuedTokens+s.RunningSentences+s.RunningRows+s.ReservedRows)
		assert.EqualValues(t, 3, s.SentencesDone)
		assert.EqualValues(t, 2, s.Joins)
		assert.EqualValues(t, 27, s.PrefilledTokens)
		tokens := 0
		for _, r := range a.results[:3] {
			tokens += len(r.Tokens)
		}
		assert.EqualValues(t, tokens, s.DecodedTokens)
		assert.Equal(t, s.Busy, s.Joining+s.Stepping, "the scheduler takes no time on this clock")
		assert.Greater(t, s.SourceTokensPerSecond, 27/s.Busy.Seconds(), "what comes after the last was admitted does not count")
	})
}
