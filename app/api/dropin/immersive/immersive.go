// Package immersive serves the browser extension Immersive Translate, according to its page on custom APIs
// (https://immersivetranslate.com/en/docs/services/custom/, read in November 2026).
//
//	POST /imme  source_lang, target_lang, text_list
//
// Texts are plain. The extension's placeholders for non-text, such as {0} and <b0></b0>, are preserved, like all placeholders and
// tags.
//
// The extension can send a key only in its address: /imme?token=KEY.
package immersive

import (
	"dragoman/app/api/dialect"
	"dragoman/app/translate"
)

// New returns the API.
func New(server *dialect.Server) dialect.Dialect {
	api := dialect.API{Server: server}
	return dialect.Dialect{Render: dialect.Render, Browsers: true, Routes: []dialect.Route{api.Route("POST", "/imme", serve)}}
}

// answer is an answer to the extension.
type answer struct {
	Translations []translation `json:"translations"` // in the order of the texts
}

type translation struct {
	Detected string `json:"detected_source_lang"`
	Text     string `json:"text"`
}

func serve(call *dialect.Call) (any, error) {
	texts := call.Needed("text_list")
	from, to := call.Pair("source_lang", "target_lang")
	results, err := call.Translate(dialect.Request{From: from, To: to, Texts: texts})
	return answer{dialect.Each(results, func(r translate.Result) translation {
		return translation{dialect.Regional().SourceOf(r), r.Text}
	})}, err
}
