package httpapi

import (
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
)

// errorBody is the answer to a failed request.
type errorBody struct {
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Code    string `json:"code"`
	Field   string `json:"field,omitempty"` // the field of the body at fault
	Message string `json:"message"`
}

// render renders a failure in the format of the service's own API.
func render(c *gin.Context, f *fault.Failure) (status int, answer any) {
	return f.Status(), errorBody{detailOf(c, f)}
}

// detailOf returns a failure's detail, with the address of the list of languages for an unknown language.
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

// languagesURL returns the address of the list of languages as the client can reach it.
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
