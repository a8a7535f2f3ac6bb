// Package httpapi is the service's HTTP interface: routes, JSON, and what errors
// look like from outside.
//
// An [API] answers from the start, so that probes can tell a service that loads
// from one that is dead: it translates after [API.Ready] and says that it is not
// ready any more after [API.Drain].
package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.opentelemetry.io/otel/trace"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/openinference"
	"dragoman/app/api/openapi"
	"dragoman/app/api/upload"
	"dragoman/app/api/webfile"
	"dragoman/app/api/webpage"
	"dragoman/app/fault"
	"dragoman/app/glossary"
	"dragoman/app/guard/access"
	"dragoman/app/guard/admission"
	"dragoman/app/guard/body"
	"dragoman/app/telemetry"
)

const (
	translationPath = "/translation"
	languagesPath   = "/languages"
	healthPath      = "/healthz"
	readyPath       = "/readyz"
	metricsPath     = "/metrics"
	toolsPath       = "/mcp"

	// bodyTimeout is how long a request's body may take to arrive.
	bodyTimeout = 30 * time.Second
	// bodySilence is how long its first bytes may, and all of a small one.
	bodySilence = 10 * time.Second
)

// probes are the routes that monitoring asks for all the time.
var probes = []string{healthPath, readyPath, metricsPath, openinference.LivePath, openinference.ReadyPath}

// Model is a model that is served, for GET /.
type Model struct {
	Name      string `json:"name"`
	Version   string `json:"version"`
	Source    string `json:"source,omitempty"` // where its checkpoint came from; missing for pipelines
	Revision  string `json:"revision,omitempty"`
	Precision string `json:"precision,omitempty"`
	License   string `json:"license,omitempty"` // what its model card says
	Note      string `json:"note,omitempty"`    // what to know before judging its translations
}

// Config is what an [API] works with.
type Config struct {
	Version        string
	MaxBodyBytes   int64
	Memory         *admission.Memory // of all requests; nil: 256 × MaxBodyBytes
	MaxRecords     int               // of a request, and texts whose language is to be detected; 0: no bound here
	MaxChars       int               // of each of them
	RequestTimeout time.Duration     // of a translation, waiting included
	Log            *slog.Logger

	OnlyProbes bool         // there are no routes but those of monitoring
	Unready    func() error // why new requests are not welcome, beside what the API knows; may be nil

	// What follows may be nil.
	Gate           *access.Gate         // before all that translates
	CORS           access.CORS          // see access.NewCORS
	OpenCORS       access.CORS          // on the paths of APIs whose originals let all pages call them, in place of CORS
	TrustedProxies access.Proxies       // who says where requests come from
	Sites          access.Sites         // which pages may use the service, beside those of CORS
	Metrics        *telemetry.Metrics   // also at /metrics
	Tracer         trace.TracerProvider // makes spans of requests
	Site           *webpage.Site        // at / for browsers
	Description    *openapi.Description // at /openapi.json and /docs
	Jobs           *JobsConfig          // at /jobs
	Glossaries     *glossary.Service    // at /glossaries
	Live           *LiveConfig          // at /live
	// Tools makes what serves the Model Context Protocol at /mcp, and calls the other routes.
	Tools func(routes http.Handler) http.Handler
}

// API serves the routes. It is safe for concurrent use.
type API struct {
	cfg    Config
	server *dialect.Server // behind the APIs
	bodies *body.Bounds
	// documents translates files; nil: there is none.
	documents *upload.Service
	models    atomic.Pointer[func() []Model]       // nil until Ready
	managed   atomic.Pointer[openinference.Models] // nil until Manage
	draining  atomic.Bool
	ending    context.Context // ends when the server does not accept requests any more
	end       context.CancelFunc
	sockets   sockets
}

// New makes an API that is not ready yet.
func New(cfg Config) *API {
	if cfg.Memory == nil {
		cfg.Memory = admission.New(256 * cfg.MaxBodyBytes)
	}
	a := &API{
		cfg: cfg,
		server: dialect.New(dialect.Config{
			MaxRecords: cfg.MaxRecords, MaxChars: cfg.MaxChars, RequestTimeout: cfg.RequestTimeout, Gate: cfg.Gate, Glossaries: cfg.Glossaries,
			Registry: cfg.Metrics.Registry(),
		}),
		bodies: body.New(body.Config{Most: cfg.MaxBodyBytes, Memory: cfg.Memory, Timeout: bodyTimeout, Silence: bodySilence}),
	}
	a.openDocuments()
	a.ending, a.end = context.WithCancel(context.Background())
	if cfg.Live != nil {
		a.sockets.places = admission.NewPlaces(streamsOf(cfg.Live.MaxSessions))
	}
	a.newMetrics(cfg.Metrics.Registry())
	return a
}

// Ready starts translating. models are asked for what is served, the models that are tried first
// before others.
func (a *API) Ready(t dialect.Translator, models func() []Model) {
	a.models.Store(&models)
	a.server.Ready(t)
}

// Manage has the Open Inference Protocol know which models there are. Call it before Ready.
func (a *API) Manage(models openinference.Models) { a.managed.Store(&models) }

// managedModels are those of Manage; nil before.
func (a *API) managedModels() openinference.Models {
	if models := a.managed.Load(); models != nil {
		return *models
	}
	return nil
}

// IsReady says whether new requests are welcome.
func (a *API) IsReady() bool { return a.unready() == nil }

// unready is why new requests are not welcome; nil while they are.
func (a *API) unready() error {
	if a.draining.Load() {
		return fault.New(fault.ShuttingDown, "", "the service is shutting down")
	}
	t, err := a.server.Translator()
	if err != nil {
		return err
	}
	if a.cfg.Unready != nil {
		if err := a.cfg.Unready(); err != nil {
			return err
		}
	}
	return unhealthy(t)
}

// unhealthy is why translations do not go on; nil while they do.
func unhealthy(t dialect.Translator) error {
	if err := t.Healthy(); err != nil {
		return fault.New(fault.Stuck, "", "%s", err)
	}
	return nil
}

// Drain makes the readiness probe fail. Requests are still served.
func (a *API) Drain() { a.draining.Store(true) }

// Server makes a server of the API, with bounds on all that a client could hold
// open. There is no ReadTimeout: it would also cut long translations off, because
// the server reads on while a handler runs to notice clients that leave. Package body
// bounds the body instead.
func (a *API) Server() *http.Server {
	server := &http.Server{
		Handler:           a.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		WriteTimeout:      bodyTimeout + a.cfg.RequestTimeout + 30*time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(a.cfg.Log.Handler(), slog.LevelDebug),
		Protocols:         new(http.Protocols),
	}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	server.RegisterOnShutdown(a.end) // streams that may go on for hours
	return server
}

// Handler is the API without a server around it.
func (a *API) Handler() http.Handler { return a.bodies.Serve(a.router()) }

// Routes are the paths and methods that the API serves.
func (a *API) Routes() gin.RoutesInfo { return a.router().Routes() }

func (a *API) router() *gin.Engine {
	router := a.newRouter(probes...)
	router.RedirectTrailingSlash = false
	router.HandleMethodNotAllowed = true
	native, dropIns := a.native(), a.dropIns()
	// Most of what is below /v2 is DeepL's; this has the rest.
	inference := openinference.New(a.inferenceConfig())
	all := append(slices.Clone(dropIns), inference)
	router.Use(native.UseRenderer, a.guard(all))
	if a.cfg.OnlyProbes {
		a.server.Mount(router, native, a.limitBody)
		router.NoRoute(a.limitBody, a.notFound)
		router.NoMethod(a.limitBody, a.noMethod)
		return router
	}
	for _, api := range dropIns {
		limit := a.limitBody
		if api.Documents {
			limit = a.limitDocument
		}
		a.server.Mount(router, api, limit)
		a.server.Mount(router.Group(dialect.ModelPath), api, limit)
	}
	a.server.Mount(router, inference, a.limitBody)
	a.server.Mount(router, native, a.limitBody)
	for _, part := range a.parts() {
		if part.off == nil {
			a.server.Mount(router, dialect.Dialect{Routes: part.routes, Render: render}, part.limit)
		}
	}
	a.mountTools(router)
	if d := a.cfg.Description; d != nil {
		d.Register(router.Group("", a.limitBody), a.notFound)
	}
	nearest := func(c *gin.Context) { useNearestRenderer(c, all) }
	router.NoRoute(nearest, a.limitBody, a.notFound)
	router.NoMethod(nearest, a.limitBody, a.noMethod)
	return router
}

// mountTools serves the Model Context Protocol, whose tools call other routes of the router.
func (a *API) mountTools(router *gin.Engine) {
	if a.cfg.Tools == nil {
		return
	}
	serve := a.server.Keyed(dialect.Raw(gin.WrapH(a.cfg.Tools(awaited(a.bodies.Serve(router))))))
	a.server.Mount(router, dialect.Dialect{Routes: []dialect.Route{{Methods: "POST", Path: toolsPath, Handler: serve, Free: true}}, Render: render}, a.limitBody)
}

type awaitedKey struct{}

// awaited serves requests of this process that another request waits for: their jobs have ended when they are answered.
func awaited(routes http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		routes.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), awaitedKey{}, true)))
	})
}

func isAwaited(r *http.Request) bool { return r.Context().Value(awaitedKey{}) != nil }

// newRouter makes a router with what stands before all routes, of HTTP and of gRPC. Requests to some are not traced.
func (a *API) newRouter(untraced ...string) *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.ForwardedByClientIP = false // access.Proxies knows better
	router.Use(dialect.Resolve(a.cfg.TrustedProxies), telemetry.TraceRequests(a.cfg.Tracer, untraced...), a.requestID, a.accessLog, a.cfg.Metrics.CountRequests(), a.recoverPanic)
	return router
}

// native is what the service's own API always has.
func (a *API) native() dialect.Dialect {
	get := func(path string, h dialect.Handler) dialect.Route {
		return dialect.Route{Methods: "GET", Path: path, Handler: h}
	}
	routes := []dialect.Route{get(healthPath, a.health), get(readyPath, a.readiness)}
	if a.cfg.Metrics != nil {
		routes = append(routes, get(metricsPath, dialect.Raw(gin.WrapH(a.cfg.Metrics.Handler()))))
	}
	if !a.cfg.OnlyProbes {
		routes = append(routes,
			get("/", a.index),
			dialect.Route{Methods: "POST", Path: translationPath, Handler: a.server.Keyed(a.translation)},
			dialect.Route{Methods: "POST", Path: translationPath + "/stream", Handler: a.server.Keyed(a.stream)})
		if site := a.cfg.Site; site != nil {
			routes = append(routes, get(webpage.AssetsPath, dialect.Raw(site.Asset(a.notFound))))
		}
	}
	return dialect.Dialect{Routes: routes, Render: render}
}

// part is what the service's own API has below a path, unless it is turned off.
type part struct {
	root   string
	off    *fault.Failure // nil: it is not
	routes []dialect.Route
	limit  gin.HandlerFunc // of bodies
}

func (a *API) parts() []part {
	j := &jobsAPI{API: a, jobs: a.cfg.Jobs}
	g := &glossariesAPI{API: a, glossaries: a.cfg.Glossaries}
	l := &liveAPI{API: a, live: a.cfg.Live}
	all := []part{
		{jobsPath, fault.Off("jobs", "JOB_FILE=off"), j.routes(), j.limitBody},
		{documentsPath, fault.NoDocuments(), j.documentRoutes(), a.limitDocument},
		{glossariesPath, fault.NoStoredGlossaries(), g.routes(), a.limitBody},
		{livePath, fault.Off("sessions of live text", "LIVE_SESSIONS=0"), l.routes(), a.limitBody},
	}
	for i, on := range []bool{a.cfg.Jobs != nil, a.documents != nil, a.cfg.Glossaries != nil, a.cfg.Live != nil} {
		if on {
			all[i].off = nil
		}
	}
	return all
}

// noMethod answers requests with a method that no route of the path takes. Only OPTIONS,
// which asks for the methods, gets what it wants.
func (a *API) noMethod(c *gin.Context) {
	allowed := c.Writer.Header().Get("Allow") + ", " + http.MethodOptions
	c.Header("Allow", allowed)
	if c.Request.Method == http.MethodOptions {
		c.Status(http.StatusNoContent)
		return
	}
	a.server.Fail(c, fault.New(fault.NoMethod, "", "this path takes %s", allowed))
}

// notFound answers requests for what does not exist, or is turned off.
func (a *API) notFound(c *gin.Context) {
	if off := a.turnedOff(c.Request.URL.Path); off != nil {
		a.server.Fail(c, off)
		return
	}
	a.server.Fail(c, fault.New(fault.NotFound, "", "there is nothing at this path, see / for what there is"))
}

// turnedOff says what a path would be for, and by which setting that is turned off; nil where it is not. The
// drop-in APIs have such paths of their own.
func (a *API) turnedOff(path string) *fault.Failure {
	if a.cfg.OnlyProbes {
		return nil
	}
	for _, part := range a.parts() {
		if part.off != nil && (path == part.root || strings.HasPrefix(path, part.root+"/")) {
			return part.off
		}
	}
	return nil
}

// index serves GET /: the page for people, or what this is.
func (a *API) index(c *gin.Context) (any, error) {
	if site := a.cfg.Site; site != nil {
		if webfile.PrefersHTML(c.Request) {
			site.Page(c)
			return nil, nil
		}
		c.Header("Vary", "Accept")
	}
	answer := struct {
		Name        string  `json:"name"`
		Version     string  `json:"version"`
		Model       *Model  `json:"model,omitempty"`  // once the service is ready: that is tried first
		Models      []Model `json:"models,omitempty"` // all, where there are several
		Translation string  `json:"translation"`
		Languages   string  `json:"languages"`
		Live        string  `json:"live,omitempty"`
	}{Name: "dragoman", Version: a.cfg.Version, Translation: "POST " + translationPath, Languages: languagesURL(c.Request)}
	if a.cfg.Live != nil {
		answer.Live = "GET " + livePath
	}
	if models := a.models.Load(); models != nil {
		answer.Models = (*models)()
	}
	if n := len(answer.Models); n > 0 {
		answer.Model = &answer.Models[0]
		if n == 1 {
			answer.Models = nil
		}
	}
	return answer, nil
}

// health serves GET /healthz: the process answers, and its model does not hang. Whoever
// restarts processes, as Kubernetes does, asks for it.
func (a *API) health(*gin.Context) (any, error) { return gin.H{"status": "ok"}, a.dead() }

// dead is why the process is to be started again; nil while it is not.
func (a *API) dead() error {
	t, err := a.server.Translator()
	if err != nil {
		return nil // it is loading
	}
	return unhealthy(t)
}

// readiness serves GET /readyz: new requests are welcome.
func (a *API) readiness(*gin.Context) (any, error) { return gin.H{"status": "ready"}, a.unready() }

// newMetrics makes the metric of whether the API is ready. A nil registry has none.
func (a *API) newMetrics(r prometheus.Registerer) {
	const namespace = "dragoman"
	factory := promauto.With(r)
	factory.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Name: "ready", Help: "1 where new requests are welcome, 0 while the service loads or ends.",
	}, func() float64 {
		if a.IsReady() {
			return 1
		}
		return 0
	})
	factory.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: "build_info", Help: "The version of dragoman that runs; always 1."},
		[]string{"build"}).WithLabelValues(a.cfg.Version).Set(1)
}
