package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/guard/admission"
	"dragoman/app/jobs"
	"dragoman/app/translate"
)

// large is a document of three parts.
var large = bytes.Repeat([]byte("0123456789abcdef"), 80<<10)

// submitDocument submits a job about a document with a maximum size of the result.
func (s *fixture) submitDocument(most int) jobs.Job {
	s.t.Helper()
	job, _, err := s.Submit(s.t.Context(), jobs.Submission{
		Owner: "alice", Request: jobs.Request{Request: translate.Request{From: "en", To: []string{"fr"}}},
		Records:  []translate.Record{{ID: "0", Text: "x"}},
		Document: &jobs.Document{Name: "a.txt", Kind: "txt", Most: int64(most)}, File: []byte("x"),
	})
	require.NoError(s.t, err)
	return job
}

// document returns a job's document, or nil.
func (s *fixture) document(job jobs.Job) []byte {
	s.t.Helper()
	made, err := s.Made(s.t.Context(), s.now(job))
	require.NoError(s.t, err)
	if made == nil {
		return nil
	}
	content := []byte{}
	for n := range made.Parts {
		part, err := made.Part(s.t.Context(), n)
		require.NoError(s.t, err)
		content = append(content, part...)
	}
	require.EqualValues(s.t, len(content), made.Bytes)
	return content
}

// writes returns a maker that writes a document in pieces of odd lengths, and counts its calls.
func writes(content []byte, calls *int) jobs.Maker {
	return func(_ context.Context, out *jobs.Made, _ jobs.Job) error {
		*calls++
		for rest := content; len(rest) > 0; {
			n := min(len(rest), 300_007)
			if _, err := out.Write(rest[:n]); err != nil {
				return err
			}
			rest = rest[n:]
		}
		return nil
	}
}

// A document is made once, before its job is done, and stored with the job.
func TestDocumentIsMadeOnce(t *testing.T) {
	for _, content := range [][]byte{large, []byte("short"), {}} {
		within(t, new(translator), nil, func(t *testing.T, s *fixture, stop func()) {
			calls := 0
			s.MakeDocuments(func(ctx context.Context, out *jobs.Made, job jobs.Job) error {
				assert.Equal(t, jobs.Running, s.now(job).State)
				assert.Equal(t, 1, s.now(job).Progress.Done)
				out.Flagged = 1
				return writes(content, &calls)(ctx, out, job)
			})
			job := s.submitDocument(len(content))
			time.Sleep(time.Second)
			assert.Equal(t, jobs.Done, s.now(job).State)
			assert.Equal(t, 1, s.now(job).Progress.Flagged)
			for range 3 {
				assert.True(t, bytes.Equal(content, s.document(job)))
			}
			assert.Equal(t, 1, calls)
			plain := s.submit(1, "fr")
			time.Sleep(time.Second)
			assert.Nil(t, s.document(plain))
			assert.Equal(t, 1, calls, "a job without a document makes none")
		})
	}
}

// A temporary error is waited for, an error of the document fails the job, and an unknown error is retried.
func TestDocumentIsNotMade(t *testing.T) {
	for _, test := range []struct {
		err   error
		most  int
		state jobs.State
		code  string
		calls int
	}{
		{&admission.FullError{Wanted: 1, Limit: 1}, len(large), jobs.Done, "", 2},
		{&admission.PlacesError{Taken: 1}, len(large), jobs.Done, "", 2},
		{errors.New("once"), len(large), jobs.Done, "", 2},
		{nil, len(large) - 1, jobs.Failed, "too_large", 1},
	} {
		within(t, new(translator), nil, func(t *testing.T, s *fixture, stop func()) {
			calls := 0
			s.MakeDocuments(func(ctx context.Context, out *jobs.Made, job jobs.Job) error {
				err := writes(large, &calls)(ctx, out, job)
				if calls == 1 && err == nil {
					return test.err
				}
				return err
			})
			job := s.submitDocument(test.most)
			time.Sleep(2 * time.Minute)
			got := s.now(job)
			assert.Equal(t, test.state, got.State, "%v", test.err)
			assert.Equal(t, test.calls, calls)
			if test.code != "" {
				assert.Equal(t, test.code, got.Problem.Code)
				return
			}
			assert.True(t, bytes.Equal(large, s.document(job)))
		})
	}
	within(t, new(translator), nil, func(t *testing.T, s *fixture, stop func()) {
		s.MakeDocuments(func(context.Context, *jobs.Made, jobs.Job) error { panic("each time") })
		job := s.submitDocument(1)
		time.Sleep(10 * time.Minute)
		assert.Equal(t, jobs.Failed, s.now(job).State)
		assert.Equal(t, "internal", s.now(job).Problem.Code)
	})
}

// ending is a store that loses the claim when a part is saved.
type ending struct {
	jobs.Store
	at int // chunk
}

func (e *ending) Save(ctx context.Context, c jobs.Claim, n int, chunk []byte, results jobs.Tally) error {
	if n == e.at {
		e.at = -1
		return jobs.ErrLost
	}
	return e.Store.Save(ctx, c, n, chunk, results)
}

// If a runner ends at any part, the next one makes the whole document again: no byte is left of the first.
func TestDocumentIsMadeAgain(t *testing.T) {
	for at := 1; at <= 4; at++ {
		change := func(c *jobs.Config) { c.Store = &ending{c.Store, at} }
		within(t, new(translator), change, func(t *testing.T, s *fixture, stop func()) {
			calls := 0
			s.MakeDocuments(func(ctx context.Context, out *jobs.Made, job jobs.Job) error {
				content := bytes.Clone(large)
				content[0] = byte('A' + calls) // as another version would make it
				content[len(content)-1] = byte('A' + calls)
				return writes(content, &calls)(ctx, out, job)
			})
			job := s.submitDocument(len(large))
			time.Sleep(time.Second)
			assert.Equal(t, jobs.Running, s.now(job).State)
			assert.Nil(t, s.document(job), "a part is no document")
			time.Sleep(time.Minute)
			assert.Equal(t, jobs.Done, s.now(job).State)
			got := s.document(job)
			require.Len(t, got, len(large))
			assert.Equal(t, "BB", string([]byte{got[0], got[len(got)-1]}), "ended at chunk %d", at)
		})
	}
}
