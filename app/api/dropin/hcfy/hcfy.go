// Package hcfy serves the browser extension 划词翻译 (hcfy) as a custom source, as its page on them
// says (https://hcfy.ai/docs/services/custom-api, read in November 2026).
//
//	POST /hcfy  name, text, destination (a list), source
//
// Languages are called by their names in Chinese. Of the destinations the first counts that is not the
// language of the text. Each line of the text is a paragraph, which has its own translation. The name,
// which is what the user calls the service, is of no account.
//
// The extension can send a key in its address only: /hcfy?token=KEY.
package hcfy

import (
	"dragoman/app/api/dialect"
	"dragoman/app/text/language"
	"dragoman/app/translate"
)

// New makes the API.
func New(server *dialect.Server) dialect.Dialect {
	api := dialect.API{Server: server}
	return dialect.Dialect{Render: dialect.Render, Browsers: true, Routes: []dialect.Route{api.Route("POST", "/hcfy", serve)}}
}

// answer is what the extension reads.
type answer struct {
	Text   string   `json:"text"`
	From   string   `json:"from"`
	To     string   `json:"to"`
	Result []string `json:"result"` // of each paragraph
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

// source reads the text and its language, which is detected for all paragraphs together where the
// request does not say it: the language that has to differ from it hangs on that.
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

// destination reads the language to translate into, and what the request calls it.
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

// codeOf is the code of a language, or the name itself where that is none in Chinese.
func codeOf(name string) string {
	if code, ok := language.FromChinese(name); ok {
		return code
	}
	return name
}

// nameOf is what the extension calls a language of the model: nothing where it is not known.
func nameOf(code string) string {
	name, _ := language.InChinese(code)
	return name
}
