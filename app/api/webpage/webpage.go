// Package webpage is the page for people: two text areas that translate as one
// types. The page is part of the binary and needs nothing from elsewhere: hand-written
// HTML, CSS and ES modules in page/, which use the same HTTP API as everybody.
//
// A [Site] serves it. Addresses of assets contain a hash of all assets, so that
// browsers may keep them for good; the page itself is checked at each visit.
package webpage

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
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
	// contentSecurityPolicy allows what the page uses: its own files and the API
	// beside it. Trusted Types turn every way to make HTML out of text off.
	contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

	// What caches may do: ask each time whether it changed, or keep it for good.
	revalidate = "no-cache"
	forever    = "public, max-age=31536000, immutable"
)

//go:embed page
var embedded embed.FS

// Site is the page and its assets. It is safe for concurrent use.
type Site struct {
	version  string // hash of all assets, a part of their addresses
	template *template.Template
	page     atomic.Pointer[webfile.File]
	assets   map[string]*webfile.File // by name, as in main.js
}

// New makes the site from the files in the binary. It fails only where these
// do not fit together.
func New() (*Site, error) {
	files, err := fs.Sub(embedded, "page")
	if err != nil {
		return nil, fmt.Errorf("web page: %w", err)
	}
	return newSite(files)
}

// newSite makes a site from index.html and assets/ of a file system.
func newSite(files fs.FS) (*Site, error) {
	s := &Site{assets: map[string]*webfile.File{}}
	entries, err := fs.ReadDir(files, "assets")
	if err != nil {
		return nil, fmt.Errorf("web page: %w", err)
	}
	all := sha256.New()
	for _, entry := range entries { // sorted by name, so that the hash stays the same
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
	if s.template, err = template.ParseFS(files, indexFile); err != nil {
		return nil, fmt.Errorf("web page: %w", err)
	}
	return s, s.Ready("")
}

const indexFile = "index.html"

// Ready shows a note about the model on the page, or none.
func (s *Site) Ready(note string) error {
	// The address of the assets is relative, so that the page also works below a prefix
	// of a proxy.
	values := struct{ Assets, Note string }{"assets/" + s.version, note}
	var body bytes.Buffer
	if err := s.template.Execute(&body, values); err != nil {
		return fmt.Errorf("web page: %w", err)
	}
	page, err := newFile(indexFile, body.Bytes())
	if err != nil {
		return fmt.Errorf("web page: %w", err)
	}
	s.page.Store(page)
	return nil
}

// newFile makes a file of the page. It fails on kinds of files that the page has none of.
// The table is our own: that of package mime depends on the machine.
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

// Page serves the page, for GET and HEAD of / by requests that want HTML (see
// [webfile.PrefersHTML]).
func (s *Site) Page(c *gin.Context) {
	c.Writer.Header().Add("Vary", "Accept")
	s.serve(c, s.page.Load(), revalidate)
}

// Asset makes the handler of the page's files, for GET and HEAD of [AssetsPath]. notFound
// answers requests for those that do not exist.
//
// During a rolling update a page may ask for assets of another version. It gets
// those of this one, which caches must not keep under that address.
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

// serve answers with a file, compressed where the request takes that.
func (s *Site) serve(c *gin.Context, f *webfile.File, cacheControl string) {
	h := c.Writer.Header()
	h.Set("Cache-Control", cacheControl)
	h.Set("Content-Security-Policy", contentSecurityPolicy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	f.Serve(c.Writer, c.Request)
}
