// Package libretranslate serves the API of LibreTranslate 1.9, so that its clients work with this service unchanged.
//
//	POST /translate          q (a string, or an array of them), source, target, format, alternatives
//	POST /detect             q
//	GET  /languages          codes, names and targets
//	POST /translate_file     file, source, target; GET /download_file/NAME has the result
//	GET  /frontend/settings  features of the server
//	GET  /health
//	GET  /spec               this API, as Swagger 2.0
//
// Requests are JSON, forms, multipart forms or queries. If keys are required, POST takes them from the field api_key.
//
// The field model, and a path in front of the route's, choose a model; see package dialect. The targets of a language in
// /languages include the language itself.
//
// Differences from the original: HTML has alternatives, too, and there are at most MAX_BEAMS - 1 of them; the language of each
// text of a list is detected separately; language codes may be written in other common ways (NB, pt-BR, zh-Hans); zh-Hant is
// refused as a target if the model has one Chinese. Suggestions and translation memories are not supported.
package libretranslate

import (
	"cmp"
	_ "embed"
	"slices"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/translate"
)

// New returns the API. It serves /languages in LibreTranslate's form.
func New(server *dialect.Server) dialect.Dialect {
	api := dialect.API{Server: server}
	return dialect.Dialect{Render: render, Browsers: true, Routes: []dialect.Route{
		api.Route("POST", "/translate", serveTranslation),
		api.Route("POST", "/detect", detect),
		api.Open("/languages", languages),
		api.Open("/frontend/settings", settings),
		api.Open("/health", func(*dialect.Call) (any, error) { return gin.H{"status": "ok"}, nil }),
		{Methods: "POST", Path: "/suggest", Handler: dialect.Refusing(dialect.RefuseAs(fault.NotOffered, "Suggestions are disabled on this server."))},
		{Methods: "GET", Path: "/spec", Handler: describe},
	}}
}

//go:embed spec.json
var spec []byte

// describe serves /spec, for client generators. It describes the API with forms; JSON requests may also have lists, which Swagger
// 2.0 cannot express.
func describe(*gin.Context) (any, error) {
	return dialect.Reply{Type: "application/json; charset=utf-8", Body: spec}, nil
}

// statuses differ from the service's own API. LibreTranslate documents 400, 403, 429 and 500, and its clients only check for
// success, so a failure that LibreTranslate does not have keeps its HTTP status here.
var statuses = map[fault.Kind]int{
	fault.MediaType: 400, fault.IdempotencyMismatch: 400, fault.UnknownDocument: 400, fault.BrokenDocument: 400, fault.TooManyGlossaries: 400, fault.EditGap: 400, fault.SessionComplete: 400, fault.NoKey: 400, fault.TooManyRecords: 400, fault.TooManySentences: 400, fault.TooManyTokens: 400, fault.TooManyCharacters: 400, fault.TooLarge: 400, fault.Unfinished: 400,
	fault.NotOffered: 403, fault.TurnedOff: 403, fault.WrongKey: 403,
	fault.JobLost: 404, fault.NotDone: 404,
	fault.NoRoom: 500,
}

// render renders a failure in LibreTranslate's format, in its words if there are any.
func render(_ *gin.Context, f *fault.Failure) (status int, answer any) {
	message := dialect.Message(f)
	switch f.Kind {
	case fault.NoKey:
		message = "Please contact the server operator to get an API key"
	case fault.WrongKey:
		message = "Invalid API key"
	case fault.RateLimited, fault.OverQuota:
		message = "Slowdown: " + message
	}
	return f.StatusOr(statuses), gin.H{"error": message}
}

// language is an entry of /languages.
type language struct {
	Code    string   `json:"code"`
	Name    string   `json:"name"`       // in English
	Native  string   `json:"nativeName"` // in the language itself; not in LibreTranslate
	Targets []string `json:"targets"`
	// Pivots are the targets reached through another language, with that language; not in LibreTranslate.
	Pivots map[string]string `json:"pivots,omitempty"`
}

// languages lists the languages and their targets.
func languages(call *dialect.Call) (any, error) {
	return dialect.Each(call.Languages, func(code string) language {
		names := dialect.NameOf(code)
		return language{Code: code, Name: names.English, Native: names.Own, Targets: call.Models.Targets(code), Pivots: call.Models.Pivots(code)}
	}), nil
}

// setting is a language of /frontend/settings.
type setting struct {
	Code string `json:"code"`
	Name string `json:"name"`
}

// settings lists the features for web pages.
func settings(call *dialect.Call) (any, error) {
	english := func(all dialect.Languages) setting { // or the first language without English
		code := "en"
		if len(all) > 0 && !slices.Contains(all, code) {
			code = all[0]
		}
		return setting{code, dialect.NameOf(code).English}
	}
	source := setting{translate.Auto, "Auto Detect"}
	if call.Models.Detector() == nil {
		source = english(dialect.Sources(call.Models))
	}
	limit, keys := cmp.Or(call.Server.MaxChars, -1), call.Server.Gate.NeedsKeys()
	return gin.H{
		"charLimit":            limit,
		"frontendTimeout":      500, // in ms, the delay of pages after a key stroke; LibreTranslate's value
		"apiKeys":              keys,
		"keyRequired":          keys,
		"suggestions":          false,
		"filesTranslation":     len(call.Server.FileTypes) > 0,
		"supportedFilesFormat": append([]string{}, call.Server.FileTypes...), // not nil: [] in JSON
		"language":             gin.H{"source": source, "target": english(dialect.Targets(call.Models))},
	}, nil
}
