package httpapi

import (
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/azure"
	"dragoman/app/api/dropin/deepl"
	"dragoman/app/api/dropin/deeplx"
	"dragoman/app/api/dropin/google"
	"dragoman/app/api/dropin/hcfy"
	"dragoman/app/api/dropin/immersive"
	"dragoman/app/api/dropin/kiss"
	"dragoman/app/api/dropin/libretranslate"
	"dragoman/app/api/dropin/mtranserver"
	"dragoman/app/api/dropin/nllb"
	"dragoman/app/api/dropin/openai"
)

// dropIns returns the APIs of other programs, which are also mounted for each model. A request for a path of several, such as
// /translate, goes to the first that takes it: each must decide by the query before another reads the body.
func (a *API) dropIns() []dialect.Dialect {
	web, extensions := google.New(a.server), []dialect.Dialect{immersive.New(a.server), kiss.New(a.server), hcfy.New(a.server)}
	deepLX, deepL := deeplx.New(a.server), deepl.New(a.server)
	all := append(extensions,
		azure.New(a.server), mtranserver.New(a.server, a.cfg.Version), nllb.Serve(a.server), deepLX, libretranslate.New(a.server), deepL,
		libretranslate.Files(a.server, a.documents), deepl.Documents(a.server, a.documents), azure.Documents(a.server, a.documents),
		web, google.V3(a.server), nllb.API(a.server), openai.New(a.server, a.modelNames),
		// MTranServer has some of these, and Google's at another path.
		deepLX.Below(mtranserver.Root, deeplx.Path), deepL.Below(mtranserver.Root, deepl.Path), web.Below(mtranserver.Root+"/google"), web.Below("/google"))
	for _, extension := range extensions {
		all = append(all, extension.Below(mtranserver.Root))
	}
	return dialect.Share(all...)
}

// modelNames returns the names of the served models, or none before [API.Ready].
func (a *API) modelNames() (names []string) {
	if models := a.models.Load(); models != nil {
		for _, m := range (*models)() {
			if !slices.Contains(names, m.Name) { // a model may have several versions
				names = append(names, m.Name)
			}
		}
	}
	return names
}

// guard is the middleware that tells browsers which pages may call a path, and refuses requests of other pages: for all routes,
// and for paths without a route.
func (a *API) guard(dropIns []dialect.Dialect) gin.HandlerFunc {
	return func(c *gin.Context) {
		path := dialect.WithoutModel(c.Request.URL.Path)
		open := a.cfg.OpenCORS != nil && slices.ContainsFunc(dropIns, func(d dialect.Dialect) bool { return d.Browsers && d.Owns(path) })
		cors := a.cfg.CORS
		if open {
			cors = a.cfg.OpenCORS
		}
		if cors != nil && cors(c.Writer, c.Request) {
			c.AbortWithStatus(http.StatusNoContent)
		}
		if err := a.cfg.Sites.Guard(c.Request, open); err != nil && !c.IsAborted() {
			useNearestRenderer(c, dropIns)
			a.server.Fail(c, err)
		}
	}
}

// useNearestRenderer renders failures in the format of the API that owns a path.
func useNearestRenderer(c *gin.Context, dropIns []dialect.Dialect) {
	for _, path := range []string{dialect.WithoutModel(c.FullPath()), dialect.WithoutModel(c.Request.URL.Path)} {
		for _, api := range dropIns {
			if api.Owns(path) {
				api.UseRenderer(c)
			}
		}
	}
}
