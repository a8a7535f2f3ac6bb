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
	"dragoman/app/compat"
	"dragoman/app/dialect"
	"dragoman/app/failure"
	"dragoman/app/language"
	"dragoman/app/translate"
)

// New makes the API.
func New(server *dialect.Server) dialect.Dialect {
	api := compat.API{Server: server}
	return dialect.Dialect{Render: compat.Render, Browsers: true, Routes: []dialect.Route{api.Route("POST", "/hcfy", serve)}}
}

// answer is what the extension reads.
type answer struct {
	Text   string   `json:"text"`
	From   string   `json:"from"`
	To     string   `json:"to"`
	Result []string `json:"result"` // of each paragraph
}

// serve serves /hcfy.
func serve(call compat.Call) (any, error) {
	text, from, err := source(call)
	if err != nil {
		return nil, err
	}
	name, to, err := destination(call, from)
	if err != nil {
		return nil, err
	}
	paragraphs, err := compat.Lines(text)
	if err != nil {
		return nil, err
	}
	results, err := call.Translate(compat.Job{From: from, To: to, Texts: paragraphs})
	if err != nil {
		return nil, err
	}
	out := answer{Text: text, From: nameOf(from), To: name, Result: make([]string, len(results))}
	for i, r := range results {
		out.Result[i] = r.Text
	}
	return out, nil
}

// source reads the text and its language, which is detected for all paragraphs together where the
// request does not say it: the language that has to differ from it hangs on that.
func source(call compat.Call) (text, from string, err error) {
	if !call.Fields.Has("text") {
		return "", "", compat.RefuseAs(failure.MissingField, "Invalid request: text is missing")
	}
	if text, err = call.Fields.Text("text"); err != nil {
		return "", "", err
	}
	name, err := call.Fields.Text("source")
	if err != nil {
		return "", "", err
	}
	if from, err = call.Source(codeOf(name)); err != nil || from != translate.Auto {
		return text, from, err
	}
	if detector := call.Models.Detector(); detector != nil {
		if code, _, ok := detector.Detect(text); ok {
			if _, offered := call.Languages.Source(code); offered {
				return text, code, nil
			}
		}
	}
	return text, translate.Auto, nil
}

// destination reads the language to translate into, and what the request calls it.
func destination(call compat.Call, from string) (name, code string, err error) {
	names, err := call.Fields.Needed("destination")
	if err != nil {
		return "", "", err
	}
	if len(names) == 0 {
		return "", "", compat.Refuse("Invalid request: destination names no language")
	}
	for _, name := range names {
		code, err := call.Target(codeOf(name))
		if err != nil {
			return "", "", err
		}
		if code != from {
			return name, code, nil
		}
	}
	return names[0], from, nil
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
