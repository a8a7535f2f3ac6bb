// Package azure serves the clients of Azure's Translator: of version 3.0, as described by
// https://learn.microsoft.com/azure/ai-services/translator/text-translation/reference/v3/reference and called by
// azure-ai-translation-text 1.0.1, and of the dated versions, as called by azure-ai-translation-text 2.0.0 and
// @azure-rest/ai-translation-text 2.0.0 (2026-06-06).
//
//	POST /translate  3.0: a list of {"Text"}; in the query to (repeated), from, textType (plain or html)
//	                 dated: {"inputs": [{"text", "language", "textType", "targets": [{"language"}]}]}
//	POST /detect     a list of {"Text"}; only 3.0
//	GET  /languages  scope
//	POST /translator/document:translate  document, glossary; in the query targetLanguage, sourceLanguage
//
// The first three paths are also LibreTranslate's: a request with api-version in its query is Azure's. The key is in the header
// Ocp-Apim-Subscription-Key. Texts may have a dynamic dictionary: <mstrans:dictionary
// translation="...">phrase</mstrans:dictionary>.
//
// Options that a translation would not reflect are refused: profanityAction other than NoAction, includeAlignment,
// includeSentenceLength, toScript, allowFallback=false, which only trained categories need, and options for language models:
// tone, gender, examples, deployments. category, suggestedFrom, fromScript, profanityMarker and the region are ignored.
// Transliteration, dictionaries and sentence boundaries are not supported.
package azure

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
)

const versionField = "api-version"

// New returns the API.
func New(server *dialect.Server) dialect.Dialect {
	api := dialect.API{Server: server, Lists: true}
	routes := []dialect.Route{api.Route("POST", "/translate", serve), api.Route("POST", "/detect", detect), api.Open("/languages", languages)}
	for i := range routes {
		routes[i].Takes = func(c *gin.Context) bool { return c.Request.URL.Query().Has(versionField) }
	}
	return dialect.Dialect{Render: render, Browsers: true, Routes: routes}
}

// serve serves /translate.
func serve(call *dialect.Call) (any, error) {
	switch version := call.Context.Query(versionField); {
	case version == oldVersion:
		return translateAll(call, decode(call), func(text, name string) translation { return translation{Text: text, To: name} })
	case dated(version, 2025):
		return serveInputs(call)
	}
	return nil, invalid(versionField, "The API version parameter is missing or invalid: this server has 3.0 and 2026-06-06.")
}

// oldVersion is the version with parameters in the query.
const oldVersion = "3.0"

// dated reports whether a version is a date in or after a year. For texts, the dated versions begin with 2025-05-01-preview; they
// have all parameters in the body.
func dated(version string, year int) bool {
	day, err := time.Parse(time.DateOnly, strings.TrimSuffix(version, "-preview"))
	return err == nil && day.Year() >= year
}

// invalid returns the failure of an invalid parameter.
func invalid(parameter, message string) error {
	f := fault.New(fault.InvalidValue, parameter, "%s", message)
	f.Verbatim = true
	return f
}

// Azure's error codes have six digits, whose first three are the HTTP status. These are the codes that clients may distinguish;
// all others end in 000.
const (
	inputInvalid   = 400000
	versionInvalid = 400021
	fromInvalid    = 400035
	toInvalid      = 400036
	textTooLong    = 400050
	typeInvalid    = 400071
	tooManyTexts   = 400072
	notJSON        = 400074
	tooLarge       = 400077
	quotaUsedUp    = 403001
)

// codeOf returns Azure's code for a failure.
func codeOf(f *fault.Failure) int {
	switch f.Field {
	case versionField:
		return versionInvalid
	case dialect.From:
		return fromInvalid
	case dialect.To:
		return toInvalid
	case typeField:
		return typeInvalid
	}
	switch f.Kind {
	case fault.UnsupportedSource:
		return fromInvalid
	case fault.InvalidJSON:
		return notJSON
	case fault.TextTooLong:
		return textTooLong
	case fault.TooManyRecords:
		return tooManyTexts
	case fault.BodyTooLarge, fault.TooManySentences, fault.TooManyTokens, fault.TooManyCharacters, fault.TooLarge:
		return tooLarge
	case fault.OverQuota:
		return quotaUsedUp
	}
	if f.Status() == http.StatusUnprocessableEntity {
		return inputInvalid
	}
	return f.Status() * 1000
}

// render renders a failure in Azure's format, in Azure's words if there are any.
func render(c *gin.Context, f *fault.Failure) (status int, answer any) {
	code, message := codeOf(f), dialect.Message(f)
	if f.Kind == fault.NoKey || f.Kind == fault.WrongKey {
		message = "The request is not authorized because credentials are missing or invalid."
	}
	if dated(c.Query(versionField), 2025) {
		return code / 1000, gin.H{"error": gin.H{"code": strconv.Itoa(code), "message": message}}
	}
	return code / 1000, gin.H{"error": gin.H{"code": code, "message": message}}
}
