// Package openai serves programs that know only OpenAI's API: front ends of language models, tools for subtitles and for
// localization. The service translates and does not chat: it translates the user's last message, and ignores the rest of the
// chat.
//
//	GET  /v1/models, /v1/models/NAME   values of the field model
//	POST /v1/chat/completions          model, messages, stream, stream_options
//	POST /v1/responses                 model, input, instructions, stream, text.format
//	POST /v1/completions               model, prompt, stream, stream_options
//
// The model's name has the languages, "dragoman:en-fr", or only the target, "dragoman:fr"; the part before the colon is
// "dragoman", which means any model, or the name of a model of the service. Otherwise the messages name the languages, in one of
// the forms of prompt.go, which programs send. A request without languages is refused with a hint, and so are contradictory
// messages and messages whose text cannot be told from its instructions. Terms in the instructions are honoured, see terms.go.
// Several texts in one message, numbered, in quotation marks, with separators, or in JSON, are answered with the same numbers,
// marks, separators and names, see segments.go.
//
// A response format of JSON is honoured if a translation can have it, see schema.go.
//
// Differences from OpenAI: sampling settings are ignored, because there is no sampling; usage has the tokens of the texts,
// without instructions; n above 1, tools, functions and images are refused, and so are responses that would be stored.
package openai

import (
	"cmp"
	"net/http"
	"regexp"
	"strings"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/text/language"
)

// anyModel is the name that means any model.
const anyModel = "dragoman"

// New returns the API; models returns the names of the served models.
func New(server *dialect.Server, models func() []string) dialect.Dialect {
	api := dialect.API{Server: server, Name: func(field string) string {
		name, _ := splitName(field)
		return name
	}}
	l := lister{models}
	return dialect.Dialect{Render: render, Browsers: true, Prefixes: []string{"/v1/"}, Routes: []dialect.Route{
		api.Route("POST", "/v1/chat/completions", chat), api.Route("POST", "/v1/completions", complete), api.Route("POST", "/v1/responses", respond),
		api.Route("GET", "/v1/models", l.list).Uncharged(), api.Route("GET", "/v1/models/:id", l.one).Uncharged(),
	}}
}

// familiar matches the models of OpenAI, which some programs list in place of an input field.
var familiar = regexp.MustCompile(`^(?:gpt|chatgpt|o[0-9])[-.0-9a-z]*$`)

// longestName is the maximum length in bytes of a model's name whose languages are read, because each separator in the name is
// tried.
const longestName = 300

// splitName splits the field model into the name of a model, "" for any, and its languages.
func splitName(field string) (name string, languages pair) {
	name = field
	if len(field) > longestName {
		return name, pair{}
	}
	if i := strings.LastIndexByte(field, ':'); i >= 0 {
		if languages = pairOf(field[i+1:]); !languages.none() {
			name = field[:i]
		}
	}
	if name == anyModel || familiar.MatchString(name) {
		name = ""
	}
	return name, languages
}

// pairOf reads "en-fr", "fr" or "zh-Hant": a region or a script is not a second language.
func pairOf(text string) pair {
	known := func(code string) bool {
		_, ok := language.NameOf(language.Base(strings.ToLower(code)))
		return ok || strings.EqualFold(code, "auto")
	}
	for i, r := range text {
		from, to := text[:i], text[min(i+1, len(text)):]
		if (r == '-' || r == '_') && known(from) && known(to) && to != strings.ToUpper(to) {
			return pair{from: []string{from}, to: []string{to}}
		}
	}
	if base, _, _ := strings.Cut(strings.ReplaceAll(text, "_", "-"), "-"); known(base) {
		return pair{to: []string{text}}
	}
	return pair{}
}

func render(_ *gin.Context, f *fault.Failure) (status int, answer any) {
	status = f.Status()
	kind, code := "invalid_request_error", f.Code()
	switch {
	case f.Kind == fault.NoKey, f.Kind == fault.WrongKey:
		code = "invalid_api_key"
	case f.Kind == fault.UnknownModel:
		code = "model_not_found"
	case f.Kind == fault.OverQuota:
		kind, code = "insufficient_quota", "insufficient_quota"
	case status == http.StatusTooManyRequests:
		kind, code = "requests", "rate_limit_exceeded"
	case status >= http.StatusInternalServerError:
		kind = "server_error"
	}
	return status, gin.H{"error": failure{Message: dialect.Message(f), Type: kind, Code: code}}
}

type failure struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    string  `json:"code"`
}

// lister lists the values of the field model.
type lister struct{ models func() []string }

type modelCard struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Owner   string `json:"owned_by"`
}

func card(id string) modelCard { return modelCard{ID: id, Object: "model", Owner: anyModel} }

// names returns the name for any model, its names with each target language, and the models.
func (l lister) names(call *dialect.Call) []string {
	names := []string{anyModel}
	for _, code := range dialect.Targets(call.Models) {
		names = append(names, anyModel+":"+code)
	}
	return append(names, l.models()...)
}

// list serves /v1/models.
func (l lister) list(call *dialect.Call) (any, error) {
	return struct {
		Object string      `json:"object"`
		Data   []modelCard `json:"data"`
	}{"list", dialect.Each(l.names(call), card)}, nil
}

// one serves /v1/models/NAME.
func (l lister) one(call *dialect.Call) (any, error) {
	id := call.Context.Param("id")
	name, _ := splitName(id)
	if _, err := call.Server.Select(cmp.Or(name, call.Model)); err != nil {
		return nil, err
	}
	return card(id), nil
}
