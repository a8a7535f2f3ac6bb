package httpapi

import (
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
)

// errorBody is the answer to a request that failed.
type errorBody struct {
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Code    string `json:"code"`
	Field   string `json:"field,omitempty"` // the part of the body that is meant
	Message string `json:"message"`
}

// render writes a failure as the service's own API does.
func render(c *gin.Context, f *fault.Failure) (status int, answer any) {
	return f.Status(), errorBody{detailOf(c, f)}
}

// detailOf is a failure, with the address of the list where a language is not in it.
func detailOf(c *gin.Context, f *fault.Failure) errorDetail {
	message := f.Message
	if f.Kind == fault.UnknownLanguage {
		message += ", see " + languagesURL(c.Request)
		if model := dialect.RequestedModel(c); model != "" {
			message += "?model=" + url.QueryEscape(model)
		}
	}
	return errorDetail{f.Code(), f.Field, message}
}

// languagesURL is the address of the list of languages as the sender can reach it.
func languagesURL(r *http.Request) string {
	if r.Host == "" {
		return languagesPath
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + r.Host + languagesPath
}
