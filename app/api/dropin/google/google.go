// Package google serves the clients of Google's translation: Cloud Translation, Basic (v2), as
// https://cloud.google.com/translate/docs/reference/rest/v2/translate describes it and
// google-cloud-translate 3.28 calls it, the API of Google's web page, and with [V3] Advanced (v3).
//
//	POST, GET /language/translate/v2            q (repeated, or a list), target, source, format (html where it is missing), model
//	POST, GET /language/translate/v2/detect     q
//	GET, POST /language/translate/v2/languages  target
//	GET, POST /translate_a/single               q, sl, tl, dt, dj
//
// Requests are JSON, forms or queries. Keys are in the field key, or in a header: X-Goog-Api-Key, or
// Authorization: Bearer KEY.
//
// The names that Google has for its models, nmt and base, mean any model; others are those of this
// service. Customization (cid) is refused, which a translation would not show. Names of languages are
// English, whatever target says.
package google

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
)

const v2 = "/language/translate/v2"

// New makes the APIs. All below /language is their own.
func New(server *dialect.Server) dialect.Dialect {
	api := dialect.API{Server: server, Name: ownModel}
	return dialect.Dialect{Render: render, Browsers: true, Prefixes: []string{"/language/", "/translate_a/"}, Routes: []dialect.Route{
		api.Route("POST GET", v2, serve),
		api.Route("POST GET", v2+"/detect", detect),
		api.Route("GET POST", v2+"/languages", languages).Uncharged(),
		api.Route("GET POST", "/translate_a/single", serveWeb),
	}}
}

// ownModel is our name of a model.
func ownModel(model string) string {
	if model == "nmt" || model == "base" {
		return "" // Google's own
	}
	return model
}

// status is how Google's APIs name an HTTP status.
type status struct {
	name   string // as google.rpc.Code has it
	reason string // as APIs of before had it
}

// statuses are those that have names of their own; see nameOf for the others.
var statuses = map[int]status{
	http.StatusUnauthorized:        {"UNAUTHENTICATED", "required"},
	http.StatusForbidden:           {"PERMISSION_DENIED", "forbidden"},
	http.StatusNotFound:            {"NOT_FOUND", "notFound"},
	http.StatusTooManyRequests:     {"RESOURCE_EXHAUSTED", "rateLimitExceeded"},
	http.StatusServiceUnavailable:  {"UNAVAILABLE", "backendError"},
	http.StatusGatewayTimeout:      {"DEADLINE_EXCEEDED", "backendError"},
	http.StatusInsufficientStorage: {"RESOURCE_EXHAUSTED", "backendError"},
}

// nameOf names an HTTP status of a failure.
func nameOf(code int) status {
	if s, ok := statuses[code]; ok {
		return s
	}
	if code < http.StatusInternalServerError {
		return status{"INVALID_ARGUMENT", "invalid"}
	}
	return status{"INTERNAL", "backendError"}
}

// errorBody is the answer to a request that failed.
type errorBody struct {
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Code    int          `json:"code"`
	Message string       `json:"message"`
	Errors  []errorCause `json:"errors,omitempty"`
	Status  string       `json:"status"`
}

type errorCause struct {
	Message string `json:"message"`
	Domain  string `json:"domain"`
	Reason  string `json:"reason"`
}

func render(_ *gin.Context, f *fault.Failure) (code int, answer any) {
	code, detail := explain(f)
	return code, errorBody{detail}
}

// explain tells of a failure in Google's words where it has some.
func explain(f *fault.Failure) (code int, detail errorDetail) {
	code, message := f.Status(), dialect.Message(f)
	switch f.Kind {
	case fault.NoKey:
		code, message = http.StatusForbidden, "The request is missing a valid API key."
	case fault.WrongKey:
		code, message = http.StatusBadRequest, "API key not valid. Please pass a valid API key."
	}
	named := nameOf(code)
	return code, errorDetail{code, message, []errorCause{{message, "global", named.reason}}, named.name}
}
