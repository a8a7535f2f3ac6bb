// Package hcfy serves the browser extension 划词翻译 (hcfy) as a custom source, according to its documentation
// (https://hcfy.ai/docs/services/custom-api, read in November 2026).
//
//	POST /hcfy  name, text, destination (a list), source
//
// Languages have their Chinese names. The target is the first destination that differs from the language of the text. Each line
// of the text is a paragraph with a translation of its own. The name, which the user gives the service, is ignored.
//
// The extension can send a key only in its address: /hcfy?token=KEY.
package hcfy

import (
	"dragoman/app/api/dialect"
	"dragoman/app/text/language"
	"dragoman/app/translate"
)

// New returns the API.
func New(server *dialect.Server) dialect.Dialect {
	api := dialect.API{Server: server}
	return dialect.Dialect{Render: dialect.Render, Browsers: true, Routes: []dialect.Route{api.Route("POST", "/hcfy", serve)}}
}

// answer is an answer to the extension.
type answer struct {
	Text   string   `json:"text"`
	From   string   `json:"from"`
	To     string   `json:"to"`
	Result []string `json:"result"` // by paragraph
}

func serve(call *dialect.Call) (any, error) {
	text, from := source(call)
	name, to := destination(call, from)
	results, err := call.Translate(dialect.Request{From: from, To: to, Texts: call.Lines(text)})
	return answer{
		Text: text, From: nameOf(from), To: name,
		Result: dialect.Each(results, func(r translate.Result) string { return r.Text }),
	}, err
}

// source reads the text and its language. A language that is not given is detected for all paragraphs together, because the
// choice of the destination depends on it.
func source(call *dialect.Call) (text, from string) {
	call.Require("text")
	text = call.Text("text")
	from = call.Source(codeOf(call.Text("source")))
	detector := call.Models.Detector()
	if from != translate.Auto || detector == nil {
		return text, from
	}
	if code, _, ok := detector.Detect(text); ok {
		if _, offered := call.Languages.Source(code); offered {
			return text, code
		}
	}
	return text, translate.Auto
}

// destination reads the target language, and the request's name for it.
func destination(call *dialect.Call, from string) (name, code string) {
	names := call.Needed("destination")
	if len(names) == 0 {
		call.Fail(dialect.Refuse("Invalid request: destination names no language"))
		return "", ""
	}
	for _, name := range names {
		if code := call.Target(codeOf(name)); code != from {
			return name, code
		}
	}
	return names[0], from
}

// codeOf returns the code of a language with a Chinese name, or the name itself if it is unknown.
func codeOf(name string) string {
	if code, ok := language.FromChinese(name); ok {
		return code
	}
	return name
}

// nameOf returns the extension's name for a language of the model, or "" if it has none.
func nameOf(code string) string {
	name, _ := language.InChinese(code)
	return name
}
