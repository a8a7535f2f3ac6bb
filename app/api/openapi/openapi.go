// Package openapi describes the service's HTTP interface: an OpenAPI 3.1 document, and a
// page to read and try it on.
//
// The document is written by hand, in openapi.yaml. What differs from one service to the
// next (its version, limits and languages) is filled in when it starts, at the anchors in
// the document's x-limits; see [Config] and [Model]. Package contracttest holds the service to
// the document.
package openapi

import (
	_ "embed"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/webfile"
)

//go:embed openapi.yaml
var source []byte

// Config is what is known of a service from its start.
type Config struct {
	Version      string
	KeysNeeded   bool  // there are API keys, so that requests need one
	MaxRecords   int   // translations in a request
	MaxChars     int   // code points of a record
	MaxBodyBytes int64 // of a request
	// The same for jobs.
	MaxJobRecords, MaxJobChars int
	MaxJobBodyBytes            int64
	MaxDocumentBytes           int64
	MaxLiveChars               int // code points of a live text
}

// Model is what is known of a service once its model is loaded.
type Model struct {
	Languages []string // codes, in the order that people should see
	Detects   bool     // fromLang may be auto
	// MaxBeams and MaxLength, in tokens, are the most that a request may ask for.
	MaxBeams, MaxLength int
}

// Description serves the document and the page. It is safe for concurrent use.
type Description struct {
	cfg       Config
	page      *page
	documents atomic.Pointer[func() (documents, error)]
}

// documents are the document in its two forms.
type documents struct{ json, yaml *webfile.File }

// New makes the description of a service whose model is not loaded yet: the document is
// whole, but names no languages. It fails only where the files of the binary do not fit
// together.
func New(cfg Config) (*Description, error) {
	p, err := newPage()
	if err != nil {
		return nil, fmt.Errorf("API page: %w", err)
	}
	d := &Description{cfg: cfg, page: p}
	d.Ready(Model{})
	return d, nil
}

// Ready adds what is known of the model. Languages are left out of the document where
// there are none, and limits where they are 0. The document is made when it is first asked for:
// that takes some 40 MB of memory.
func (d *Description) Ready(m Model) {
	made := sync.OnceValues(func() (documents, error) { return d.describe(m) })
	d.documents.Store(&made)
}

// describe makes the document of a service with a model.
func (d *Description) describe(m Model) (documents, error) {
	asJSON, asYAML, err := render(source, d.cfg.values(m))
	if err != nil {
		return documents{}, fmt.Errorf("OpenAPI document: %w", err)
	}
	return documents{
		json: webfile.New("application/json; charset=utf-8", asJSON),
		yaml: webfile.New("application/yaml; charset=utf-8", asYAML),
	}, nil
}

// values are what belongs to the anchors of the document; nil is not known.
func (cfg Config) values(m Model) map[string]any {
	values := map[string]any{
		"version": cfg.Version, "maxRecords": cfg.MaxRecords, "maxChars": cfg.MaxChars, "maxBodyBytes": cfg.MaxBodyBytes,
		"maxJobRecords": cfg.MaxJobRecords, "maxJobChars": cfg.MaxJobChars, "maxJobBodyBytes": cfg.MaxJobBodyBytes, "maxDocumentBytes": cfg.MaxDocumentBytes, "maxLiveChars": cfg.MaxLiveChars,
		"maxBeams": nil, "maxLength": nil, "languages": nil, "sourceLanguages": nil, "anonymous": nil,
	}
	if m.MaxBeams > 0 {
		values["maxBeams"] = m.MaxBeams
	}
	if m.MaxLength > 0 {
		values["maxLength"] = m.MaxLength
	}
	if len(m.Languages) > 0 {
		values["languages"], values["sourceLanguages"] = m.Languages, m.Languages
		if m.Detects {
			values["sourceLanguages"] = append([]string{"auto"}, m.Languages...)
		}
	}
	if !cfg.KeysNeeded {
		values["anonymous"] = map[string]any{} // no scheme has to be satisfied
	}
	return values
}

// Register adds the routes: the document, the page and the page's files. They cost little
// and tell nothing about anybody, so that they need no key. notFound answers requests for
// files that do not exist.
func (d *Description) Register(router gin.IRouter, notFound gin.HandlerFunc) {
	for path, handler := range map[string]gin.HandlerFunc{
		"/openapi.json": d.serve(func(made documents) *webfile.File { return made.json }),
		"/openapi.yaml": d.serve(func(made documents) *webfile.File { return made.yaml }),
		"/docs":         d.page.serve, FilesPath: d.page.serveFile(notFound),
	} {
		router.GET(path, handler)
		router.HEAD(path, handler)
	}
}

// serve answers with a form of the document. An error is one of the binary, which no test has found.
func (d *Description) serve(form func(documents) *webfile.File) gin.HandlerFunc {
	return func(c *gin.Context) {
		made, err := (*d.documents.Load())()
		if err != nil {
			http.Error(c.Writer, err.Error(), http.StatusInternalServerError)
			return
		}
		serve(c, form(made))
	}
}
