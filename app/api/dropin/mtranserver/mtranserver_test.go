package mtranserver

import (
	"testing"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/compattest"
	"dragoman/app/api/dropin/deeplx"
	"dragoman/app/api/dropin/libretranslate"
)

func newAPI(server *dialect.Server) dialect.Dialect { return New(server, "v1.2.3") }

func refused(message string) string { return `{"error":"` + message + `"}` }

// MTranServer's own paths and the paths below Root answer alike.
func TestRoutes(t *testing.T) {
	server := compattest.Server(dialect.Config{MaxRecords: 4}, compattest.Translator{}, newAPI)
	for _, root := range []string{"", Root, "/models/default", "/models/default" + Root} {
		one, batch, detect := root+"/translate", root+"/translate/batch", root+"/detect"
		compattest.Check(t, server, []compattest.Exchange{
			// From docs/API_en.md.
			{Name: "one text", Path: one, Body: `{"from": "en", "to": "zh-Hans", "text": "Hello, world!", "html": false}`, Status: 200, Want: `{"result":"HELLO, WORLD!"}`},
			{Name: "several", Path: batch, Body: `{"from": "en", "to": "zh-Hans", "texts": ["Hello, world!", "Good morning!"], "html": false}`, Status: 200, Want: `{"results":["HELLO, WORLD!","GOOD MORNING!"]}`},
			// Translate for Zotero at ac91aca (services/mtranserver.ts).
			{Name: "Zotero", Path: one, Headers: []string{"authorization", ""}, Body: `{"text":"Hello","from":"en","to":"fr"}`, Status: 200, Want: `{"result":"HELLO"}`},
			{Name: "HTML", Path: one, Body: `{"from":"auto","to":"fr","text":"<b>Hello</b>","html":true}`, Status: 200, Want: `{"result":"<b>HELLO</b>"}`},
			{Name: "no text to translate", Path: one, Body: `{"from":"en","to":"fr","text":""}`, Status: 200, Want: `{"result":""}`},
			{Name: "nothing to translate", Path: batch, Body: `{"from":"en","to":"fr","texts":[]}`, Status: 200, Want: `{"results":[]}`},
			{Name: "no texts", Path: batch, Body: `{"from":"en","to":"fr"}`, Status: 400, Want: refused("Invalid request: texts is missing")},
			{Name: "a text of another kind", Path: one, Body: `{"from":"en","to":"fr","text":["a"]}`, Status: 400, Want: refused("Invalid request: text is an array, expected a string")},
			{Name: "another source", Path: one, Body: `{"from":"tlh","to":"fr","text":"a"}`, Status: 400, Want: refused(`\"tlh\" is not a source language of this server, see /languages.`)},
			{Name: "another target", Path: batch, Body: `{"from":"en","to":"tlh","texts":["a"]}`, Status: 400, Want: refused(`\"tlh\" is not a target language of this server, see /languages.`)},
			{Name: "html that is none", Path: one, Body: `{"from":"en","to":"fr","text":"a","html":"<b>"}`, Status: 400, Want: refused(`Invalid request: html is \"<b>\", expected true or false, or 1 or 0 in a form`)},
			{Name: "busy", Path: batch, Body: `{"from":"en","to":"fr","texts":["a","busy"]}`, Status: 503, Want: refused("Too many requests are waiting: try again in 3 s.")},
			{Name: "a fault", Path: one, Body: `{"from":"en","to":"fr","text":"fail"}`, Status: 500, Want: refused("Internal error, request id id-77")},
			{Name: "not JSON", Path: batch, Body: `{"texts":`, Status: 400, Want: refused("Invalid JSON format: at byte 9: unexpected EOF")},

			{Name: "detect", Path: detect, Body: `{"text":"Bonjour"}`, Status: 200, Want: `{"language":"fr"}`},
			{Name: "detect, surely", Path: detect, Body: `{"text":"Bonjour","minConfidence":0.5}`, Status: 200, Want: `{"language":"fr","confidence":0.9}`},
			{Name: "detect, not sure enough", Path: detect, Body: `{"text":"Bonjour","minConfidence":0.95}`, Status: 200, Want: `{"language":"","confidence":0.9}`},
			{Name: "detect digits", Path: detect, Body: `{"text":"12","minConfidence":0}`, Status: 200, Want: `{"language":"","confidence":0}`},
			{Name: "detect with no number", Path: detect, Body: `{"text":"Bonjour","minConfidence":"much"}`, Status: 400, Want: refused(`Invalid request: minConfidence is \"much\", expected a number`)},

			{Name: "version", Method: "GET", ContentType: "-", Path: root + "/version", Status: 200, Want: `{"version":"v1.2.3"}`},
			{Name: "heartbeat", Method: "GET", ContentType: "-", Path: root + "/__heartbeat__", Status: 200},
			{Name: "another heartbeat", Method: "GET", ContentType: "-", Path: root + "/__lbheartbeat__", Status: 200},
		})
	}
	few := compattest.Server(dialect.Config{}, compattest.Translator{Codes: []string{"en", "zh"}, Mute: true}, newAPI)
	compattest.Check(t, few, []compattest.Exchange{
		{Name: "languages", Method: "GET", ContentType: "-", Path: Root + "/languages", Status: 200, Want: `{"languages":["en","zh-Hans"],"pairs":[{"from":"en","to":"zh-Hans"},{"from":"zh-Hans","to":"en"}]}`},
		{Name: "health", Method: "GET", ContentType: "-", Path: Root + "/health", Status: 200, Want: `{"status":"ok"}`},
		{Name: "no text", Path: Root + "/translate", Body: `{"from":"en","to":"zh"}`, Status: 400, Want: refused("Invalid request: text is missing")},
		{Name: "no text to detect", Path: Root + "/detect", Body: `{}`, Status: 400, Want: refused("Language detection is not offered by this server.")},
	})
	loading := compattest.Server(dialect.Config{}, nil, newAPI)
	compattest.Check(t, loading, []compattest.Exchange{
		{Name: "no heartbeat yet", Method: "GET", ContentType: "-", Path: "/__heartbeat__", Status: 503, Want: refused("The model is loading: try again in a moment.")},
		{Name: "version at once", Method: "GET", ContentType: "-", Path: "/version", Status: 200, Want: `{"version":"v1.2.3"}`},
	})
}

// On a shared path, the fields of a request decide which API answers.
func TestPathsOfOthers(t *testing.T) {
	shared := func(i int) func(*dialect.Server) dialect.Dialect {
		return func(s *dialect.Server) dialect.Dialect {
			return dialect.Share(newAPI(s), deeplx.New(s), libretranslate.New(s))[i]
		}
	}
	server := compattest.Server(dialect.Config{}, compattest.Translator{}, shared(2))
	compattest.Check(t, server, []compattest.Exchange{
		{Name: "ours", Path: "/translate", Body: `{"from":"en","to":"fr","text":"a"}`, Status: 200, Want: `{"result":"A"}`},
		{Name: "ours, fails", Path: "/translate", Body: `{"from":"en","to":"xx","text":"a"}`, Status: 400, Want: refused(`\"xx\" is not a target language of this server, see /languages.`)},
		{Name: "LibreTranslate's", Path: "/translate", Body: `{"q":"a","source":"en","target":"fr"}`, Status: 200, Want: `{"translatedText":"A"}`},
		{Name: "all of both", Path: "/translate", Body: `{"q":"a","source":"en","target":"fr","from":"en","to":"ja","text":"b"}`, Status: 200, Want: `{"translatedText":"A"}`},
		{Name: "no target", Path: "/translate", Body: `{"from":"en","source":"en","text":"a"}`, Status: 400, Want: `{"code":400,"message":"The target language is missing."}`},
		{Name: "DeepLX's", Path: "/translate", Body: `{"text":"a","source_lang":"EN","target_lang":"FR"}`, Status: 200,
			Want: `{"code":200,"id":1,"data":"A","alternatives":[],"source_lang":"EN","target_lang":"FR","method":"Free"}`},
		{Name: "nobody's", Path: "/translate", Body: `{"from":"en","to":"fr"}`, Status: 400, Want: refused("Invalid request: missing q parameter")},
		{Name: "LibreTranslate's detection", Path: "/detect", Body: `{"q":"Bonjour"}`, Status: 200, Want: `[{"confidence":90,"language":"fr"}]`},
		{Name: "our detection", Path: "/detect", Body: `{"text":"Bonjour"}`, Status: 200, Want: `{"language":"fr"}`},
		{Name: "detection of nobody", Path: "/detect", Body: `{}`, Status: 400, Want: refused("Invalid request: missing q parameter")},
		{Name: "not JSON", Path: "/translate", Body: `{"from"`, Status: 400, Want: refused("Invalid JSON format: at byte 7: unexpected EOF")},
	})
}

func TestKeys(t *testing.T) {
	gate, key := compattest.Keys(t)
	server := compattest.Server(dialect.Config{Gate: gate}, compattest.Translator{}, newAPI)
	const path, body, fine = "/translate/batch", `{"from":"en","to":"fr","texts":["a"]}`, `{"results":["A"]}`
	compattest.Check(t, server, []compattest.Exchange{
		{Name: "as Zotero has it", Path: path, Headers: []string{"Authorization", key}, Body: body, Status: 200, Want: fine},
		{Name: "as a token", Path: path, Headers: []string{"Authorization", "Bearer " + key}, Body: body, Status: 200, Want: fine},
		{Name: "in the query", Path: path + "?token=" + key, Body: body, Status: 200, Want: fine},
		{Name: "none", Path: path, Body: body, Status: 401, Want: refused("An API key is needed: send Authorization: Bearer KEY, or X-API-Key: KEY.")},
		{Name: "none, for languages", Method: "GET", ContentType: "-", Path: Root + "/languages", Status: 401, Want: refused("An API key is needed: send Authorization: Bearer KEY, or X-API-Key: KEY.")},
		{Name: "none, for the version", Method: "GET", ContentType: "-", Path: "/version", Status: 200, Want: `{"version":"v1.2.3"}`},
	})
}
