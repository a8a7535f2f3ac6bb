// Package mtranserver serves the clients of MTranServer. Requests and answers are those of github.com/xxnuo/MTranServer,
// src/controllers at f5672a9.
//
//	POST /translate        from, to, text, html
//	POST /translate/batch  from, to, texts, html
//	POST /detect           text, minConfidence
//	GET  /languages        all languages, and their pairs
//	GET  /version, /health, /__heartbeat__, /__lbheartbeat__
//
// All routes are also below /mtranserver. Outside /mtranserver, LibreTranslate has /languages and /health, as well as /translate
// for requests without from, to and text or with q, and /detect for requests without text or with q. The original's routes for
// extensions, such as /imme, are served by other packages.
//
// Keys are in Authorization, with or without Bearer, or in the query, as token.
package mtranserver

import (
	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/translate"
)

// Root is the path below which all routes are.
const Root = "/mtranserver"

// New returns the API of a service version.
func New(server *dialect.Server, version string) dialect.Dialect {
	api := dialect.API{Server: server}
	d := dialect.Dialect{Render: dialect.Render, Browsers: true, Routes: []dialect.Route{
		api.Route("POST", "/translate", serve),
		api.Route("POST", "/detect", detect),
		api.Route("POST", "/translate/batch", serveBatch),
		{Methods: "GET", Path: "/version", Handler: func(*gin.Context) (any, error) { return gin.H{"version": version}, nil }},
		api.Open("/__heartbeat__", heartbeat),
		api.Open("/__lbheartbeat__", heartbeat),
	}}
	for _, route := range d.Routes {
		route.Path = Root + route.Path
		d.Routes = append(d.Routes, route)
	}
	d.Routes[0].Takes = takes(api, "from", "to", "text")
	d.Routes[1].Takes = takes(api, "text")
	d.Routes = append(d.Routes, api.Route("GET", Root+"/languages", languages), api.Open(Root+"/health", func(*dialect.Call) (any, error) { return gin.H{"status": "ok"}, nil }))
	d.Prefixes = []string{Root + "/"}
	return d
}

// takes returns a predicate for requests that have the named fields, and not LibreTranslate's q.
func takes(api dialect.API, names ...string) func(*gin.Context) bool {
	return func(c *gin.Context) bool {
		fields, err := api.Fields(c)
		for _, name := range names {
			if err != nil || !fields.Has(name) {
				return false
			}
		}
		return !fields.Has("q")
	}
}

// spelling maps languages to MTranServer's codes with another script.
func spelling() dialect.Spelling { return dialect.Spelling{"zh": "zh-Hans"} }

// serve serves /translate.
func serve(call *dialect.Call) (any, error) {
	call.Require("text")
	results, err := translateAll(call, []string{call.Text("text")})
	if err != nil {
		return nil, err
	}
	return gin.H{"result": results[0]}, nil
}

// serveBatch serves /translate/batch.
func serveBatch(call *dialect.Call) (any, error) {
	results, err := translateAll(call, call.Needed("texts"))
	return gin.H{"results": results}, err
}

// translateAll translates the texts of a request.
func translateAll(call *dialect.Call, texts []string) ([]string, error) {
	req := dialect.Request{Texts: texts}
	if call.Bool("html") {
		req.Format = translate.HTML
	}
	req.From, req.To = call.Pair("from", "to")
	results, err := call.Translate(req)
	return dialect.Each(results, func(r translate.Result) string { return r.Text }), err
}

// detection is the answer of /detect. Language is "" if it is unknown, or its confidence is below the minimum.
type detection struct {
	Language   string   `json:"language"`
	Confidence *float64 `json:"confidence,omitempty"` // if the request has a minimum
}

func detect(call *dialect.Call) (any, error) {
	call.NeedsDetector("Language detection is not offered by this server.")
	call.Require("text")
	least := call.Float("minConfidence")
	found, err := call.Detect([]string{call.Text("text")}, translate.Text)
	if err != nil {
		return nil, err
	}
	var answer detection
	if call.Has("minConfidence") {
		answer.Confidence = &found[0].Confidence
	}
	if found[0].Confidence >= least {
		answer.Language = spelling().Of(found[0].Code)
	}
	return answer, nil
}

// pair is a source and a target language.
type pair struct {
	From string `json:"from"`
	To   string `json:"to"`
}

func languages(call *dialect.Call) (any, error) {
	return gin.H{"languages": dialect.Each(call.Languages, spelling().Of), "pairs": dialect.Each(dialect.Pairs(call.Models), func(p [2]string) pair {
		return pair{spelling().Of(p[0]), spelling().Of(p[1])}
	})}, nil
}

// heartbeat serves /__heartbeat__: an empty answer, once models are loaded.
func heartbeat(*dialect.Call) (any, error) { return dialect.Reply{}, nil }
