package libretranslate

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/compattest"
	"dragoman/app/translate"
)

func TestTranslate(t *testing.T) {
	const multipart = "multipart/form-data; boundary=xx"
	part := func(name, value string) string {
		return "--xx\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
	}
	for _, test := range []struct{ name, contentType, body, want string }{
		{"a string", jsonType, `{"q":"Hello","source":"en","target":"fr"}`, `{"translatedText":"HELLO"}`},
		{"all fields", jsonType, `{"q":"Hello","source":"en","target":"fr","format":"text","alternatives":0,"api_key":""}`, `{"translatedText":"HELLO"}`},
		{"a list", jsonType, `{"q":["one","two"],"source":"en","target":"fr"}`, `{"translatedText":["ONE","TWO"]}`},
		{"a list of one", jsonType, `{"q":["one"],"source":"en","target":"fr"}`, `{"translatedText":["ONE"]}`},
		{"empty texts in a list", jsonType, `{"q":["","two",""],"source":"en","target":"fr"}`, `{"translatedText":["","TWO",""]}`},
		{"markup is not escaped", jsonType, `{"q":"a < b & c","source":"en","target":"fr"}`, `{"translatedText":"A < B & C"}`},
		{"other JSON types", "application/vnd.api+json; charset=utf-8", `{"q":"Hello","source":"en","target":"fr"}`, `{"translatedText":"HELLO"}`},
		{"unknown fields", jsonType, `{"q":"Hello","source":"en","target":"fr","apiKey":"","secret":1,"extra":{}}`, `{"translatedText":"HELLO"}`},
		{"html", jsonType, `{"q":"<p class=\"green\">Hello!</p>","source":"en","target":"fr","format":"html"}`,
			`{"translatedText":"<p class=\"green\">HELLO!</p>"}`},
		{"line breaks of JSON stay", jsonType, `{"q":"a\r\nb\r","source":"en","target":"fr"}`, `{"translatedText":"A\r\nB\r"}`},

		{"detected", jsonType, `{"q":"Bonjour","source":"auto","target":"en"}`,
			`{"translatedText":"BONJOUR","detectedLanguage":{"confidence":90,"language":"fr"}}`},
		{"detected each", jsonType, `{"q":["Bonjour","hello"],"source":"auto","target":"ja"}`,
			`{"translatedText":["BONJOUR","HELLO"],"detectedLanguage":[{"confidence":90,"language":"fr"},{"confidence":87.7,"language":"en"}]}`},
		{"detected in a list of one", jsonType, `{"q":["Bonjour"],"source":"auto","target":"ja"}`,
			`{"translatedText":["BONJOUR"],"detectedLanguage":[{"confidence":90,"language":"fr"}]}`},
		{"detected in HTML, by its text", jsonType, `{"q":"<i>Bonjour</i>","source":"auto","target":"ja","format":"html"}`,
			`{"translatedText":"<i>BONJOUR</i>","detectedLanguage":{"confidence":90,"language":"fr"}}`},
		{"nothing to detect", jsonType, `{"q":"123","source":"auto","target":"ja"}`,
			`{"translatedText":"123","detectedLanguage":{"confidence":0,"language":"en"}}`},

		{"alternatives", jsonType, `{"q":"Hello","source":"en","target":"fr","alternatives":1}`, `{"translatedText":"HELLO","alternatives":["HELLO!"]}`},
		{"alternatives of a list", jsonType, `{"q":["a","b"],"source":"en","target":"fr","alternatives":3}`, `{"translatedText":["A","B"],"alternatives":[["A!","A!!"],["B!","B!!"]]}`},
		{"alternatives as a string", jsonType, `{"q":"Hello","source":"en","target":"fr","alternatives":"1"}`, `{"translatedText":"HELLO","alternatives":["HELLO!"]}`},
		{"fewer than no alternatives", jsonType, `{"q":"Hello","source":"en","target":"fr","alternatives":-1}`, `{"translatedText":"HELLO"}`},
		{"alternatives of HTML", jsonType, `{"q":"<b>a</b>","source":"en","target":"fr","format":"html","alternatives":1}`, `{"translatedText":"<b>A</b>","alternatives":["<b>A</b>!"]}`},
		{"null alternatives", jsonType, `{"q":"Hello","source":"en","target":"fr","alternatives":null}`, `{"translatedText":"HELLO"}`},

		{"form", formType, `q=Hello+world%21&source=en&target=fr&format=text`, `{"translatedText":"HELLO WORLD!"}`},
		{"form with several texts", formType, `q=a&q=b&source=en&target=fr`, `{"translatedText":["A","B"]}`},
		{"form with line breaks", formType, `q=a%0D%0Ab%0Dc%0A&source=en&target=fr`, `{"translatedText":"A\nB\nC\n"}`},
		{"form that is encoded carelessly", formType, `q=100% sure; really?&source=en&target=fr`, `{"translatedText":"100% SURE; REALLY?"}`},
		{"form with alternatives", formType, `q=a&source=en&target=fr&alternatives=2`, `{"translatedText":"A","alternatives":["A!","A!!"]}`},
		{"multipart form", multipart, part("q", "Hello\r\nworld") + part("source", "auto") + part("target", "fr") + "--xx--\r\n",
			`{"translatedText":"HELLO\nWORLD","detectedLanguage":{"confidence":87.7,"language":"en"}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := send(t, "/translate", test.contentType, test.body)
			assert.Equal(t, 200, w.Code)
			assert.Equal(t, test.want, compattest.Body(w))
			assert.Equal(t, "application/json; charset=utf-8", w.Header().Get("Content-Type"))
		})
	}
}

// Some clients send all fields in the query of a POST without a body.
func TestTranslateFromTheQuery(t *testing.T) {
	w := compattest.Send(t.Context(), server(nil), "POST", "/translate?q=caf%C3%A9+%26+bar&source=fr&target=en&format=text", "", "")
	assert.Equal(t, 200, w.Code)
	assert.Equal(t, `{"translatedText":"CAFÉ & BAR"}`, compattest.Body(w))
}

func TestTranslateUnderstandsCodes(t *testing.T) {
	for _, test := range []struct{ source, target, from, to string }{
		{"en", "fr", "en", "fr"},
		{"EN", "Fr", "en", "fr"},
		{"auto", "nb", "auto", "no"},
		{"pb", "zh-Hans", "pt", "zh"},
		{"pt-BR", "zh", "pt", "zh"},
		{"AUTO", "PT-br", "auto", "pt"},
		{"zh-CN", "ZH-HANS", "zh", "zh"},
		{"zh-TW", "NB", "zh", "no"},
		{"zt", "no", "zh", "no"},
		{"zh-Hant", "pb", "zh", "pt"},
	} {
		var last translate.Request
		spying := compattest.Server(dialect.Config{}, compattest.Translator{Asked: func(req translate.Request) { last = req }}, New)
		w := compattest.Send(t.Context(), spying, "POST", "/translate", jsonType, `{"q":["a","b"],"source":"`+test.source+`","target":"`+test.target+`","format":"html"}`)
		require.Equal(t, 200, w.Code, w.Body)
		assert.Equal(t, translate.Request{From: test.from, To: []string{test.to}, Format: translate.HTML, Unfinished: true, Caller: "192.0.2.1/32",
			Records: []translate.Record{{ID: "0", Text: "a"}, {ID: "1", Text: "b"}}}, last)
	}
}

func TestTranslateRefuses(t *testing.T) {
	one := func(text string) string { return `{"q":"` + text + `","source":"en","target":"fr"}` }
	long := strings.Repeat("x", 200)
	for _, test := range []struct {
		name, contentType, body string
		status                  int
		want, wait              string
	}{
		{"nothing", "", ``, 400, "Invalid request: missing q parameter", ""},
		{"another type", "text/plain", one("x"), 400, "Invalid request: missing q parameter", ""},
		{"no q", jsonType, `{"source":"en","target":"fr"}`, 400, "Invalid request: missing q parameter", ""},
		{"null q", jsonType, `{"q":null,"source":"en","target":"fr"}`, 400, "Invalid request: missing q parameter", ""},
		{"empty q", jsonType, one(""), 400, "Invalid request: missing q parameter", ""},
		{"empty list", jsonType, `{"q":[],"source":"en","target":"fr"}`, 400, "Invalid request: missing q parameter", ""},
		{"no source", formType, `q=Hello&target=fr`, 400, "Invalid request: missing source parameter", ""},
		{"no target", formType, `q=Hello&source=en`, 400, "Invalid request: missing target parameter", ""},
		{"unknown source", formType, `q=Hello&source=zz&target=fr`, 400, "zz is not supported", ""},
		{"unknown target", formType, `q=Hello&source=en&target=zz`, 400, "zz is not supported", ""},
		{"auto as a target", formType, `q=Hello&source=en&target=auto`, 400, "auto is not supported", ""},
		{"traditional Chinese", formType, `q=Hello&source=en&target=zt`, 400, "zt is not supported: this server does not tell traditional Chinese from simplified, use zh-Hans", ""},
		{"traditional Chinese, by its new name", formType, `q=Hello&source=en&target=zh-Hant`, 400,
			"zh-Hant is not supported: this server does not tell traditional Chinese from simplified, use zh-Hans", ""},
		{"a long target", formType, `q=Hello&source=en&target=` + long, 400, long[:100] + "… is not supported", ""},
		{"unknown format", formType, `q=Hello&source=en&target=fr&format=xml`, 400, "xml format is not supported", ""},
		{"alternatives in words", formType, `q=Hello&source=en&target=fr&alternatives=abc`, 400, "Invalid request: alternatives parameter is not a number", ""},
		{"a fraction of alternatives", jsonType, `{"q":"x","source":"en","target":"fr","alternatives":1.5}`, 400, "Invalid request: alternatives parameter is not a number", ""},
		{"a list of alternatives", jsonType, `{"q":"x","source":"en","target":"fr","alternatives":[]}`, 400, "Invalid request: alternatives parameter is not a number", ""},
		{"endless alternatives", formType, `q=x&source=en&target=fr&alternatives=99999999999999999999`, 400, "Invalid request: alternatives parameter is not a number", ""},

		{"the largest number of alternatives", formType, `q=x&source=en&target=fr&alternatives=9223372036854775807`, 400, "9223372036854775807 translations of each text are wanted.", ""},
		{"too many alternatives", formType, `q=x&source=en&target=fr&alternatives=8`, 400, "9 translations of each text are wanted.", ""},

		{"q is a number", jsonType, `{"q":5,"source":"en","target":"fr"}`, 400, "Invalid request: q is a number, expected a string or an array of strings", ""},
		{"q is an object", jsonType, `{"q":{"text":"x"},"source":"en","target":"fr"}`, 400, "Invalid request: q is an object, expected a string or an array of strings", ""},
		{"q has a number", jsonType, `{"q":["x",5],"source":"en","target":"fr"}`, 400, "Invalid request: q has an item that is not a string", ""},
		{"q has a null", jsonType, `{"q":["x",null],"source":"en","target":"fr"}`, 400, "Invalid request: q[1] is null, expected a string", ""},
		{"source is a list", jsonType, `{"q":"x","source":["en"],"target":"fr"}`, 400, "Invalid request: source is an array, expected a string", ""},
		{"format is a boolean", jsonType, `{"q":"x","source":"en","target":"fr","format":true}`, 400, "Invalid request: format is a boolean, expected a string", ""},

		{"a list as the body", jsonType, `["not","a","dict"]`, 400, "Invalid JSON format: the body is an array, expected an object", ""},
		{"null as the body", jsonType, `null`, 400, "Invalid JSON format: the body is null, expected an object", ""},
		{"no JSON", jsonType, `q=Hello`, 400, "Invalid JSON format: at byte 0: invalid character 'q' at start of value", ""},
		{"half a body", jsonType, `{"q":"Hel`, 400, "Invalid JSON format: at byte 9: unexpected EOF", ""},
		{"a multipart form without a boundary", "multipart/form-data", one("x"), 400, "Invalid request: Content-Type is multipart/form-data without a boundary", ""},
		{"half a multipart form", "multipart/form-data; boundary=xx", "--xx\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nHel", 400,
			"Invalid request: the form could not be read: it ends too early", ""},

		{"too long", jsonType, one("long"), 400, "Too long.", ""},
		{"too many", jsonType, one("many"), 400, "Too many.", ""},
		{"busy", jsonType, one("busy"), 503, "Too many requests are waiting: try again in 3 s.", "3"},
		{"shutting down", jsonType, one("closed"), 503, "The service is shutting down: try again in a moment.", "1"},
		{"too slow", jsonType, one("wait"), 504, "The translation took longer than the client's deadline, or than 1m0s: send fewer or shorter texts.", ""},
		{"failed", jsonType, one("fail"), 500, "Internal error, request id id-77", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := send(t, "/translate", test.contentType, test.body)
			assert.Equal(t, test.status, w.Code)
			assert.JSONEq(t, `{"error":`+quote(test.want)+`}`, compattest.Body(w))
			assert.Equal(t, test.wait, w.Header().Get("Retry-After"))
		})
	}
}

// quote writes a string as JSON.
func quote(s string) string {
	return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"`
}

// FuzzTranslate sends arbitrary bodies: each must get an answer in JSON.
func FuzzTranslate(f *testing.F) {
	for _, seed := range []string{
		`{"q":"Hello","source":"en","target":"fr"}`, `{"q":["a",null],"source":"auto","target":"ja","alternatives":"x"}`,
		`q=100%&source=auto&target=fr&format=html`, "--xx\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\na\r\n--xx--",
		`{"q":"\ud800","source":"en","target":"fr"}`, `[[[[`, ``,
	} {
		f.Add(seed, uint8(0))
		f.Add(seed, uint8(1))
		f.Add(seed, uint8(2))
	}
	types := []string{jsonType, formType, "multipart/form-data; boundary=xx"}
	f.Fuzz(func(t *testing.T, body string, kind uint8) {
		w := send(t, "/translate", types[int(kind)%len(types)], body)
		var answer map[string]any
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer), w.Body)
		if w.Code == 200 {
			assert.Contains(t, answer, "translatedText")
		} else {
			assert.NotEmpty(t, answer["error"])
		}
	})
}
