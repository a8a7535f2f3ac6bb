package remote

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
)

// same implements [Dialect]: all jobs are equal.
type same struct{}

func (same) Body(engine.Job) ([]byte, error) { return []byte("{}"), nil }

func (same) Result(engine.Job, []byte) (r engine.Result, used Usage, err error) {
	return r, used, errors.New("no call is made")
}

// A request that ends while several of its jobs wait for the same call takes it back once.
func TestCancelEqualJobs(t *testing.T) {
	e := NewEngine(Config{
		Dialect: same{}, Client: NewClient("http://127.0.0.1", "", time.Minute, 1), Circuit: NewCircuit("m"), Slots: 1, Requests: 2, Tokens: 100,
		Log: slog.New(slog.DiscardHandler),
	})
	e.pause(time.Hour) // no call begins
	gone := errors.New("the client has gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	jobs := 0
	err := e.Stream(ctx, engine.Request{}, func() (engine.Job, bool, error) {
		if jobs++; jobs == 2 {
			cancel(gone)
		}
		return engine.Job{Source: []int64{1, 2, 3}}, true, nil
	}, func(int, engine.Result) error { return errors.New("a result") })
	require.ErrorIs(t, err, gone)
	assert.Equal(t, 2, jobs)
	s := e.Stats()[0]
	assert.Zero(t, s.QueuedSentences)
	assert.Zero(t, s.QueuedTokens)
	assert.EqualValues(t, 1, s.SentencesShared)
	assert.EqualValues(t, 1, s.SentencesCancelled)
	require.NoError(t, e.Close())
}
