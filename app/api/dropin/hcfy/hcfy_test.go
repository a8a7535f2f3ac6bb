package hcfy

import (
	"strings"
	"testing"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/compattest"
)

func TestTranslate(t *testing.T) {
	server := compattest.Server(dialect.Config{}, compattest.Translator{}, New)
	compattest.Check(t, server, []compattest.Exchange{
		// From the extension's page, with languages that the test's detector knows.
		{Name: "the second language", Path: "/hcfy", Body: `{"name":"翻译一","text":"ここ、word","destination":["日语","英语"],"source":""}`, Status: 200,
			Want: `{"text":"ここ、word","from":"日语","to":"英语","result":["ここ、WORD"]}`},
		{Name: "the first language", Path: "/hcfy", Body: `{"name":"翻译一","text":"Hello","destination":["中文(简体)","英语"]}`, Status: 200,
			Want: `{"text":"Hello","from":"英语","to":"中文(简体)","result":["HELLO"]}`},
		{Name: "paragraphs", Path: "/hcfy", Body: `{"name":"x","text":"Hello\n\nworld","destination":["法语"],"source":"英语"}`, Status: 200,
			Want: `{"text":"Hello\n\nworld","from":"英语","to":"法语","result":["HELLO","","WORLD"]}`},
		{Name: "its own language alone", Path: "/hcfy", Body: `{"text":"a","destination":["英语"],"source":"英语"}`, Status: 200, Want: `{"text":"a","from":"英语","to":"英语","result":["A"]}`},
		{Name: "a further language that there is none of", Path: "/hcfy", Body: `{"text":"a","destination":["法语","克林贡语"],"source":"英语"}`, Status: 200, Want: `{"text":"a","from":"英语","to":"法语","result":["A"]}`},
		{Name: "codes", Path: "/hcfy", Body: `{"text":"a","destination":["zh-CN"],"source":"auto"}`, Status: 200, Want: `{"text":"a","from":"英语","to":"zh-CN","result":["A"]}`},
		{Name: "nothing to detect", Path: "/hcfy", Body: `{"text":"12","destination":["法语"]}`, Status: 200, Want: `{"text":"12","from":"","to":"法语","result":["12"]}`},
		{Name: "full width", Path: "/hcfy", Body: `{"text":"a","destination":["中文（简体）"],"source":"英语"}`, Status: 200, Want: `{"text":"a","from":"英语","to":"中文（简体）","result":["A"]}`},

		{Name: "traditional Chinese", Path: "/hcfy", Body: `{"text":"a","destination":["中文(繁体)"],"source":"英语"}`, Status: 400,
			Want: `{"error":"\"zh-Hant\" is not offered: this server does not tell traditional Chinese from simplified, use zh-Hans."}`},
		{Name: "another language", Path: "/hcfy", Body: `{"text":"a","destination":["克林贡语"]}`, Status: 400, Want: `{"error":"\"克林贡语\" is not a target language of this server, see /languages."}`},
		{Name: "another source", Path: "/hcfy", Body: `{"text":"a","destination":["法语"],"source":"克林贡语"}`, Status: 400, Want: `{"error":"\"克林贡语\" is not a source language of this server, see /languages."}`},
		{Name: "no text", Path: "/hcfy", Body: `{"destination":["法语"]}`, Status: 400, Want: `{"error":"Invalid request: text is missing"}`},
		{Name: "too many lines", Path: "/hcfy", Body: `{"text":"` + strings.Repeat(`\n`, 10_000) + `","destination":["法语"]}`, Status: 413,
			Want: `{"error":"Invalid request: the text has 10001 lines, at most 10000 are allowed"}`},
		{Name: "no destination", Path: "/hcfy", Body: `{"text":"a"}`, Status: 400, Want: `{"error":"Invalid request: destination is missing"}`},
		{Name: "no destinations", Path: "/hcfy", Body: `{"text":"a","destination":[]}`, Status: 400, Want: `{"error":"Invalid request: destination names no language"}`},
		{Name: "a list of texts", Path: "/hcfy", Body: `{"text":["a"],"destination":["法语"]}`, Status: 400, Want: `{"error":"Invalid request: text is an array, expected a string"}`},
		{Name: "busy", Path: "/hcfy", Body: `{"text":"busy","destination":["法语"]}`, Status: 503, Want: `{"error":"Too many requests are waiting: try again in 3 s."}`},
	})
}

func TestKeys(t *testing.T) {
	gate, key := compattest.Keys(t)
	server := compattest.Server(dialect.Config{Gate: gate}, compattest.Translator{}, New)
	const body = `{"text":"a","destination":["法语"],"source":"英语"}`
	compattest.Check(t, server, []compattest.Exchange{
		{Name: "in the address", Path: "/hcfy?token=" + key, Body: body, Status: 200, Want: `{"text":"a","from":"英语","to":"法语","result":["A"]}`},
		{Name: "none", Path: "/hcfy", Body: body, Status: 401, Want: `{"error":"An API key is needed: send Authorization: Bearer KEY, or X-API-Key: KEY."}`},
	})
}
