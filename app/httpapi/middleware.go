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

	"dragoman/app/access"
	"dragoman/app/body"
	"dragoman/app/openapi"
	"dragoman/app/webpage"
	"dragoman/app/wording"
)

const (
	requestIDHeader = "X-Request-Id"

	// Keys of what handlers leave in gin's context for the access log.
	requestIDKey = "request_id"
	recordsKey   = "records"
	cachedKey    = "cached" // of the records, those that were in the cache
	flagsKey     = "flags"  // how many records have which
	deadlineKey  = "deadline_of_client"
	dialectKey   = "dialect" // how errors are told on this path, see dialects
)

// requestIDPattern is what a client's request id may look like to be used: it
// goes into headers and logs.
var requestIDPattern = regexp.MustCompile(`^[A-Za-z0-9._:/+=-]{1,128}$`)

// quiet are the routes whose requests are logged for debugging only.
var quiet = append([]string{webpage.AssetsPath, openapi.FilesPath}, probes...)

// requestID gives the request the id that the client sent, or a new one.
func (a *API) requestID(c *gin.Context) {
	id := c.GetHeader(requestIDHeader)
	if !requestIDPattern.MatchString(id) {
		id = rand.Text()
	}
	c.Set(requestIDKey, id)
	c.Header(requestIDHeader, id)
}

// accessLog writes a line for each request, also where a panic passes: that is how an
// answer is cut off. Texts are never in it.
func (a *API) accessLog(c *gin.Context) {
	start, complete := time.Now(), false
	defer func() { a.logRequest(c, time.Since(start), complete) }()
	c.Next()
	complete = true
}

func (a *API) logRequest(c *gin.Context, took time.Duration, complete bool) {
	status := c.Writer.Status()
	level := slog.LevelInfo
	switch {
	case status == http.StatusInternalServerError, !complete:
		level = slog.LevelError
	case slices.Contains(quiet, c.FullPath()):
		level = slog.LevelDebug
	}
	attrs := []slog.Attr{
		slog.String("id", c.GetString(requestIDKey)),
		slog.String("method", c.Request.Method),
		slog.String("path", wording.Short(c.Request.URL.Path)),
		slog.Int("status", status),
		slog.Duration("took", took),
	}
	if !complete {
		attrs = append(attrs, slog.Bool("aborted", true))
	}
	for _, key := range []string{recordsKey, cachedKey, flagsKey} {
		if n, ok := c.Get(key); ok {
			attrs = append(attrs, slog.Any(key, n))
		}
	}
	if name := access.Name(c); name != "" {
		attrs = append(attrs, slog.String("key", name))
	}
	if len(c.Errors) > 0 {
		attrs = append(attrs, slog.String("error", c.Errors.Last().Error()))
	}
	a.cfg.Log.LogAttrs(c.Request.Context(), level, "request", attrs...)
}

// recoverPanic turns a panic into an answer. What it was goes to the log only.
func (a *API) recoverPanic(c *gin.Context) {
	defer func() {
		caught := recover()
		if caught == nil {
			return
		}
		a.cfg.Log.ErrorContext(c.Request.Context(), "panic", "id", c.GetString(requestIDKey), "panic", fmt.Sprint(caught), "stack", string(debug.Stack()))
		if c.Writer.Written() {
			// The client must not take what it has for the whole answer.
			panic(http.ErrAbortHandler)
		}
		a.fail(c, fmt.Errorf("panic: %v", caught))
	}()
	c.Next()
}

// limitBody refuses bodies that are known to be too large, and has others counted as
// their callers'.
func (a *API) limitBody(c *gin.Context) {
	if size, limit := c.Request.ContentLength, a.cfg.MaxBodyBytes; size > limit {
		a.fail(c, problem(codeBodyTooLarge, "", "the body has %d bytes, at most %d are allowed: send several requests", size, limit))
		return
	}
	body.Account(c.Request, func() string {
		if gate := a.cfg.Gate; gate != nil && gate.NeedsKeys() && access.Name(c) == "" {
			return "" // all whose key is still to be read are one caller
		}
		return access.Caller(c)
	})
}
