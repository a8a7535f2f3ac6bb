// Package deeplx serves the clients of DeepLX, a third-party front end of DeepL. Requests and answers are those of
// github.com/OwO-Network/DeepLX, service/service.go at 5e04163.
//
//	POST /deeplx, /translate  text, source_lang, target_lang, tag_handling
//
// The path /translate is also LibreTranslate's: a request with text and without q is for DeepLX. The key is in "Authorization:
// Bearer KEY" or in the query, as token.
//
// Differences from the original: there are no alternatives; id is always 1; language codes may be written in all common ways.
// /v2/translate is served by package deepl, and /v1/translate, which needs a session of DeepL, is not supported.
package deeplx

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/translate"
)

// Path is the path used only by DeepLX.
const Path = "/deeplx"

// New returns the API.
func New(server *dialect.Server) dialect.Dialect {
	api := dialect.API{Server: server}
	own, shared := api.Route("POST", Path, serve), api.Route("POST", "/translate", serve)
	shared.Takes = func(c *gin.Context) bool {
		fields, err := api.Fields(c)
		return err == nil && fields.Has("text") && !fields.Has("q")
	}
	return dialect.Dialect{Render: render, Browsers: true, Routes: []dialect.Route{own, shared}}
}

// render renders a failure in DeepLX's format, which repeats the status in the body.
func render(_ *gin.Context, f *fault.Failure) (status int, answer any) {
	message := dialect.Message(f)
	if f.Kind == fault.NoKey || f.Kind == fault.WrongKey {
		message = "Invalid access token"
	}
	return f.Status(), gin.H{"code": f.Status(), "message": message}
}

type answer struct {
	Code         int      `json:"code"`
	ID           int64    `json:"id"` // an id of DeepL's own protocol, which clients do not show
	Data         string   `json:"data"`
	Alternatives []string `json:"alternatives"`
	Source       string   `json:"source_lang"`
	Target       string   `json:"target_lang"` // as in the request
	Method       string   `json:"method"`
}

func serve(call *dialect.Call) (any, error) {
	text := call.Text("text")
	format := dialect.Choose(call.Fields, "tag_handling", map[string]translate.Format{"": "", "html": translate.HTML, "xml": translate.XML}, func(string) error {
		return dialect.Refuse("Invalid tag_handling value. Allowed values are 'html' and 'xml'.")
	})
	if text == "" {
		call.Fail(dialect.RefuseAs(fault.NotFound, "No text to translate"))
	}
	from, to := call.Pair("source_lang", "target_lang")
	results, err := call.Translate(dialect.Request{From: from, To: to, Texts: []string{text}, Format: format})
	if err != nil {
		return nil, err
	}
	return answer{
		Code: http.StatusOK, ID: 1, Data: results[0].Text, Alternatives: []string{},
		Source: code(dialect.SourceOf(results[0])), Target: call.Text("target_lang"), Method: "Free",
	}, nil
}

// code returns DeepL's code for a language of the model.
func code(model string) string {
	return strings.ToUpper(dialect.Spelling{"no": "nb"}.Of(model))
}
