// Package kiss serves the browser extension KISS Translator as a custom interface. Requests and answers are those of version
// 2.0.31 (github.com/fishjar/kiss-translator, custom-api_v2.md and genCustom of src/apis/trans.js at 97c08cf).
//
//	POST /kiss  texts (a list, with "aggregate translation") or text, from, to
//
// The extension sends its key as "Authorization: Bearer KEY". Its DeepLX, Google and Azure interfaces are served by other
// packages.
package kiss

import (
	"dragoman/app/api/dialect"
	"dragoman/app/translate"
)

// New returns the API.
func New(server *dialect.Server) dialect.Dialect {
	api := dialect.API{Server: server}
	return dialect.Dialect{Render: dialect.Render, Browsers: true, Routes: []dialect.Route{api.Route("POST", "/kiss", serve)}}
}

// answer is the answer to a request with texts.
type answer struct {
	Translations []translation `json:"translations"` // in the order of the texts
}

// translation is a text of a list, or the whole answer to a request with one text.
type translation struct {
	Text   string `json:"text"`
	Source string `json:"src"`
}

func serve(call *dialect.Call) (any, error) {
	field, list := "text", call.Has("texts")
	if list {
		field = "texts"
	}
	texts := call.Needed(field)
	from, to := call.Pair("from", "to")
	results, err := call.Translate(dialect.Request{From: from, To: to, Texts: texts})
	if err != nil {
		return nil, err
	}
	out := dialect.Each(results, func(r translate.Result) translation { return translation{r.Text, dialect.Regional().SourceOf(r)} })
	if list || len(out) != 1 {
		return answer{out}, nil
	}
	return out[0], nil
}
