// Package kiss serves the browser extension KISS Translator as a custom interface, whose requests
// and answers are those of version 2.0.31 (github.com/fishjar/kiss-translator, custom-api_v2.md and
// genCustom of src/apis/trans.js at 97c08cf).
//
//	POST /kiss  texts (a list, "aggregate translation" is on) or text, from, to
//
// The extension sends its key as "Authorization: Bearer KEY". It also knows DeepLX, Google and
// Azure, which other packages serve.
package kiss

import (
	"dragoman/app/compat"
	"dragoman/app/dialect"
)

// New makes the API.
func New(server *dialect.Server) dialect.Dialect {
	api := compat.API{Server: server}
	return dialect.Dialect{Render: compat.Render, Browsers: true, Routes: []dialect.Route{api.Route("POST", "/kiss", serve)}}
}

// answer is what the extension reads of a request with texts.
type answer struct {
	Translations []translation `json:"translations"` // in the order of the texts
}

// translation is a text of a list, or the whole answer to a request with one text.
type translation struct {
	Text   string `json:"text"`
	Source string `json:"src"`
}

// serve serves /kiss.
func serve(call compat.Call) (any, error) {
	field, list := "text", call.Fields.Has("texts")
	if list {
		field = "texts"
	}
	texts, err := call.Fields.Needed(field)
	if err != nil {
		return nil, err
	}
	from, to, err := call.Pair("from", "to")
	if err != nil {
		return nil, err
	}
	results, err := call.Translate(compat.Job{From: from, To: to, Texts: texts})
	if err != nil {
		return nil, err
	}
	out := answer{make([]translation, len(results))} // not nil: none are [] in JSON
	for i, r := range results {
		out.Translations[i] = translation{r.Text, compat.Regional().Of(compat.SourceOf(r))}
	}
	if list || len(out.Translations) != 1 {
		return out, nil
	}
	return out.Translations[0], nil
}
