package deeplx

import (
	"testing"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/compattest"
	"dragoman/app/api/dropin/libretranslate"
)

const hello = `{"code":200,"id":1,"data":"HELLO","alternatives":[],"source_lang":"EN","target_lang":"FR","method":"Free"}`

func TestTranslate(t *testing.T) {
	server := compattest.Server(dialect.Config{}, compattest.Translator{}, New)
	compattest.Check(t, server, []compattest.Exchange{
		// SillyTavern 1.12.6 (src/endpoints/translate.js at ba6f7b7).
		{Name: "SillyTavern", Path: "/translate", Headers: []string{"Accept", "application/json"}, Body: `{"text":"Hello","source_lang":"auto","target_lang":"FR"}`, Status: 200, Want: hello},
		{Name: "SillyTavern, Chinese", Path: "/translate", Body: `{"text":"Hello","source_lang":"auto","target_lang":"ZH"}`, Status: 200,
			Want: `{"code":200,"id":1,"data":"HELLO","alternatives":[],"source_lang":"EN","target_lang":"ZH","method":"Free"}`},
		// Translate for Zotero at ac91aca (services/deeplcustom.ts).
		{Name: "Zotero", Path: "/deeplx", ContentType: "application/json; charset=utf-8", Body: `{"text":"Hello","source_lang":"EN","target_lang":"FR"}`, Status: 200, Want: hello},
		// KISS Translator 2.0.31 (genDeeplX).
		{Name: "KISS Translator", Path: "/deeplx", Headers: []string{"Authorization", "Bearer x"}, Body: `{"text":"Hello","target_lang":"FR","source_lang":"auto"}`, Status: 200, Want: hello},
		{Name: "DeepLX's own example", Path: "/deeplx", Body: `{"text":"<b>Hello</b>","source_lang":"EN","target_lang":"nb","tag_handling":"html"}`, Status: 200,
			Want: `{"code":200,"id":1,"data":"<b>HELLO</b>","alternatives":[],"source_lang":"EN","target_lang":"nb","method":"Free"}`},
		{Name: "no tags", Path: "/deeplx", Body: `{"text":"Hello","source_lang":"","target_lang":"FR","tag_handling":""}`, Status: 200, Want: hello},
		{Name: "Norwegian", Path: "/deeplx", Body: `{"text":"x","source_lang":"NB","target_lang":"EN-GB"}`, Status: 200,
			Want: `{"code":200,"id":1,"data":"X","alternatives":[],"source_lang":"NB","target_lang":"EN-GB","method":"Free"}`},
		{Name: "no text", Path: "/deeplx", Body: `{"text":"","target_lang":"FR"}`, Status: 404, Want: `{"code":404,"message":"No text to translate"}`},
		{Name: "other tags", Path: "/deeplx", Body: `{"text":"x","target_lang":"FR","tag_handling":"md"}`, Status: 400,
			Want: `{"code":400,"message":"Invalid tag_handling value. Allowed values are 'html' and 'xml'."}`},
		{Name: "no target", Path: "/deeplx", Body: `{"text":"x"}`, Status: 400, Want: `{"code":400,"message":"The target language is missing."}`},
		{Name: "traditional Chinese", Path: "/deeplx", Body: `{"text":"x","target_lang":"ZH-HANT"}`, Status: 400,
			Want: `{"code":400,"message":"\"ZH-HANT\" is not offered: this server does not tell traditional Chinese from simplified, use zh-Hans."}`},
		{Name: "several texts", Path: "/deeplx", Body: `{"text":["x"],"target_lang":"FR"}`, Status: 400, Want: `{"code":400,"message":"Invalid request: text is an array, expected a string"}`},
		{Name: "not JSON", Path: "/deeplx", Body: `{`, Status: 400, Want: `{"code":400,"message":"Invalid JSON format: at byte 1: unexpected EOF"}`},
		{Name: "busy", Path: "/deeplx", Body: `{"text":"busy","target_lang":"FR"}`, Status: 503, Want: `{"code":503,"message":"Too many requests are waiting: try again in 3 s."}`},
	})
}

// DeepLX's path is also LibreTranslate's.
func TestSharedPath(t *testing.T) {
	gate, key := compattest.Keys(t)
	both := func(server *dialect.Server) dialect.Dialect {
		return dialect.Share(New(server), libretranslate.New(server))[1]
	}
	for name, server := range map[string]dialect.Config{"open": {}, "with keys": {Gate: gate}} {
		t.Run(name, func(t *testing.T) {
			key := `,"api_key":"` + key + `"` // LibreTranslate's clients have it in the body
			compattest.Check(t, compattest.Server(server, compattest.Translator{}, both), []compattest.Exchange{
				{Name: "LibreTranslate", Path: "/translate", Body: `{"q":"Hello","source":"en","target":"fr"` + key + `}`, Status: 200, Want: `{"translatedText":"HELLO"}`},
				{Name: "DeepLX", Path: "/translate", Body: `{"text":"Hello","source_lang":"auto","target_lang":"FR"` + key + `}`, Status: 200, Want: hello},
				{Name: "DeepLX, failing", Path: "/translate", Body: `{"text":"","target_lang":"FR"` + key + `}`, Status: 404, Want: `{"code":404,"message":"No text to translate"}`},
				{Name: "both", Path: "/translate", Body: `{"q":"Hello","source":"en","target":"fr","text":""` + key + `}`, Status: 200, Want: `{"translatedText":"HELLO"}`},
				{Name: "neither", Path: "/translate", Body: `{"target":"fr"` + key + `}`, Status: 400, Want: `{"error":"Invalid request: missing q parameter"}`},
				{Name: "not JSON", Path: "/translate", Body: `{`, Status: 400, Want: `{"error":"Invalid JSON format: at byte 1: unexpected EOF"}`},
			})
		})
	}
}

func TestKeys(t *testing.T) {
	gate, key := compattest.Keys(t)
	server := compattest.Server(dialect.Config{Gate: gate}, compattest.Translator{}, New)
	const body = `{"text":"Hello","source_lang":"EN","target_lang":"FR"}`
	compattest.Check(t, server, []compattest.Exchange{
		{Name: "in a header", Path: "/deeplx", Headers: []string{"Authorization", "Bearer " + key}, Body: body, Status: 200, Want: hello},
		{Name: "in the query", Path: "/deeplx?token=" + key, Body: body, Status: 200, Want: hello},
		{Name: "none", Path: "/deeplx", Body: body, Status: 401, Want: `{"code":401,"message":"Invalid access token"}`},
		{Name: "another", Path: "/deeplx?token=x", Body: body, Status: 401, Want: `{"code":401,"message":"Invalid access token"}`},
	})
}
