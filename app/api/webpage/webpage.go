// Package webpage is the web page: two text areas with live translation. The page is part of the binary and loads nothing from
// elsewhere: hand-written HTML, CSS and ES modules in page/, which use the public HTTP API.
//
// A [Site] serves the page. Addresses of assets contain a hash of all assets, so that browsers may keep them forever; the page
// itself is revalidated at each visit.
package webpage

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html"
	"io/fs"
	"path"
	"strings"
	"sync/atomic"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/webfile"
)

// AssetsPath is the route of the assets, for [Site.Asset].
const AssetsPath = "/assets/*path"

const (
	// contentSecurityPolicy allows only the resources of the page: its own files and the API beside it. Trusted Types disable
	// all conversions of text to HTML.
	contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

	// Cache policies: revalidate each time, or keep forever.
	revalidate = "no-cache"
	forever    = "public, max-age=31536000, immutable"
)

//go:embed page
var embedded embed.FS

// Site is the page and its assets. It is safe for concurrent use.
type Site struct {
	version string // hash of all assets, a part of their addresses
	index   string // index.html with the addresses of its assets
	page    atomic.Pointer[webfile.File]
	assets  map[string]*webfile.File // by name, as in main.js
}

// New returns the site of the embedded files. New fails only if the files are inconsistent.
func New() (*Site, error) {
	files, err := fs.Sub(embedded, "page")
	if err != nil {
		return nil, fmt.Errorf("web page: %w", err)
	}
	return newSite(files)
}

// newSite returns a site of index.html and assets/ in a file system.
func newSite(files fs.FS) (*Site, error) {
	s := &Site{assets: map[string]*webfile.File{}}
	entries, err := fs.ReadDir(files, "assets")
	if err != nil {
		return nil, fmt.Errorf("web page: %w", err)
	}
	all := sha256.New()
	for _, entry := range entries { // sorted by name, for a stable hash
		body, err := fs.ReadFile(files, path.Join("assets", entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("web page: %w", err)
		}
		asset, err := newFile(entry.Name(), body)
		if err != nil {
			return nil, fmt.Errorf("web page: %w", err)
		}
		s.assets[entry.Name()] = asset
		fmt.Fprintf(all, "%s %d\n", entry.Name(), len(body))
		_, _ = all.Write(body) // hashes do not fail
	}
	s.version = hex.EncodeToString(all.Sum(nil)[:8])
	index, err := fs.ReadFile(files, indexFile)
	if err != nil {
		return nil, fmt.Errorf("web page: %w", err)
	}
	// The address of the assets is relative, so that the page also works below the prefix of a proxy. Package html/template would
	// keep all methods of all types in the program.
	s.index = strings.ReplaceAll(string(index), "{{.Assets}}", "assets/"+s.version)
	if strings.Contains(strings.Replace(s.index, noteMark, "", 1), "{{") {
		return nil, fmt.Errorf("web page: %s has a mark other than {{.Assets}} and one %s", indexFile, noteMark)
	}
	return s, s.Ready("")
}

const (
	indexFile = "index.html"
	noteMark  = "{{.Note}}" // where index.html has the note about the model
)

// Ready shows a note about the model on the page; "" removes it.
func (s *Site) Ready(note string) error {
	if note != "" {
		note = `<p class="model">` + html.EscapeString(note) + "</p>"
	}
	page, err := newFile(indexFile, []byte(strings.Replace(s.index, noteMark, note, 1)))
	if err != nil {
		return fmt.Errorf("web page: %w", err)
	}
	s.page.Store(page)
	return nil
}

// newFile returns a file of the page. It fails on other kinds of files than the page has. The table of types is our own, because
// the table of package mime depends on the machine.
func newFile(name string, body []byte) (*webfile.File, error) {
	contentType, ok := map[string]string{
		".html": "text/html; charset=utf-8",
		".css":  "text/css; charset=utf-8",
		".js":   "text/javascript; charset=utf-8",
		".svg":  "image/svg+xml",
	}[path.Ext(name)]
	if !ok {
		return nil, fmt.Errorf("%s: no content type is known for files like this", name)
	}
	return webfile.New(contentType, body), nil
}

// Page serves the page, for GET and HEAD of / by requests that prefer HTML (see [webfile.PrefersHTML]).
func (s *Site) Page(c *gin.Context) {
	c.Writer.Header().Add("Vary", "Accept")
	s.serve(c, s.page.Load(), revalidate)
}

// Asset returns the handler of the page's files, for GET and HEAD of [AssetsPath]. notFound answers requests for files that do
// not exist.
//
// During a rolling update a page may request assets of another version. The page gets the assets of this version, which caches
// must not keep under the other version's address.
func (s *Site) Asset(notFound gin.HandlerFunc) gin.HandlerFunc {
	return func(c *gin.Context) {
		version, name, _ := strings.Cut(strings.TrimPrefix(c.Param("path"), "/"), "/")
		asset, ok := s.assets[name]
		switch {
		case !ok || len(version) != len(s.version):
			notFound(c)
		case version != s.version:
			s.serve(c, asset, revalidate)
		default:
			s.serve(c, asset, forever)
		}
	}
}

// serve answers with a file, compressed if the request accepts it.
func (s *Site) serve(c *gin.Context, f *webfile.File, cacheControl string) {
	h := c.Writer.Header()
	h.Set("Cache-Control", cacheControl)
	h.Set("Content-Security-Policy", contentSecurityPolicy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	f.Serve(c.Writer, c.Request)
}
