// Package libretranslate serves the API of LibreTranslate 1.9, so that its clients
// work with this service as they are.
//
//	POST /translate          q (a string, or an array of them), source, target, format, alternatives
//	POST /detect             q
//	GET  /languages          codes, names and targets
//	GET  /frontend/settings  what the server offers
//	GET  /health
//	GET  /spec               this API, as Swagger 2.0
//
// Requests are JSON, forms, multipart forms or queries. Where keys are needed,
// POST takes them from the field api_key.
//
// What differs from the original: alternatives are never found, so their list is
// empty; each text of a list has its language detected by itself; the code of a
// language may be written in other usual ways (NB, pt-BR, zh-Hans); zh-Hant is
// refused as a target, for the model does not tell the scripts apart. Files, suggestions
// and translation memories are not offered.
package libretranslate

import (
	_ "embed"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"dragoman/app/compat"
	"dragoman/app/translate"
)

// api has the handlers. It is safe for concurrent use.
type api struct {
	cfg     compat.Config
	dialect compat.Dialect
}

// Register adds the routes. It takes /languages, in LibreTranslate's form.
func Register(router gin.IRouter, cfg compat.Config) {
	a := api{cfg, compat.Dialect{KeyField: "api_key", Fail: Fail}}
	router.POST("/translate", cfg.Route(a.dialect, a.translate))
	router.POST("/detect", cfg.Route(a.dialect, a.detect))
	router.POST("/translate_file", a.notOffered("Files translation are disabled on this server."))
	router.POST("/suggest", a.notOffered("Suggestions are disabled on this server."))
	for path, answer := range map[string]func(*compat.Backend) any{
		"/languages": languages, "/frontend/settings": a.settings, "/health": health,
	} {
		handler := a.public(answer)
		router.GET(path, handler)
		router.HEAD(path, handler)
	}
	router.GET("/spec", describe)
	router.HEAD("/spec", describe)
}

//go:embed spec.json
var spec []byte

// describe serves /spec, for tools that make clients of it. What it describes is the API
// as forms; JSON may have lists in addition, which Swagger 2.0 cannot say.
func describe(c *gin.Context) { c.Data(http.StatusOK, "application/json; charset=utf-8", spec) }

// Fail answers with an error, in LibreTranslate's words where it has some. It is for
// middleware that refuses requests to these routes as well; see [compat.Explain] for
// the errors that it knows.
func Fail(c *gin.Context, err error) {
	f := compat.Explain(c, err)
	message := f.Message
	switch f.Class {
	case compat.NoKey:
		message = "Please contact the server operator to get an API key"
	case compat.Limited, compat.OverQuota:
		message = "Slowdown: " + message
	}
	f.Send(c, f.Class.Statuses().LibreTranslate, gin.H{"error": message})
}

// notOffered makes the handler of what this server does not do.
func (a api) notOffered(message string) gin.HandlerFunc {
	return func(c *gin.Context) {
		a.cfg.Fail(c, a.dialect, &compat.RequestError{Class: compat.NotOffered, Message: message})
	}
}

// public makes the handler of a path that needs neither key nor fields.
func (a api) public(answer func(*compat.Backend) any) gin.HandlerFunc {
	return func(c *gin.Context) {
		backend, err := a.cfg.Loaded()
		if err != nil {
			a.cfg.Fail(c, a.dialect, err)
			return
		}
		c.PureJSON(http.StatusOK, answer(backend))
	}
}

// health is the answer of a server that is up.
func health(*compat.Backend) any { return gin.H{"status": "ok"} }

// language is an entry of /languages.
type language struct {
	Code    string   `json:"code"`
	Name    string   `json:"name"`       // in English
	Native  string   `json:"nativeName"` // in the language itself; LibreTranslate has none
	Targets []string `json:"targets"`
}

// languages lists what can be translated: each language into each.
func languages(b *compat.Backend) any {
	list := make([]language, len(b.Languages)) // not nil: none are [] in JSON
	for i, code := range b.Languages {
		names := compat.NameOf(code)
		list[i] = language{Code: code, Name: names.English, Native: names.Own, Targets: b.Languages}
	}
	return list
}

// setting is a language of /frontend/settings.
type setting struct {
	Code string `json:"code"`
	Name string `json:"name"`
}

// settings tells web pages what they can offer.
func (a api) settings(b *compat.Backend) any {
	offered := func(code string) setting {
		if !slices.Contains(b.Languages, code) {
			code = b.Languages[0]
		}
		return setting{code, compat.NameOf(code).English}
	}
	source := setting{translate.Auto, "Auto Detect"}
	if b.Detector == nil {
		source = offered("en")
	}
	limit := a.cfg.MaxChars
	if limit == 0 {
		limit = -1
	}
	return gin.H{
		"charLimit":            limit,
		"frontendTimeout":      500, // ms that pages wait after a key stroke, LibreTranslate's own
		"apiKeys":              a.cfg.KeyNeeded,
		"keyRequired":          a.cfg.KeyNeeded,
		"suggestions":          false,
		"filesTranslation":     false,
		"supportedFilesFormat": []string{},
		"language":             gin.H{"source": source, "target": offered("en")},
	}
}
