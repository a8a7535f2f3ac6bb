package client

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A document is translated by the service's own routes.
func TestContractOfDocuments(t *testing.T) {
	c := contractOfJobs(t, Config{})
	document := Document{From: Auto, To: "fr", Name: "Brief & mehr.txt", Content: []byte("hello\n\nyou\nhello\n"),
		Columns: []string{"a b", "2"}, Header: HeaderKeep, Also: []string{AlsoAlt, AlsoHeaders}, Wrapped: WrappedOff, Priority: PriorityHigh, Options: &Options{Beams: 2}}
	job, err := c.SubmitDocument(t.Context(), document, SubmitOptions{IdempotencyKey: "once"})
	require.NoError(t, err)
	again, err := c.SubmitDocument(t.Context(), document, SubmitOptions{IdempotencyKey: "once"})
	require.NoError(t, err)
	assert.Equal(t, job.ID(), again.ID())
	content, err := c.Job(job.ID()).Document(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "HELLO\n\nYOU\nHELLO\n", string(content))
	status, err := job.Status(t.Context())
	require.NoError(t, err)
	assert.Equal(t, JobDocument{Name: "Brief & mehr.txt", Kind: "txt", Bytes: int64(len(document.Content))}, status.Document)
	assert.Equal(t, 2, status.Progress.Records)
	_, err = job.Wait(t.Context())
	assert.ErrorIs(t, err, ErrInvalidAnswer, "it has no texts")
}

func TestContractOfDocumentsThatFail(t *testing.T) {
	c := contractOfJobs(t, Config{Retries: -1})
	submit := func(name, content string, o SubmitOptions) (*Job, error) {
		return c.SubmitDocument(t.Context(), Document{From: "en", To: "fr", Name: name, Content: []byte(content)}, o)
	}
	for code, document := range map[string][2]string{
		CodeUnsupportedDocument: {"a.exe", "x"}, CodeInvalidDocument: {"a.txt", ""}, CodeBodyTooLarge: {"a.txt", string(make([]byte, 20_000))},
	} {
		_, err := submit(document[0], document[1], SubmitOptions{})
		assert.True(t, IsCode(err, code), err)
	}
	job, err := submit("a.txt", "endless", SubmitOptions{})
	require.NoError(t, err)
	_, err = job.Document(t.Context())
	assert.Equal(t, Error{Code: CodeUnfinished, Field: "file", Message: "no end"}, *requireError(t, err))
	job, err = submit("a.txt", "wait", SubmitOptions{})
	require.NoError(t, err)
	require.NoError(t, job.Cancel(t.Context()))
	_, err = job.Document(t.Context())
	assert.ErrorIs(t, err, ErrCancelled)

	// Invalid documents are refused before they are sent.
	_, err = submit("a.txt", "x", SubmitOptions{IdempotencyKey: "a b"})
	assert.ErrorContains(t, err, "IdempotencyKey")
	_, err = c.SubmitDocument(t.Context(), Document{Columns: []string{"a,b"}}, SubmitOptions{})
	assert.ErrorContains(t, err, "by its number")
	_, err = c.SubmitDocument(t.Context(), Document{ID: "a b"}, SubmitOptions{})
	assert.ErrorContains(t, err, "Document.ID")
}

// A truncated document is requested again, and never returned as complete.
func TestDocumentThatBreaksOff(t *testing.T) {
	var tries atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("GET /jobs/1/events", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", eventsType)
		_, _ = io.WriteString(w, "event: job\ndata: {\"job\":{\"id\":\"1\",\"state\":\"done\"}}\n\n")
	})
	mux.HandleFunc("GET /documents/1/result", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "the first half, ")
		_ = http.NewResponseController(w).Flush()
		if tries.Add(1) < 3 {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, "and the other")
	})
	inBubble(t, Config{Retries: -1}, mux.ServeHTTP, func(t *testing.T, c *Client) {
		content, err := c.Job("1").Document(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "the first half, and the other", string(content))
		assert.Equal(t, int64(3), tries.Load())

		tries.Store(-1 << 40)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err = c.Job("1").Document(ctx)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}
