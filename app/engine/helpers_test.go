package engine

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/schedule"
	"dragoman/model"
	"dragoman/model/search"
	"dragoman/model/search/searchtest"
)

// Priority is short for tests.
type Priority = schedule.Priority

const (
	Low    = schedule.Low
	Normal = schedule.Normal
	High   = schedule.High
)

// config has room for all that a test does not want to be short of.
func config() Config {
	return Config{
		Log:  slog.New(slog.DiscardHandler),
		Rows: 100, MaxBeams: 5, MaxLength: 60, PrefillTokens: 1000,
		QueueRequests: 1000, QueueTokens: 100_000,
	}
}

// tested is an engine with one worker.
type tested struct{ *Engine }

func (e tested) Stats() Stats { return e.Engine.Stats()[0] }

// Close is Engine.Close of models that close without an error.
func (e tested) Close() {
	if err := e.Engine.Close(); err != nil {
		panic(err)
	}
}

// Translate decodes jobs and returns their results in the same order, when all are there.
func (e *Engine) Translate(ctx context.Context, req Request, jobs ...Job) ([]Result, error) {
	results := make([]Result, len(jobs))
	err := e.Stream(ctx, req, List(jobs...), func(job int, r Result) error {
		results[job] = r
		return nil
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// newTestSession is of a request of no engine.
func newTestSession(req Request) *local {
	l := &local{Session: &Session{Request: req}, short: math.MaxInt}
	l.place = schedule.Request{Caller: req.Caller, Priority: req.Priority, Left: l.left}
	return l
}

// start makes an engine that is closed at the end of the test and must have kept
// the model's contract and left nothing behind.
func start(t *testing.T, m checked, change func(*Config)) tested {
	cfg := config()
	if change != nil {
		change(&cfg)
	}
	started, err := Start(cfg, m)
	require.NoError(t, err)
	e := tested{started}
	t.Cleanup(func() {
		e.Close()
		m.check(t)
		s := e.Stats()
		assert.Zero(t, s.RunningSentences+s.RunningRows+s.QueuedSentences+s.ReservedRows+int(s.ReservedBytes), "%+v", s)
	})
	return e
}

// checked is a toy, or something that has one.
type checked interface {
	model.Model
	check(t testing.TB)
}

// check is what holds of a model that is not used any more.
func (m *toy) check(t testing.TB) {
	assert.Empty(t, m.faults)
	assert.Zero(t, m.open.Load(), "batches left open")
}

// rows is a change of the configuration.
func rows(n int) func(*Config) { return func(c *Config) { c.Rows = n } }

// options are search settings for the toy.
func options(beams int) search.Options {
	return search.Options{Beams: beams, MaxLength: 40, LengthPenalty: 1, EarlyStopping: search.StopEarly, RepetitionPenalty: 1}
}

// sentence makes a job with a source of n tokens, 3 at least, that is the only
// one with its number. In greedy search it takes n steps.
func sentence(n, number, beams int) Job {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(number)))
	ids := []int64{5, int64(number % 60)}
	for len(ids) < n-1 {
		ids = append(ids, 10+rng.Int64N(50))
	}
	return Job{Source: append(ids, 2), Prefix: []int64{2, 6 + int64(number/60%50)}, Search: options(beams)}
}

// sentences makes n different jobs with sources of 3 to 20 tokens.
func sentences(n, beams int) []Job {
	jobs := make([]Job, n)
	for i := range jobs {
		jobs[i] = sentence(3+i*7%18, i, beams)
	}
	return jobs
}

// alone decodes a job with nothing else in the batch and no engine around it.
func alone(t testing.TB, job Job) search.Result {
	m := newToy()
	b, err := m.NewBatch(model.Limits{Rows: job.Search.Beams, MaxLength: job.Search.MaxLength})
	require.NoError(t, err)
	require.NoError(t, b.Join(t.Context(), [][]int64{job.Source}))
	s, err := search.NewSequence(job.Search, search.Constraints{}, job.Prefix, m.spec)
	require.NoError(t, err)
	results, err := searchtest.Decode(t.Context(), b, []*search.Sequence{s})
	require.NoError(t, err)
	require.NoError(t, b.Close())
	m.check(t)
	return results[0]
}

// sent is a request on its way. Its fields hold once done is closed.
type sent struct {
	results []Result
	err     error
	took    time.Duration
	done    chan struct{}
}

// send makes a request in a goroutine of its own.
func send(ctx context.Context, e tested, p Priority, jobs ...Job) *sent {
	return sendAs(ctx, e, Request{Priority: p}, jobs...)
}

// sendAs is send of a request that says what it is.
func sendAs(ctx context.Context, e tested, req Request, jobs ...Job) *sent {
	s := &sent{done: make(chan struct{})}
	go func() {
		defer close(s.done)
		begin := time.Now()
		s.results, s.err = e.Translate(ctx, req, jobs...)
		s.took = time.Since(begin)
	}()
	return s
}

// want waits for the request and compares its results with decoding alone.
func (s *sent) want(t testing.TB, jobs ...Job) {
	<-s.done
	require.NoError(t, s.err)
	require.Len(t, s.results, len(jobs))
	for i, job := range jobs {
		assert.Equal(t, alone(t, job), s.results[i].Result, "job %d", i)
	}
}

// fails waits for the request and wants it to fail as a whole.
func (s *sent) fails(t testing.TB, target error) {
	<-s.done
	assert.ErrorIs(t, s.err, target)
	assert.Nil(t, s.results, "a partial result")
}

// names knows sentences by their sources, to tell the order in which they join.
type names struct {
	of     map[string]string
	mu     sync.Mutex // guards joined
	joined []string
}

// watch notes the names of jobs that join m's batches.
func watch(m *toy, jobs map[string]Job) *names {
	n := &names{of: map[string]string{}}
	for name, job := range jobs {
		n.of[fmt.Sprint(job.Source)] = name
	}
	m.onJoin = func(sources [][]int64) error {
		n.mu.Lock()
		defer n.mu.Unlock()
		for _, s := range sources {
			n.joined = append(n.joined, n.of[fmt.Sprint(s)])
		}
		return nil
	}
	return n
}

// order is how they joined.
func (n *names) order() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.joined
}
