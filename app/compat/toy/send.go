package toy

import (
	"context"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"dragoman/app/compat"
)

// Send sends a request to an API that register adds to a server, and returns the answer.
// An empty contentType is left out; headers are names and values in turns. The request is
// "id-77", and its sender goes away after 50 ms.
func Send(ctx context.Context, register func(gin.IRouter, compat.Config), cfg compat.Config,
	method, path, contentType, body string, headers ...string) *httptest.ResponseRecorder {
	router := gin.New()
	register(router, cfg)
	ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	w.Header().Set("X-Request-Id", "id-77")
	router.ServeHTTP(w, r)
	return w
}

// Body is the body of an answer without the line break at its end.
func Body(w *httptest.ResponseRecorder) string { return strings.TrimSuffix(w.Body.String(), "\n") }
