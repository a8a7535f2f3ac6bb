package httpapi

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/api/openapi"
	"dragoman/app/api/webpage"
	"dragoman/app/fault"
	"dragoman/app/guard/access"
	"dragoman/app/guard/body"
	"dragoman/app/text/excerpt"
)

// requestIDPattern matches the acceptable request ids of clients, which appear in headers and logs.
var requestIDPattern = regexp.MustCompile(`^[A-Za-z0-9._:/+=-]{1,128}$`)

// quiet are the routes whose requests are logged at debug level only.
var quiet = append([]string{webpage.AssetsPath, openapi.FilesPath}, probes...)

// requestID gives the request the client's id, or a new one.
func requestID(c *gin.Context) {
	id := c.GetHeader(dialect.RequestIDHeader)
	if !requestIDPattern.MatchString(id) {
		id = rand.Text()
	}
	c.Header(dialect.RequestIDHeader, id)
}

func idOf(c *gin.Context) string { return c.Writer.Header().Get(dialect.RequestIDHeader) }

// requestLog logs requests.
type requestLog struct {
	server *dialect.Server
	log    *slog.Logger
}

// access writes a line for each request, even if the handler panics to cut its answer off. The line never contains texts.
func (l requestLog) access(c *gin.Context) {
	start, complete := time.Now(), false
	defer func() { l.write(c, time.Since(start), complete) }()
	c.Next()
	complete = true
}

func (l requestLog) write(c *gin.Context, took time.Duration, complete bool) {
	status := c.Writer.Status()
	level := slog.LevelInfo
	switch {
	case status == http.StatusInternalServerError, !complete && c.Request.Context().Err() == nil: // otherwise the client has left
		level = slog.LevelError
	case slices.Contains(quiet, c.FullPath()):
		level = slog.LevelDebug
	}
	attrs := []slog.Attr{
		slog.String("id", idOf(c)),
		slog.String("method", c.Request.Method),
		slog.String("path", excerpt.Of(c.Request.URL.Path)),
		slog.Int("status", status),
		slog.Duration("took", took),
	}
	if !complete {
		attrs = append(attrs, slog.Bool("aborted", true))
	}
	attrs = append(attrs, dialect.LogAttrs(c)...)
	if name := access.Name(c.Request); name != "" {
		attrs = append(attrs, slog.String("key", name))
	}
	if len(c.Errors) > 0 {
		attrs = append(attrs, slog.String("error", c.Errors.Last().Error()))
	}
	l.log.LogAttrs(c.Request.Context(), level, "request", attrs...)
}

// recoverPanic turns a panic into an answer. The panic's value is only logged. A panic by which a handler cuts its answer off is
// passed on.
func (l requestLog) recoverPanic(c *gin.Context) {
	defer func() {
		caught := recover()
		switch caught {
		case nil:
			return
		case http.ErrAbortHandler:
			panic(caught)
		}
		l.log.ErrorContext(c.Request.Context(), "panic", "id", idOf(c), "panic", fmt.Sprint(caught), "stack", string(debug.Stack()))
		if c.Writer.Written() {
			// Cut off, so that the client does not take a part for the whole answer.
			panic(http.ErrAbortHandler)
		}
		l.server.Fail(c, fmt.Errorf("panic: %v", caught))
	}()
	c.Next()
}

// bodyLimits are the limits of bodies, as middleware.
type bodyLimits struct {
	server *dialect.Server
	gate   *access.Gate
	most   int64
}

// small refuses bodies that are known to be too large, and charges all other bodies to their callers.
func (l bodyLimits) small(c *gin.Context) { l.limit(c, l.most, "send several requests") }

// large is small for bodies that may be larger, and take longer, than others.
func (l bodyLimits) large(most int64, remedy string) gin.HandlerFunc {
	return func(c *gin.Context) {
		if c.Request.Method != http.MethodPost {
			l.small(c)
			return
		}
		body.Widen(c.Request, most, largeBodyTimeout)
		l.limit(c, most, remedy)
	}
}

// limit is small with another limit, and the remedy that the error suggests.
func (l bodyLimits) limit(c *gin.Context, most int64, remedy string) {
	if size := c.Request.ContentLength; size > most {
		l.server.Fail(c, fault.New(fault.BodyTooLarge, "", "the body has %d bytes, at most %d are allowed: %s", size, most, remedy))
		return
	}
	body.Account(c.Request, func() string {
		if l.gate.NeedsKeys() && access.Name(c.Request) == "" {
			return "" // all requests whose key is not read yet count as one caller
		}
		return access.Caller(c.Request)
	}, func() error { return l.server.Permit(c) })
}
