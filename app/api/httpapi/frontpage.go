package httpapi

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/api/webfile"
	"dragoman/app/api/webpage"
)

// Model is a served model, for GET /.
type Model struct {
	Name      string `json:"name"`
	Version   string `json:"version"`
	Source    string `json:"source,omitempty"` // origin of its checkpoint; missing for pipelines
	Revision  string `json:"revision,omitempty"`
	Precision string `json:"precision,omitempty"`
	License   string `json:"license,omitempty"` // according to its model card
	Note      string `json:"note,omitempty"`    // known limits of its translations
}

// servedModels are the served models, in the order in which they are tried.
type servedModels struct {
	list atomic.Pointer[func() []Model] // nil until Ready
}

// all returns the models, or none before [API.Ready].
func (m *servedModels) all() []Model {
	if list := m.list.Load(); list != nil {
		return (*list)()
	}
	return nil
}

// names returns the names of the models.
func (m *servedModels) names() (names []string) {
	for _, m := range m.all() {
		if !slices.Contains(names, m.Name) { // a model may have several versions
			names = append(names, m.Name)
		}
	}
	return names
}

// frontPage is the page at /.
type frontPage struct {
	site    *webpage.Site // nil: none
	version string
	live    bool // live text is enabled
	models  *servedModels
	routes  []string // all routes, each with its methods, sorted
}

// serve serves GET /: the page for browsers, or a description of the service.
func (p *frontPage) serve(c *gin.Context) (any, error) {
	if site := p.site; site != nil {
		if webfile.PrefersHTML(c.Request) {
			site.Page(c)
			return nil, nil
		}
		c.Header("Vary", "Accept")
	}
	answer := struct {
		Name        string   `json:"name"`
		Version     string   `json:"version"`
		Model       *Model   `json:"model,omitempty"`  // once the service is ready: the model tried first
		Models      []Model  `json:"models,omitempty"` // all models, if there are several
		Translation string   `json:"translation"`
		Languages   string   `json:"languages"`
		Live        string   `json:"live,omitempty"`
		Routes      []string `json:"routes"`
	}{Name: "dragoman", Version: p.version, Routes: p.routes, Translation: "POST " + translationPath, Languages: languagesURL(c.Request)}
	if p.live {
		answer.Live = "GET " + livePath
	}
	answer.Models = p.models.all()
	if n := len(answer.Models); n > 0 {
		answer.Model = &answer.Models[0]
		if n == 1 {
			answer.Models = nil
		}
	}
	return answer, nil
}

// routesOf lists the routes of a router, each as "/path: GET, POST". Routes below a model's path are those without it, and HEAD is
// that of GET.
func routesOf(router *gin.Engine) (list []string) {
	methods := map[string][]string{}
	for _, route := range router.Routes() {
		if route.Method != http.MethodHead && !strings.HasPrefix(route.Path, dialect.ModelPath) {
			methods[route.Path] = append(methods[route.Path], route.Method)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(methods)) {
		list = append(list, path+": "+strings.Join(slices.Sorted(slices.Values(methods[path])), ", "))
	}
	return list
}
