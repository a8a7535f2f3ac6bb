// Package dialect has the common parts of the service's APIs, which differ in their JSON.
//
// A [Dialect] is an API as data: its routes, and how it renders failures. A [Handler] turns a client's JSON into a
// [translate.Request], the [Server] translates it, and the handler turns the results into JSON; errors go to [Server.Fail]. Keys,
// limits, charges for characters, deadlines, metrics and log attributes are handled here, once for all APIs.
//
// The drop-in APIs, whose clients send keys and fields in various forms, make their routes with [API.Route]: such a route checks
// the key, reads the request's [Fields], and passes a [Call] to the API's handler. The field model, or a path in front of the
// route's (see [ModelPath]), names the model to use. If several APIs have the same path, see [Share], the fields of [API.Fields]
// tell their requests apart.
//
//	dialect.go     dialects and routes, and how they are served
//	server.go      the server behind all APIs; translate.go translations, glossary.go stored glossaries
//	call.go        a request to a drop-in API; fields.go and form.go its fields
//	languages.go   language codes of clients
//	share.go       paths that several APIs have
//	tally.go       headers and log attributes of an answer
package dialect

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"dragoman/app/fault"
	"dragoman/app/guard/access"
	"dragoman/app/guard/body"
	"dragoman/app/guard/bound"
)

// RequestIDHeader identifies a request, also in the log. The answer has it before a handler runs.
const RequestIDHeader = "X-Request-Id"

// Dialect is an API as data.
type Dialect struct {
	Routes []Route
	// Prefixes are path prefixes that belong to the API even if it has no route there.
	Prefixes []string
	// Documents reports whether bodies may be as large as documents.
	Documents bool
	// Render returns the answer to a failed request.
	Render func(c *gin.Context, f *fault.Failure) (status int, answer any)
	// Browsers reports whether the original API may be called by pages of every origin.
	Browsers bool
}

// Route is a path of an API.
type Route struct {
	Methods string // separated by spaces; GET includes HEAD
	Path    string // in gin's syntax
	Handler Handler
	// Free reports whether the route charges no characters, so that a caller whose quota is used up may still send a body.
	Free bool
	// Room fails if the sender has no room for the result of the request; nil: no room is needed.
	Room func(c *gin.Context) error
	// Takes reports whether a request is meant for this route, if other dialects have its path too, see [Share]; nil: the route
	// takes all remaining requests.
	Takes func(c *gin.Context) bool
}

// Handler returns the answer to a request: a value sent as JSON with status 200, or a [Reply]; nil if the handler has answered
// itself.
type Handler func(c *gin.Context) (answer any, err error)

// Reply is an answer other than JSON with status 200.
type Reply struct {
	Status int    // 0: 200
	Type   string // media type of a []byte Body; "": Body is sent as JSON
	Body   any    // nil: no body
}

func (r Reply) send(c *gin.Context) {
	status := cmp.Or(r.Status, http.StatusOK)
	switch raw, isBytes := r.Body.([]byte); {
	case r.Body == nil:
		c.Status(status)
	case isBytes:
		c.Data(status, r.Type, raw)
	default:
		c.PureJSON(status, r.Body)
	}
}

// Resolve returns [access.Proxies.Resolve] as middleware.
func Resolve(p access.Proxies) gin.HandlerFunc {
	return func(c *gin.Context) { c.Request = p.Resolve(c.Writer, c.Request) }
}

// Uncharged returns the route with Free set.
func (r Route) Uncharged() Route {
	r.Free = true
	return r
}

// Mount adds the routes of an API to a router, in a group that renders failures in the API's format. The handlers in before run
// first.
func (s *Server) Mount(router gin.IRouter, d Dialect, before ...gin.HandlerFunc) {
	group := router.Group("", append([]gin.HandlerFunc{d.UseRenderer}, before...)...)
	for _, route := range d.Routes {
		for method := range strings.FieldsSeq(route.Methods) {
			group.Handle(method, route.Path, route.note, s.serve(route.Handler))
			if method == http.MethodGet {
				group.HEAD(route.Path, route.note, s.serve(route.Handler))
			}
		}
	}
}

func (s *Server) serve(h Handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		answer, err := any(nil), checkPath(c.Params)
		if err == nil {
			answer, err = h(c)
		}
		switch reply, ok := answer.(Reply); {
		case err != nil:
			s.Fail(c, err)
		case ok:
			reply.send(c)
		case answer != nil:
			c.PureJSON(http.StatusOK, answer)
		}
	}
}

// checkPath fails if a part of a path exceeds the bound of its field: no resource has such a name.
func checkPath(params gin.Params) error {
	for _, part := range params {
		if err := bound.Text(part.Key, len(part.Value)); err != nil {
			return fault.New(fault.NotFound, "", "%s", err)
		}
	}
	return nil
}

// WriteTimeout is the time that a client has to read each part of an answer.
const WriteTimeout = 30 * time.Second

// Write sends a part of an answer.
func Write(c *gin.Context, part []byte) error {
	// Some test servers have no deadlines; the real server has.
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Now().Add(WriteTimeout))
	_, err := c.Writer.Write(part)
	return err
}

// BeginStream writes the headers of a streamed answer, see [Send].
func BeginStream(c *gin.Context, mediaType string) {
	c.Header("Content-Type", mediaType)
	c.Header("Cache-Control", "no-store")
	c.Header("X-Accel-Buffering", "no") // otherwise nginx would buffer events
	c.Status(http.StatusOK)
}

// Send writes a part of a stream and flushes it. If that fails, the client has left: the error wraps [context.Canceled].
func Send(c *gin.Context, part []byte) error {
	err := Write(c, part)
	if err == nil {
		err = http.NewResponseController(c.Writer).Flush()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", context.Canceled, err)
	}
	return nil
}

// CutOff aborts an answer that was sent in part, by a panic, so that the client does not take the answer for a complete one.
func CutOff(c *gin.Context, err error) {
	_ = c.Error(err) // for the access log
	panic(http.ErrAbortHandler)
}

// Keyed returns a handler that requires a key in a header.
func (s *Server) Keyed(h Handler) Handler {
	return func(c *gin.Context) (any, error) {
		if err := s.Gate.Enter(c.Request, ""); err != nil {
			return nil, err
		}
		return h(c)
	}
}

// Refusing returns a handler that always fails with why.
func Refusing(why error) Handler {
	return func(*gin.Context) (any, error) { return nil, why }
}

// Raw returns a handler that answers by itself.
func Raw(h gin.HandlerFunc) Handler {
	return func(c *gin.Context) (any, error) {
		h(c)
		return nil, nil
	}
}

// Each maps a list. The result is never nil, so an empty list is [] in JSON.
func Each[T, U any](list []T, of func(T) U) []U {
	out := make([]U, len(list))
	for i, item := range list {
		out[i] = of(item)
	}
	return out
}

// routeKey is the key of the route in gin's context.
const routeKey = "dragoman/dialect.route"

// note is the middleware by which [Server.Permit] knows the route.
func (r Route) note(c *gin.Context) { c.Set(routeKey, r) }

// Permit fails if the caller, already admitted, has no quota left for the request, so that the body need not be read. A request
// whose key is in the body passes.
func (s *Server) Permit(c *gin.Context) error {
	found, ok := c.Get(routeKey)
	if !ok || s.Gate.NeedsKeys() && access.Name(c.Request) == "" {
		return nil
	}
	route := found.(Route)
	if !route.Free {
		if err := s.Gate.CheckCharge(c.Request, 1); err != nil {
			return err
		}
	}
	if route.Room != nil {
		return route.Room(c)
	}
	return nil
}

// Owns reports whether a path without a matching route belongs to the API: the API has the path with other methods, or the
// prefix.
func (d Dialect) Owns(path string) bool {
	return slices.ContainsFunc(d.Routes, func(r Route) bool { return r.Path == path }) ||
		slices.ContainsFunc(d.Prefixes, func(prefix string) bool { return strings.HasPrefix(path, prefix) })
}

// Tidy returns a handler that serves a path with doubled slashes, or with a slash at its end, as the path without them if the path
// belongs to one of the dialects: clients join a base URL and a path in every way.
func Tidy(h http.Handler, dialects []Dialect) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parts := strings.FieldsFunc(r.URL.Path, func(r rune) bool { return r == '/' })
		path := "/" + strings.Join(parts, "/")
		if path != r.URL.Path && slices.ContainsFunc(dialects, func(d Dialect) bool { return d.Owns(WithoutModel(path)) }) {
			tidy := *r.URL
			tidy.Path, tidy.RawPath = path, ""
			r = r.WithContext(r.Context()) // a copy
			r.URL = &tidy
		}
		h.ServeHTTP(w, r)
	})
}

// renderKey is the key of [Dialect.Render] in gin's context.
const renderKey = "dragoman/dialect.render"

// UseRenderer is the middleware that renders failures in the dialect's format.
func (d Dialect) UseRenderer(c *gin.Context) { c.Set(renderKey, d.Render) }

// Fail answers with an error, in the dialect of the request's group.
func (s *Server) Fail(c *gin.Context, err error) {
	f := s.Explain(c, err)
	if f.Kind == fault.ClientGone {
		c.AbortWithStatus(f.Status())
		return
	}
	if f.Wait > 0 {
		c.Header("Retry-After", strconv.Itoa(f.Wait))
	}
	render := c.MustGet(renderKey).(func(*gin.Context, *fault.Failure) (int, any))
	status, answer := render(c, f)
	c.Abort()
	if err := body.Refuse(c.Writer, c.Request, status, answer); err != nil {
		_ = c.Error(err)
	}
}

// Explain logs and counts an error that ends a request, and returns the failure to answer with.
func (s *Server) Explain(c *gin.Context, err error) *fault.Failure {
	_ = c.Error(err) // for the access log
	f := fault.Explain(err, fault.Situation{
		ID: c.Writer.Header().Get(RequestIDHeader), Gone: c.Request.Context().Err() != nil,
		Begun: c.GetInt(recordsKey) > 0, Deadline: c.GetBool(deadlineKey), Timeout: s.RequestTimeout,
	})
	s.metrics.Count(f)
	return f
}
