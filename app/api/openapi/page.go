package openapi

import (
	"embed"
	"io/fs"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/swaggest/swgui/v5/static"

	"dragoman/app/api/webfile"
)

// FilesPath is the route of the page's files, which the document omits.
const FilesPath = "/docs/*file"

// contentSecurityPolicy allows only the resources of the page: its own files, images within the styles of Swagger UI, and the
// API beside it.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed page
var pageFiles embed.FS

// page is Swagger UI, whose files come from a library, on a page of our own. The library's page has inline scripts and styles,
// for which the policy would have to allow all inline code, and addresses that break behind a proxy with a prefix. All files of
// the page are in the binary. A page does not change after newPage, so it is safe for concurrent use.
type page struct {
	index *webfile.File
	files map[string]*webfile.File // files used by index.html, by name
}

func newPage() (*page, error) {
	p := &page{files: map[string]*webfile.File{}}
	const script, style = "text/javascript; charset=utf-8", "text/css; charset=utf-8"
	var err error
	if p.index, err = readFile(pageFiles, "page/index.html", "text/html; charset=utf-8"); err != nil {
		return nil, err
	}
	for _, f := range []struct {
		name, contentType string
		from              fs.ReadFileFS
		path              string
	}{
		{"docs.js", script, pageFiles, "page/docs.js"},
		{"docs.css", style, pageFiles, "page/docs.css"},
		{"swagger-ui-bundle.js", script, static.FS, "swagger-ui-bundle.js.gz"},
		{"swagger-ui.css", style, static.FS, "swagger-ui.css.gz"},
		{"favicon-32x32.png", "image/png", static.FS, "favicon-32x32.png"},
	} {
		if p.files[f.name], err = readFile(f.from, f.path, f.contentType); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// readFile reads an embedded file.
func readFile(from fs.ReadFileFS, path, contentType string) (*webfile.File, error) {
	body, err := from.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(path, ".gz") {
		return webfile.NewPacked(contentType, body), nil
	}
	return webfile.New(contentType, body), nil
}

// serve serves GET /docs.
func (p *page) serve(c *gin.Context) {
	secure(c.Writer.Header())
	serve(c, p.index)
}

// serveFile returns the handler of GET below /docs/.
func (p *page) serveFile(notFound gin.HandlerFunc) gin.HandlerFunc {
	return func(c *gin.Context) {
		name := strings.TrimPrefix(c.Param("file"), "/")
		if name == "" {
			// The address is relative, so that it also works behind a proxy with a prefix.
			c.Header("Location", "../docs")
			c.Status(http.StatusMovedPermanently)
			return
		}
		f, ok := p.files[name]
		if !ok {
			notFound(c)
			return
		}
		secure(c.Writer.Header())
		serve(c, f)
	}
}

// serve answers with a file. Caches revalidate the file each time, because it changes with the version of the service.
func serve(c *gin.Context, f *webfile.File) {
	c.Header("Cache-Control", "no-cache")
	f.Serve(c.Writer, c.Request)
}

// secure sets the headers that exclude other sites from the page.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", contentSecurityPolicy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}
