// Package httpapi is the service's HTTP interface: routes, JSON, and the form of errors.
//
// An [API] answers from the start, so that probes can distinguish a loading service from a dead one. It translates after
// [API.Ready] and reports that it is no longer ready after [API.Drain].
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

	// bodyTimeout is the maximum time for a request's body to arrive.
	bodyTimeout = 30 * time.Second
	// bodySilence is the maximum time for its first bytes, and for a small body.
	bodySilence = 10 * time.Second
)

// probes are the routes that monitoring polls.
var probes = []string{healthPath, readyPath, metricsPath, openinference.LivePath, openinference.ReadyPath}

// Model is a served model, for GET /.
type Model struct {
	Name      string `json:"name"`
	Version   string `json:"version"`
	Source    string `json:"source,omitempty"` // origin of its checkpoint; missing for pipelines
	Revision  string `json:"revision,omitempty"`
	Precision string `json:"precision,omitempty"`
	License   string `json:"license,omitempty"` // according to its model card
	Note      string `json:"note,omitempty"`    // known limits of its translations
}

// Config is the configuration of an [API].
type Config struct {
	Version        string
	MaxBodyBytes   int64
	Memory         *admission.Memory // shared by all requests; nil: 256 × MaxBodyBytes
	MaxRecords     int               // per request, and per request for language detection; 0: no limit here
	MaxChars       int               // per record
	RequestTimeout time.Duration     // of a translation, including its wait
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
	Description    *openapi.Description // at /openapi.json and /docs
	Jobs           *JobsConfig          // at /jobs
	Glossaries     *glossary.Service    // at /glossaries
	Live           *LiveConfig          // at /live
	// Tools returns the handler of the Model Context Protocol at /mcp, which calls the other routes.
	Tools func(routes http.Handler) http.Handler
}

// API serves the routes. It is safe for concurrent use.
type API struct {
	cfg    Config
	server *dialect.Server // shared by the APIs
	bodies *body.Bounds
	// documents translates files; nil: disabled.
	documents *upload.Service
	models    atomic.Pointer[func() []Model]       // nil until Ready
	managed   atomic.Pointer[openinference.Models] // nil until Manage
	draining  atomic.Bool
	ending    context.Context // ends when the server stops accepting requests
	end       context.CancelFunc
	sockets   sockets
}

// New returns an API that is not ready yet.
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

// Ready starts translating. models returns the served models, in the order in which they are tried.
func (a *API) Ready(t dialect.Translator, models func() []Model) {
	a.models.Store(&models)
	a.server.Ready(t)
}

// Manage gives the Open Inference Protocol its models. Call it before Ready.
func (a *API) Manage(models openinference.Models) { a.managed.Store(&models) }

// managedModels returns the models of Manage, or nil before it.
func (a *API) managedModels() openinference.Models {
	if models := a.managed.Load(); models != nil {
		return *models
	}
	return nil
}

// IsReady reports whether the API accepts new requests.
func (a *API) IsReady() bool { return a.unready() == nil }

// unready returns the reason to refuse new requests, or nil.
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

// unhealthy returns the reason why translations are stuck, or nil.
func unhealthy(t dialect.Translator) error {
	if err := t.Healthy(); err != nil {
		return fault.New(fault.Stuck, "", "%s", err)
	}
	return nil
}

// Drain makes the readiness probe fail. Requests are still served.
func (a *API) Drain() { a.draining.Store(true) }

// Server returns a server for the API, with limits on everything that a client could hold open. There is no ReadTimeout: it would
// also cut long translations off, because the server reads on while a handler runs, to notice clients that leave. Package body
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
func (a *API) Handler() http.Handler { return a.bodies.Serve(a.router()) }

// Routes returns the paths and methods of the API.
func (a *API) Routes() gin.RoutesInfo { return a.router().Routes() }

func (a *API) router() *gin.Engine {
	router := a.newRouter(probes...)
	router.RedirectTrailingSlash = false
	router.HandleMethodNotAllowed = true
	native, dropIns := a.native(), a.dropIns()
	// Most paths below /v2 are DeepL's; inference has the rest.
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

// awaited marks requests of this process that another request waits for: their jobs have ended when they are answered.
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
	router.Use(dialect.Resolve(a.cfg.TrustedProxies), telemetry.TraceRequests(a.cfg.Tracer, untraced...), a.requestID, a.accessLog, a.cfg.Metrics.CountRequests(), a.recoverPanic)
	return router
}

// native returns the service's own API without its optional parts.
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

// part is a part of the service's own API below one path. It can be disabled.
type part struct {
	root   string
	off    *fault.Failure // nil: enabled
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

// noMethod answers requests whose method no route of the path takes. It answers OPTIONS, which asks for the methods, with
// success.
func (a *API) noMethod(c *gin.Context) {
	allowed := c.Writer.Header().Get("Allow") + ", " + http.MethodOptions
	c.Header("Allow", allowed)
	if c.Request.Method == http.MethodOptions {
		c.Status(http.StatusNoContent)
		return
	}
	a.server.Fail(c, fault.New(fault.NoMethod, "", "this path takes %s", allowed))
}

// notFound answers requests for a path that does not exist, or is disabled.
func (a *API) notFound(c *gin.Context) {
	if off := a.turnedOff(c.Request.URL.Path); off != nil {
		a.server.Fail(c, off)
		return
	}
	a.server.Fail(c, fault.New(fault.NotFound, "", "there is nothing at this path, see / for what there is"))
}

// turnedOff returns the failure that names the purpose of a disabled path and the setting that disables it, or nil for other
// paths. The drop-in APIs have such routes of their own.
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

// index serves GET /: the page for browsers, or a description of the service.
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
		Model       *Model  `json:"model,omitempty"`  // once the service is ready: the model tried first
		Models      []Model `json:"models,omitempty"` // all models, if there are several
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

// health serves GET /healthz: the process answers, and its model is not stuck. Supervisors such as Kubernetes restart the process
// by it.
func (a *API) health(*gin.Context) (any, error) { return gin.H{"status": "ok"}, a.dead() }

// dead returns the reason to restart the process, or nil.
func (a *API) dead() error {
	t, err := a.server.Translator()
	if err != nil {
		return nil // it is loading
	}
	return unhealthy(t)
}

// readiness serves GET /readyz: the API accepts new requests.
func (a *API) readiness(*gin.Context) (any, error) { return gin.H{"status": "ready"}, a.unready() }

// newMetrics makes the gauge of the API's readiness. With a nil registry there is none.
func (a *API) newMetrics(r prometheus.Registerer) {
	const namespace = "dragoman"
	factory := promauto.With(r)
	factory.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Name: "ready", Help: "1 if the service accepts requests, 0 while it loads or shuts down.",
	}, func() float64 {
		if a.IsReady() {
			return 1
		}
		return 0
	})
	factory.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: "build_info", Help: "The running version of dragoman; always 1."},
		[]string{"build"}).WithLabelValues(a.cfg.Version).Set(1)
}
