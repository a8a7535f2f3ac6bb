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

// brokenPipe is an answer to a client that leaves when the first of it is sent: the server then ends the
// request's context, and fails what writes.
type brokenPipe struct {
	*httptest.ResponseRecorder
	leave context.CancelFunc
}

func (w brokenPipe) Write(p []byte) (int, error) {
	w.leave()
	n, _ := w.ResponseRecorder.Write(p[:1])
	return n, syscall.EPIPE
}

// A client that leaves in the middle of an answer is no error of the service, and is not counted as one; its
// connection is cut, so that nothing between takes what there is for the whole.
func TestClientsThatLeaveInTheMiddle(t *testing.T) {
	s := newJobService(t, nil, true)
	status, document, answer := s.submitDocument(t, "a.txt", novel)
	require.Equal(t, 202, status, answer)
	job := s.submit(t, jobRequest("one"))
	for _, path := range []string{document.URL, job} {
		s.do("GET", path+"/events", "") // until it has ended
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
		} else { // its last event is missing
			serve()
			assert.Regexp(t, `level=INFO msg=request .*error=.*broken pipe`, log.String(), test.path)
		}
		assert.NotContains(t, log.String(), "ERROR", test.path)
		assert.NotContains(t, log.String(), "stack", test.path)
		counted := do(api.Handler(), "GET", metricsPath, "").Body.String()
		assert.Empty(t, regexp.MustCompile(`dragoman_errors_total\{.*\} [1-9].*`).FindString(counted), test.path)
	}
}

// What goes wrong here in the middle of an answer is an error, but not one with a stack.
func TestAnswerThatIsCutOff(t *testing.T) {
	a, log := newAPI()
	router := a.router()
	router.GET("/cut", func(c *gin.Context) {
		c.String(http.StatusOK, "begun")
		_ = c.Error(errSecret)
		panic(http.ErrAbortHandler)
	})
	assert.PanicsWithValue(t, http.ErrAbortHandler, func() { do(router, "GET", "/cut", "") })
	assert.Regexp(t, `level=ERROR msg=request .*aborted=true.*error=`, log.String())
	assert.NotContains(t, log.String(), "stack")
}
