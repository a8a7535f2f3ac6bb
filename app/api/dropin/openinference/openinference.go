// Package openinference serves the Open Inference Protocol (version 2 of KServe's) over REST and gRPC, with the applicable
// extensions of Triton, so that their clients work with this service unchanged.
//
//	GET  /v2, /v2/health/live, /v2/health/ready, /v2/models/NAME[/versions/V]/ready   without a key
//	GET  /v2/models/NAME[/versions/V]                 its inputs and outputs
//	GET  /v2/models/NAME[/versions/V]/config          Triton's model configuration
//	GET  /v2/models[/NAME[/versions/V]]/stats         Triton's statistics
//	POST /v2/models/NAME[/versions/V]/infer           texts to translations
//	POST /v2/repository/index                         models and versions
//	POST /v2/repository/models/NAME/load, /unload     for admins
//
// A model has the inputs text, from and to and the outputs text and score. Texts are tensors of BYTES with the shape [n] or [n,
// 1]; from and to have one element for all texts, or one per text. They may be parameters of the request instead; without from
// the language is detected. Other parameters are format (text, html, xml), beams, and Triton's priority (1 to 3, 1 is the
// highest) and timeout (microseconds, for the whole request). Unknown parameters are ignored.
//
// Tensors are JSON or, with Triton's extension, binary data after it. Shared memory, classification, tracing and compressed
// bodies are not supported.
//
// Over gRPC (see [RPC]) requests and answers are the same, as messages (message.go), and sequences are live texts (sequence.go).
//
// A served model is ready, in memory or not: the first request loads it.
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
	// Index lists all models and pipelines by name, and their versions, the newest last.
	Index() []catalog.Status
	// Statistics returns the statistics of the models used.
	Statistics() []translate.Statistics
	// Load scans the repository and loads a model. The error is ErrNoRepository if there is none.
	Load(ctx context.Context, name string) error
	// Unload takes a model out of service until it is loaded again. The error is ErrNoRepository if there is no repository.
	Unload(name string) error
}

// ErrNoRepository is the error of a service with one permanent model.
var ErrNoRepository = errors.New("models are loaded and unloaded in a repository, and this process has none: set MODEL_REPOSITORY there where the models are")

// Config is the configuration of the API.
type Config struct {
	Server  *dialect.Server
	Version string // of the service
	// Models returns the models of the service, or nil before they are known.
	Models func() Models
	// Live fails if the service is stuck, Ready if it refuses new requests.
	Live, Ready func() error
	// OpenSession opens a live session for the sender of a request; nil: sequences are disabled.
	OpenSession func(c *gin.Context, req translate.Request) (*live.Session, error)
	// Ending is done when streams must end.
	Ending context.Context
}

type api struct {
	*dialect.Server
	cfg Config
}

// Paths of probes, which are polled.
const (
	LivePath  = "/v2/health/live"
	ReadyPath = "/v2/health/ready"
)

// New returns the API. The API owns the paths of Triton's clients below /v2, even those without a route, while the rest of /v2 is
// DeepL's.
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

// statuses differ from the service's own API. Triton's clients only distinguish 200 from all others.
var statuses = map[fault.Kind]int{fault.NotOffered: 501}

// render renders a failure in Triton's format.
func render(_ *gin.Context, f *fault.Failure) (status int, answer any) {
	return f.StatusOr(statuses), gin.H{"error": f.Message}
}

// refuse returns the failure of an invalid request.
func refuse(format string, args ...any) error {
	return fault.New(fault.InvalidValue, "", format, args...)
}

// server serves /v2: a description of the server.
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

// known returns the handler of a route that fails until the models are known.
func (a *api) known(h handler) dialect.Handler {
	return func(c *gin.Context) (any, error) {
		models := a.cfg.Models()
		if models == nil {
			return nil, fault.New(fault.NotReady, "", "the models are loading: try again in a moment")
		}
		return h(c, models)
	}
}

// keyed is [api.known] for routes that require a key.
func (a *api) keyed(h handler) dialect.Handler {
	return a.known(func(c *gin.Context, models Models) (any, error) {
		return a.Keyed(func(c *gin.Context) (any, error) { return h(c, models) })(c)
	})
}

// readBody reads a body. It fails if the body is compressed.
func readBody(c *gin.Context) ([]byte, error) {
	if err := dialect.CheckCoding(c.Request.Header); err != nil {
		return nil, err
	}
	return body.Read(c.Writer, c.Request)
}
