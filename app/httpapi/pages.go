package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"dragoman/app/webfile"
	"dragoman/app/webpage"
)

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
			router.Handle(method, webpage.AssetsPath, site.Asset(a.notFound))
		}
	}
	if d := a.cfg.Description; d != nil {
		d.Register(router, a.notFound)
	}
	router.GET("/", index)
	router.HEAD("/", index)
}
