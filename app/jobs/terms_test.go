package jobs_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/jobs"
	"dragoman/app/translate"
)

// Each slice is translated with the terms of its target language.
func TestRunWithTerms(t *testing.T) {
	f := &translator{}
	within(t, f, nil, func(t *testing.T, s *fixture, _ func()) {
		sub := jobs.Submission{
			Owner: "alice", Request: jobs.Request{Request: translate.Request{From: "en", To: []string{"fr", "de"}}},
			Terms: [][]translate.Term{{{Source: "cat", Target: "chat"}}, {{Source: "cat", Target: "Katze"}}},
		}
		for i := range 3 { // two slices
			sub.Records = append(sub.Records, translate.Record{ID: fmt.Sprint(i), Text: fmt.Sprintf("%08000d", i)})
		}
		job, _, err := s.Submit(t.Context(), sub)
		require.NoError(t, err)
		synctest.Wait()
		assert.Equal(t, jobs.Done, s.now(job).State)
		assert.Empty(t, s.now(job).Request.Terms, "they are no part of what is written each time")
		assert.Equal(t, []string{"fr:0", "fr:1", "fr:2", "de:0", "de:1", "de:2"}, s.results(job))
	})
	require.Len(t, f.calls, 4)
	for _, call := range f.calls {
		want := map[string]string{"fr": "chat", "de": "Katze"}[call.To[0]]
		assert.Equal(t, []translate.Term{{Source: "cat", Target: want}}, call.Terms)
	}
}
