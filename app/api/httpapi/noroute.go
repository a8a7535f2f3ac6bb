package httpapi

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
)

// noRoute answers requests without a route.
type noRoute struct {
	server   *dialect.Server
	features []feature
}

// noMethod answers requests whose method no route of the path takes. noMethod answers OPTIONS, which asks for the methods, with
// success.
func (n *noRoute) noMethod(c *gin.Context) {
	allowed := c.Writer.Header().Get("Allow") + ", " + http.MethodOptions
	c.Header("Allow", allowed)
	if c.Request.Method == http.MethodOptions {
		c.Status(http.StatusNoContent)
		return
	}
	n.server.Fail(c, fault.New(fault.NoMethod, "", "this path takes %s", allowed))
}

// notFound answers requests for a path that does not exist, or is disabled.
func (n *noRoute) notFound(c *gin.Context) {
	if off := n.turnedOff(c.Request.URL.Path); off != nil {
		n.server.Fail(c, off)
		return
	}
	n.server.Fail(c, fault.New(fault.NotFound, "", "there is nothing at this path, see / for what there is"))
}

// turnedOff returns the failure that names the purpose of a disabled path and the setting that disables it, or nil for other
// paths. The drop-in APIs have such routes of their own.
func (n *noRoute) turnedOff(path string) *fault.Failure {
	for _, f := range n.features {
		if f.off != nil && (path == f.root || strings.HasPrefix(path, f.root+"/")) {
			return f.off
		}
	}
	return nil
}
