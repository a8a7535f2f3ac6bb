package google

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/compattest"
	"dragoman/app/translate"
)

const formType = "application/x-www-form-urlencoded"

// refused returns Google's answer to an invalid request.
func refused(code int, status, reason, message string) string {
	return fmt.Sprintf(`{"error":{"code":%d,"message":"%s","errors":[{"message":"%s","domain":"global","reason":"%s"}],"status":"%s"}}`, code, message, message, reason, status)
}

func invalid(message string) string { return refused(400, "INVALID_ARGUMENT", "invalid", message) }

func TestTranslate(t *testing.T) {
	const path = "/language/translate/v2"
	server := compattest.Server(dialect.Config{}, compattest.Translator{}, New)
	compattest.Check(t, server, []compattest.Exchange{
		// From google-cloud-translate 3.28.0.
		{Name: "the client in Python", Path: path + "?prettyPrint=false", Headers: []string{"x-goog-api-client", "gl-python/3.11.7"},
			Body:   `{"target": "fr", "q": ["Where is the station?"], "cid": [], "format": null, "source": null, "model": null}`,
			Status: 200, Want: `{"data":{"translations":[{"translatedText":"WHERE IS THE STATION?","detectedSourceLanguage":"en"}]}}`},
		{Name: "the client in Python, with all", Path: path + "?prettyPrint=false", Body: `{"target": "fr", "q": ["<b>a</b>", "b"], "cid": [], "format": "html", "source": "en", "model": "nmt"}`,
			Status: 200, Want: `{"data":{"translations":[{"translatedText":"<b>A</b>","model":"nmt"},{"translatedText":"B","model":"nmt"}]}}`},
		// From Google's reference.
		{Name: "GET", Method: "GET", Path: path + "?key=x&q=hello&q=Bonjour&target=zh-CN&format=text", ContentType: "-",
			Status: 200, Want: `{"data":{"translations":[{"translatedText":"HELLO","detectedSourceLanguage":"en"},{"translatedText":"BONJOUR","detectedSourceLanguage":"fr"}]}}`},
		{Name: "a form", Path: path, ContentType: formType, Body: "q=a+%3Cb%3E&target=fr&source=zh-CN&format=text", Status: 200, Want: `{"data":{"translations":[{"translatedText":"A <B>"}]}}`},
		{Name: "one text", Path: path, Body: `{"q":"a","target":"fr","source":"en","format":"text"}`, Status: 200, Want: `{"data":{"translations":[{"translatedText":"A"}]}}`},
		{Name: "Hebrew of before", Path: path, Body: `{"q":"a","target":"iw","source":"en"}`, Status: 400, Want: invalid(`\"iw\" is not a target language of this server, see /languages.`)},
		{Name: "a model of ours", Path: path, Body: `{"q":"a","target":"fr","source":"en","model":"default"}`, Status: 200, Want: `{"data":{"translations":[{"translatedText":"A","model":"default"}]}}`},
		{Name: "another model", Path: path, Body: `{"q":"a","target":"fr","source":"en","model":"llm"}`, Status: 404, Want: refused(404, "NOT_FOUND", "notFound", `There is no model \"llm\": use default.`)},
		{Name: "customization", Path: path, Body: `{"q":"a","target":"fr","source":"en","cid":["x"]}`, Status: 400, Want: invalid("Invalid request: this server has no customization, leave cid out")},
		{Name: "no texts", Path: path, Body: `{"target":"fr"}`, Status: 400, Want: invalid("Invalid request: q is missing")},
		{Name: "no target", Path: path, Body: `{"q":["a"]}`, Status: 400, Want: invalid("The target language is missing.")},
		{Name: "another format", Path: path, Body: `{"q":["a"],"target":"fr","format":"md"}`, Status: 400, Want: invalid(`Invalid request: format is \"md\", use html or text`)},
		{Name: "busy", Path: path, Body: `{"q":["busy"],"target":"fr"}`, Status: 503, Want: refused(503, "UNAVAILABLE", "backendError", "Too many requests are waiting: try again in 3 s.")},
		{Name: "a fault", Path: path, Body: `{"q":["fail"],"target":"fr"}`, Status: 500, Want: refused(500, "INTERNAL", "backendError", "Internal error, request id id-77")},
		{Name: "too many", Path: path, Body: `{"q":["many"],"target":"fr"}`, Status: 413, Want: refused(413, "INVALID_ARGUMENT", "invalid", "Too many.")},

		{Name: "detect", Path: path + "/detect?prettyPrint=false", Body: `{"q": ["Hello", "Bonjour", "12"]}`, Status: 200,
			Want: `{"data":{"detections":[[{"language":"en","isReliable":false,"confidence":0.8765}],[{"language":"fr","isReliable":false,"confidence":0.9}],[{"language":"und","isReliable":false,"confidence":0}]]}}`},
		{Name: "detect, GET", Method: "GET", Path: path + "/detect?q=Hello", ContentType: "-", Status: 200, Want: `{"data":{"detections":[[{"language":"en","isReliable":false,"confidence":0.8765}]]}}`},
		{Name: "detect nothing", Path: path + "/detect", Body: `{}`, Status: 400, Want: invalid("Invalid request: q is missing")},
	})
	two := compattest.Server(dialect.Config{}, compattest.Translator{Codes: []string{"ja", "zh"}, Mute: true}, New)
	compattest.Check(t, two, []compattest.Exchange{
		{Name: "languages", Method: "GET", Path: path + "/languages?prettyPrint=false", ContentType: "-", Status: 200, Want: `{"data":{"languages":[{"language":"ja"},{"language":"zh-CN"}]}}`},
		{Name: "languages and names", Method: "GET", Path: path + "/languages?target=en&model=nmt", ContentType: "-", Status: 200,
			Want: `{"data":{"languages":[{"language":"ja","name":"Japanese"},{"language":"zh-CN","name":"Chinese"}]}}`},
		{Name: "no detection", Path: path + "/detect", Body: `{"q":"a"}`, Status: 400, Want: invalid("Language detection is not offered by this server.")},
	})
}

func TestWeb(t *testing.T) {
	const path = "/translate_a/single"
	const dt = "&dt=at&dt=bd&dt=ex&dt=ld&dt=md&dt=qca&dt=rw&dt=rm&dt=ss&dt=t"
	server := compattest.Server(dialect.Config{}, compattest.Translator{}, New)
	compattest.Check(t, server, []compattest.Exchange{
		// From KISS Translator 2.0.31 (genGoogle), which sends a Content-Type without a body.
		{Name: "KISS Translator", Method: "GET", Path: path + "?client=gtx&dj=1&dt=t&ie=UTF-8&q=Hello%20world.%20Bye.&sl=auto&tl=zh-CN", Status: 200,
			Want: `{"sentences":[{"trans":"HELLO WORLD. BYE.","orig":"Hello world. Bye."}],"src":"en","confidence":0.8765,"ld_result":{"srclangs":["en"],"srclangs_confidences":[0.8765],"extended_srclangs":["en"]}}`},
		// From Translate for Zotero at ac91aca (services/google.ts).
		{Name: "Zotero", Method: "GET", ContentType: "-", Path: path + "?client=gtx&sl=en-US&tl=pt&hl=en" + dt + "&source=bh&ssel=0&tsel=0&kc=1&tk=1.2&q=Hello", Status: 200,
			Want: `[[["HELLO","Hello",null,null,1]],null,"en",null,null,null,1,[],[["en"],null,[1],["en"]]]`},
		// From googletrans 4.0.2 (build_params).
		{Name: "googletrans", Method: "GET", ContentType: "-", Path: path + "?client=gtx&sl=auto&tl=fr&hl=fr" + dt + "&ie=UTF-8&oe=UTF-8&otf=1&ssel=0&tsel=0&tk=xxxx&q=Hello", Status: 200,
			Want: `[[["HELLO","Hello",null,null,1]],null,"en",null,null,null,0.8765,[],[["en"],null,[0.8765],["en"]]]`},
		{Name: "a form", ContentType: formType, Path: path + "?client=gtx&sl=zh-CN&tl=en&dt=t", Body: "q=100%25+%3Cb%3E", Status: 200,
			Want: `[[["100% <B>","100% <b>",null,null,1]],null,"zh-CN",null,null,null,1,[],[["zh-CN"],null,[1],["zh-CN"]]]`},
		{Name: "no dt", Method: "GET", ContentType: "-", Path: path + "?client=gtx&sl=en&tl=fr&q=", Status: 200,
			Want: `[[["","",null,null,1]],null,"en",null,null,null,1,[],[["en"],null,[1],["en"]]]`},
		{Name: "a dictionary alone", Method: "GET", ContentType: "-", Path: path + "?client=gtx&sl=en&tl=fr&dt=bd&q=a", Status: 400, Want: invalid("Invalid request: this server has translations only, send dt=t")},
		{Name: "several texts", Method: "GET", ContentType: "-", Path: path + "?client=gtx&sl=en&tl=fr&dt=t&q=a&q=b", Status: 400, Want: invalid("Invalid request: q has 2 texts, send one")},
		{Name: "no text", Method: "GET", ContentType: "-", Path: path + "?client=gtx&sl=en&tl=fr&dt=t", Status: 400, Want: invalid("Invalid request: q is missing")},
		{Name: "no target", Method: "GET", ContentType: "-", Path: path + "?client=gtx&q=a", Status: 400, Want: invalid("The target language is missing.")},
		{Name: "another dj", Method: "GET", ContentType: "-", Path: path + "?q=a&tl=fr&dj=2", Status: 400, Want: invalid(`Invalid request: dj is \"2\", expected true or false, or 1 or 0 in a form`)},
	})
}

func TestKeys(t *testing.T) {
	gate, key := compattest.Keys(t)
	server := compattest.Server(dialect.Config{Gate: gate}, compattest.Translator{}, New)
	const path, body, fine = "/language/translate/v2", `{"q":"a","target":"fr","source":"en"}`, `{"data":{"translations":[{"translatedText":"A"}]}}`
	compattest.Check(t, server, []compattest.Exchange{
		{Name: "in the query", Path: path + "?key=" + key, Body: body, Status: 200, Want: fine},
		{Name: "in Google's header", Path: path, Headers: []string{"X-Goog-Api-Key", key}, Body: body, Status: 200, Want: fine},
		{Name: "as a token", Path: path, Headers: []string{"Authorization", "Bearer " + key}, Body: body, Status: 200, Want: fine},
		{Name: "in a form", Path: path, ContentType: formType, Body: "q=a&target=fr&source=en&key=" + key, Status: 200, Want: fine},
		{Name: "none", Path: path, Body: body, Status: 403, Want: refused(403, "PERMISSION_DENIED", "forbidden", "The request is missing a valid API key.")},
		{Name: "another", Path: path + "?key=x", Body: body, Status: 400, Want: invalid("API key not valid. Please pass a valid API key.")},
		{Name: "none, for languages", Method: "GET", Path: path + "/languages", ContentType: "-", Status: 403,
			Want: refused(403, "PERMISSION_DENIED", "forbidden", "The request is missing a valid API key.")},
	})
}

// A text without a format is HTML, as with Google.
func TestFormat(t *testing.T) {
	var asked []translate.Format
	server := compattest.Server(dialect.Config{}, compattest.Translator{Asked: func(r translate.Request) { asked = append(asked, r.Format) }}, New)
	for _, body := range []string{`{"q":"a","target":"fr"}`, `{"q":"a","target":"fr","format":"html"}`, `{"q":"a","target":"fr","format":"text"}`} {
		compattest.Send(t.Context(), server, "POST", "/language/translate/v2", "application/json", body)
	}
	assert.Equal(t, []translate.Format{translate.HTML, translate.HTML, translate.Text}, asked)
}
