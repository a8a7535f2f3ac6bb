package azure

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/compattest"
	"dragoman/app/api/dropin/libretranslate"
	"dragoman/app/translate"
)

const path = "/translate?api-version=3.0"

func refused(code int, message string) string {
	return fmt.Sprintf(`{"error":{"code":%d,"message":"%s"}}`, code, message)
}

func TestTranslate(t *testing.T) {
	oneTarget := func(req translate.Request) {
		assert.True(t, len(req.Terms) == 0 || len(req.To) == 1, "package translate has terms for one language only")
	}
	server := compattest.Server(dialect.Config{MaxRecords: 4, MaxChars: 20}, compattest.Translator{Asked: oneTarget}, New)
	const hello = `[{"detectedLanguage":{"language":"en","score":0.8765},"translations":[{"text":"HELLO","to":"fr"}]}]`
	compattest.Check(t, server, []compattest.Exchange{
		// From Microsoft's reference.
		{Name: "the reference", Path: path + "&from=en&to=zh-Hans&to=de", ContentType: "application/json; charset=UTF-8", Body: `[{"Text":"Hello"},{"Text":"Bye"}]`, Status: 200,
			Want: `[{"translations":[{"text":"HELLO","to":"zh-Hans"},{"text":"HELLO","to":"de"}]},{"translations":[{"text":"BYE","to":"zh-Hans"},{"text":"BYE","to":"de"}]}]`},
		// From azure-ai-translation-text 1.0.1.
		{Name: "the client in Python", Path: path + "&to=fr", Headers: []string{"Ocp-Apim-Subscription-Key", "x", "Ocp-Apim-Subscription-Region", "westeurope"}, Body: `[{"text": "Hello"}]`, Status: 200, Want: hello},
		// From Translate for Zotero at ac91aca (services/microsoft.ts).
		{Name: "Zotero", Path: path + "&to=fr", Headers: []string{"Ocp-Apim-Subscription-Key", "x"}, Body: `[{"Text":"Hello"}]`, Status: 200, Want: hello},
		// From KISS Translator 2.0.31 (genAzureAI), which has the version in its address and an empty source for detection.
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

		{Name: "another version", Path: "/translate?api-version=2.0&to=fr", Body: `[{"Text":"a"}]`, Status: 400, Want: refused(400021, "The API version parameter is missing or invalid: this server has 3.0 and 2026-06-06.")},
		{Name: "a phrase of a dictionary in two languages", Path: path + "&from=en&to=fr&to=ja", Body: `[{"Text":"a"},{"Text":"a <mstrans:dictionary translation=\"x\">b</mstrans:dictionary>"}]`, Status: 200,
			Want: `[{"translations":[{"text":"A","to":"fr"},{"text":"A","to":"ja"}]},{"translations":[{"text":"A x","to":"fr"},{"text":"A x","to":"ja"}]}]`},
		{Name: "a phrase of a dictionary", Path: path + "&from=en&to=fr", Body: `[{"Text":"The <mstrans:dictionary translation=\"wordomatic &amp; co\">word</mstrans:dictionary> is a word"},{"Text":"word"}]`, Status: 200,
			Want: `[{"translations":[{"text":"THE wordomatic & co IS A wordomatic & co","to":"fr"}]},{"translations":[{"text":"WORD","to":"fr"}]}]`},
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

const datedPath = "/translate?api-version=2026-06-06"

func refusedLater(code int, message string) string {
	return fmt.Sprintf(`{"error":{"code":"%d","message":"%s"}}`, code, message)
}

// Versions that are dates have all inputs in the body.
func TestTranslateInputs(t *testing.T) {
	server := compattest.Server(dialect.Config{MaxRecords: 4, MaxChars: 20}, compattest.Translator{}, New)
	compattest.Check(t, server, []compattest.Exchange{
		// From azure-ai-translation-text 2.0.0.
		{Name: "the client in Python", Path: datedPath, Headers: []string{"Ocp-Apim-Subscription-Key", "x"}, Body: `{"inputs": [{"text": "Hello", "targets": [{"language": "fr"}]}]}`, Status: 200,
			Want: `{"value":[{"detectedLanguage":{"language":"en","score":0.8765},"translations":[{"text":"HELLO","language":"fr"}]}]}`},
		{Name: "each its own", Path: "/translate?api-version=2025-05-01-preview", Status: 200,
			Body: `{"inputs":[{"text":"<b>a</b>","language":"en","textType":"Html","targets":[{"language":"de"}]},{"text":"b","language":"fr","targets":[{"language":"zh-Hans"},{"language":"de","deploymentName":"general","allowFallback":true}]},{"text":"<i>c</i>","language":"en","textType":"html","targets":[{"language":"de"}]}]}`,
			Want: `{"value":[{"translations":[{"text":"<b>A</b>","language":"de"}]},{"translations":[{"text":"B","language":"zh-Hans"},{"text":"B","language":"de"}]},{"translations":[{"text":"<i>C</i>","language":"de"}]}]}`},
		{Name: "a phrase of a dictionary", Path: datedPath, Body: `{"inputs":[{"text":"a <mstrans:dictionary translation='x'>b</mstrans:dictionary>","language":"en","targets":[{"language":"fr"}]}]}`, Status: 200,
			Want: `{"value":[{"translations":[{"text":"A x","language":"fr"}]}]}`},
		{Name: "no inputs", Path: datedPath, Body: `{"inputs":[]}`, Status: 200, Want: `{"value":[]}`},

		{Name: "the old shape", Path: datedPath, Body: `[{"Text":"a"}]`, Status: 400, Want: refusedLater(400074, `The body of the request has no inputs: send {\"inputs\": [{\"text\": \"...\", \"targets\": [{\"language\": \"fr\"}]}]}.`)},
		{Name: "no text", Path: datedPath, Body: `{"inputs":[{"targets":[{"language":"fr"}]}]}`, Status: 400, Want: refusedLater(400000, "One of the elements in the array of input text isn't valid: [0] has no text.")},
		{Name: "no target", Path: datedPath, Body: `{"inputs":[{"text":"a"}]}`, Status: 400, Want: refusedLater(400036, "The target language is not valid: send targets with a language.")},
		{Name: "a target twice", Path: datedPath, Body: `{"inputs":[{"text":"a","targets":[{"language":"fr"},{"language":"fr"}]}]}`, Status: 400, Want: refusedLater(400036, "The target language is not valid: send each language once.")},
		{Name: "another target", Path: datedPath, Body: `{"inputs":[{"text":"a","targets":[{"language":"tlh"}]}]}`, Status: 400, Want: refusedLater(400036, `\"tlh\" is not a target language of this server, see /languages.`)},
		{Name: "a tone", Path: datedPath, Body: `{"inputs":[{"text":"a","targets":[{"language":"fr","tone":"formal"}]}]}`, Status: 400, Want: refusedLater(400000, "The value of tone is not offered by this server: leave it out.")},
		{Name: "a model of language", Path: datedPath, Body: `{"inputs":[{"text":"a","targets":[{"language":"fr","deploymentName":"gpt"}]}]}`, Status: 400, Want: refusedLater(400000, "The value of deploymentName is not offered by this server: leave it out.")},
		{Name: "examples", Path: datedPath, Body: `{"inputs":[{"text":"a","targets":[{"language":"fr","referenceTextPairs":[{"source":"a","target":"b"}]}]}]}`, Status: 400, Want: refusedLater(400000, "The value of referenceTextPairs is not offered by this server: leave it out.")},
		{Name: "no fallback", Path: datedPath, Body: `{"inputs":[{"text":"a","targets":[{"language":"fr","allowFallback":false}]}]}`, Status: 400, Want: refusedLater(400000, "The value of allowFallback is not offered by this server: leave it out.")},
		{Name: "too many together", Path: datedPath, Status: 400, Want: refusedLater(400072, "There are 5 texts, at most 4 are allowed: send several requests."),
			Body: `{"inputs":[{"text":"a","targets":[{"language":"fr"},{"language":"de"},{"language":"ja"}]},{"text":"b","targets":[{"language":"de"},{"language":"ja"}]}]}`},
		{Name: "detection", Path: "/detect?api-version=2026-06-06", Body: `[{"Text":"a"}]`, Status: 400, Want: refusedLater(400021, "The API version parameter is missing or invalid: this server detects with 3.0.")},
		{Name: "languages", Method: "GET", ContentType: "-", Path: "/languages?api-version=2026-06-06&scope=dictionary", Status: 200, Want: `{"models":["general"]}`},
	})
}

func TestDictionary(t *testing.T) {
	for _, test := range []struct {
		text, want string
		format     translate.Format
		terms      []translate.Term
	}{
		{"none", "none", translate.Text, nil},
		{`<mstrans:dictionary translation="B">a</mstrans:dictionary>, a and <MSTRANS:dictionary  translation = 'C "d"' >b c</MSTRANS:dictionary >`, "a, a and b c", translate.Text,
			[]translate.Term{{Source: "a", Target: "B"}, {Source: "b c", Target: `C "d"`}}},
		{`<mstrans:dictionary translation="B">a</mstrans:dictionary><mstrans:dictionary translation="C">a</mstrans:dictionary>`, "aa", translate.Text, []translate.Term{{Source: "a", Target: "B"}}},
		{`<p>R&amp;D: <mstrans:dictionary translation="R&amp;F">R&amp;D</mstrans:dictionary></p>`, "<p>R&amp;D: R&amp;D</p>", translate.HTML, []translate.Term{{Source: "R&D", Target: "R&F"}}},
		{`<mstrans:dictionary translation="">Acme</mstrans:dictionary>`, "Acme", translate.Text, []translate.Term{{Source: "Acme", Target: "Acme"}}},
		{`<mstrans:dictionary translation="x"> </mstrans:dictionary>`, " ", translate.Text, nil},
		{`<mstrans:dictionary>a</mstrans:dictionary>`, `<mstrans:dictionary>a</mstrans:dictionary>`, translate.Text, nil},
		{`<mstrans:dictionary translation="x">a`, `<mstrans:dictionary translation="x">a`, translate.Text, nil},
	} {
		text, terms := dictionary(test.text, test.format)
		assert.Equal(t, test.want, text)
		assert.Equal(t, test.terms, terms, test.text)
	}
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

// Azure's paths are also LibreTranslate's.
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
