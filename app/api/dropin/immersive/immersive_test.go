package immersive

import (
	"testing"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/compattest"
)

func TestTranslate(t *testing.T) {
	server := compattest.Server(dialect.Config{}, compattest.Translator{}, New)
	compattest.Check(t, server, []compattest.Exchange{
		// From the extension's documentation of November 2026.
		{Name: "of the extension", Path: "/imme", Body: `{"source_lang":"auto","target_lang":"zh-CN","text_list":["Hello","{0} Bonjour <b0></b0>"]}`,
			Status: 200, Want: `{"translations":[{"detected_source_lang":"en","text":"HELLO"},{"detected_source_lang":"fr","text":"{0} BONJOUR <B0></B0>"}]}`},
		{Name: "known source", Path: "/imme?token=", Body: `{"source_lang":"zh-CN","target_lang":"fr","text_list":["x"]}`,
			Status: 200, Want: `{"translations":[{"detected_source_lang":"zh-CN","text":"X"}]}`},
		{Name: "no source", Path: "/imme", Body: `{"target_lang":"fr","text_list":["hi"]}`,
			Status: 200, Want: `{"translations":[{"detected_source_lang":"en","text":"HI"}]}`},
		{Name: "a model", Path: "/models/default/imme", Body: `{"target_lang":"fr","text_list":["hi"]}`,
			Status: 200, Want: `{"translations":[{"detected_source_lang":"en","text":"HI"}]}`},
		{Name: "no texts", Path: "/imme", Body: `{"source_lang":"auto","target_lang":"fr","text_list":[]}`, Status: 200, Want: `{"translations":[]}`},
		{Name: "texts missing", Path: "/imme", Body: `{"source_lang":"auto","target_lang":"fr"}`, Status: 400, Want: `{"error":"Invalid request: text_list is missing"}`},
		{Name: "a text that is none", Path: "/imme", Body: `{"target_lang":"fr","text_list":["a",null]}`, Status: 400, Want: `{"error":"Invalid request: text_list[1] is null, expected a string"}`},
		{Name: "no target", Path: "/imme", Body: `{"source_lang":"auto","text_list":["a"]}`, Status: 400, Want: `{"error":"The target language is missing."}`},
		{Name: "another target", Path: "/imme", Body: `{"target_lang":"tlh","text_list":["a"]}`, Status: 400,
			Want: `{"error":"\"tlh\" is not a target language of this server, see /languages."}`},
		{Name: "traditional Chinese", Path: "/imme", Body: `{"target_lang":"zh-TW","text_list":["a"]}`, Status: 400,
			Want: `{"error":"\"zh-TW\" is not offered: this server does not tell traditional Chinese from simplified, use zh-Hans."}`},
		{Name: "another source", Path: "/imme", Body: `{"source_lang":"tlh","target_lang":"fr","text_list":["a"]}`, Status: 400,
			Want: `{"error":"\"tlh\" is not a source language of this server, see /languages."}`},
		{Name: "a list", Path: "/imme", Body: `[]`, Status: 400, Want: `{"error":"Invalid JSON format: the body is an array, expected an object"}`},
		{Name: "busy", Path: "/imme", Body: `{"target_lang":"fr","text_list":["busy"]}`, Status: 503, Want: `{"error":"Too many requests are waiting: try again in 3 s."}`},
	})
}

func TestKeys(t *testing.T) {
	gate, key := compattest.Keys(t)
	server := compattest.Server(dialect.Config{Gate: gate}, compattest.Translator{}, New)
	const body, fine = `{"target_lang":"fr","text_list":["hi"]}`, `{"translations":[{"detected_source_lang":"en","text":"HI"}]}`
	compattest.Check(t, server, []compattest.Exchange{
		{Name: "in the address", Path: "/imme?token=" + key, Body: body, Status: 200, Want: fine},
		{Name: "in a header", Path: "/imme", Headers: []string{"Authorization", "Bearer " + key}, Body: body, Status: 200, Want: fine},
		{Name: "none", Path: "/imme", Body: body, Status: 401, Want: `{"error":"An API key is needed: send Authorization: Bearer KEY, or X-API-Key: KEY."}`},
		{Name: "another", Path: "/imme?token=nonsense", Body: body, Status: 401, Want: `{"error":"The API key is not valid: it was cut off or mistyped."}`},
	})
}
