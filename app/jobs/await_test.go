package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/app/fault"
	"dragoman/app/jobs"
	"dragoman/app/translate"
)

// awaitedSubmission has two slices.
var awaitedSubmission = jobs.Submission{
	Owner: "alice", Key: "key", Request: jobs.Request{Request: translate.Request{From: "en", To: []string{"fr"}}},
	Records: []translate.Record{{ID: "0", Text: "x"}, {ID: "1", Text: "x"}},
}

// A job that a request awaits needs no runner. It exists as long as the request, unless the request asks to keep it.
func TestAwait(t *testing.T) {
	errUse, busy := errors.New("the client has left"), &engine.BusyError{Wait: time.Hour}
	always := func(err error) func(context.Context, int) error {
		return func(context.Context, int) error { return err }
	}
	for name, test := range map[string]struct {
		do   func(ctx context.Context, call int) error
		use  func() (keep bool, err error) // nil: no call is expected
		want error
		kept int
	}{
		"done":     {always(nil), func() (bool, error) { return false, nil }, nil, 0},
		"kept":     {always(nil), func() (bool, error) { return true, nil }, nil, 1},
		"not sent": {always(nil), func() (bool, error) { return true, errUse }, errUse, 0},
		"what passes": {func(_ context.Context, call int) error {
			if call < 3 {
				return busy
			}
			return nil
		}, func() (bool, error) { return false, nil }, nil, 0},
		"what fails":   {always(&translate.Error{Code: translate.CodeUnfinished, Message: "no end"}), nil, fault.New(fault.Unfinished, "", "no end"), 0},
		"a fault":      {always(errUse), nil, errUse, 0},
		"the end":      {always(engine.ErrClosed), nil, engine.ErrClosed, 0},
		"a time limit": {func(ctx context.Context, _ int) error { return wait(ctx, 0, translate.Request{}) }, nil, context.DeadlineExceeded, 0},
		"busy":         {always(busy), nil, context.DeadlineExceeded, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := &translator{do: func(ctx context.Context, call int, _ translate.Request) error { return test.do(ctx, call) }}
			awaiting(t, f, func(t *testing.T, s *fixture) {
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
				defer cancel()
				used := false
				err := s.Await(ctx, awaitedSubmission, func(job jobs.Job) (bool, error) {
					used = true
					assert.Equal(t, []string{"fr:0", "fr:1"}, s.results(job))
					time.Sleep(3 * time.Minute) // a client that reads slowly; the job stays its request's
					counts, err := s.store.Sweep(t.Context())
					require.NoError(t, err)
					assert.Equal(t, map[jobs.State]int{jobs.Done: 1}, counts)
					return test.use()
				})
				if want, ok := test.want.(*fault.Failure); ok {
					assert.Equal(t, want, err)
				} else {
					assert.ErrorIs(t, err, test.want)
				}
				assert.Equal(t, test.use != nil, used)
				time.Sleep(time.Minute)
				_, err = s.store.Sweep(t.Context())
				require.NoError(t, err)
				left, err := s.List(t.Context(), "alice", 10)
				require.NoError(t, err)
				assert.Len(t, left, test.kept)
			})
		})
	}
}

// awaiting runs a test in a bubble of time, with a service that runs no jobs.
func awaiting(t *testing.T, f *translator, test func(t *testing.T, s *fixture)) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	synctest.Test(t, func(t *testing.T) {
		s := newFixture(t, path, nil)
		s.Ready(f)
		test(t, s)
		assert.NoError(t, s.store.Close())
	})
}

// A panic cuts an answer off.
func TestAwaitOutlivesAPanic(t *testing.T) {
	awaiting(t, &translator{}, func(t *testing.T, s *fixture) {
		assert.PanicsWithValue(t, http.ErrAbortHandler, func() {
			_ = s.Await(t.Context(), awaitedSubmission, func(jobs.Job) (bool, error) { panic(http.ErrAbortHandler) })
		})
		left, err := s.List(t.Context(), "alice", 10)
		require.NoError(t, err)
		assert.Empty(t, left)
	})
}

// The owner may cancel a job that a request awaits; the request gets an error.
func TestAwaitWhatIsCancelled(t *testing.T) {
	awaiting(t, &translator{do: wait}, func(t *testing.T, s *fixture) {
		result := make(chan error)
		go func() { result <- s.Await(t.Context(), awaitedSubmission, nil) }()
		synctest.Wait()
		list, err := s.List(t.Context(), "alice", 10)
		require.NoError(t, err)
		require.Len(t, list, 1)
		_, _, err = s.Delete(t.Context(), list[0].ID)
		require.NoError(t, err)
		err = <-result
		assert.EqualError(t, err, "the job was cancelled")
		assert.Equal(t, fault.NotDone, fault.Explain(err, fault.Situation{}).Kind)
		_, err = s.Get(t.Context(), list[0].ID)
		assert.ErrorIs(t, err, jobs.ErrUnknown)
	})
}

// A service that shuts down does not wait for temporary errors to pass.
func TestAwaitAtTheEnd(t *testing.T) {
	awaiting(t, &translator{do: func(context.Context, int, translate.Request) error { return &engine.BusyError{Wait: time.Hour} }}, func(t *testing.T, s *fixture) {
		stop, begun := s.run(), time.Now()
		result := make(chan error)
		go func() { result <- s.Await(t.Context(), awaitedSubmission, nil) }()
		synctest.Wait()
		stop()
		assert.ErrorIs(t, <-result, engine.ErrBusy)
		assert.Equal(t, begun, time.Now())
	})
}

// deleting is a store in which the owner deletes each job right after its claim, before its runner notices.
type deleting struct{ jobs.Store }

func (d deleting) Input(ctx context.Context, id string, n int) ([]byte, error) {
	_, _ = d.Cancel(ctx, id)
	_ = d.Remove(ctx, id)
	return d.Store.Input(ctx, id, n)
}

// Deleting a running job is not an error of the service.
func TestDeletedJobsAreNoErrors(t *testing.T) {
	var log bytes.Buffer
	within(t, &translator{}, func(cfg *jobs.Config) {
		cfg.Store, cfg.Log = deleting{cfg.Store}, slog.New(slog.NewTextHandler(&log, nil))
	}, func(t *testing.T, s *fixture, _ func()) {
		job := s.submit(1, "fr")
		time.Sleep(time.Minute)
		_, err := s.Get(t.Context(), job.ID)
		assert.ErrorIs(t, err, jobs.ErrUnknown)
	})
	assert.NotContains(t, log.String(), "level=ERROR")
	assert.Contains(t, log.String(), "job submitted")
}
