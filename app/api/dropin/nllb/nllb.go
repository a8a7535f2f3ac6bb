// Package nllb serves the clients of two servers of Meta's NLLB, such as Translate for Zotero, with any model of this service.
// Languages have codes of FLORES-200 (eng_Latn), or other common codes. Requests and answers are those of
// github.com/thammegowda/nllb-serve at 9f1c7f7 and github.com/winstxnhdw/nllb-api at 683fbde.
//
//	POST      /translate                 source (a string, or a list), src_lang, tgt_lang: nllb-serve
//	GET, POST /nllb-serve/translate      the same
//	GET, POST /api/v4/translator         text, source, target: nllb-api
//	GET       /api/v4/translator/stream  the same, as server-sent events
//
// The path /translate is also LibreTranslate's: a request with tgt_lang and without q is for nllb-serve.
//
// Differences from the originals: a missing source language is detected, a target language is required; sen_split has no effect,
// because texts are always split into sentences; a stream has one event, with the whole translation. Tokens are not counted, and
// nllb-api neither detects languages nor loads models.
package nllb

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/translate"
)

// Serve returns the API of nllb-serve.
func Serve(server *dialect.Server) dialect.Dialect {
	api := dialect.API{Server: server}
	shared := api.Route("POST", "/translate", serve)
	shared.Takes = func(c *gin.Context) bool {
		fields, err := api.Fields(c)
		return err == nil && fields.Has("tgt_lang") && !fields.Has("q")
	}
	return dialect.Dialect{Render: dialect.Render, Routes: []dialect.Route{shared, api.Route("GET POST", "/nllb-serve/translate", serve)}}
}

// served is the answer of nllb-serve.
type served struct {
	Source      []string `json:"source"`
	Translation []string `json:"translation"` // in the order of the texts
	From        string   `json:"src_lang"`    // as in the request, or of the first text if the request has none
	To          string   `json:"tgt_lang"`
	Taken       float64  `json:"time_taken"`
	Units       string   `json:"time_units"`
}

// serve serves nllb-serve's /translate.
func serve(call *dialect.Call) (any, error) {
	begun, texts := time.Now(), call.Prose("source")
	if len(texts) == 0 {
		call.Fail(dialect.RefuseAs(fault.MissingField, "Please submit 'source' parameter"))
	}
	from, to := call.Pair("src_lang", "tgt_lang")
	results, err := call.Translate(dialect.Request{From: from, To: to, Texts: texts})
	if err != nil {
		return nil, err
	}
	return served{
		Source: texts, Translation: dialect.Each(results, func(r translate.Result) string { return r.Text }),
		From: cmp.Or(call.Text("src_lang"), dialect.SourceOf(results[0])), To: call.Text("tgt_lang"),
		Taken: math.Round(time.Since(begun).Seconds()*1000) / 1000, Units: "s",
	}, nil
}

// API returns the API of nllb-api. It owns all paths below /api/v4.
func API(server *dialect.Server) dialect.Dialect {
	api := dialect.API{Server: server}
	const translator = "/api/v4/translator"
	return dialect.Dialect{Render: render, Prefixes: []string{"/api/v4/"}, Routes: []dialect.Route{
		api.Route("GET POST", translator, func(call *dialect.Call) (any, error) {
			text, err := translateText(call)
			return gin.H{"result": text}, err
		}),
		api.Route("GET", translator+"/stream", stream),
	}}
}

// render renders a failure in the format of nllb-api's framework.
func render(_ *gin.Context, f *fault.Failure) (status int, answer any) {
	return f.Status(), gin.H{"status_code": f.Status(), "detail": dialect.Message(f)}
}

// translateText translates the text of a request.
func translateText(call *dialect.Call) (string, error) {
	text := call.Text("text")
	if text == "" {
		call.Fail(dialect.RefuseAs(fault.MissingField, "The text is missing: send text, source and target."))
	}
	from, to := call.Pair("source", "target")
	results, err := call.Translate(dialect.Request{From: from, To: to, Texts: []string{text}})
	if err != nil {
		return "", err
	}
	return results[0].Text, nil
}

// lines turns line breaks of a translation into lines of an event.
var lines = strings.NewReplacer("\r\n", "\ndata: ", "\r", "\ndata: ", "\n", "\ndata: ")

// stream serves /api/v4/translator/stream.
func stream(call *dialect.Call) (any, error) {
	event := call.Text("event_type")
	if strings.ContainsAny(event, "\r\n") {
		call.Fail(dialect.Refuse("event_type has a line break: send a name"))
	}
	text, err := translateText(call)
	if err != nil {
		return nil, err
	}
	if event != "" {
		event = "event: " + event + "\n"
	}
	return dialect.Reply{Type: "text/event-stream; charset=utf-8", Body: []byte(event + "data: " + lines.Replace(text) + "\n\n")}, nil
}
