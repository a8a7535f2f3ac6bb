// Package deepl serves the API of DeepL, version 2, so that its clients work with
// this service as they are.
//
//	POST, GET /v2/translate                text (repeated, or an array), target_lang, source_lang and options
//	GET, POST /v2/languages                type=source or target
//	GET, POST /v2/usage                    characters that the key has used, and may use
//	GET       /v2/glossaries, /v3/glossaries, /v2/glossary-language-pairs: there are none
//
// Requests are JSON, forms or queries. Where keys are needed, they are in the
// header "Authorization: DeepL-Auth-Key KEY", or in the field auth_key as before.
//
// Options are taken in three ways:
//   - tag_handling, ignore_tags, show_billed_characters, split_sentences, source_lang
//     and target_lang do what they do at DeepL. XML is handled as HTML is: its line
//     breaks never end a sentence.
//   - Hints that may change a translation's wording, but not what it says, are
//     checked and then left to the service: outline_detection, splitting_tags,
//     non_splitting_tags, preserve_formatting (formatting is always preserved), context,
//     model_type (there is one model), tag_handling_version, formality default,
//     prefer_more and prefer_less.
//   - What would be missed in the translation is refused: formality more and less,
//     glossaries, style rules, custom instructions and translation memories.
//
// EN-GB and EN-US are both the model's English, PT-BR and PT-PT its Portuguese, ES-419
// its Spanish, NB its Norwegian and ZH-HANS its Chinese. ZH-HANT is refused as a
// target: the model does not tell the scripts apart. Documents and rephrasing are not
// offered.
//
// Where DeepL has a billing period, this service has limits that fill up all the time. A
// key with a limit on characters per hour or day, which 456 is the answer to once it is
// used up, has that limit and what of it is used at the moment: the difference may be
// sent at once. Other keys have the characters since the service started, and DeepL's
// number for no limit.
package deepl

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"dragoman/app/compat"
)

// unlimited is the limit that DeepL itself reports where there is none.
const unlimited = 1_000_000_000_000

// api has the handlers. It is safe for concurrent use.
type api struct{ cfg compat.Config }

// Register adds the routes, all below /v2 and /v3.
func Register(router gin.IRouter, cfg compat.Config) {
	a := api{cfg}
	handle := func(methods, path string, h func(compat.Call) (any, error)) {
		handler := cfg.Route(compat.Dialect{KeyField: "auth_key", Fail: Fail}, h)
		for method := range strings.FieldsSeq(methods) {
			router.Handle(method, path, handler)
			if method == http.MethodGet {
				router.HEAD(path, handler)
			}
		}
	}
	handle("POST GET", "/v2/translate", a.translate)
	handle("GET POST", "/v2/languages", languages)
	handle("GET POST", "/v2/usage", a.usage)

	for _, path := range []string{"/v2/glossaries", "/v3/glossaries"} {
		handle("GET", path, answer(gin.H{"glossaries": []string{}}))
		handle("POST", path, refuse(compat.NotOffered, "Glossaries are not offered by this server."))
		handle("GET PUT PATCH DELETE", path+"/:id", refuse(compat.NotFound, "Glossary not found"))
	}
	handle("GET", "/v2/glossary-language-pairs", answer(gin.H{"supported_languages": []string{}}))
	handle("POST", "/v2/document", refuse(compat.NotOffered, "Document translation is not offered by this server."))
	handle("POST", "/v2/write/rephrase", refuse(compat.NotOffered, "Rephrasing is not offered by this server."))
}

// Fail answers with an error, in DeepL's words where it has some. It is for
// middleware that refuses requests to these routes as well; see [compat.Explain] for
// the errors that it knows.
func Fail(c *gin.Context, err error) {
	f := compat.Explain(c, err)
	message := f.Message
	switch f.Class {
	case compat.NoKey, compat.WrongKey:
		message = "Authorization failed. Please supply a valid DeepL-Auth-Key via the Authorization header."
	case compat.OverQuota:
		message = "Quota for this billing period has been exceeded: " + message
	}
	f.Send(c, f.Class.Statuses().DeepL, gin.H{"message": message})
}

// answer makes a handler that always answers the same.
func answer(body any) func(compat.Call) (any, error) {
	return func(compat.Call) (any, error) { return body, nil }
}

// refuse makes the handler of what this server does not have.
func refuse(class compat.Class, message string) func(compat.Call) (any, error) {
	return func(compat.Call) (any, error) { return nil, &compat.RequestError{Class: class, Message: message} }
}

// usage is the answer of /v2/usage.
type usage struct {
	CharacterCount int64 `json:"character_count"`
	CharacterLimit int64 `json:"character_limit"`
}

// usage serves /v2/usage.
func (a api) usage(call compat.Call) (any, error) {
	if a.cfg.Usage == nil {
		return usage{CharacterLimit: unlimited}, nil
	}
	u := a.cfg.Usage(call.Context)
	if compat.IsQuota(u.Rate) {
		return usage{u.Used, u.Rate.N}, nil
	}
	return usage{u.Total, unlimited}, nil
}
