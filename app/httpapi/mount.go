package httpapi

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"dragoman/app/compat"
	"dragoman/app/compat/deepl"
	"dragoman/app/compat/libretranslate"
	"dragoman/app/translate"
	"dragoman/app/webpage"
)

// mountDropIns adds the routes that LibreTranslate's and DeepL's clients know.
func (a *API) mountDropIns(router gin.IRouter) {
	cfg := compat.Config{Backend: a.compatBackend, Translated: func(c *gin.Context, results []translate.Result) {
		var seen tally
		for _, r := range results {
			seen.add(r)
		}
		c.Set(recordsKey, len(results))
		seen.header(c)
	}}
	if gate := a.cfg.Gate; gate != nil {
		cfg.Key, cfg.Charge, cfg.KeyNeeded = gate.Enter, gate.Charge, gate.NeedsKeys()
	}
	group := router.Group("", a.withDeadline)
	libretranslate.Register(group, cfg)
	deepl.Register(group, cfg)
}

// dialectOf returns how errors are told on a path that belongs to a drop-in API, and
// nil for all others.
func dialectOf(path string) func(*gin.Context, error) {
	switch path {
	case "/translate", "/detect", "/translate_file", "/suggest", languagesPath, "/frontend/settings", "/health":
		return libretranslate.Fail
	}
	if strings.HasPrefix(path, "/v2/") || strings.HasPrefix(path, "/v3/") {
		return deepl.Fail
	}
	return nil
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
			if webpage.PrefersHTML(c.Request) {
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
