// Package dialect is what the APIs of the service have in common, whatever JSON they speak.
//
// A [Dialect] is an API as data: its routes, and how it renders what went wrong. A [Handler]
// turns somebody's JSON into a [translate.Request], has the [Server] translate it
// and turns the results into somebody's JSON; what fails goes to [Server.Fail]. Keys, limits,
// the charge for characters, deadlines, metrics and what the log says stand here, once.
//
// The drop-in APIs, whose clients send keys and fields in whichever form they like, make their
// routes by [API.Route]: it checks the key, reads the request's [Fields], and has a [Call] for the
// API's handler. The field model, or the path before the route (see [ModelPath]), names the model
// to use. Where several APIs have a path, see [Share], [API.Fields] has the fields by which their
// requests are told apart.
//
//	dialect.go     what an API is, and how its routes are served
//	server.go      what all APIs have translations made by; translate.go how, glossary.go with which terms
//	call.go        a request to a drop-in API; fields.go and form.go what it says
//	languages.go   what its languages are called
//	share.go       paths that several APIs have
//	tally.go       what headers and the log say of an answer
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

// RequestIDHeader names a request, in the log too. The answer has it before a handler runs.
const RequestIDHeader = "X-Request-Id"

// Dialect is an API.
type Dialect struct {
	Routes []Route
	// Prefixes are those of paths that are the API's even where it has no route.
	Prefixes []string
	// Documents says that bodies may be as large as documents.
	Documents bool
	// Render makes the answer to a request that failed.
	Render func(c *gin.Context, f *fault.Failure) (status int, answer any)
	// Browsers says that pages of every origin may call the original.
	Browsers bool
}

// Route is a path that an API serves.
type Route struct {
	Methods string // with spaces between; GET includes HEAD
	Path    string // as gin has it
	Handler Handler
	// Free says that no characters are charged: who has none left may send a body here too.
	Free bool
	// Room fails where the sender has no place for what the request makes; nil: it needs none.
	Room func(c *gin.Context) error
	// Takes says whether a request is meant for this route, where other dialects have its path
	// too, see [Share]; nil: it takes all that the others leave.
	Takes func(c *gin.Context) bool
}

// Handler makes the answer to a request: what is sent as JSON with status 200, or a [Reply]; nil where it
// has answered itself.
type Handler func(c *gin.Context) (answer any, err error)

// Reply is an answer that is not JSON with status 200.
type Reply struct {
	Status int    // 0: 200
	Type   string // media type of a Body of bytes; "": it is JSON
	Body   any    // nil for none
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

// Resolve is the middleware for [access.Proxies.Resolve].
func Resolve(p access.Proxies) gin.HandlerFunc {
	return func(c *gin.Context) { c.Request = p.Resolve(c.Writer, c.Request) }
}

// Uncharged is a route that is Free.
func (r Route) Uncharged() Route {
	r.Free = true
	return r
}

// Mount adds the routes of an API to a router, in a group that renders failures as the API does.
// The handlers before come first.
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

// checkPath fails where a part of a path is longer than the field of its name may be: there is nothing of such a name.
func checkPath(params gin.Params) error {
	for _, part := range params {
		if err := bound.Text(part.Key, len(part.Value)); err != nil {
			return fault.New(fault.NotFound, "", "%s", err)
		}
	}
	return nil
}

// WriteTimeout is how long a client may take to read what was sent to it.
const WriteTimeout = 30 * time.Second

// Write sends a part of an answer.
func Write(c *gin.Context, part []byte) error {
	// Not every server under test has deadlines; the real one has.
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Now().Add(WriteTimeout))
	_, err := c.Writer.Write(part)
	return err
}

// BeginStream writes the headers of an answer that is sent part by part, see [Send].
func BeginStream(c *gin.Context, mediaType string) {
	c.Header("Content-Type", mediaType)
	c.Header("Cache-Control", "no-store")
	c.Header("X-Accel-Buffering", "no") // nginx would keep events until it has many
	c.Status(http.StatusOK)
}

// Send writes a part of a stream and waits until it is on its way. Where that fails, the client does not want it any more.
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

// CutOff ends an answer of which a part was sent, and panics: the client must not take what it has for the whole.
func CutOff(c *gin.Context, err error) {
	_ = c.Error(err) // for the access log
	panic(http.ErrAbortHandler)
}

// Keyed is a handler for those whose key, in a header, lets them in.
func (s *Server) Keyed(h Handler) Handler {
	return func(c *gin.Context) (any, error) {
		if err := s.Gate.Enter(c.Request, ""); err != nil {
			return nil, err
		}
		return h(c)
	}
}

// Refusing is a handler that always fails.
func Refusing(why error) Handler {
	return func(*gin.Context) (any, error) { return nil, why }
}

// Raw is a handler that answers itself.
func Raw(h gin.HandlerFunc) Handler {
	return func(c *gin.Context) (any, error) {
		h(c)
		return nil, nil
	}
}

// Each makes a list of another one: an empty one of none, which is [] in JSON.
func Each[T, U any](list []T, of func(T) U) []U {
	out := make([]U, len(list))
	for i, item := range list {
		out[i] = of(item)
	}
	return out
}

// routeKey is where the route is in gin's context.
const routeKey = "dragoman/dialect.route"

// note is the middleware by which [Server.Permit] knows the route.
func (r Route) note(c *gin.Context) { c.Set(routeKey, r) }

// Permit fails where the sender of a request, who was let in, has nothing left of what it costs: its body is
// not worth reading. Whose key is in the body passes.
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

// Below is the API once more, below another path: all of its routes, or those of some paths.
func (d Dialect) Below(root string, paths ...string) Dialect {
	var routes []Route
	for _, route := range d.Routes {
		if len(paths) == 0 || slices.Contains(paths, route.Path) {
			route.Path = root + route.Path
			routes = append(routes, route)
		}
	}
	d.Routes, d.Prefixes = routes, nil
	return d
}

// Owns says whether a path that no route takes is the API's: it takes other methods
// there, or has the prefix.
func (d Dialect) Owns(path string) bool {
	return slices.ContainsFunc(d.Routes, func(r Route) bool { return r.Path == path }) ||
		slices.ContainsFunc(d.Prefixes, func(prefix string) bool { return strings.HasPrefix(path, prefix) })
}

// renderKey is where [Dialect.Render] is in gin's context.
const renderKey = "dragoman/dialect.render"

// UseRenderer is the middleware that has failures rendered as the dialect does.
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

// Explain logs and counts an error that ends a request, and returns what its sender is told.
func (s *Server) Explain(c *gin.Context, err error) *fault.Failure {
	_ = c.Error(err) // for the access log
	f := fault.Explain(err, fault.Situation{
		ID: c.Writer.Header().Get(RequestIDHeader), Gone: c.Request.Context().Err() != nil,
		Begun: c.GetInt(recordsKey) > 0, Deadline: c.GetBool(deadlineKey), Timeout: s.RequestTimeout,
	})
	s.metrics.Count(f)
	return f
}
