package httpapi

import (
	"slices"

	"github.com/gin-gonic/gin"

	"dragoman/app/compat"
	"dragoman/app/compat/azure"
	"dragoman/app/compat/deepl"
	"dragoman/app/compat/deeplx"
	"dragoman/app/compat/google"
	"dragoman/app/compat/hcfy"
	"dragoman/app/compat/immersive"
	"dragoman/app/compat/kiss"
	"dragoman/app/compat/libretranslate"
	"dragoman/app/dialect"
)

// dropIns are the APIs of other programs that are also mounted for each model. Where several have a
// path, such as /translate, the first that takes a request has it: it must tell by the query before
// another reads the body.
func (a *API) dropIns() []dialect.Dialect {
	return dialect.Share(
		azure.New(a.server), deeplx.New(a.server), libretranslate.New(a.server), deepl.New(a.server),
		libretranslate.Files(a.server, a.documents), deepl.Documents(a.server, a.documents),
		immersive.New(a.server), kiss.New(a.server), hcfy.New(a.server), google.New(a.server),
	)
}

// cors is the middleware that tells browsers which pages may call a path.
func (a *API) cors(dropIns []dialect.Dialect) gin.HandlerFunc {
	return func(c *gin.Context) {
		path := compat.WithoutModel(c.Request.URL.Path)
		open := slices.ContainsFunc(dropIns, func(d dialect.Dialect) bool { return d.Browsers && d.Owns(path) })
		switch {
		case open && a.cfg.OpenCORS != nil:
			a.cfg.OpenCORS(c)
		case a.cfg.CORS != nil:
			a.cfg.CORS(c)
		}
	}
}
