// Package google serves the clients of Google's translation: Cloud Translation, Basic (v2), as described by
// https://cloud.google.com/translate/docs/reference/rest/v2/translate and called by google-cloud-translate 3.28, the API of
// Google's web page, and with [V3] Advanced (v3).
//
//	POST, GET /language/translate/v2            q (repeated, or a list), target, source, format (default html), model
//	POST, GET /language/translate/v2/detect     q
//	GET, POST /language/translate/v2/languages  target
//	GET, POST /translate_a/single               q, sl, tl, dt, dj
//
// Requests are JSON, forms or queries. The key is in the field key, or in a header: X-Goog-Api-Key, or Authorization: Bearer KEY.
//
// Google's own model names, nmt and base, mean any model; other names are models of this service. Customization (cid) is refused,
// because the translation would not reflect it. Names of languages are English, whatever target says.
package google

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
)

const v2 = "/language/translate/v2"

// New returns the APIs. They own all paths below /language and /translate_a.
func New(server *dialect.Server) dialect.Dialect {
	api := dialect.API{Server: server, Name: ownModel}
	return dialect.Dialect{Render: render, Browsers: true, Prefixes: []string{"/language/", "/translate_a/"}, Routes: []dialect.Route{
		api.Route("POST GET", v2, serve),
		api.Route("POST GET", v2+"/detect", detect),
		api.Route("GET POST", v2+"/languages", languages).Uncharged(),
		api.Route("GET POST", "/translate_a/single", serveWeb),
	}}
}

// ownModel returns the service's name of a model.
func ownModel(model string) string {
	if model == "nmt" || model == "base" {
		return "" // Google's own
	}
	return model
}

// status is the name of an HTTP status in Google's APIs.
type status struct {
	name   string // name in google.rpc.Code
	reason string // reason in the form of earlier APIs
}

// statuses are the statuses with names of their own; see nameOf for the others.
var statuses = map[int]status{
	http.StatusUnauthorized:        {"UNAUTHENTICATED", "required"},
	http.StatusForbidden:           {"PERMISSION_DENIED", "forbidden"},
	http.StatusNotFound:            {"NOT_FOUND", "notFound"},
	http.StatusTooManyRequests:     {"RESOURCE_EXHAUSTED", "rateLimitExceeded"},
	http.StatusServiceUnavailable:  {"UNAVAILABLE", "backendError"},
	http.StatusGatewayTimeout:      {"DEADLINE_EXCEEDED", "backendError"},
	http.StatusInsufficientStorage: {"RESOURCE_EXHAUSTED", "backendError"},
}

// nameOf returns the name of a failure's HTTP status.
func nameOf(code int) status {
	if s, ok := statuses[code]; ok {
		return s
	}
	if code < http.StatusInternalServerError {
		return status{"INVALID_ARGUMENT", "invalid"}
	}
	return status{"INTERNAL", "backendError"}
}

// errorBody is the answer to a failed request.
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

// explain describes a failure, in Google's words if there are any.
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
