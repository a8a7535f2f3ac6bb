// Package httpapi is the service's HTTP interface: routes, JSON, and what errors
// look like from outside.
//
// An [API] answers from the start, so that probes can tell a service that loads
// from one that is dead: it translates after [API.Ready] and says that it is not
// ready any more after [API.Drain].
package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"dragoman/app/translate"
)

const (
	translationPath = "/translation"
	languagesPath   = "/languages"

	// cacheHeader says how many records of an answer were there already and how many
	// were decoded for it, as a dictionary of structured fields (RFC 9651):
	//
	//	Dragoman-Cache: hits=3, misses=1
	//
	// Records that needed neither, such as blank ones, are in neither number. It has
	// a name of its own because X-Cache and Cache-Status belong to the caches of
	// whole answers that may stand before the service.
	cacheHeader = "Dragoman-Cache"

	// bodyTimeout is how long a request's body may take to arrive.
	bodyTimeout = 30 * time.Second
)

// Translator is the use case behind the API. It is safe for concurrent use.
type Translator interface {
	Translate(ctx context.Context, req translate.Request) ([]translate.Result, error)
	Languages() []string
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
	RequestTimeout time.Duration // of a translation, waiting included
	Log            *slog.Logger
}

// API serves the routes. It is safe for concurrent use.
type API struct {
	cfg      Config
	served   atomic.Pointer[served] // nil until Ready
	draining atomic.Bool

	bodyTimeout time.Duration // bodyTimeout; tests have less of it
}

// served is what an API has once it is ready.
type served struct {
	translator Translator
	model      Model
}

// New makes an API that is not ready yet.
func New(cfg Config) *API { return &API{cfg: cfg, bodyTimeout: bodyTimeout} }

// Ready starts translating.
func (a *API) Ready(t Translator, m Model) { a.served.Store(&served{t, m}) }

// Drain makes the readiness probe fail. Requests are still served.
func (a *API) Drain() { a.draining.Store(true) }

// Server makes a server of the API, with bounds on all that a client could hold
// open. There is no ReadTimeout: it would also cut long translations off, because
// the server reads on while a handler runs to notice clients that leave. limitBody
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
func (a *API) Handler() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	// Headers that name the client are believed from nobody.
	_ = router.SetTrustedProxies(nil) // fails on addresses that cannot be parsed only
	router.RedirectTrailingSlash = false
	router.HandleMethodNotAllowed = true
	router.Use(a.requestID, a.accessLog, a.recoverPanic, a.limitBody)

	router.POST(translationPath, a.translation)
	for path, handler := range map[string]gin.HandlerFunc{
		"/": a.index, languagesPath: a.languages, "/healthz": a.health, "/readyz": a.readiness,
	} {
		router.GET(path, handler)
		router.HEAD(path, handler)
	}
	router.NoRoute(func(c *gin.Context) {
		a.fail(c, problem(codeNotFound, "", "there is nothing at this path, see / for what there is"))
	})
	router.NoMethod(func(c *gin.Context) {
		a.fail(c, problem(codeMethod, "", "this path takes %s", c.Writer.Header().Get("Allow")))
	})
	return router
}

// recordOutput is a translated record.
type recordOutput struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// translation serves POST /translation.
func (a *API) translation(c *gin.Context) {
	served := a.served.Load()
	if served == nil {
		a.fail(c, problem(codeNotReady, "", "the model is loading: try again in a moment"))
		return
	}
	req, err := decodeTranslation(c.Request)
	if err != nil {
		a.fail(c, err)
		return
	}
	c.Set(recordsKey, len(req.Records))
	// The body is here; the deadline that bounded it must not end the translation.
	_ = http.NewResponseController(c.Writer).SetReadDeadline(time.Time{})

	ctx, cancel := context.WithTimeout(c.Request.Context(), a.cfg.RequestTimeout)
	defer cancel()
	results, err := served.translator.Translate(ctx, req)
	if err != nil {
		a.fail(c, inPayload(err))
		return
	}
	hits, misses := 0, 0
	output := make([]recordOutput, len(results)) // not nil: no records are [] in JSON
	for i, r := range results {
		output[i] = recordOutput{r.ID, r.Text}
		if r.Cached {
			hits++
		}
		if r.Decoded {
			misses++
		}
	}
	c.Set(cachedKey, hits)
	c.Header(cacheHeader, fmt.Sprintf("hits=%d, misses=%d", hits, misses))
	c.PureJSON(http.StatusOK, gin.H{"result": output})
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

// languages serves GET /languages.
func (a *API) languages(c *gin.Context) {
	served := a.served.Load()
	if served == nil {
		a.fail(c, problem(codeNotReady, "", "the model is loading: try again in a moment"))
		return
	}
	c.PureJSON(http.StatusOK, gin.H{"languages": served.translator.Languages()})
}

// health serves GET /healthz: the process answers.
func (a *API) health(c *gin.Context) {
	c.PureJSON(http.StatusOK, gin.H{"status": "ok"})
}

// readiness serves GET /readyz: new requests are welcome.
func (a *API) readiness(c *gin.Context) {
	switch {
	case a.draining.Load():
		a.fail(c, problem(codeShuttingDown, "", "the service is shutting down"))
	case a.served.Load() == nil:
		a.fail(c, problem(codeNotReady, "", "the model is loading"))
	default:
		c.PureJSON(http.StatusOK, gin.H{"status": "ready"})
	}
}
