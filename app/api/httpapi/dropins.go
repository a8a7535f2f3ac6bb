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
	"dragoman/app/api/upload"
)

// dropIns returns the APIs of other programs, which are also mounted for each model. A request for a path that several APIs have,
// such as /translate, goes to the first that takes it. Each must decide by the query, because another one may still read the
// body.
func dropIns(server *dialect.Server, version string, files *upload.Service, models func() []string) []dialect.Dialect {
	all := append([]dialect.Dialect{immersive.New(server), kiss.New(server), hcfy.New(server)},
		azure.New(server), mtranserver.New(server, version), nllb.Serve(server), deeplx.New(server), libretranslate.New(server), deepl.New(server),
		libretranslate.Files(server, files), deepl.Documents(server, files), azure.Documents(server, files),
		google.New(server), google.V3(server), nllb.API(server), openai.New(server, models))
	return dialect.Share(all...)
}

// guardSites returns the middleware that tells browsers which pages may call a path, and refuses requests of other pages: for all routes,
// and for paths without a route.
func guardSites(server *dialect.Server, cfg Config, dropIns []dialect.Dialect) gin.HandlerFunc {
	return func(c *gin.Context) {
		path := dialect.WithoutModel(c.Request.URL.Path)
		open := cfg.OpenCORS != nil && slices.ContainsFunc(dropIns, func(d dialect.Dialect) bool { return d.Browsers && d.Owns(path) })
		cors := cfg.CORS
		if open {
			cors = cfg.OpenCORS
		}
		if cors != nil && cors(c.Writer, c.Request) {
			c.AbortWithStatus(http.StatusNoContent)
		}
		if err := cfg.Sites.Guard(c.Request, open); err != nil && !c.IsAborted() {
			useNearestRenderer(c, dropIns)
			server.Fail(c, err)
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
