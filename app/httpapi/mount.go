package httpapi

import (
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"dragoman/app/compat"
	"dragoman/app/compat/deepl"
	"dragoman/app/compat/libretranslate"
	"dragoman/app/engine"
	"dragoman/app/telemetry"
	"dragoman/app/translate"
	"dragoman/app/webfile"
	"dragoman/app/webpage"
)

// mountDropIns adds the routes that LibreTranslate's and DeepL's clients know, and
// returns how errors are told on each of their paths.
func (a *API) mountDropIns(router *gin.Engine) dialects {
	cfg := compat.Config{Backend: a.compatBackend, MaxTexts: a.cfg.MaxRecords, MaxChars: a.cfg.MaxChars, Translated: func(c *gin.Context, results []translate.Result) {
		var seen tally
		for _, r := range results {
			seen.add(r)
		}
		c.Set(recordsKey, len(results))
		seen.header(c)
	}, Failed: a.countFailure}
	if gate := a.cfg.Gate; gate != nil {
		cfg.Key, cfg.MustReadKey, cfg.Charge = gate.Enter, gate.MustReadKey, gate.Charge
		cfg.Usage, cfg.KeyNeeded = gate.Usage, gate.NeedsKeys()
	}
	group := router.Group("", a.withDeadline)
	known := dialects{}
	for _, api := range []struct {
		register func(gin.IRouter, compat.Config)
		fail     func(*gin.Context, error)
	}{{libretranslate.Register, libretranslate.Fail}, {deepl.Register, deepl.Fail}} {
		before := pathsOf(router)
		api.register(group, cfg)
		for path := range pathsOf(router) {
			if !before[path] {
				known[path] = api.fail
			}
		}
	}
	return known
}

// dialects are how errors are told on the paths of drop-in APIs, as routes have them.
type dialects map[string]func(*gin.Context, error)

// of is how errors are told on a request's path, nil for the service's own way. Where no
// route takes the request, all below /v2 and /v3 is DeepL's.
func (known dialects) of(c *gin.Context) func(*gin.Context, error) {
	if route := c.FullPath(); route != "" {
		return known[route]
	}
	path := c.Request.URL.Path
	if strings.HasPrefix(path, "/v2/") || strings.HasPrefix(path, "/v3/") {
		return deepl.Fail
	}
	return known[path]
}

// pathsOf are the paths of all routes.
func pathsOf(router *gin.Engine) map[string]bool {
	paths := map[string]bool{}
	for _, route := range router.Routes() {
		paths[route.Path] = true
	}
	return paths
}

// codesOfClasses are the service's own codes of what the drop-in APIs tell apart.
var codesOfClasses = map[compat.Class]translate.Code{
	compat.Invalid: codeInvalidValue, compat.NotFound: codeNotFound, compat.NoMethod: codeMethod, compat.NotOffered: codeInvalidValue,
	compat.NoKey: codeUnauthorized, compat.WrongKey: codeUnauthorized,
	compat.TooMuch: translate.CodeTooManyRecords, compat.TooLarge: codeBodyTooLarge, compat.TooSlow: codeBodyTimeout,
	compat.Limited: codeRateLimited, compat.OverQuota: codeRateLimited,
	compat.Busy: codeBusy, compat.NotReady: codeNotReady, compat.Timeout: codeTimeout,
}

// countFailure counts what a drop-in route answers with in place of a translation.
func (a *API) countFailure(c *gin.Context, f compat.Failure) {
	var e *translate.Error
	code, ok := codesOfClasses[f.Class]
	switch {
	case f.Class == compat.ClientGone:
		a.cfg.Metrics.Cancelled(telemetry.ClientGone)
		return
	case errors.As(f.Err, &e):
		code = e.Code
	case errors.Is(f.Err, engine.ErrClosed):
		code = codeShuttingDown
	case !ok:
		code = codeInternal
	}
	a.count(c, code)
}

// compatBackend is what translates for the drop-in routes; nil while the model is
// loading.
func (a *API) compatBackend() *compat.Backend {
	served := a.served.Load()
	if served == nil {
		return nil
	}
	b := &compat.Backend{Translator: served.translator, Languages: served.translator.Languages()}
	if served.translator.Detects() {
		b.Detector = served.translator
	}
	return b
}

// withDeadline gives the request's context the deadline of its translation.
func (a *API) withDeadline(c *gin.Context) {
	ctx, cancel, err := a.deadline(c)
	if err != nil {
		a.fail(c, err)
		return
	}
	defer cancel()
	c.Request = c.Request.WithContext(ctx)
	c.Next()
}

// mountPages adds the pages for people.
func (a *API) mountPages(router gin.IRouter) {
	index := a.index
	if site := a.cfg.Site; site != nil {
		index = func(c *gin.Context) {
			if webfile.PrefersHTML(c.Request) {
				site.Page(c)
				return
			}
			c.Header("Vary", "Accept")
			a.index(c)
		}
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			router.Handle(method, webpage.AssetsPath, site.Asset)
		}
	}
	if d := a.cfg.Description; d != nil {
		d.Register(router)
	}
	router.GET("/", index)
	router.HEAD("/", index)
}
