package nllb

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/compattest"
	"dragoman/app/api/dropin/libretranslate"
)

const formType = "application/x-www-form-urlencoded"

// taken is the time in an answer of nllb-serve, which varies.
var taken = regexp.MustCompile(`"time_taken":\d+(\.\d+)?,`)

func TestServe(t *testing.T) {
	shared := func(s *dialect.Server) dialect.Dialect { return dialect.Share(Serve(s), libretranslate.New(s))[1] }
	server := compattest.Server(dialect.Config{MaxRecords: 4}, compattest.Translator{}, Serve)
	both := compattest.Server(dialect.Config{MaxRecords: 4}, compattest.Translator{}, shared)
	const own, wants = "/nllb-serve/translate", `"src_lang":"eng_Latn","tgt_lang":"fra_Latn","time_units":"s"}`
	for _, x := range []compattest.Exchange{
		// Translate for Zotero at ac91aca (services/nllb.ts).
		{Name: "Zotero", Body: `{"source":"Where is the station?","src_lang":"eng_Latn","tgt_lang":"fra_Latn"}`, Status: 200,
			Want: `{"source":["Where is the station?"],"translation":["WHERE IS THE STATION?"],` + wants},
		// nllb-serve's README.
		{Name: "JSON", Body: `{"source": ["a", "b"], "src_lang": "eng_Latn", "tgt_lang": "fra_Latn"}`, Status: 200, Want: `{"source":["a","b"],"translation":["A","B"],` + wants},
		{Name: "a form", ContentType: formType, Body: "source=a&source=b&src_lang=eng_Latn&tgt_lang=fra_Latn&sen_split=1", Status: 200, Want: `{"source":["a","b"],"translation":["A","B"],` + wants},
		{Name: "no source language", Body: `{"source":"Bonjour","tgt_lang":"eng_Latn"}`, Status: 200,
			Want: `{"source":["Bonjour"],"translation":["BONJOUR"],"src_lang":"fr","tgt_lang":"eng_Latn","time_units":"s"}`},
		{Name: "simplified Chinese", Body: `{"source":"a","src_lang":"eng_Latn","tgt_lang":"zho_Hans"}`, Status: 200, Want: `{"source":["a"],"translation":["A"],"src_lang":"eng_Latn","tgt_lang":"zho_Hans","time_units":"s"}`},
		{Name: "traditional Chinese", Body: `{"source":"a","src_lang":"eng_Latn","tgt_lang":"zho_Hant"}`, Status: 400,
			Want: `{"error":"\"zho_Hant\" is not offered: this server does not tell traditional Chinese from simplified, use zh-Hans."}`},
		{Name: "another language", Body: `{"source":"a","src_lang":"eng_Latn","tgt_lang":"kan_Knda"}`, Status: 400, Want: `{"error":"\"kan_Knda\" is not a target language of this server, see /languages."}`},
		{Name: "no texts", Body: `{"source":[],"tgt_lang":"fra_Latn"}`, Status: 400, Want: `{"error":"Please submit 'source' parameter"}`},
		{Name: "no source", Body: `{"tgt_lang":"fra_Latn"}`, Status: 400, Want: `{"error":"Invalid request: source is missing"}`},
		{Name: "a source of another kind", Body: `{"source":[1],"tgt_lang":"fra_Latn"}`, Status: 400, Want: `{"error":"Invalid request: source has an item that is not a string"}`},
		{Name: "a fault", Body: `{"source":"fail","tgt_lang":"fra_Latn"}`, Status: 500, Want: `{"error":"Internal error, request id id-77"}`},
	} {
		if x.ContentType == "" {
			x.ContentType = "application/json"
		}
		for path, server := range map[string]http.Handler{own: server, "/translate": both} {
			t.Run(x.Name+" "+path, func(t *testing.T) {
				w := compattest.Send(t.Context(), server, "POST", path, x.ContentType, x.Body)
				assert.Equal(t, x.Status, w.Code)
				assert.Equal(t, x.Want, taken.ReplaceAllString(compattest.Body(w), ""))
				assert.Equal(t, x.Status == 200, taken.MatchString(compattest.Body(w)))
			})
		}
	}
	compattest.Check(t, server, []compattest.Exchange{
		{Name: "no target", Path: own, Body: `{"source":"a"}`, Status: 400, Want: `{"error":"The target language is missing."}`},
		{Name: "GET without a source", Method: "GET", ContentType: "-", Path: own + "?tgt_lang=fra_Latn", Status: 400, Want: `{"error":"Invalid request: source is missing"}`},
	})
	w := compattest.Send(t.Context(), server, "GET", own+"?source=I%20am%20testing&source=b&src_lang=eng_Latn&tgt_lang=fra_Latn", "", "")
	assert.Equal(t, `{"source":["I am testing","b"],"translation":["I AM TESTING","B"],`+wants, taken.ReplaceAllString(compattest.Body(w), ""))
	compattest.Check(t, both, []compattest.Exchange{
		{Name: "LibreTranslate's", Path: "/translate", Body: `{"q":"a","source":"en","target":"fr"}`, Status: 200, Want: `{"translatedText":"A"}`},
		{Name: "of both", Path: "/translate", Body: `{"q":"a","source":"en","target":"fr","tgt_lang":"jpn_Jpan"}`, Status: 200, Want: `{"translatedText":"A"}`},
		{Name: "no target language", Path: "/translate", Body: `{"source":"a","src_lang":"eng_Latn"}`, Status: 400, Want: `{"error":"Invalid request: missing q parameter"}`},
	})
}

func TestAPI(t *testing.T) {
	const path, hello = "/api/v4/translator", `{"result":"HELLO, WORLD!"}`
	refused := func(message string) string { return `{"detail":"` + message + `","status_code":400}` }
	server := compattest.Server(dialect.Config{}, compattest.Translator{}, API)
	compattest.Check(t, server, []compattest.Exchange{
		// From Translate for Zotero at ac91aca (services/nllb.ts), in a browser that encodes everything but letters.
		{Name: "Zotero", Method: "GET", ContentType: "-", Headers: []string{"accept", "application/json"}, Path: path + "?text=Hello,%20world!&source=eng_Latn&target=fra_Latn", Status: 200, Want: hello},
		{Name: "Zotero, a stream", Method: "GET", ContentType: "-", Path: path + "/stream?text=Hello,%20world!&source=eng_Latn&target=fra_Latn", Status: 200, Want: "data: HELLO, WORLD!\n"},
		{Name: "a stream with an event", Method: "GET", ContentType: "-", Path: path + "/stream?text=a&source=eng_Latn&target=fra_Latn&event_type=done", Status: 200, Want: "event: done\ndata: A\n"},
		{Name: "a stream of lines", Method: "GET", ContentType: "-", Path: path + "/stream?text=a%0A%0D%0Ab%0Dc&source=eng_Latn&target=fra_Latn", Status: 200, Want: "data: A\ndata: \ndata: B\ndata: C\n"},
		{Name: "an event that is none", Method: "GET", ContentType: "-", Path: path + "/stream?text=a&target=fra_Latn&event_type=a%0Adata:b", Status: 400, Want: refused("event_type has a line break: send a name")},
		{Name: "POST", Path: path, Body: `{"text":"Hello, world!","source":"eng_Latn","target":"jpn_Jpan"}`, Status: 200, Want: hello},
		{Name: "no source", Method: "GET", ContentType: "-", Path: path + "?text=Hello,%20world!&target=fra_Latn", Status: 200, Want: hello},
		{Name: "no target", Method: "GET", ContentType: "-", Path: path + "?text=a&source=eng_Latn", Status: 400, Want: refused("The target language is missing.")},
		{Name: "no text", Method: "GET", ContentType: "-", Path: path + "?text=&source=eng_Latn&target=fra_Latn", Status: 400, Want: refused("The text is missing: send text, source and target.")},
		{Name: "a list", Path: path, Body: `{"text":["a"],"target":"fra_Latn"}`, Status: 400, Want: refused("Invalid request: text is an array, expected a string")},
		{Name: "another language", Method: "GET", ContentType: "-", Path: path + "/stream?text=a&target=xxx_Latn", Status: 400, Want: refused(`\"xxx_Latn\" is not a target language of this server, see /languages.`)},
		{Name: "busy", Method: "GET", ContentType: "-", Path: path + "/stream?text=busy&target=fra_Latn", Status: 503, Want: `{"detail":"Too many requests are waiting: try again in 3 s.","status_code":503}`},
	})
	w := compattest.Send(t.Context(), server, "GET", path+"/stream?text=a&target=fra_Latn", "", "")
	assert.Equal(t, "text/event-stream; charset=utf-8", w.Header().Get("Content-Type"))
}
