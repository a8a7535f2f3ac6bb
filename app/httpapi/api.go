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
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/trace"

	"dragoman/app/access"
	"dragoman/app/admission"
	"dragoman/app/body"
	"dragoman/app/openapi"
	"dragoman/app/telemetry"
	"dragoman/app/translate"
	"dragoman/app/webpage"
)

const (
	translationPath = "/translation"
	languagesPath   = "/languages"
	healthPath      = "/healthz"
	readyPath       = "/readyz"
	metricsPath     = "/metrics"

	// cacheHeader says how many records of an answer were there already and how many
	// were decoded for it, as a dictionary of structured fields (RFC 9651):
	//
	//	Dragoman-Cache: hits=3, misses=1
	//
	// Records that needed neither, such as blank ones, are in neither number. It has
	// a name of its own because X-Cache and Cache-Status belong to the caches of
	// whole answers that may stand before the service.
	cacheHeader = "Dragoman-Cache"

	// flagsHeader says for each flag how many records of an answer have it, in the same
	// form. It is missing where there are none.
	flagsHeader = "Dragoman-Flags"

	// bodyTimeout is how long a request's body may take to arrive.
	bodyTimeout = 30 * time.Second
)

// probes are the routes that monitoring asks for all the time.
var probes = []string{healthPath, readyPath, metricsPath}

// Translator is the use case behind the API. It is safe for concurrent use.
type Translator interface {
	Translate(ctx context.Context, req translate.Request) ([]translate.Result, error)
	Stream(ctx context.Context, req translate.Request, yield func(i int, r translate.Result) error) error
	Languages() []string
	Healthy() error // fails where translations do not go on
	Detects() bool  // the source language may be translate.Auto
	// Detect is for services that detect languages.
	Detect(text string) (code string, confidence float64, ok bool)
}

// Model says which model translates, for GET /.
type Model struct {
	Source    string `json:"source"`
	Revision  string `json:"revision,omitempty"`
	Precision string `json:"precision"`
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

	// What follows may be nil.
	Gate           *access.Gate         // before all that translates
	CORS           gin.HandlerFunc      // see access.CORS
	TrustedProxies access.Proxies       // who says where requests come from
	Metrics        *telemetry.Metrics   // also at /metrics
	Tracer         trace.TracerProvider // makes spans of requests
	Site           *webpage.Site        // at / for browsers
	Description    *openapi.Description // at /openapi.json and /docs
}

// API serves the routes. It is safe for concurrent use.
type API struct {
	cfg      Config
	bodies   *body.Bounds
	served   atomic.Pointer[served] // nil until Ready
	draining atomic.Bool
}

// served is what an API has once it is ready.
type served struct {
	translator Translator
	model      Model
}

// New makes an API that is not ready yet.
func New(cfg Config) *API {
	if cfg.Memory == nil {
		cfg.Memory = admission.New(256 * cfg.MaxBodyBytes)
	}
	return &API{cfg: cfg, bodies: body.New(body.Config{Most: cfg.MaxBodyBytes, Memory: cfg.Memory, Timeout: bodyTimeout})}
}

// Ready starts translating.
func (a *API) Ready(t Translator, m Model) { a.served.Store(&served{t, m}) }

// IsReady says whether new requests are welcome.
func (a *API) IsReady() bool {
	served := a.served.Load()
	return served != nil && !a.draining.Load() && served.translator.Healthy() == nil
}

// Drain makes the readiness probe fail. Requests are still served.
func (a *API) Drain() { a.draining.Store(true) }

// Server makes a server of the API, with bounds on all that a client could hold
// open. There is no ReadTimeout: it would also cut long translations off, because
// the server reads on while a handler runs to notice clients that leave. Package body
// bounds the body instead.
func (a *API) Server() *http.Server {
	return &http.Server{
		Handler:           a.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		WriteTimeout:      bodyTimeout + a.cfg.RequestTimeout + 30*time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(a.cfg.Log.Handler(), slog.LevelDebug),
	}
}

// Handler is the API without a server around it.
func (a *API) Handler() http.Handler { return a.bodies.Serve(a.router()) }

// Routes are the paths and methods that the API serves.
func (a *API) Routes() gin.RoutesInfo { return a.router().Routes() }

// router makes the routes.
func (a *API) router() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.ForwardedByClientIP = false // access.Proxies knows better
	router.RedirectTrailingSlash = false
	router.HandleMethodNotAllowed = true
	var known dialects // of the routes, once they are there
	router.Use(a.cfg.TrustedProxies.Resolve, telemetry.TraceRequests(a.cfg.Tracer, probes...), a.requestID, a.accessLog, a.cfg.Metrics.CountRequests(), a.recoverPanic,
		func(c *gin.Context) {
			if fail := known.of(c); fail != nil {
				c.Set(dialectKey, fail)
			}
		})
	if a.cfg.CORS != nil {
		router.Use(a.cfg.CORS)
	}
	router.Use(a.limitBody)

	inside := router.Group("", a.admit)
	inside.POST(translationPath, a.translation)
	inside.POST(translationPath+"/stream", a.stream)
	known = a.mountDropIns(router)
	a.mountPages(router)
	watched := map[string]gin.HandlerFunc{healthPath: a.health, readyPath: a.readiness}
	if a.cfg.Metrics != nil {
		watched[metricsPath] = gin.WrapH(a.cfg.Metrics.Handler())
	}
	for path, handler := range watched {
		router.GET(path, handler)
		router.HEAD(path, handler)
	}
	router.NoRoute(a.NotFound)
	router.NoMethod(a.noMethod)
	return router
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
	a.fail(c, problem(codeMethod, "", "this path takes %s", allowed))
}

// NotFound answers requests for what there is not.
func (a *API) NotFound(c *gin.Context) {
	a.fail(c, problem(codeNotFound, "", "there is nothing at this path, see / for what there is"))
}

// index serves GET /: what this is.
func (a *API) index(c *gin.Context) {
	answer := struct {
		Name        string `json:"name"`
		Version     string `json:"version"`
		Model       *Model `json:"model,omitempty"` // once it is loaded
		Translation string `json:"translation"`
		Languages   string `json:"languages"`
	}{Name: "dragoman", Version: a.cfg.Version, Translation: "POST " + translationPath, Languages: languagesURL(c.Request)}
	if served := a.served.Load(); served != nil {
		answer.Model = &served.model
	}
	c.PureJSON(http.StatusOK, answer)
}

// health serves GET /healthz: the process answers, and its model does not hang. Whoever
// starts processes anew, as Kubernetes does, asks for it.
func (a *API) health(c *gin.Context) {
	if served := a.served.Load(); served != nil {
		if err := served.translator.Healthy(); err != nil {
			a.fail(c, problem(codeStuck, "", "%s", err))
			return
		}
	}
	c.PureJSON(http.StatusOK, gin.H{"status": "ok"})
}

// readiness serves GET /readyz: new requests are welcome.
func (a *API) readiness(c *gin.Context) {
	served := a.served.Load()
	switch {
	case a.draining.Load():
		a.fail(c, problem(codeShuttingDown, "", "the service is shutting down"))
		return
	case served == nil:
		a.fail(c, problem(codeNotReady, "", "the model is loading"))
		return
	}
	if err := served.translator.Healthy(); err != nil {
		a.fail(c, problem(codeStuck, "", "%s", err))
		return
	}
	c.PureJSON(http.StatusOK, gin.H{"status": "ready"})
}
