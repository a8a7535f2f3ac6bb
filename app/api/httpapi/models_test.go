package httpapi

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/app/api/dropin/compattest"
	"dragoman/app/fault"
	"dragoman/app/guard/bound"
	"dragoman/app/translate"
)

// several returns a service with the models default, of many languages, and en-ja. It stores each request in asked.
func several(asked func(translate.Request)) *API {
	a, _ := newAPI(func(cfg *Config) { cfg.MaxBodyBytes = 20 * maxBody })
	models := map[string]compattest.Models{
		"en-ja": {Codes: []string{"en", "ja"}, Tells: compattest.Translator{}, Pairs: map[string][]string{"en": {"en", "ja"}, "ja": {"ja"}}},
	}
	a.Ready(compattest.Translator{Named: models, Asked: asked}, func() []Model {
		return []Model{{Name: "default", Version: "2"}, {Name: "default", Version: "1"}, {Name: "en-ja", Version: "1"}}
	})
	return a
}

// Each API has a way to name a model, and each of its routes reads it.
func TestModelOfARequest(t *testing.T) {
	const form, inJSON, get, post = "application/x-www-form-urlencoded", "application/json", "GET", "POST"
	for _, test := range []struct {
		name, method, path, contentType, body string
		want                                  string // the model
	}{
		{"native", post, "/translation", inJSON, `{"payload":{"fromLang":"en","toLang":"ja","model":"en-ja","records":[{"id":"","text":"x"}]}}`, "en-ja"},
		{"native, any", post, "/translation", inJSON, payload(`[{"id":"","text":"x"}]`), ""},
		{"stream", post, "/translation/stream", inJSON, `{"payload":{"fromLang":"en","toLang":"ja","model":"en-ja","records":[{"id":"","text":"x"}]}}`, "en-ja"},

		{"LibreTranslate", post, "/translate", inJSON, `{"q":"x","source":"en","target":"ja","model":"en-ja"}`, "en-ja"},
		{"LibreTranslate, form", post, "/translate", form, `q=x&source=en&target=ja&model=en-ja`, "en-ja"},
		{"LibreTranslate, query", post, "/translate?model=en-ja", inJSON, `{"q":"x","source":"en","target":"ja"}`, "en-ja"},
		{"LibreTranslate, base URL", post, "/models/en-ja/translate", inJSON, `{"q":"x","source":"en","target":"ja"}`, "en-ja"},
		{"LibreTranslate, both", post, "/models/default/translate", inJSON, `{"q":"x","source":"en","target":"ja","model":"en-ja"}`, "en-ja"},
		{"LibreTranslate, null", post, "/translate", inJSON, `{"q":"x","source":"en","target":"ja","model":null}`, ""},
		{"LibreTranslate, empty", post, "/translate", form, `q=x&source=en&target=ja&model=`, ""},

		{"DeepL", post, "/v2/translate", inJSON, `{"text":["x"],"target_lang":"JA","model":"en-ja"}`, "en-ja"},
		{"DeepL, form", post, "/v2/translate", form, `text=x&target_lang=JA&model=en-ja`, "en-ja"},
		{"DeepL, query", get, "/v2/translate?text=x&target_lang=JA&model=en-ja", "", "", "en-ja"},
		{"DeepL, base URL", post, "/models/en-ja/v2/translate", inJSON, `{"text":["x"],"target_lang":"JA"}`, "en-ja"},
		{"DeepL, model_type is none", post, "/v2/translate", inJSON, `{"text":["x"],"target_lang":"JA","model_type":"latency_optimized"}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var asked []string
			a := several(func(r translate.Request) { asked = append(asked, r.Model) })
			w := do(a.Handler(), test.method, test.path, test.body, "Content-Type", test.contentType)
			assert.Equal(t, 200, w.Code, w.Body)
			assert.Equal(t, []string{test.want}, asked)
		})
	}
}

// The lists of languages match the languages of the model.
func TestListsOfAModel(t *testing.T) {
	h := several(nil).Handler()
	const languages = `[{"code":"en","name":"English","nativeName":"English","targets":["en","ja"]},` +
		`{"code":"ja","name":"Japanese","nativeName":"日本語","targets":["ja"]}]`
	for path, want := range map[string]string{
		"/languages?model=en-ja":                languages,
		"/models/en-ja/languages":               languages,
		"/v2/languages?model=en-ja":             `[{"language":"EN","name":"English"}]`,
		"/v2/languages?model=en-ja&type=target": `[{"language":"JA","name":"Japanese","supports_formality":false}]`,
		"/models/en-ja/v2/languages":            `[{"language":"EN","name":"English"}]`,
		"/models/en-ja/health":                  `{"status":"ok"}`,
	} {
		w := do(h, "GET", path, "")
		assert.Equal(t, 200, w.Code, path)
		assert.Equal(t, want+"\n", w.Body.String(), path)
		assert.Equal(t, 200, do(h, "HEAD", path, "").Code, path)
	}
	assert.Contains(t, do(h, "GET", "/models/en-ja/frontend/settings", "").Body.String(), `"target":{"code":"ja","name":"Japanese"}`)
}

func TestIndexOfSeveralModels(t *testing.T) {
	w := do(several(nil).Handler(), "GET", "/", "")
	assert.Contains(t, w.Body.String(), `"model":{"name":"default","version":"2"},"models":[{"name":"default","version":"2"},`+
		`{"name":"default","version":"1"},{"name":"en-ja","version":"1"}]`)

	a, _ := newAPI()
	a.Ready(upper{}, func() []Model { return nil })
	assert.NotContains(t, do(a.Handler(), "GET", "/", "").Body.String(), `"model`)
}

// An unknown model gets a short error in the form of the API.
func TestModelsThatAreNotThere(t *testing.T) {
	h := several(nil).Handler()
	names := []string{"xx", "default:9", "..", ":", "a:b:c", "../../etc/passwd", "\x00\n\x1b[31m", "\xff", strings.Repeat("m", 10_000), "日本語", "%2e%2e"}
	for _, name := range names {
		quoted, want := url.QueryEscape(name), []int{404}
		if len(name) > bound.Name {
			want = []int{400, 404}
		}
		for path, key := range map[string]string{
			"/languages?model=" + quoted:                                       `{"error":`,
			"/frontend/settings?model=" + quoted:                               `{"error":`,
			"/models/" + url.PathEscape(name) + "/languages":                   "",
			"/v2/languages?model=" + quoted:                                    `{"message":`,
			"/v2/translate?text=x&target_lang=JA&model=" + quoted:              `{"message":`,
			"/models/" + url.PathEscape(name) + "/v2/languages":                "",
			"/models/" + url.PathEscape(name) + "/v2/glossary-language-pairs":  "",
			"/models/" + url.PathEscape(name) + "/../" + quoted + "/languages": "",
		} {
			w := do(h, "GET", path, "")
			assert.Contains(t, want, w.Code, "%.50q", path)
			assert.True(t, strings.HasPrefix(w.Body.String(), key), w.Body)
			assert.Less(t, w.Body.Len(), 800, "%.50q", name)
			assert.Equal(t, 1, strings.Count(w.Body.String(), "\n"), w.Body)
		}
		w := do(h, "POST", "/translate", "q=x&source=en&target=ja&model="+quoted, "Content-Type", "application/x-www-form-urlencoded")
		assert.Contains(t, want, w.Code)
		assert.Less(t, w.Body.Len(), 800)
	}
	for _, value := range []string{"1", "true", `["en-ja"]`, `{"name":"en-ja"}`} {
		w := do(h, "POST", "/translate", `{"q":"x","source":"en","target":"ja","model":`+value+`}`)
		assert.Equal(t, 400, w.Code, value)
		assert.Contains(t, w.Body.String(), "Invalid request: model is")
		assert.Equal(t, 400, do(h, "POST", "/v2/translate", `{"text":["x"],"target_lang":"JA","model":`+value+`}`).Code, value)
	}
}

// Only the compatible routes exist below the base URL of a model.
func TestPathsOfModels(t *testing.T) {
	h := several(nil).Handler()
	for _, path := range []string{
		"/models", "/models/", "/models/en-ja", "/models/en-ja/", "/models//languages", "/models/en-ja/metrics", "/models/en-ja/healthz",
		"/models/en-ja/readyz", "/models/en-ja/docs", "/models/en-ja/translation", "/models/en-ja/models/en-ja/languages", "/models/en-ja/nope",
	} {
		assert.Equal(t, http.StatusNotFound, do(h, "GET", path, "").Code, path)
	}
	w := do(h, "GET", "/models/en-ja/translate", "")
	assert.Equal(t, 405, w.Code)
	assert.Equal(t, `{"error":"This path takes POST, OPTIONS."}`+"\n", w.Body.String(), "as LibreTranslate")
	w = do(h, "GET", "/models/en-ja/v2/nope", "")
	assert.True(t, strings.HasPrefix(w.Body.String(), `{"message":`), "as DeepL")
}

// The error for an unknown language names the list of the requested model.
func TestUnknownLanguageOfAModel(t *testing.T) {
	a, _ := newAPI()
	w := do(a.Handler(), "POST", "/translation", `{"payload":{"fromLang":"en","toLang":"xx","model":"default","records":[]}}`)
	assert.Contains(t, w.Body.String(), "see http://service:9527/languages?model=default\"")
	assert.Equal(t, fault.New(fault.UnknownLanguage, "", "").Status(), w.Code)
}
