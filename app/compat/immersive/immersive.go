// Package immersive serves the browser extension Immersive Translate, as its page on custom APIs
// says (https://immersivetranslate.com/en/docs/services/custom/, read in November 2026).
//
//	POST /imme  source_lang, target_lang, text_list
//
// Texts are plain. The placeholders that the extension has for what is no text, such as {0} and
// <b0></b0>, come back as they were, as all placeholders and tags do.
//
// The extension can send a key in its address only: /imme?token=KEY.
package immersive

import (
	"dragoman/app/compat"
	"dragoman/app/dialect"
)

// New makes the API.
func New(server *dialect.Server) dialect.Dialect {
	api := compat.API{Server: server}
	return dialect.Dialect{Render: compat.Render, Browsers: true, Routes: []dialect.Route{api.Route("POST", "/imme", serve)}}
}

// answer is what the extension reads.
type answer struct {
	Translations []translation `json:"translations"` // in the order of the texts
}

type translation struct {
	Detected string `json:"detected_source_lang"`
	Text     string `json:"text"`
}

// serve serves /imme.
func serve(call compat.Call) (any, error) {
	texts, err := call.Fields.Needed("text_list")
	if err != nil {
		return nil, err
	}
	from, to, err := call.Pair("source_lang", "target_lang")
	if err != nil {
		return nil, err
	}
	results, err := call.Translate(compat.Job{From: from, To: to, Texts: texts})
	if err != nil {
		return nil, err
	}
	out := answer{make([]translation, len(results))} // not nil: none are [] in JSON
	for i, r := range results {
		out.Translations[i] = translation{compat.Regional().Of(compat.SourceOf(r)), r.Text}
	}
	return out, nil
}
