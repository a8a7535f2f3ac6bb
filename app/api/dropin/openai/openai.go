// Package openai serves programs that know language models by OpenAI's API only: front ends, tools for
// subtitles and for localization. What answers is a translation model, not one to talk to: it translates
// the last message of the user, and takes nothing else from a chat.
//
//	GET  /v1/models, /v1/models/NAME   what the field model may be
//	POST /v1/chat/completions          model, messages, stream, stream_options
//	POST /v1/completions               model, prompt, stream, stream_options
//
// The model's name says the languages, "dragoman:en-fr", or the target alone, "dragoman:fr"; before the colon is
// "dragoman", which is any model, or a model of the service. Otherwise the messages say them, in one of the
// forms of prompt.go, which programs send. What says neither is refused with what to send, and so are
// messages that contradict themselves. Several texts in one message, numbered, with separators between, or in
// JSON, come back with the same numbers, separators and names, see segments.go.
//
// What differs from OpenAI: settings of sampling are ignored, as there is none; usage has the tokens of the
// texts, not of instructions; n above 1, tools and pictures are refused.
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

// New makes the API; models are the names of those that are served.
func New(server *dialect.Server, models func() []string) dialect.Dialect {
	api := dialect.API{Server: server, Name: func(field string) string {
		name, _ := splitName(field)
		return name
	}}
	l := lister{models}
	return dialect.Dialect{Render: render, Browsers: true, Prefixes: []string{"/v1/"}, Routes: []dialect.Route{
		api.Route("POST", "/v1/chat/completions", chat), api.Route("POST", "/v1/completions", complete),
		api.Route("GET", "/v1/models", l.list).Uncharged(), api.Route("GET", "/v1/models/:id", l.one).Uncharged(),
	}}
}

// others are the models of OpenAI, which some programs have in a list instead of a field.
var others = regexp.MustCompile(`^(?:gpt|chatgpt|o[0-9])[-.0-9a-z]*$`)

// longestName is how many bytes a model's name has at most, with its languages, which are looked for at each sign in it.
const longestName = 300

// splitName takes the field model apart: the name of a model, "" for any, and what it says of the languages.
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
	if name == anyModel || others.MatchString(name) {
		name = ""
	}
	return name, languages
}

// pairOf reads "en-fr", "fr" or "zh-Hant": a region or a script is no second language.
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

// lister lists what the field model may be.
type lister struct{ models func() []string }

type modelCard struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Owner   string `json:"owned_by"`
}

func card(id string) modelCard { return modelCard{ID: id, Object: "model", Owner: anyModel} }

// names are any model, any model into each language, and the models.
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
