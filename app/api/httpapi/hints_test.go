package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/fault"
	"dragoman/app/translate"
)

// An error about an unknown field says what was probably meant.
func TestHints(t *testing.T) {
	a, _ := newAPI()
	h := a.Handler()
	payload := func(field string) string {
		return `{"payload":{"fromLang":"en","toLang":"fr","records":[{"id":"a","text":"a"}],` + field + `:1}}`
	}
	option := func(field string) string { return payload(`"options":{` + field + `:1},"x"`) }
	for _, test := range []struct{ body, want string }{
		{payload(`"numBeams"`), "payload.numBeams is not a field that is known here: did you mean payload.options.beams?"},
		{payload(`"num_beams"`), "did you mean payload.options.beams?"},
		{payload(`"maxLength"`), "did you mean payload.options.maxLength?"},
		{option(`"max_length"`), "did you mean payload.options.maxLength?"},
		{option(`"lenghtPenalty"`), "did you mean payload.options.lengthPenalty?"},
		{option(`"detail"`), "did you mean payload.detail?"},
		{payload(`"formLang"`), "did you mean payload.fromLang?"},
		{payload(`"tolang"`), "did you mean payload.toLang?"},
		{payload(`"from_lang"`), "did you mean payload.fromLang?"},
		{payload(`"glossary_id"`), "did you mean payload.glossaryId?"},
		{`{"payload":{"fromLang":"en","toLang":"fr","records":[{"ID":"a"}]}}`, "did you mean payload.records[0].id?"},
		{`{"payload":{"fromLang":"en","toLang":"fr","record":[]}}`, "did you mean payload.records?"},
		{`{"toLang":"fr"}`, "did you mean payload.toLang?"},
		{`{"Payload":{}}`, "did you mean payload?"},

		{`{"q":"a","source":"en","target":"fr"}`, "requests of LibreTranslate go to POST /translate"},
		{`{"source":"en","q":"a","target":"fr"}`, "requests of LibreTranslate go to POST /translate"},
		{`{"text":["a"],"target_lang":"FR"}`, "requests of DeepL go to POST /v2/translate"},
		{`{"target_lang":"FR","text":["a"]}`, "requests of DeepL go to POST /v2/translate"},
		{`[{"Text":"a"}]`, "requests of Azure Translator go to POST /translate?api-version=3.0"},
		{`{"contents":["a"]}`, "requests of Google Cloud Translation"},
		{`{"messages":[]}`, "requests of OpenAI go to POST /v1/chat/completions"},
	} {
		w := do(h, "POST", "/translation", test.body)
		assert.Equal(t, http.StatusBadRequest, w.Code, test.body)
		assert.Contains(t, w.Body.String(), test.want, test.body)
	}
	for _, body := range []string{payload(`"unrelated"`), `{"payload":{},"x":1}`, payload(`"` + strings.Repeat("beams", 200) + `"`)} {
		w := do(h, "POST", "/translation", body)
		assert.Equal(t, http.StatusBadRequest, w.Code, body)
		assert.NotContains(t, w.Body.String(), "did you mean", body)
		assert.Less(t, w.Body.Len(), 2000)
	}
	w := do(h, "POST", "/translation", "q=a&source=en&target=fr", "Content-Type", "application/x-www-form-urlencoded")
	assert.Equal(t, http.StatusUnsupportedMediaType, w.Code)
	assert.Contains(t, w.Body.String(), "forms of LibreTranslate go to POST /translate, those of DeepL to POST /v2/translate")
}

// A byte order mark before JSON, and 2.0 for a whole number, are as good as none and 2.
func TestUsualVariantsOfJSON(t *testing.T) {
	a, _ := newAPI()
	for field, status := range map[string]int{`"alternatives":2.0`: 200, `"alternatives":2e0`: 200, `"alternatives":2.5`: 400, `"alternatives":"2"`: 400, `"alternatives":1e99`: 400} {
		w := do(a.Handler(), "POST", "/translation", "\ufeff"+`{"payload":{"fromLang":"en","toLang":"fr","records":[{"id":"a","text":"a"}],`+field+`}}`)
		assert.Equal(t, status, w.Code, "%s: %s", field, w.Body)
		if status != 200 {
			assert.Contains(t, w.Body.String(), "expected a whole number", field)
		}
	}
}

// GET / lists every route once, except those of single models.
func TestRoutesAreListed(t *testing.T) {
	a, _ := newAPI()
	w := do(a.Handler(), "GET", "/", "")
	var got struct {
		Routes []string `json:"routes"`
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
	for _, want := range []string{"/translation: POST", "/translate: POST", "/languages: GET", "/v2/translate: GET, POST", "/v1/responses: POST", "/readyz: GET"} {
		assert.Contains(t, got.Routes, want)
	}
	listed := map[string]bool{}
	for _, line := range got.Routes {
		path, _, _ := strings.Cut(line, ": ")
		assert.False(t, listed[path], line)
		listed[path] = true
	}
	for _, route := range a.Routes() {
		assert.Equal(t, !strings.HasPrefix(route.Path, "/models/:"), listed[route.Path], route.Path)
	}
}

// modelless has no model, as a service with an empty repository.
type modelless struct{ upper }

func (modelless) Select(string) (translate.Selection, error) {
	return nil, fault.New(fault.NotReady, "", "there is no model: add one")
}

func TestNotReadyWithoutModels(t *testing.T) {
	a, _ := newAPI()
	assert.True(t, a.IsReady())
	a.Ready(modelless{}, func() []Model { return nil })
	assert.False(t, a.IsReady())
	w := do(a.Handler(), "GET", readyPath, "")
	assert.Equal(t, http.StatusServiceUnavailable, w.Code)
	assert.Contains(t, w.Body.String(), "there is no model: add one")
	assert.Equal(t, http.StatusOK, do(a.Handler(), "GET", healthPath, "").Code, "a restart would not help")
	a.Ready(upper{}, one)
	assert.True(t, a.IsReady())
}
