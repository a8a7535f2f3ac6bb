package deepl

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/compattest"
	"dragoman/app/text/markup"
	"dragoman/app/translate"
)

// spying returns a server that stores each request in last.
func spying(last *translate.Request) http.Handler {
	return compattest.Server(dialect.Config{}, compattest.Translator{Asked: func(req translate.Request) { *last = req }}, New)
}

func TestTranslate(t *testing.T) {
	const hello = `{"translations":[{"detected_source_language":"EN","text":"HELLO"}]}`
	for _, test := range []struct{ name, contentType, body, want string }{
		{"JSON", jsonType, `{"text":["Hello"],"target_lang":"FR"}`, hello},
		{"JSON with a string", jsonType, `{"text":"Hello","target_lang":"FR"}`, hello},
		{"form", formType, `text=Hello&target_lang=FR`, hello},
		{"source language", jsonType, `{"text":["Hello"],"target_lang":"FR","source_lang":"DE"}`,
			`{"translations":[{"detected_source_language":"DE","text":"HELLO"}]}`},
		{"empty source language", formType, `text=Hello&target_lang=FR&source_lang=`, hello},
		{"several texts", jsonType, `{"text":["Hello","Bonjour","","123"],"target_lang":"JA"}`,
			`{"translations":[{"detected_source_language":"EN","text":"HELLO"},{"detected_source_language":"FR","text":"BONJOUR"},` +
				`{"detected_source_language":"EN","text":""},{"detected_source_language":"EN","text":"123"}]}`},
		{"several texts in a form", formType, `text=a%0D%0Ab&text=c&target_lang=JA&source_lang=nb`,
			`{"translations":[{"detected_source_language":"NB","text":"A\r\nB"},{"detected_source_language":"NB","text":"C"}]}`},
		{"markup is not escaped", jsonType, `{"text":["a < b & c"],"target_lang":"FR"}`,
			`{"translations":[{"detected_source_language":"EN","text":"A < B & C"}]}`},
		{"html", jsonType, `{"text":["<p>Hello</p>"],"target_lang":"FR","tag_handling":"html","tag_handling_version":"v2"}`,
			`{"translations":[{"detected_source_language":"EN","text":"<p>HELLO</p>"}]}`},
		{"xml", formType, `text=<x>Hello</x>&target_lang=FR&tag_handling=xml&outline_detection=0&splitting_tags=x,y&non_splitting_tags=z`,
			`{"translations":[{"detected_source_language":"EN","text":"<x>HELLO</x>"}]}`},
		{"ignored tags without tags", jsonType, `{"text":["<x>Hello</x>"],"target_lang":"FR","ignore_tags":["x"]}`,
			`{"translations":[{"detected_source_language":"EN","text":"<X>HELLO</X>"}]}`},
		{"billed characters", jsonType, `{"text":["héllo",""],"target_lang":"FR","show_billed_characters":true}`,
			`{"translations":[{"detected_source_language":"EN","text":"HÉLLO","billed_characters":5},` +
				`{"detected_source_language":"EN","text":"","billed_characters":0}]}`},
		{"billed characters of markup", formType, `text=<b+class="x">hi</b>&target_lang=FR&show_billed_characters=1&tag_handling=html`,
			`{"translations":[{"detected_source_language":"EN","text":"<b class=\"x\">HI</b>","billed_characters":2}]}`},
		{"markup that is none", formType, `text=<b>hi</b>&target_lang=FR&show_billed_characters=1`,
			`{"translations":[{"detected_source_language":"EN","text":"<B>HI</B>","billed_characters":9}]}`},
		{"model type", jsonType, `{"text":["Hello"],"target_lang":"FR","model_type":"prefer_quality_optimized"}`,
			`{"translations":[{"detected_source_language":"EN","text":"HELLO","model_type_used":"quality_optimized"}]}`},
		{"hints", jsonType, `{"text":["Hello"],"target_lang":"FR","context":"Greetings.","preserve_formatting":true,"outline_detection":false,` +
			`"split_sentences":"1","formality":"prefer_more","splitting_tags":["a"],"non_splitting_tags":["b"]}`, hello},
		{"hints in a form", formType, `text=Hello&target_lang=FR&context=&preserve_formatting=1&split_sentences=1&formality=default`, hello},
		{"empty options", jsonType, `{"text":["Hello"],"target_lang":"FR","glossary_id":"","ignore_tags":[ ],"style_id":null,"custom_instructions":[]}`, hello},
		{"unknown fields", jsonType, `{"text":["Hello"],"target_lang":"FR","enable_beta_languages":true,"x":[1]}`, hello},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := send(t, test.contentType, test.body)
			assert.Equal(t, 200, w.Code)
			assert.Equal(t, test.want, compattest.Body(w))
			assert.Equal(t, "application/json; charset=utf-8", w.Header().Get("Content-Type"))
		})
	}
}

func TestTranslateFromTheQuery(t *testing.T) {
	for _, method := range []string{"GET", "POST"} {
		w := compattest.Send(t.Context(), server(nil), method, "/v2/translate?text=caf%C3%A9+bar&text=b&source_lang=FR&target_lang=EN", "", "")
		assert.Equal(t, 200, w.Code)
		assert.Equal(t, `{"translations":[{"detected_source_language":"FR","text":"CAFÉ BAR"},{"detected_source_language":"FR","text":"B"}]}`, compattest.Body(w))
	}
}

func TestTranslateUnderstandsCodesAndOptions(t *testing.T) {
	for _, test := range []struct {
		source, target, option string
		want                   translate.Request
	}{
		{"", "EN", "", translate.Request{From: "auto", To: []string{"en"}}},
		{"", "EN-GB", "", translate.Request{From: "auto", To: []string{"en"}}},
		{"de", "en-US", "", translate.Request{From: "de", To: []string{"en"}}},
		{"PT", "PT-BR", "", translate.Request{From: "pt", To: []string{"pt"}}},
		{"NB", "PT-PT", "", translate.Request{From: "no", To: []string{"pt"}}},
		{"ZH-HANT", "ES-419", "", translate.Request{From: "zh", To: []string{"es"}}},
		{"ZH", "zh-HANS", "", translate.Request{From: "zh", To: []string{"zh"}}},
		{"JA", "NB", "&tag_handling=xml", translate.Request{From: "ja", To: []string{"no"}, Format: translate.XML, Outline: markup.Outline{Lines: true}}},
		{"JA", "NO", "&tag_handling=html", translate.Request{From: "ja", To: []string{"no"}, Format: translate.HTML}},
		{"JA", "DE", "&split_sentences=0", translate.Request{From: "ja", To: []string{"de"}, Whole: true}},
		{"JA", "DE", "&tag_handling=xml&split_sentences=1", translate.Request{From: "ja", To: []string{"de"}, Format: translate.XML, Outline: markup.Outline{Lines: true}}},
		{"JA", "DE", "&tag_handling=xml&split_sentences=0", translate.Request{From: "ja", To: []string{"de"}, Format: translate.XML, Whole: true}},
		{"JA", "DE", "&tag_handling=xml&split_sentences=nonewlines&outline_detection=1&non_splitting_tags=par",
			translate.Request{From: "ja", To: []string{"de"}, Format: translate.XML, Wrapped: true, Outline: markup.Outline{NonSplitting: []string{"par"}}}},
		{"JA", "DE", "&tag_handling=xml&split_sentences=nonewlines&outline_detection=0&splitting_tags=par,+title,",
			translate.Request{From: "ja", To: []string{"de"}, Format: translate.XML, Wrapped: true, Outline: markup.Outline{Splitting: []string{"par", "title"}, Undetected: true}}},
		{"JA", "DE", "&tag_handling=html&outline_detection=0&splitting_tags=par", translate.Request{From: "ja", To: []string{"de"}, Format: translate.HTML}},
		{"JA", "DE", "&outline_detection=0&splitting_tags=par", translate.Request{From: "ja", To: []string{"de"}}},
		{"JA", "DE", "&split_sentences=nonewlines", translate.Request{From: "ja", To: []string{"de"}, Wrapped: true}},
		{"JA", "DE", "&split_sentences=1", translate.Request{From: "ja", To: []string{"de"}}},
	} {
		var last translate.Request
		w := compattest.Send(t.Context(), spying(&last), "POST", "/v2/translate", formType, "text=a&text=b&source_lang="+test.source+"&target_lang="+test.target+test.option)
		require.Equal(t, 200, w.Code, w.Body)
		test.want.Caller, test.want.Unfinished = "192.0.2.1/32", true
		test.want.Records = []translate.Record{{ID: "0", Text: "a"}, {ID: "1", Text: "b"}}
		assert.Equal(t, test.want, last)
	}
}

func TestTranslateRefuses(t *testing.T) {
	with := func(option string) string { return `{"text":["Hello"],"target_lang":"FR",` + option + `}` }
	one := func(text string) string { return `{"text":["` + text + `"],"target_lang":"FR"}` }
	for _, test := range []struct {
		name, contentType, body string
		status                  int
		want, wait              string
	}{
		{"nothing", "", ``, 400, "Parameter 'text' not specified.", ""},
		{"no text", jsonType, `{"target_lang":"FR"}`, 400, "Parameter 'text' not specified.", ""},
		{"no texts", jsonType, `{"text":[],"target_lang":"FR"}`, 400, "Parameter 'text' not specified.", ""},
		{"null", jsonType, `{"text":null,"target_lang":"FR"}`, 400, "Parameter 'text' not specified.", ""},
		{"a null text", jsonType, `{"text":[null],"target_lang":"FR"}`, 400, "Invalid request: text[0] is null, expected a string", ""},
		{"a number", jsonType, `{"text":7,"target_lang":"FR"}`, 400, "Invalid request: text is a number, expected a string or an array of strings", ""},
		{"no target", formType, `text=Hello`, 400, "Parameter 'target_lang' not specified.", ""},
		{"unknown target", formType, `text=Hello&target_lang=XX`, 400, "Value for 'target_lang' not supported.", ""},
		{"target that the model lacks", formType, `text=Hello&target_lang=SV`, 400, "Value for 'target_lang' not supported.", ""},
		{"traditional Chinese", formType, `text=Hello&target_lang=ZH-HANT`, 400,
			"Value for 'target_lang' not supported. This server does not tell traditional Chinese from simplified: use ZH-HANS.", ""},
		{"target is a number", jsonType, `{"text":["x"],"target_lang":5}`, 400, "Invalid request: target_lang is a number, expected a string", ""},
		{"unknown source", formType, `text=Hello&target_lang=FR&source_lang=XX`, 400, "Value for 'source_lang' not supported.", ""},
		{"auto", formType, `text=Hello&target_lang=FR&source_lang=auto`, 400, "Value for 'source_lang' not supported.", ""},

		{"formality", jsonType, with(`"formality":"more"`), 400, "'formality' is not supported for given 'target_lang'.", ""},
		{"informality", jsonType, with(`"formality":"less"`), 400, "'formality' is not supported for given 'target_lang'.", ""},
		{"another formality", jsonType, with(`"formality":"rude"`), 400,
			"Value for 'formality' not supported. Use one of default, more, less, prefer_more, prefer_less.", ""},
		{"split sentences", formType, `text=x&target_lang=FR&split_sentences=2`, 400,
			"Value for 'split_sentences' not supported. Use one of 0, 1, nonewlines.", ""},
		{"tag handling", jsonType, with(`"tag_handling":"markdown"`), 400, "Value for 'tag_handling' not supported. Use one of xml, html.", ""},
		{"tag handling version", jsonType, with(`"tag_handling_version":"v3"`), 400, "Value for 'tag_handling_version' not supported. Use one of v1, v2.", ""},
		{"model type", jsonType, with(`"model_type":"best"`), 400,
			"Value for 'model_type' not supported. Use one of quality_optimized, prefer_quality_optimized, latency_optimized.", ""},
		{"glossary", formType, `text=x&target_lang=FR&source_lang=EN&glossary_id=def3a26b`, 400, "This service keeps no glossaries: GLOSSARY_FILE is off.", ""},
		{"glossaries", jsonType, with(`"glossary_ids":["a"]`), 400, "Parameter 'source_lang' not specified: a glossary needs it.", ""},
		{"style", jsonType, with(`"style_id":"a"`), 400, "Value for 'style_id' not supported. This server has no style rules.", ""},
		{"instructions", jsonType, with(`"custom_instructions":["be brief"]`), 400, "Value for 'custom_instructions' not supported. This server takes no instructions.", ""},
		{"translation memory", jsonType, with(`"translation_memory_id":"a"`), 400, "This service keeps no translation memories: MEMORY_FILE is off.", ""},
		{"threshold", jsonType, with(`"translation_memory_id":"a","translation_memory_threshold":101`), 400, "Value for 'translation_memory_threshold' not supported. Use a number from 0 to 100.", ""},
		{"ignored tags of no type", jsonType, with(`"tag_handling":"xml","ignore_tags":{}`), 400,
			"Invalid request: ignore_tags is an object, expected a string or an array of strings", ""},
		{"formatting", jsonType, with(`"preserve_formatting":"maybe"`), 400,
			`Invalid request: preserve_formatting is "maybe", expected true or false, or 1 or 0 in a form`, ""},
		{"outline", formType, `text=x&target_lang=FR&outline_detection=2`, 400,
			`Invalid request: outline_detection is "2", expected true or false, or 1 or 0 in a form`, ""},
		{"billing", jsonType, with(`"show_billed_characters":[]`), 400,
			`Invalid request: show_billed_characters is "[]", expected true or false, or 1 or 0 in a form`, ""},

		{"no JSON", jsonType, `text=Hello`, 400, "Invalid JSON format: at byte 1: invalid character 'e' in literal true (expecting 'r')", ""},
		{"a list as the body", jsonType, `[]`, 400, "Invalid JSON format: the body is an array, expected an object", ""},
		{"too long", jsonType, one("long"), 400, "Too long.", ""},
		{"too many", jsonType, one("many"), 413, "Too many.", ""},
		{"busy", jsonType, one("busy"), 529, "Too many requests are waiting: try again in 3 s.", "3"},
		{"shutting down", jsonType, one("closed"), 503, "The service is shutting down: try again in a moment.", "1"},
		{"too slow", jsonType, one("wait"), 504, "The translation took longer than the client's deadline, or than 1m0s: send fewer or shorter texts.", ""},
		{"failed", jsonType, one("fail"), 500, "Internal error, request id id-77", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := send(t, test.contentType, test.body)
			assert.Equal(t, test.status, w.Code)
			var got map[string]string
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got), w.Body)
			assert.Equal(t, map[string]string{"message": test.want}, got)
			assert.Equal(t, test.wait, w.Header().Get("Retry-After"))
		})
	}
}

// FuzzTranslate sends arbitrary bodies: each must get an answer in JSON.
func FuzzTranslate(f *testing.F) {
	for _, seed := range []string{
		`{"text":["Hello"],"target_lang":"FR"}`, `{"text":"x","target_lang":"en-us","show_billed_characters":1,"tag_handling":"xml"}`,
		`text=a&text=%&target_lang=ja&formality=prefer_less`, `{"text":["\ud800"],"target_lang":"FR"}`, `{"text":{},"text":1}`, ``,
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, body string, asJSON bool) {
		contentType := formType
		if asJSON {
			contentType = jsonType
		}
		w := send(t, contentType, body)
		var answer struct {
			Message      string
			Translations []translation
		}
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer), w.Body)
		if w.Code != 200 {
			assert.NotEmpty(t, answer.Message)
			return
		}
		require.NotEmpty(t, answer.Translations)
		for _, one := range answer.Translations {
			assert.NotEmpty(t, one.DetectedSourceLanguage, "deepl-node fails on answers without it")
		}
	})
}

// An ignored element reaches the service with an attribute. The attribute is not in the answer and is not billed.
func TestTranslateMarksIgnoredTags(t *testing.T) {
	for _, test := range []struct{ contentType, body string }{
		{jsonType, `{"text":["Open <x>Settings</x>."],"target_lang":"FR","tag_handling":"xml","ignore_tags":["x","keep"],"show_billed_characters":true}`},
		{formType, `text=Open+<x>Settings</x>.&target_lang=FR&tag_handling=html&ignore_tags=keep,+x&show_billed_characters=1`},
	} {
		var last translate.Request
		w := compattest.Send(t.Context(), spying(&last), "POST", "/v2/translate", test.contentType, test.body)
		assert.Equal(t, `{"translations":[{"detected_source_language":"EN","text":"OPEN <x>SETTINGS</x>.","billed_characters":14}]}`, compattest.Body(w))
		require.Len(t, last.Records, 1)
		assert.Equal(t, `Open <x translate="no">Settings</x>.`, last.Records[0].Text)
	}
}
