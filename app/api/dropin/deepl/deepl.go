// Package deepl serves the API of DeepL, version 2, so that its clients work with
// this service as they are.
//
//	POST, GET /v2/translate                text (repeated, or an array), target_lang, source_lang and options
//	GET, POST /v2/languages                type=source or target
//	GET, POST /v2/usage                    characters that the key has used, and may use
//	          /v2/glossaries, /v3/glossaries and what is below them, /v2/glossary-language-pairs
//	POST      /v2/document                 file, target_lang, source_lang; then /v2/document/ID and /v2/document/ID/result
//
// Requests are JSON, forms or queries. Where keys are needed, they are in the
// header "Authorization: DeepL-Auth-Key KEY", or in the field auth_key as before.
//
// Options are taken in three ways:
//   - tag_handling, ignore_tags, splitting_tags, non_splitting_tags, outline_detection,
//     show_billed_characters, split_sentences, source_lang and target_lang do what they do at
//     DeepL. So line breaks end sentences of XML, unless split_sentences is nonewlines, and
//     never those of HTML. A name in both lists of tags splits. XML that is not well-formed is
//     translated as far as it goes; DeepL's second version of tag handling refuses it.
//   - Hints that may change a translation's wording, but not what it says, are
//     checked and then left to the service: preserve_formatting (formatting is always preserved), context,
//     model_type (the field model, which DeepL has not, names a model), tag_handling_version, formality default,
//     prefer_more and prefer_less.
//   - What would be missed in the translation is refused: formality more and less,
//     style rules, custom instructions and translation memories.
//
// EN-GB and EN-US are both the model's English, PT-BR and PT-PT its Portuguese, ES-419
// its Spanish, NB its Norwegian and ZH-HANS its Chinese. ZH-HANT is refused as a
// target: the model does not tell the scripts apart. Rephrasing is not
// offered. A document keeps its format.
//
// Where DeepL has a billing period, this service has limits that fill up all the time. A
// key with a limit on characters per hour or day, which 456 is the answer to once it is
// used up, has that limit and what of it is used at the moment: the difference may be
// sent at once. Other keys have the characters since the service started, and DeepL's
// number for no limit.
package deepl

import (
	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/guard/access"
)

// unlimited is the limit that DeepL itself reports where there is none.
const unlimited = 1_000_000_000_000

// Path is where texts are translated, too, as in MTranServer.
const Path = "/deepl"

// New makes the API. All below /v2 and /v3 is its own.
func New(server *dialect.Server) dialect.Dialect {
	api := dialect.API{Server: server}
	routes := []dialect.Route{
		api.Route("POST GET", "/v2/translate", serveTranslation),
		api.Route("POST GET", Path, serveTranslation),
		api.Route("GET POST", "/v2/languages", languages).Uncharged(),
		api.Route("GET POST", "/v2/usage", func(call *dialect.Call) (any, error) { return usageOf(server.Gate.Usage(call.Context.Request)), nil }).Uncharged(),
		api.Route("POST", "/v2/write/rephrase", refuse(dialect.RefuseAs(fault.NotOffered, "Rephrasing is not offered by this server."))),
	}
	if server.Glossaries != nil {
		routes = append(routes, glossaries{server.Glossaries}.routes(api)...)
	} else {
		routes = append(routes, noGlossaries(api)...)
	}
	return dialect.Dialect{Routes: routes, Prefixes: []string{"/v2/", "/v3/"}, Render: render}
}

// statuses are those in which DeepL differs from the service's own API. Its clients try again by themselves after 429 and 529
// (overloaded), but not after 456 (quota exceeded), and know 503 as the answer for a document that is not translated yet.
var statuses = map[fault.Kind]int{
	fault.MediaType: 400, fault.IdempotencyMismatch: 400, fault.UnknownDocument: 400, fault.BrokenDocument: 400, fault.EditGap: 400, fault.SessionComplete: 400, fault.Unfinished: 400,
	fault.NoKey: 403, fault.WrongKey: 403,
	fault.JobLost:           404,
	fault.TooManyGlossaries: 456, fault.OverQuota: 456,
	fault.NotDone: 503,
	fault.Loading: 529, fault.Busy: 529, fault.NoTime: 529,
}

// render writes a failure as DeepL does, in its words where it has some.
func render(_ *gin.Context, f *fault.Failure) (status int, answer any) {
	message := dialect.Message(f)
	switch f.Kind {
	case fault.NoKey, fault.WrongKey:
		message = "Authorization failed. Please supply a valid DeepL-Auth-Key via the Authorization header."
	case fault.OverQuota:
		message = "Quota for this billing period has been exceeded: " + message
	}
	return f.StatusOr(statuses), gin.H{"message": message}
}

// refuse makes the handler of what this server does not have.
func refuse(why error) func(*dialect.Call) (any, error) {
	return func(*dialect.Call) (any, error) { return nil, why }
}

// usage is the answer of /v2/usage.
type usage struct {
	CharacterCount int64 `json:"character_count"`
	CharacterLimit int64 `json:"character_limit"`
}

// usageOf writes what a caller has used.
func usageOf(u access.Usage) usage {
	if u.Rate.Quota() {
		return usage{u.Used, u.Rate.N}
	}
	return usage{u.Total, unlimited}
}
