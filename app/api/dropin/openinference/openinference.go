// Package openinference serves the Open Inference Protocol (version 2 of KServe's) over REST and gRPC,
// with the extensions of Triton's that fit, so that their clients work with this service as
// they are.
//
//	GET  /v2, /v2/health/live, /v2/health/ready, /v2/models/NAME[/versions/V]/ready   for everybody
//	GET  /v2/models/NAME[/versions/V]                 its inputs and outputs
//	GET  /v2/models/NAME[/versions/V]/config          Triton's model configuration
//	GET  /v2/models[/NAME[/versions/V]]/stats         Triton's statistics
//	POST /v2/models/NAME[/versions/V]/infer           texts to translations
//	POST /v2/repository/index                         what there is
//	POST /v2/repository/models/NAME/load, /unload     for admins
//
// A model has the inputs text, from and to and the outputs text and score. Texts are tensors of
// BYTES of the shape [n] or [n, 1]; from and to have one element for all of them, or one for
// each. They may be parameters of the request instead; without from the language is
// detected. Other parameters are format (text, html, xml), beams, and Triton's priority (1 to 3,
// the highest first) and timeout (microseconds, for the whole request). Those that are not
// known are ignored.
//
// Tensors are JSON or, with Triton's extension, binary data after it. Shared memory,
// classification, tracing and compressed bodies are not offered.
//
// Over gRPC (see [RPC]) requests and answers are the same ones, as messages (message.go), and sequences are live texts
// (sequence.go).
//
// A model that is served is ready, in memory or not: the first request loads it.
package openinference

import (
	"context"
	"errors"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/catalog"
	"dragoman/app/fault"
	"dragoman/app/guard/body"
	"dragoman/app/live"
	"dragoman/app/translate"
)

// Models are the models of the service. They are safe for concurrent use.
type Models interface {
	// Index lists all models and pipelines, by name, and their versions, the newest last.
	Index() []catalog.Status
	// Statistics are those of the models that were used.
	Statistics() []translate.Statistics
	// Load loads a model, after a look at what there is. The error is ErrNoRepository where
	// there is nowhere to look.
	Load(ctx context.Context, name string) error
	// Unload takes a model out of service until it is loaded again. The error is
	// ErrNoRepository where it could not be.
	Unload(name string) error
}

// ErrNoRepository is the error of a service that has one model, which stays.
var ErrNoRepository = errors.New("models are loaded and unloaded in a repository, and this process has none: set MODEL_REPOSITORY there where the models are")

// Config is what the API works with.
type Config struct {
	Server  *dialect.Server
	Version string // of the service
	// Models are those of the service; nil while they are not known yet.
	Models func() Models
	// Live and Ready fail where the service hangs, and where new requests are not welcome.
	Live, Ready func() error
	// OpenSession opens a session of live text for the sender of a request; nil: there are no sequences.
	OpenSession func(c *gin.Context, req translate.Request) (*live.Session, error)
	// Ending is done when streams are to end.
	Ending context.Context
}

type api struct {
	*dialect.Server
	cfg Config
}

// Paths of probes, which are asked for all the time.
const (
	LivePath  = "/v2/health/live"
	ReadyPath = "/v2/health/ready"
)

// New makes the API. Below /v2, most of which is DeepL's, it has what Triton's clients ask for,
// also where it has no route.
func New(cfg Config) dialect.Dialect {
	a := &api{cfg.Server, cfg}
	routes := []dialect.Route{
		{Methods: "GET", Path: "/v2", Handler: a.server},
		{Methods: "GET", Path: LivePath, Handler: probe("live", cfg.Live)},
		{Methods: "GET", Path: ReadyPath, Handler: probe("ready", cfg.Ready)},
		{Methods: "GET", Path: "/v2/models/stats", Handler: a.keyed(allStatistics)},
		{Methods: "POST", Path: "/v2/repository/index", Handler: a.keyed(index), Free: true},
		{Methods: "POST", Path: "/v2/repository/models/:model/load", Handler: a.keyed(a.load), Free: true},
		{Methods: "POST", Path: "/v2/repository/models/:model/unload", Handler: a.keyed(a.unload), Free: true},
	}
	for _, path := range []string{"/v2/models/:model", "/v2/models/:model/versions/:version"} {
		routes = append(routes,
			dialect.Route{Methods: "GET", Path: path, Handler: a.keyed(a.metadata)},
			dialect.Route{Methods: "GET", Path: path + "/ready", Handler: a.known(a.modelReady)},
			dialect.Route{Methods: "GET", Path: path + "/config", Handler: a.keyed(a.config)},
			dialect.Route{Methods: "GET", Path: path + "/stats", Handler: a.keyed(a.statistics)},
			dialect.Route{Methods: "POST", Path: path + "/infer", Handler: a.keyed(a.infer)})
	}
	return dialect.Dialect{Routes: routes, Render: render, Prefixes: []string{
		"/v2/health", "/v2/models", "/v2/repository", "/v2/systemsharedmemory", "/v2/cudasharedmemory", "/v2/trace", "/v2/logging",
	}}
}

// statuses are those in which Triton, whose clients only tell 200 from all others, differs from the service's own API.
var statuses = map[fault.Kind]int{fault.NotOffered: 501}

// render writes a failure as Triton does.
func render(_ *gin.Context, f *fault.Failure) (status int, answer any) {
	return f.StatusOr(statuses), gin.H{"error": f.Message}
}

// refuse makes the failure of an invalid request.
func refuse(format string, args ...any) error {
	return fault.New(fault.InvalidValue, "", format, args...)
}

// server serves /v2: what this is.
func (a *api) server(*gin.Context) (any, error) {
	return gin.H{"name": "dragoman", "version": a.cfg.Version, "extensions": []string{
		"model_repository", "model_configuration", "schedule_policy", "binary_tensor_data", "parameters", "statistics",
	}}, nil
}

func probe(name string, check func() error) dialect.Handler {
	return func(*gin.Context) (any, error) { return gin.H{name: true}, check() }
}

// handler is a [dialect.Handler] that needs the models.
type handler func(c *gin.Context, models Models) (any, error)

// known makes the handler of a route that works once the models are known.
func (a *api) known(h handler) dialect.Handler {
	return func(c *gin.Context) (any, error) {
		models := a.cfg.Models()
		if models == nil {
			return nil, fault.New(fault.NotReady, "", "the models are loading: try again in a moment")
		}
		return h(c, models)
	}
}

// keyed is known for those who are let in.
func (a *api) keyed(h handler) dialect.Handler {
	return a.known(func(c *gin.Context, models Models) (any, error) {
		return a.Keyed(func(c *gin.Context) (any, error) { return h(c, models) })(c)
	})
}

// readBody reads a body that is not compressed.
func readBody(c *gin.Context) ([]byte, error) {
	if err := dialect.CheckCoding(c.Request.Header); err != nil {
		return nil, err
	}
	return body.Read(c.Writer, c.Request)
}
