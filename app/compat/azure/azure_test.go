package azure

import (
	"fmt"
	"testing"

	"dragoman/app/compat/compattest"
	"dragoman/app/compat/libretranslate"
	"dragoman/app/dialect"
)

const path = "/translate?api-version=3.0"

func refused(code int, message string) string {
	return fmt.Sprintf(`{"error":{"code":%d,"message":"%s"}}`, code, message)
}

func TestTranslate(t *testing.T) {
	server := compattest.Server(dialect.Config{MaxRecords: 4, MaxChars: 20}, compattest.Translator{}, New)
	const hello = `[{"detectedLanguage":{"language":"en","score":0.8765},"translations":[{"text":"HELLO","to":"fr"}]}]`
	compattest.Check(t, server, []compattest.Exchange{
		// As Microsoft's reference has it.
		{Name: "the reference", Path: path + "&from=en&to=zh-Hans&to=de", ContentType: "application/json; charset=UTF-8", Body: `[{"Text":"Hello"},{"Text":"Bye"}]`, Status: 200,
			Want: `[{"translations":[{"text":"HELLO","to":"zh-Hans"},{"text":"HELLO","to":"de"}]},{"translations":[{"text":"BYE","to":"zh-Hans"},{"text":"BYE","to":"de"}]}]`},
		// As azure-ai-translation-text 1.0.1 sends it.
		{Name: "the client in Python", Path: path + "&to=fr", Headers: []string{"Ocp-Apim-Subscription-Key", "x", "Ocp-Apim-Subscription-Region", "westeurope"}, Body: `[{"text": "Hello"}]`, Status: 200, Want: hello},
		// Translate for Zotero at ac91aca (services/microsoft.ts).
		{Name: "Zotero", Path: path + "&to=fr", Headers: []string{"Ocp-Apim-Subscription-Key", "x"}, Body: `[{"Text":"Hello"}]`, Status: 200, Want: hello},
		// KISS Translator 2.0.31 (genAzureAI) has the version in its address, and detects with an empty source.
		{Name: "KISS Translator", Path: path + "&from=&to=fr", Headers: []string{"Ocp-Apim-Subscription-Key", "x", "Ocp-Apim-Subscription-Region", ""}, Body: `[{"Text":"Hello"}]`, Status: 200, Want: hello},
		{Name: "languages in other words", Path: path + "&from=nb&to=EN-us&to=%20fr-FR%20", Body: `[{"Text":"x"}]`, Status: 200, Want: `[{"translations":[{"text":"X","to":"EN-us"},{"text":"X","to":"fr-FR"}]}]`},
		{Name: "a target twice", Path: path + "&from=nb&to=fr&to=en&to=fr-FR", Body: `[{"Text":"x"}]`, Status: 400, Want: refused(400036, "The target language is not valid: send each language once.")},
		{Name: "not JSON", Path: path + "&to=fr", Body: `[{"Text":"x"`, Status: 400, Want: refused(400074, "Invalid JSON format: at byte 12: unexpected EOF")},
		{Name: "HTML", Path: path + "&to=fr&textType=html", Body: `[{"Text":"<b>Bonjour</b>"}]`, Status: 200,
			Want: `[{"detectedLanguage":{"language":"fr","score":0.9},"translations":[{"text":"<b>BONJOUR</b>","to":"fr"}]}]`},
		{Name: "options that change nothing", Path: path + "&from=en&to=fr&textType=Plain&profanityAction=NoAction&includeAlignment=false&allowFallback=true&category=general&suggestedFrom=de", Body: `[{"Text":"a"}]`, Status: 200,
			Want: `[{"translations":[{"text":"A","to":"fr"}]}]`},
		{Name: "a model", Path: "/models/default" + path + "&from=en&to=fr", Body: `[{"Text":"a"}]`, Status: 200, Want: `[{"translations":[{"text":"A","to":"fr"}]}]`},
		{Name: "no texts", Path: path + "&to=fr", Body: `[]`, Status: 200, Want: `[]`},

		{Name: "another version", Path: "/translate?api-version=2025-10-01-preview&to=fr", Body: `[{"Text":"a"}]`, Status: 400, Want: refused(400021, "The API version parameter is missing or invalid: this server has 3.0.")},
		{Name: "no target", Path: path, Body: `[{"Text":"a"}]`, Status: 400, Want: refused(400036, "The target language is not valid: send to=LANGUAGE in the query.")},
		{Name: "an empty target", Path: path + "&to=", Body: `[{"Text":"a"}]`, Status: 400, Want: refused(400036, "The target language is missing.")},
		{Name: "another target", Path: path + "&to=fr&to=tlh", Body: `[{"Text":"a"}]`, Status: 400, Want: refused(400036, `\"tlh\" is not a target language of this server, see /languages.`)},
		{Name: "another source", Path: path + "&to=fr&from=tlh", Body: `[{"Text":"a"}]`, Status: 400, Want: refused(400035, `\"tlh\" is not a source language of this server, see /languages.`)},
		{Name: "another type", Path: path + "&to=fr&textType=md", Body: `[{"Text":"a"}]`, Status: 400, Want: refused(400071, "The value isn't valid for textType: use plain or html.")},
		{Name: "profanities", Path: path + "&to=fr&profanityAction=Marked", Body: `[{"Text":"a"}]`, Status: 400, Want: refused(400000, "The value of profanityAction is not offered by this server: leave it out.")},
		{Name: "alignment", Path: path + "&to=fr&includeAlignment=true", Body: `[{"Text":"a"}]`, Status: 400, Want: refused(400000, "The value of includeAlignment is not offered by this server: leave it out.")},
		{Name: "a script", Path: path + "&to=ja&toScript=Latn", Body: `[{"Text":"a"}]`, Status: 400, Want: refused(400000, "The value of toScript is not offered by this server: leave it out.")},
		{Name: "no Text", Path: path + "&to=fr", Body: `[{"Text":"a"},{"q":"b"}]`, Status: 400, Want: refused(400000, "One of the elements in the array of input text isn't valid: [1] has no Text.")},
		{Name: "a Text that is none", Path: path + "&to=fr", Body: `[{"Text":1}]`, Status: 400, Want: refused(400000, "Invalid request: Text is a number, expected a string")},
		{Name: "an object", Path: path + "&to=fr", Body: `{"Text":"a"}`, Status: 400, Want: refused(400074, `The body of the request is not a list: send [{\"Text\": \"...\"}].`)},
		{Name: "no body", Path: path + "&to=fr", Status: 400, Want: refused(400074, `The body of the request is not a list: send [{\"Text\": \"...\"}].`)},
		{Name: "too long", Path: path + "&to=fr", Body: `[{"Text":"long"}]`, Status: 400, Want: refused(400050, "Too long.")},
		{Name: "too many", Path: path + "&to=fr", Body: `[{"Text":"many"}]`, Status: 400, Want: refused(400072, "Too many.")},
		{Name: "busy", Path: path + "&to=fr", Body: `[{"Text":"busy"}]`, Status: 503, Want: refused(503000, "Too many requests are waiting: try again in 3 s.")},
		{Name: "a fault", Path: path + "&to=fr", Body: `[{"Text":"fail"}]`, Status: 500, Want: refused(500000, "Internal error, request id id-77")},

		{Name: "detect", Path: "/detect?api-version=3.0", Body: `[{"Text":"Hello"},{"text":"Bonjour"},{"Text":"12"}]`, Status: 200,
			Want: `[{"language":"en","score":0.8765,"isTranslationSupported":true,"isTransliterationSupported":false},` +
				`{"language":"fr","score":0.9,"isTranslationSupported":true,"isTransliterationSupported":false},` +
				`{"language":"en","score":0,"isTranslationSupported":false,"isTransliterationSupported":false}]`},
		{Name: "detect too much", Path: "/detect?api-version=3.0", Body: `[{"Text":"a"},{"Text":"b"},{"Text":"c"},{"Text":"d"},{"Text":"e"}]`, Status: 400,
			Want: refused(400072, "There are 5 texts, at most 4 are allowed: send several requests.")},
		{Name: "detect what is too long", Path: "/detect?api-version=3.0", Body: `[{"Text":"aaaaaaaaaaaaaaaaaaaaa"}]`, Status: 400, Want: refused(400050, "A text has 21 characters, at most 20 are allowed.")},
	})
}

func TestLanguages(t *testing.T) {
	server := compattest.Server(dialect.Config{}, compattest.Translator{Codes: []string{"ar", "zh"}, Mute: true}, New)
	const translation = `"translation":{"ar":{"name":"Arabic","nativeName":"العربية","dir":"rtl"},"zh-Hans":{"name":"Chinese","nativeName":"中文","dir":"ltr"}}`
	compattest.Check(t, server, []compattest.Exchange{
		{Name: "all", Method: "GET", ContentType: "-", Path: "/languages?api-version=3.0", Status: 200, Want: `{` + translation + `,"transliteration":{},"dictionary":{}}`},
		{Name: "of translation", Method: "GET", ContentType: "-", Path: "/languages?api-version=3.0&scope=translation", Status: 200, Want: `{` + translation + `}`},
		{Name: "of others", Method: "GET", ContentType: "-", Path: "/languages?api-version=3.0&scope=transliteration,dictionary", Status: 200, Want: `{"transliteration":{},"dictionary":{}}`},
		{Name: "another model", Method: "GET", ContentType: "-", Path: "/languages?api-version=3.0&model=x", Status: 404, Want: refused(404000, `There is no model \"x\": use default.`)},
		{Name: "no detection", Path: "/detect?api-version=3.0", Body: `[]`, Status: 400, Want: refused(400000, "Language detection is not offered by this server.")},
	})
}

// LibreTranslate has the same paths.
func TestSharedPaths(t *testing.T) {
	both := func(server *dialect.Server) dialect.Dialect {
		return dialect.Share(New(server), libretranslate.New(server))[1]
	}
	compattest.Check(t, compattest.Server(dialect.Config{}, compattest.Translator{Codes: []string{"en", "fr"}}, both), []compattest.Exchange{
		{Name: "Azure", Path: path + "&from=en&to=fr", Body: `[{"Text":"a"}]`, Status: 200, Want: `[{"translations":[{"text":"A","to":"fr"}]}]`},
		{Name: "LibreTranslate", Path: "/translate", Body: `{"q":"a","source":"en","target":"fr"}`, Status: 200, Want: `{"translatedText":"A"}`},
		{Name: "a list without a version", Path: "/translate?to=fr", Body: `[{"Text":"a"}]`, Status: 400, Want: `{"error":"Invalid JSON format: the body is an array, expected an object"}`},
		{Name: "Azure's detection", Path: "/detect?api-version=3.0", Body: `[]`, Status: 200, Want: `[]`},
		{Name: "LibreTranslate's detection", Path: "/detect", Body: `{"q":"Hello"}`, Status: 200, Want: `[{"confidence":87.7,"language":"en"}]`},
		{Name: "Azure's languages", Method: "GET", Path: "/languages?api-version=3.0&scope=dictionary", ContentType: "-", Status: 200, Want: `{"dictionary":{}}`},
		{Name: "LibreTranslate's languages", Method: "GET", Path: "/languages", ContentType: "-", Status: 200,
			Want: `[{"code":"en","name":"English","nativeName":"English","targets":["en","fr"]},{"code":"fr","name":"French","nativeName":"français","targets":["en","fr"]}]`},
	})
}

func TestKeys(t *testing.T) {
	gate, key := compattest.Keys(t)
	server := compattest.Server(dialect.Config{Gate: gate}, compattest.Translator{}, New)
	const body, denied = `[{"Text":"a"}]`, "The request is not authorized because credentials are missing or invalid."
	compattest.Check(t, server, []compattest.Exchange{
		{Name: "Azure's header", Path: path + "&from=en&to=fr", Headers: []string{"Ocp-Apim-Subscription-Key", key}, Body: body, Status: 200, Want: `[{"translations":[{"text":"A","to":"fr"}]}]`},
		{Name: "a token", Path: path + "&from=en&to=fr", Headers: []string{"Authorization", "Bearer " + key}, Body: body, Status: 200, Want: `[{"translations":[{"text":"A","to":"fr"}]}]`},
		{Name: "none", Path: path + "&to=fr", Body: body, Status: 401, Want: refused(401000, denied)},
		{Name: "another", Path: path + "&to=fr", Headers: []string{"Ocp-Apim-Subscription-Key", "x"}, Body: body, Status: 401, Want: refused(401000, denied)},
		{Name: "languages are open", Method: "GET", Path: "/languages?api-version=3.0&scope=dictionary", ContentType: "-", Status: 200, Want: `{"dictionary":{}}`},
	})
}
