// Package openapi describes the service's HTTP interface: an OpenAPI 3.1 document of the native API, one of all routes, and a page to
// read and try them.
//
// Both are written by hand, in openapi.yaml. Values that differ between services (version, limits and languages) are
// filled in at the start, at the anchors in the document's x-limits; see [Config] and [Model]. Package contracttest checks the
// service against the document.
package openapi

import (
	_ "embed"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/gin-gonic/gin"
	"go.yaml.in/yaml/v3"

	"dragoman/app/api/webfile"
)

//go:embed openapi.yaml
var source []byte

// Config has the values known at the start of a service.
type Config struct {
	Version      string
	KeysNeeded   bool  // requests need an API key
	MaxRecords   int   // translations in a request
	MaxChars     int   // code points of a record
	MaxBodyBytes int64 // of a request
	// Limits of jobs.
	MaxJobRecords, MaxJobChars int
	MaxJobBodyBytes            int64
	MaxDocumentBytes           int64
	MaxLiveChars               int // code points of a live text
}

// Model has the values known once the model is loaded.
type Model struct {
	Languages []string // codes, in display order
	Detects   bool     // fromLang may be auto
	// MaxBeams and MaxLength, in tokens, are the maxima of a request.
	MaxBeams, MaxLength int
}

// Description serves the documents and the page. It is safe for concurrent use.
type Description struct {
	cfg         Config
	page        *page
	native, all document
}

// document is made of the embedded one by an edit, at the first request, because that takes about 40 MB of memory.
type document struct {
	edit func(*yaml.Node)
	made atomic.Pointer[func() (forms, error)]
}

// forms has a document in its two forms.
type forms struct{ json, yaml *webfile.File }

// New returns the description of a service whose model is not loaded yet: the documents are complete, but name no languages. It
// fails only if the embedded files are inconsistent.
func New(cfg Config) (*Description, error) {
	p, err := newPage()
	if err != nil {
		return nil, fmt.Errorf("API page: %w", err)
	}
	d := &Description{cfg: cfg, page: p, native: document{edit: native}, all: document{edit: all}}
	d.Ready(Model{})
	return d, nil
}

// Ready adds the values of the model. Empty languages and zero limits are left out of the documents.
func (d *Description) Ready(m Model) {
	for _, doc := range []*document{&d.native, &d.all} {
		made := sync.OnceValues(func() (forms, error) { return d.describe(m, doc.edit) })
		doc.made.Store(&made)
	}
}

// describe renders a document of a service with a model.
func (d *Description) describe(m Model, edit func(*yaml.Node)) (forms, error) {
	asJSON, asYAML, err := render(source, d.cfg.values(m), edit)
	if err != nil {
		return forms{}, fmt.Errorf("OpenAPI document: %w", err)
	}
	return forms{
		json: webfile.New("application/json; charset=utf-8", asJSON),
		yaml: webfile.New("application/yaml; charset=utf-8", asYAML),
	}, nil
}

// values returns the values for the document's anchors; nil is unknown.
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
		values["anonymous"] = map[string]any{} // no security scheme is required
	}
	return values
}

// Register adds the routes: the documents, the page and the page's files. The routes are cheap and serve no private data, so they
// need no key. notFound answers requests for files that do not exist.
func (d *Description) Register(router gin.IRouter, notFound gin.HandlerFunc) {
	asJSON, asYAML := func(f forms) *webfile.File { return f.json }, func(f forms) *webfile.File { return f.yaml }
	for path, handler := range map[string]gin.HandlerFunc{
		"/openapi.json": d.native.serve(asJSON), "/openapi.yaml": d.native.serve(asYAML),
		"/openapi-all.json": d.all.serve(asJSON), "/openapi-all.yaml": d.all.serve(asYAML),
		"/docs": d.page.serve, FilesPath: d.page.serveFile(notFound),
	} {
		router.GET(path, handler)
		router.HEAD(path, handler)
	}
}

// serve answers with one form of the document. An error means that the embedded document is broken.
func (d *document) serve(form func(forms) *webfile.File) gin.HandlerFunc {
	return func(c *gin.Context) {
		made, err := (*d.made.Load())()
		if err != nil {
			http.Error(c.Writer, err.Error(), http.StatusInternalServerError)
			return
		}
		serve(c, form(made))
	}
}
