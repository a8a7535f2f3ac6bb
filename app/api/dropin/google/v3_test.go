package google

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/compattest"
	"dragoman/app/glossary"
	"dragoman/app/glossary/glossarystore"
	"dragoman/app/translate"
)

const (
	projectPath  = "/v3/projects/my-project"
	locationPath = projectPath + "/locations/global"
)

// refusedV3 returns version 3's answer to an invalid request.
func refusedV3(code int, status, message string) string {
	return fmt.Sprintf(`{"error":{"code":%d,"message":"%s","status":"%s"}}`, code, message, status)
}

func invalidV3(message string) string { return refusedV3(400, "INVALID_ARGUMENT", message) }

func TestTranslateV3(t *testing.T) {
	const text = locationPath + ":translateText"
	server := compattest.Server(dialect.Config{MaxRecords: 4}, compattest.Translator{Named: map[string]compattest.Models{"ours": {Codes: []string{"en", "fr"}}}}, V3)
	compattest.Check(t, server, []compattest.Exchange{
		// From google-cloud-translate 3.28.0, over REST.
		{Name: "the client in Python", Path: text + "?%24alt=json%3Benum-encoding%3Dint", Headers: []string{"x-goog-api-client", "gl-python/3.11.7 rest/2.33.1"},
			Body:   `{"contents": ["Where is the station?"], "targetLanguageCode": "fr"}`,
			Status: 200, Want: `{"translations":[{"translatedText":"WHERE IS THE STATION?","detectedLanguageCode":"en"}]}`},
		{Name: "the client in Python, with all", Path: text, Body: `{"contents": ["<b>a</b>", "b"], "mimeType": "text/html", "sourceLanguageCode": "en-US", "targetLanguageCode": "zh-CN",
			"model": "projects/my-project/locations/global/models/general/nmt", "labels": {"a": "b"}}`, Status: 200,
			Want: `{"translations":[{"translatedText":"<b>A</b>","model":"projects/my-project/locations/global/models/general/nmt"},{"translatedText":"B","model":"projects/my-project/locations/global/models/general/nmt"}]}`},
		{Name: "a project", Path: projectPath + ":translateText", Body: `{"contents":["a <b"],"mimeType":"text/plain","sourceLanguageCode":"en","targetLanguageCode":"fr"}`, Status: 200, Want: `{"translations":[{"translatedText":"A <B"}]}`},
		{Name: "a colon in the project", Path: "/v3/projects/example.com:my-project/locations/us-central1%3AtranslateText", Body: `{"contents":["a"],"targetLanguageCode":"fr","sourceLanguageCode":"en"}`, Status: 200, Want: `{"translations":[{"translatedText":"A"}]}`},
		{Name: "a model of ours", Path: text, Body: `{"contents":["a"],"targetLanguageCode":"fr","sourceLanguageCode":"en","model":"projects/p/locations/l/models/ours"}`, Status: 200,
			Want: `{"translations":[{"translatedText":"A","model":"projects/p/locations/l/models/ours"}]}`},
		{Name: "no texts", Path: text, Body: `{"contents":[],"targetLanguageCode":"fr","sourceLanguageCode":"en"}`, Status: 200, Want: `{"translations":[]}`},

		{Name: "another model", Path: text, Body: `{"contents":["a"],"targetLanguageCode":"fr","model":"projects/p/locations/l/models/x"}`, Status: 404, Want: refusedV3(404, "NOT_FOUND", `There is no model \"x\": use default.`)},
		{Name: "a model that is a folder", Path: text, Body: `{"contents":["a"],"targetLanguageCode":"fr","sourceLanguageCode":"en","model":"models/"}`, Status: 200, Want: `{"translations":[{"translatedText":"A","model":"models/"}]}`},
		{Name: "no contents", Path: text, Body: `{"targetLanguageCode":"fr"}`, Status: 400, Want: invalidV3("Invalid request: contents is missing")},
		{Name: "contents of another kind", Path: text, Body: `{"contents":[["a"]],"targetLanguageCode":"fr"}`, Status: 400, Want: invalidV3("Invalid request: contents has an item that is not a string")},
		{Name: "no target", Path: text, Body: `{"contents":["a"]}`, Status: 400, Want: invalidV3("The target language is missing.")},
		{Name: "another target", Path: text, Body: `{"contents":["a"],"targetLanguageCode":"tlh"}`, Status: 400, Want: invalidV3(`\"tlh\" is not a target language of this server, see /languages.`)},
		{Name: "another type", Path: text, Body: `{"contents":["a"],"targetLanguageCode":"fr","mimeType":"text/xml"}`, Status: 400, Want: invalidV3(`Invalid request: mimeType is \"text/xml\", use text/html or text/plain`)},
		{Name: "transliteration", Path: text, Body: `{"contents":["a"],"targetLanguageCode":"fr","transliterationConfig":{"enableTransliteration":true}}`, Status: 400,
			Want: invalidV3("Invalid request: this server has no transliteration, leave transliterationConfig out")},
		{Name: "a glossary where there are none", Path: text, Body: `{"contents":["a"],"targetLanguageCode":"fr","sourceLanguageCode":"en","glossaryConfig":{"glossary":"projects/p/locations/l/glossaries/x"}}`, Status: 400,
			Want: invalidV3("This service keeps no glossaries: GLOSSARY_FILE is off.")},
		{Name: "a glossary of another kind", Path: text, Body: `{"contents":["a"],"targetLanguageCode":"fr","glossaryConfig":"x"}`, Status: 400, Want: invalidV3("Invalid request: glossaryConfig is a string, expected an object")},
		{Name: "busy", Path: text, Body: `{"contents":["busy"],"targetLanguageCode":"fr"}`, Status: 503, Want: refusedV3(503, "UNAVAILABLE", "Too many requests are waiting: try again in 3 s.")},
		{Name: "a fault", Path: text, Body: `{"contents":["fail"],"targetLanguageCode":"fr"}`, Status: 500, Want: refusedV3(500, "INTERNAL", "Internal error, request id id-77")},
		{Name: "too slow", Path: text, Body: `{"contents":["wait"],"targetLanguageCode":"fr"}`, Status: 504, Want: refusedV3(504, "DEADLINE_EXCEEDED", "The translation took longer than the client's deadline, or than 1m0s: send fewer or shorter texts.")},

		{Name: "detect", Path: locationPath + ":detectLanguage", Body: `{"content": "<i>Bonjour</i>", "mimeType": "text/html"}`, Status: 200, Want: `{"languages":[{"languageCode":"fr","confidence":0.9}]}`},
		{Name: "detect, with Google's model", Path: projectPath + ":detectLanguage", Body: `{"content":"Hello","model":"projects/p/locations/l/models/language-detection/default"}`, Status: 200, Want: `{"languages":[{"languageCode":"en","confidence":0.8765}]}`},
		{Name: "detect digits", Path: projectPath + ":detectLanguage", Body: `{"content":"12"}`, Status: 200, Want: `{"languages":[{"languageCode":"und","confidence":0}]}`},
		{Name: "detect several", Path: projectPath + ":detectLanguage", Body: `{"content":["a","b"]}`, Status: 400, Want: invalidV3("Invalid request: content has 2 texts, send one")},
		{Name: "detect nothing", Path: projectPath + ":detectLanguage", Body: `{}`, Status: 400, Want: invalidV3("Invalid request: content is missing")},

		{Name: "another method", Path: locationPath + ":romanizeText", Body: `{}`, Status: 404, Want: refusedV3(404, "NOT_FOUND", "There is no such method here: use :translateText or :detectLanguage.")},
		{Name: "no method", Path: projectPath, Body: `{}`, Status: 404, Want: refusedV3(404, "NOT_FOUND", "There is no such method here: use :translateText or :detectLanguage.")},
		{Name: "glossaries", Method: "GET", ContentType: "-", Path: locationPath + "/glossaries?pageSize=1", Status: 400, Want: invalidV3(elsewhereV3)},
		{Name: "a new glossary", Path: locationPath + "/glossaries", Body: `{"name":"x","languagePair":{},"inputConfig":{"gcsSource":{"inputUri":"gs://bucket/x.csv"}}}`, Status: 400, Want: invalidV3(elsewhereV3)},
		{Name: "a deleted glossary", Method: "DELETE", ContentType: "-", Path: locationPath + "/glossaries/x", Status: 400, Want: invalidV3(elsewhereV3)},
	})
	two := compattest.Server(dialect.Config{}, compattest.Translator{Mute: true, Named: map[string]compattest.Models{
		"en-zh": {Codes: []string{"en", "zh"}, Pairs: map[string][]string{"en": {"en", "zh"}, "zh": {"zh"}}}}}, V3)
	compattest.Check(t, two, []compattest.Exchange{
		{Name: "languages", Method: "GET", Path: projectPath + "/supportedLanguages?model=projects/p/locations/l/models/en-zh", ContentType: "-", Status: 200,
			Want: `{"languages":[{"languageCode":"en","supportSource":true,"supportTarget":false},{"languageCode":"zh-CN","supportSource":false,"supportTarget":true}]}`},
		{Name: "languages and names", Method: "GET", Path: "/models/en-zh" + locationPath + "/supportedLanguages?displayLanguageCode=de", ContentType: "-", Status: 200,
			Want: `{"languages":[{"languageCode":"en","displayName":"English","supportSource":true,"supportTarget":false},{"languageCode":"zh-CN","displayName":"Chinese","supportSource":false,"supportTarget":true}]}`},
		{Name: "no detection", Path: projectPath + ":detectLanguage", Body: `{"content":"a"}`, Status: 400, Want: invalidV3("Language detection is not offered by this server.")},
	})
}

const elsewhereV3 = "Glossaries are at /glossaries of this server: create one there, and name it here as projects/P/locations/L/glossaries/ID"

// A key can use its glossaries.
func TestGlossariesV3(t *testing.T) {
	store, err := glossarystore.OpenFile(filepath.Join(t.TempDir(), "glossaries.db"))
	require.NoError(t, err)
	defer func() { assert.NoError(t, store.Close()) }()
	service := glossary.New(glossary.Config{Store: store, Limits: glossary.Limits{Terms: 10, Bytes: 1000, PerOwner: 5}})
	terms := func(to, target string) glossary.Terms {
		return glossary.Terms{Pair: glossary.Pair{From: "en", To: to}, List: []translate.Term{{Source: "artist", Target: target}}}
	}
	one, err := service.Create(t.Context(), "", "ours", []glossary.Terms{terms("zh", "画家")})
	require.NoError(t, err)
	several, err := service.Create(t.Context(), "", "more", []glossary.Terms{terms("fr", "maître"), terms("de", "Maler")})
	require.NoError(t, err)
	const all = locationPath + "/glossaries"
	name := func(g glossary.Glossary) string { return all[len("/v3/"):] + "/" + g.ID }
	texts := func(source, glossary string) string {
		return fmt.Sprintf(`{"contents":["an artist"],"mimeType":"text/plain",%s"targetLanguageCode":"fr","glossaryConfig":{"glossary":"%s","ignoreCase":true}}`, source, glossary)
	}
	unknown := refusedV3(404, "NOT_FOUND", "There is no such glossary: its id is wrong, it is another key's, or it was deleted.")
	charged := 0
	server := compattest.Server(dialect.Config{Glossaries: service}, compattest.Translator{Asked: func(translate.Request) { charged++ }}, V3)
	compattest.Check(t, server, []compattest.Exchange{
		{Name: "translate", Path: locationPath + ":translateText", Body: texts(`"sourceLanguageCode":"en",`, name(several)), Status: 200,
			Want: fmt.Sprintf(`{"translations":[{"translatedText":"AN ARTIST"}],"glossaryTranslations":[{"translatedText":"AN maître","glossaryConfig":{"glossary":"%s"}}]}`, name(several))},
		{Name: "translate with one of other languages", Path: locationPath + ":translateText", Body: texts(`"sourceLanguageCode":"en",`, name(one)), Status: 400,
			Want: invalidV3(fmt.Sprintf(`Glossary %s has no dictionary from \"en\" to \"fr\", but en to zh.`, one.ID))},
		{Name: "translate with none", Path: locationPath + ":translateText", Body: texts(`"sourceLanguageCode":"en",`, "x"), Status: 404, Want: unknown},
		{Name: "translate without a source", Path: locationPath + ":translateText", Body: texts("", name(several)), Status: 400, Want: invalidV3("A glossary needs the language of the texts: name it in place of auto.")},
	})
	assert.Equal(t, 2, charged, "a text is translated twice where there is a glossary")

	gate, key := compattest.Keys(t)
	keyed := compattest.Server(dialect.Config{Gate: gate, Glossaries: service}, compattest.Translator{}, V3)
	compattest.Check(t, keyed, []compattest.Exchange{
		{Name: "of another key", Path: locationPath + ":translateText", Body: texts(`"sourceLanguageCode":"en",`, name(several)), Headers: []string{"X-Goog-Api-Key", key}, Status: 404, Want: unknown},
		{Name: "no key", Method: "DELETE", ContentType: "-", Path: all + "/" + one.ID, Status: 403, Want: refusedV3(403, "PERMISSION_DENIED", "The request is missing a valid API key.")},
		{Name: "a wrong key", Path: projectPath + ":translateText", Headers: []string{"X-Goog-Api-Key", "x"}, Body: `{}`, Status: 400, Want: invalidV3("API key not valid. Please pass a valid API key.")},
		{Name: "a key", Path: projectPath + ":translateText?key=" + key, Body: `{"contents":["a"],"targetLanguageCode":"fr","sourceLanguageCode":"en"}`, Status: 200, Want: `{"translations":[{"translatedText":"A"}]}`},
	})
}
