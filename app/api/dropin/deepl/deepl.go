// Package deepl serves the API of DeepL, version 2, so that its clients work with this service unchanged.
//
//	POST, GET /v2/translate                text (repeated, or an array), target_lang, source_lang and options
//	GET, POST /v2/languages                type=source or target
//	GET, POST /v2/usage                    characters used by the key, and its limit
//	          /v2/glossaries, /v3/glossaries and their subpaths, /v2/glossary-language-pairs
//	GET       /v3/style_rules, which is empty; /v3/translation_memories
//	POST      /v2/document                 file, target_lang, source_lang; then /v2/document/ID and /v2/document/ID/result
//
// Requests are JSON, forms or queries. If keys are required, they are in the header "Authorization: DeepL-Auth-Key KEY", or in
// the former field auth_key.
//
// Options are handled in three ways:
//   - tag_handling, ignore_tags, splitting_tags, non_splitting_tags, outline_detection, show_billed_characters, split_sentences,
//     source_lang and target_lang have the same effect as at DeepL. So line breaks end sentences of XML, unless split_sentences
//     is nonewlines, and never end sentences of HTML. A name in both lists of tags splits. XML that is not well-formed is translated
//     as far as possible; DeepL's second version of tag handling refuses it.
//   - Hints that may change a translation's wording, but not its meaning, are checked and then left to the service:
//     preserve_formatting (formatting is always preserved), context, model_type (the field model, which DeepL does not have,
//     names a model), tag_handling_version, formality default, prefer_more and prefer_less.
//   - Options whose effect would be missing from the translation are refused: formality more and less, style rules, custom
//     instructions.
//
// A translation memory, by translation_memory_id, is one of the service's own. The translations of sentences that are similar enough,
// by translation_memory_threshold (75 at least), are used as they are; without a threshold, those of equal sentences.
//
// EN-GB and EN-US are both the model's English, PT-BR and PT-PT its Portuguese, ES-419 its Spanish, NB its Norwegian and ZH-HANS
// its Chinese. ZH-HANT is refused as a target: the model does not distinguish the scripts. Rephrasing is not supported. A
// document keeps its format.
//
// DeepL has a billing period; this service has limits that refill continuously. If a key has a limit of characters per hour or
// day, /v2/usage reports that limit and how much of it is used at present: the difference may be sent at once. Requests over the
// limit are answered with 456. Other keys report the characters since the service started, and DeepL's number for no limit.
package deepl

import (
	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/guard/access"
)

// unlimited is the limit that DeepL reports for accounts without one.
const unlimited = 1_000_000_000_000

// New returns the API. It owns all paths below /v2 and /v3.
func New(server *dialect.Server) dialect.Dialect {
	api := dialect.API{Server: server}
	routes := []dialect.Route{
		api.Route("POST GET", "/v2/translate", serveTranslation),
		api.Route("GET POST", "/v2/languages", languages).Uncharged(),
		api.Route("GET POST", "/v2/usage", func(call *dialect.Call) (any, error) { return usageOf(server.Gate.Usage(call.Context.Request)), nil }).Uncharged(),
		api.Route("POST", "/v2/write/rephrase", refuse(dialect.RefuseAs(fault.NotOffered, "Rephrasing is not offered by this server."))),
	}
	routes = append(routes, api.Route("GET", "/v3/style_rules", func(*dialect.Call) (any, error) { return gin.H{"style_rules": []any{}}, nil }).Uncharged())
	routes = append(routes, api.Route("GET", "/v3/translation_memories", memories{server.Memories}.list).Uncharged())
	if server.Glossaries != nil {
		routes = append(routes, glossaries{server.Glossaries}.routes(api)...)
	} else {
		routes = append(routes, noGlossaries(api)...)
	}
	return dialect.Dialect{Routes: routes, Prefixes: []string{"/v2/", "/v3/"}, Render: render}
}

// statuses differ from the service's own API. DeepL's clients retry after 429 and 529 (overloaded), but not after 456 (quota
// exceeded), and read 503 as a document that is not translated yet.
var statuses = map[fault.Kind]int{
	fault.MediaType: 400, fault.IdempotencyMismatch: 400, fault.UnknownDocument: 400, fault.BrokenDocument: 400, fault.EditGap: 400, fault.SessionComplete: 400, fault.Unfinished: 400,
	fault.NoKey: 403, fault.WrongKey: 403,
	fault.JobLost:           404,
	fault.TooManyGlossaries: 456, fault.TooManyMemories: 456, fault.OverQuota: 456,
	fault.NotDone: 503,
	fault.Loading: 529, fault.Busy: 529, fault.NoTime: 529,
}

// render renders a failure in DeepL's format, in DeepL's words if there are any.
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

// refuse returns the handler of an unsupported route.
func refuse(why error) func(*dialect.Call) (any, error) {
	return func(*dialect.Call) (any, error) { return nil, why }
}

// usage is the answer of /v2/usage.
type usage struct {
	CharacterCount int64 `json:"character_count"`
	CharacterLimit int64 `json:"character_limit"`
}

// usageOf returns a caller's usage.
func usageOf(u access.Usage) usage {
	if u.Rate.Quota() {
		return usage{u.Used, u.Rate.N}
	}
	return usage{u.Total, unlimited}
}
