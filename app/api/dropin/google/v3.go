package google

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/text/excerpt"
	"dragoman/app/translate"
)

// V3 returns Cloud Translation, Advanced (v3), as described by https://cloud.google.com/translate/docs/reference/rest/v3 and
// called over REST by google-cloud-translate 3.28. It owns all paths below /v3/projects. Projects and locations have no meaning.
//
//	POST /v3/projects/P:translateText, …/locations/L:translateText    contents, targetLanguageCode, sourceLanguageCode, mimeType, model, glossaryConfig
//	POST …:detectLanguage                                             content, mimeType
//	GET  …/supportedLanguages                                         displayLanguageCode, model
//
// Pages of other origins cannot use this API.
func V3(server *dialect.Server) dialect.Dialect {
	api := dialect.API{Server: server, Name: modelOf}
	const project = "/v3/projects/:project"
	const location = project + "/locations/:location"
	return dialect.Dialect{Render: renderV3, Prefixes: []string{"/v3/projects/"}, Routes: []dialect.Route{
		api.Route("POST", project, perform), api.Route("POST", location, perform),
		api.Route("GET", project+"/supportedLanguages", supported), api.Route("GET", location+"/supportedLanguages", supported),
		api.Route("GET POST", location+"/glossaries", elsewhere).Uncharged(), api.Route("GET DELETE", location+"/glossaries/:id", elsewhere),
	}}
}

// modelOf returns the service's name of a model: the last part of Google's name. Google's own models mean any model.
func modelOf(model string) string {
	if strings.Contains(model, "general/") || strings.Contains(model, "language-detection/") {
		return ""
	}
	return ownModel(model[strings.LastIndexByte(model, '/')+1:])
}

// parentOf returns the project or location of a request, and the method after it.
func parentOf(c *gin.Context) (parent, method string) {
	parent = "projects/" + c.Param("project")
	if location, ok := c.Params.Get("location"); ok {
		parent += "/locations/" + location
	}
	if colon := strings.LastIndexByte(parent, ':'); colon >= 0 {
		return parent[:colon], parent[colon+1:]
	}
	return parent, ""
}

// elsewhere serves the glossaries. Google imports its own from its Cloud Storage.
func elsewhere(*dialect.Call) (any, error) {
	return nil, dialect.RefuseAs(fault.NotOffered, "Glossaries are at /glossaries of this server: create one there, and name it here as projects/P/locations/L/glossaries/ID")
}

// perform serves the methods of projects and locations.
func perform(call *dialect.Call) (any, error) {
	switch _, method := parentOf(call.Context); method {
	case "translateText":
		return translateText(call)
	case "detectLanguage":
		return detectLanguage(call)
	}
	return nil, fault.New(fault.NotFound, "", "there is no such method here: use :translateText or :detectLanguage")
}

// textAnswer is the answer of translateText.
type textAnswer struct {
	Translations         []textTranslation `json:"translations"` // in the order of the texts
	GlossaryTranslations []textTranslation `json:"glossaryTranslations,omitempty"`
}

type textTranslation struct {
	Text     string          `json:"translatedText"`
	Model    string          `json:"model,omitempty"`                // if the request names one
	Detected string          `json:"detectedLanguageCode,omitempty"` // if the request names no source
	Glossary *glossaryConfig `json:"glossaryConfig,omitempty"`
}

type glossaryConfig struct {
	Glossary string `json:"glossary"`
}

// translateText translates. With a glossary it translates twice, with and without the terms, and the answer has both
// translations.
func translateText(call *dialect.Call) (any, error) {
	req := dialect.Request{Texts: call.Needed("contents"), Format: formatOf(call.Fields)}
	req.From, req.To = call.Pair("sourceLanguageCode", "targetLanguageCode")
	if call.Given("transliterationConfig") {
		call.Fail(dialect.Refuse("Invalid request: this server has no transliteration, leave transliterationConfig out"))
	}
	requests := []dialect.Request{req}
	named := call.Object("glossaryConfig").Text("glossary")
	if named != "" {
		req.Glossaries = []string{path.Base(named)}
		requests = append(requests, req)
	}
	results, err := call.TranslateAll(requests)
	if err != nil {
		return nil, err
	}
	model := call.Text("model")
	answer := textAnswer{Translations: dialect.Each(results[0], func(r translate.Result) textTranslation {
		out := textTranslation{Text: r.Text, Model: model}
		if req.From == translate.Auto {
			out.Detected = dialect.Regional().SourceOf(r)
		}
		return out
	})}
	if named != "" {
		answer.GlossaryTranslations = dialect.Each(results[1], func(r translate.Result) textTranslation {
			return textTranslation{Text: r.Text, Model: model, Glossary: &glossaryConfig{named}}
		})
	}
	return answer, nil
}

// formatOf reads the field mimeType.
func formatOf(fields dialect.Fields) translate.Format {
	formats := map[string]translate.Format{"": translate.HTML, "text/html": translate.HTML, "text/plain": translate.Text}
	return dialect.Choose(fields, "mimeType", formats, func(text string) error {
		return dialect.Refuse("Invalid request: mimeType is %q, use text/html or text/plain", excerpt.Of(text))
	})
}

// detectedLanguage is the result of detectLanguage.
type detectedLanguage struct {
	Language   string  `json:"languageCode"` // und if unknown
	Confidence float64 `json:"confidence"`
}

// detectLanguage detects the language of a text.
func detectLanguage(call *dialect.Call) (any, error) {
	call.NeedsDetector("Language detection is not offered by this server.")
	contents, format := call.Needed("content"), formatOf(call.Fields)
	if len(contents) != 1 {
		call.Fail(dialect.Refuse("Invalid request: content has %d texts, send one", len(contents)))
	}
	found, err := call.Detect(contents, format)
	return map[string]any{"languages": dialect.Each(found, func(d dialect.Detection) detectedLanguage {
		if d.Code == "" {
			return detectedLanguage{Language: "und"}
		}
		return detectedLanguage{dialect.Regional().Of(d.Code), d.Confidence}
	})}, err
}

// supportedLanguage is an entry of supportedLanguages.
type supportedLanguage struct {
	Language string `json:"languageCode"`
	Name     string `json:"displayName,omitempty"` // in English, if the request names a language for it
	Source   bool   `json:"supportSource"`
	Target   bool   `json:"supportTarget"`
}

// supported serves supportedLanguages.
func supported(call *dialect.Call) (any, error) {
	named, sources, targets := call.Text("displayLanguageCode") != "", dialect.Sources(call.Models), dialect.Targets(call.Models)
	return map[string]any{"languages": dialect.Each(call.Languages, func(code string) supportedLanguage {
		out := supportedLanguage{dialect.Regional().Of(code), "", slices.Contains(sources, code), slices.Contains(targets, code)}
		if named {
			out.Name = dialect.NameOf(code).English
		}
		return out
	})}, nil
}

// renderV3 renders a failure in the format of version 3, which has no list of causes.
func renderV3(c *gin.Context, f *fault.Failure) (code int, answer any) {
	code, detail := explain(f)
	if f.Kind == fault.TooManyGlossaries {
		code, detail.Status = http.StatusTooManyRequests, nameOf(http.StatusTooManyRequests).name
		detail.Code = code
	}
	detail.Errors = nil
	return code, errorBody{detail}
}
