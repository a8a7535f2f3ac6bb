// Package httpapi is the service's HTTP interface: routes, JSON, and the form of errors.
//
// An [API] answers from the start, so that probes can distinguish a loading service from a dead one. The API translates after
// [API.Ready], and reports that it is no longer ready after [API.Drain].
package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/trace"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/openinference"
	"dragoman/app/api/openapi"
	"dragoman/app/api/upload"
	"dragoman/app/api/webpage"
	"dragoman/app/fault"
	"dragoman/app/glossary"
	"dragoman/app/guard/access"
	"dragoman/app/guard/admission"
	"dragoman/app/guard/body"
	"dragoman/app/memory"
	"dragoman/app/telemetry"
)

const (
	translationPath = "/translation"
	languagesPath   = "/languages"
	healthPath      = "/healthz"
	readyPath       = "/readyz"
	metricsPath     = "/metrics"
	toolsPath       = "/mcp"

	// bodyTimeout is the maximum time for a request's body to arrive.
	bodyTimeout = 30 * time.Second
	// bodySilence is the maximum time for a body's first bytes to arrive, and for the whole of a small body.
	bodySilence = 10 * time.Second
)

// probes are the routes that monitoring polls.
var probes = []string{healthPath, readyPath, metricsPath, openinference.LivePath, openinference.ReadyPath}

// Config is the configuration of an [API].
type Config struct {
	Version        string
	MaxBodyBytes   int64
	Memory         *admission.Memory // shared by all requests; nil: 256 × MaxBodyBytes
	MaxRecords     int               // per request, and per request for language detection; 0: no limit here
	MaxChars       int               // per record
	RequestTimeout time.Duration     // time limit of a translation, including its wait
	Log            *slog.Logger

	OnlyProbes bool         // only the routes of monitoring exist
	Unready    func() error // further reasons to refuse new requests; may be nil

	// The following fields may be nil.
	Gate           *access.Gate         // checked before each translation
	CORS           access.CORS          // see access.NewCORS
	OpenCORS       access.CORS          // for the paths of APIs whose originals may be called by all pages, in place of CORS
	TrustedProxies access.Proxies       // trusted to name the client of a request
	Sites          access.Sites         // pages that may use the service, beside the origins of CORS
	Metrics        *telemetry.Metrics   // also at /metrics
	Tracer         trace.TracerProvider // makes the spans of requests
	Site           *webpage.Site        // at / for browsers
	Description    *openapi.Description // at /openapi.json, /openapi-all.json and /docs
	Jobs           *JobsConfig          // at /jobs
	Glossaries     *glossary.Service    // at /glossaries
	Memories       *memory.Service      // at /memories
	Live           *LiveConfig          // at /live
	// Tools returns the handler of the Model Context Protocol at /mcp, which calls the other routes.
	Tools func(routes http.Handler) http.Handler
}

// API serves the routes. It is safe for concurrent use.
type API struct {
	cfg    Config
	server *dialect.Server // shared by the APIs
	bodies *body.Bounds
	limits bodyLimits
	// documents translates files; nil: disabled.
	documents *upload.Service
	models    servedModels
	managed   atomic.Pointer[openinference.Models] // nil until Manage
	readiness readiness
	ending    context.Context // ends when the server stops accepting requests
	end       context.CancelFunc
	sockets   sockets
}

// New returns an API that is not ready yet.
func New(cfg Config) *API {
	if cfg.Memory == nil {
		cfg.Memory = admission.New(256 * cfg.MaxBodyBytes)
	}
	server := dialect.New(dialect.Config{
		MaxRecords: cfg.MaxRecords, MaxChars: cfg.MaxChars, RequestTimeout: cfg.RequestTimeout, Gate: cfg.Gate, Glossaries: cfg.Glossaries, Memories: cfg.Memories,
		Registry: cfg.Metrics.Registry(),
	})
	a := &API{
		cfg: cfg, server: server, limits: bodyLimits{server, cfg.Gate, cfg.MaxBodyBytes}, documents: openDocuments(server, cfg.Jobs, cfg.Log),
		bodies:    body.New(body.Config{Most: cfg.MaxBodyBytes, Memory: cfg.Memory, Timeout: bodyTimeout, Silence: bodySilence}),
		readiness: readiness{server: server, further: cfg.Unready},
	}
	a.ending, a.end = context.WithCancel(context.Background())
	if cfg.Live != nil {
		a.sockets.places = admission.NewPlaces(streamsOf(cfg.Live.MaxSessions))
	}
	newMetrics(cfg.Metrics.Registry(), cfg.Version, a.IsReady)
	return a
}

// Ready starts translating. models returns the served models, in the order in which they are tried.
func (a *API) Ready(t dialect.Translator, models func() []Model) {
	a.models.list.Store(&models)
	a.server.Ready(t)
}

// Manage gives the Open Inference Protocol its models. Call it before Ready.
func (a *API) Manage(models openinference.Models) { a.managed.Store(&models) }

// IsReady reports whether the API accepts new requests.
func (a *API) IsReady() bool { return a.readiness.refusal() == nil }

// Drain makes the readiness probe fail. Requests are still served.
func (a *API) Drain() { a.readiness.draining.Store(true) }

// Server returns a server for the API, with limits on everything that a client could hold open. There is no ReadTimeout, because
// it would also cut long translations off: the server reads on while a handler runs, to notice clients that leave. Package body
// limits the body instead.
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
	server.RegisterOnShutdown(a.end) // streams that may last for hours
	return server
}

// Handler returns the API without a server around it.
func (a *API) Handler() http.Handler {
	router, others := a.router()
	return a.bodies.Serve(dialect.Tidy(router, others))
}

// Routes returns the paths and methods of the API.
func (a *API) Routes() gin.RoutesInfo {
	router, _ := a.router()
	return router.Routes()
}

// router returns a new router, and the APIs of other programs.
func (a *API) router() (_ *gin.Engine, others []dialect.Dialect) {
	router := a.newRouter(probes...)
	router.RedirectTrailingSlash = false
	router.HandleMethodNotAllowed = true
	none := &noRoute{server: a.server}
	if !a.cfg.OnlyProbes {
		none.features = a.features()
	}
	page := &frontPage{site: a.cfg.Site, version: a.cfg.Version, live: a.cfg.Live != nil, models: &a.models}
	native := a.native(none, page)
	dropIns := dropIns(a.server, a.cfg.Version, a.documents, a.models.names)
	inference := openinference.New(a.inferenceConfig()) // most paths below /v2 are DeepL's, the others of this API
	others = append(slices.Clone(dropIns), inference)
	router.Use(native.UseRenderer, guardSites(a.server, a.cfg, others))
	if a.cfg.OnlyProbes {
		a.server.Mount(router, native, a.limits.small)
		router.NoRoute(a.limits.small, none.notFound)
		router.NoMethod(a.limits.small, none.noMethod)
		return router, others
	}
	for _, api := range dropIns {
		limit := a.limits.small
		if api.Documents {
			limit = a.limitDocument()
		}
		a.server.Mount(router, api, limit)
		a.server.Mount(router.Group(dialect.ModelPath), api, limit)
	}
	a.server.Mount(router, inference, a.limits.small)
	a.server.Mount(router, native, a.limits.small)
	for _, f := range none.features {
		if f.off == nil {
			a.server.Mount(router, dialect.Dialect{Routes: f.routes, Render: render}, f.limit)
		}
	}
	a.mountTools(router)
	if d := a.cfg.Description; d != nil {
		d.Register(router.Group("", a.limits.small), none.notFound)
	}
	page.routes = routesOf(router)
	nearest := func(c *gin.Context) { useNearestRenderer(c, others) }
	router.NoRoute(nearest, a.limits.small, none.notFound)
	router.NoMethod(nearest, a.limits.small, none.noMethod)
	return router, others
}

// mountTools serves the Model Context Protocol, whose tools call other routes of the router.
func (a *API) mountTools(router *gin.Engine) {
	if a.cfg.Tools == nil {
		return
	}
	serve := a.server.Keyed(dialect.Raw(gin.WrapH(a.cfg.Tools(awaited(a.bodies.Serve(router))))))
	a.server.Mount(router, dialect.Dialect{Routes: []dialect.Route{{Methods: "POST", Path: toolsPath, Handler: serve, Free: true}}, Render: render}, a.limits.small)
}

type awaitedKey struct{}

// awaited marks requests of this process that another request waits for: when these are answered, their jobs have ended.
func awaited(routes http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		routes.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), awaitedKey{}, true)))
	})
}

func isAwaited(r *http.Request) bool { return r.Context().Value(awaitedKey{}) != nil }

// newRouter returns a router with the middleware of all routes, for HTTP and for gRPC. Requests to the untraced paths are not
// traced.
func (a *API) newRouter(untraced ...string) *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.ForwardedByClientIP = false // access.Proxies decides instead
	log := requestLog{a.server, a.cfg.Log}
	router.Use(dialect.Resolve(a.cfg.TrustedProxies), telemetry.TraceRequests(a.cfg.Tracer, untraced...), requestID, log.access, a.cfg.Metrics.CountRequests(), log.recoverPanic)
	return router
}

// native returns the service's own API without its optional parts.
func (a *API) native(none *noRoute, page *frontPage) dialect.Dialect {
	get := func(path string, h dialect.Handler) dialect.Route {
		return dialect.Route{Methods: "GET", Path: path, Handler: h}
	}
	routes := []dialect.Route{get(healthPath, a.readiness.serveHealth), get(readyPath, a.readiness.serveReadiness)}
	if a.cfg.Metrics != nil {
		routes = append(routes, get(metricsPath, dialect.Raw(gin.WrapH(a.cfg.Metrics.Handler()))))
	}
	if !a.cfg.OnlyProbes {
		t := &translationAPI{a.server, a.cfg.MaxRecords}
		routes = append(routes,
			get("/", page.serve),
			dialect.Route{Methods: "POST", Path: translationPath, Handler: a.server.Keyed(t.translation)},
			dialect.Route{Methods: "POST", Path: translationPath + "/stream", Handler: a.server.Keyed(t.stream)})
		if site := a.cfg.Site; site != nil {
			routes = append(routes, get(webpage.AssetsPath, dialect.Raw(site.Asset(none.notFound))))
		}
	}
	return dialect.Dialect{Routes: routes, Render: render}
}

// feature is a part of the service's own API below one path. It can be disabled.
type feature struct {
	root   string
	off    *fault.Failure // nil: enabled
	routes []dialect.Route
	limit  gin.HandlerFunc // limit of bodies
}

func (a *API) features() []feature {
	j := &jobsAPI{server: a.server, gate: a.cfg.Gate, jobs: a.cfg.Jobs, documents: a.documents, ending: a.ending}
	g := &glossariesAPI{a.server, a.cfg.Glossaries}
	m := &memoriesAPI{a.server, a.cfg.Memories, a.cfg.Version}
	l := &liveAPI{server: a.server, cfg: a.cfg, live: a.cfg.Live, sockets: &a.sockets, ending: a.ending}
	all := []feature{
		{jobsPath, fault.Off("jobs", "JOB_FILE=off"), j.routes(), a.limitJob()},
		{documentsPath, fault.NoDocuments(), j.documentRoutes(), a.limitDocument()},
		{glossariesPath, fault.NoStoredGlossaries(), g.routes(), a.limits.small},
		{memoriesPath, fault.NoStoredMemories(), m.routes(), a.limitMemory()},
		{livePath, fault.Off("sessions of live text", "LIVE_SESSIONS=0"), l.routes(), a.limits.small},
	}
	for i, on := range []bool{a.cfg.Jobs != nil, a.documents != nil, a.cfg.Glossaries != nil, a.cfg.Memories != nil, a.cfg.Live != nil} {
		if on {
			all[i].off = nil
		}
	}
	return all
}
