package httpapi

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// brokenPipe is an answer whose client leaves at the first write: the request's context ends, and writes fail.
type brokenPipe struct {
	*httptest.ResponseRecorder
	leave context.CancelFunc
}

func (w brokenPipe) Write(p []byte) (int, error) {
	w.leave()
	n, _ := w.ResponseRecorder.Write(p[:1])
	return n, syscall.EPIPE
}

// A client that leaves during an answer is not an error of the service. The connection is cut, so that no proxy can take the
// partial answer for a complete one.
func TestClientsThatLeaveInTheMiddle(t *testing.T) {
	s := newJobService(t, nil, true)
	status, document, answer := s.submitDocument(t, "a.txt", novel)
	require.Equal(t, 202, status, answer)
	job := s.submit(t, jobRequest("one"))
	for _, path := range []string{document.URL, job} {
		s.do("GET", path+"/events", "") // waits until the job has ended
	}
	for _, test := range []struct {
		method, path, body string
		cut                bool
	}{
		{"GET", document.Document.Result, "", true},
		{"GET", job, "", true},
		{"POST", streamPath, payload(`[{"id":"1","text":"one"}]`), false},
	} {
		var log bytes.Buffer
		cfg := s.api.cfg
		cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
		counting(&cfg)
		api := New(cfg)
		api.Ready(upper{}, one)
		ctx, leave := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(ctx, test.method, test.path, strings.NewReader(test.body))
		r.Header.Set("Content-Type", "application/json")
		serve := func() { api.Handler().ServeHTTP(brokenPipe{httptest.NewRecorder(), leave}, r) }
		if test.cut {
			assert.PanicsWithValue(t, http.ErrAbortHandler, serve, test.path)
			assert.Regexp(t, `level=INFO msg=request .*aborted=true.*error="broken pipe"`, log.String(), test.path)
		} else { // the stream lacks its last event
			serve()
			assert.Regexp(t, `level=INFO msg=request .*error=.*broken pipe`, log.String(), test.path)
		}
		assert.NotContains(t, log.String(), "ERROR", test.path)
		assert.NotContains(t, log.String(), "stack", test.path)
		counted := do(api.Handler(), "GET", metricsPath, "").Body.String()
		assert.Empty(t, regexp.MustCompile(`dragoman_errors_total\{.*\} [1-9].*`).FindString(counted), test.path)
	}
}

// An internal error during an answer is logged as an error, without a stack.
func TestAnswerThatIsCutOff(t *testing.T) {
	a, log := newAPI()
	router, _ := a.router()
	router.GET("/cut", func(c *gin.Context) {
		c.String(http.StatusOK, "begun")
		_ = c.Error(errSecret)
		panic(http.ErrAbortHandler)
	})
	assert.PanicsWithValue(t, http.ErrAbortHandler, func() { do(router, "GET", "/cut", "") })
	assert.Regexp(t, `level=ERROR msg=request .*aborted=true.*error=`, log.String())
	assert.NotContains(t, log.String(), "stack")
}
