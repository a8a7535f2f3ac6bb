package compattest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
)

// Server returns a server of APIs, with a timeout of a minute for each translation. With a nil translator it is loading.
func Server(cfg dialect.Config, t dialect.Translator, apis ...func(*dialect.Server) dialect.Dialect) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.Use(dialect.Resolve(nil))
	router.HandleMethodNotAllowed = true
	cfg.RequestTimeout = time.Minute
	server := dialect.New(cfg)
	if t != nil {
		server.Ready(t)
	}
	for _, api := range apis {
		server.Mount(router, api(server))
		server.Mount(router.Group(dialect.ModelPath), api(server))
	}
	return router
}

var waits = regexp.MustCompile(`\bwait\b`)

// Send sends a request to a server and returns the answer. An empty contentType is left out; headers alternates names and values.
// The request's id is "id-77". The client of a request with the text "wait", for which a translator waits until then, leaves after 50
// ms; other clients stay, however long a busy machine takes.
func Send(ctx context.Context, server http.Handler, method, path, contentType, body string, headers ...string) *httptest.ResponseRecorder {
	if waits.MatchString(body) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
	}
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	w.Header().Set(dialect.RequestIDHeader, "id-77")
	server.ServeHTTP(w, r)
	return w
}

// Body returns the body of an answer without its final line feed.
func Body(w *httptest.ResponseRecorder) string { return strings.TrimSuffix(w.Body.String(), "\n") }
