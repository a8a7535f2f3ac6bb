package kiss

import (
	"testing"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/compattest"
)

func TestTranslate(t *testing.T) {
	server := compattest.Server(dialect.Config{}, compattest.Translator{}, New)
	compattest.Check(t, server, []compattest.Exchange{
		// From version 2.0.31 (genCustom), without a key in its settings.
		{Name: "aggregate", Path: "/kiss", Headers: []string{"Authorization", "Bearer "}, Body: `{"texts":["Hello [1]","Bonjour <i1>x</i1>"],"from":"auto","to":"zh-CN"}`,
			Status: 200, Want: `{"translations":[{"text":"HELLO [1]","src":"en"},{"text":"BONJOUR <I1>X</I1>","src":"fr"}]}`},
		{Name: "one text", Path: "/kiss", Headers: []string{"Authorization", "Bearer undefined"}, Body: `{"text":"Hello","from":"auto","to":"nb"}`,
			Status: 200, Want: `{"text":"HELLO","src":"en"}`},
		{Name: "known source", Path: "/kiss", Body: `{"text":"x","from":"zh-CN","to":"en"}`, Status: 200, Want: `{"text":"X","src":"zh-CN"}`},
		{Name: "no texts", Path: "/kiss", Body: `{"texts":[],"from":"auto","to":"en"}`, Status: 200, Want: `{"translations":[]}`},
		{Name: "a list as the text", Path: "/kiss", Body: `{"text":["a","b"],"to":"fr"}`, Status: 200, Want: `{"translations":[{"text":"A","src":"en"},{"text":"B","src":"en"}]}`},
		{Name: "nothing", Path: "/kiss", Body: `{"from":"auto","to":"en"}`, Status: 400, Want: `{"error":"Invalid request: text is missing"}`},
		{Name: "no target", Path: "/kiss", Body: `{"text":"x","from":"auto"}`, Status: 400, Want: `{"error":"The target language is missing."}`},
		{Name: "another language", Path: "/kiss", Body: `{"text":"x","from":"auto","to":"Klingon"}`, Status: 400,
			Want: `{"error":"\"Klingon\" is not a target language of this server, see /languages."}`},
		{Name: "a number", Path: "/kiss", Body: `{"texts":[1],"to":"en"}`, Status: 400, Want: `{"error":"Invalid request: texts has an item that is not a string"}`},
		{Name: "a fault", Path: "/kiss", Body: `{"text":"fail","to":"fr"}`, Status: 500, Want: `{"error":"Internal error, request id id-77"}`},
	})
}

func TestKeys(t *testing.T) {
	gate, key := compattest.Keys(t)
	server := compattest.Server(dialect.Config{Gate: gate}, compattest.Translator{}, New)
	const body = `{"text":"x","from":"en","to":"fr"}`
	compattest.Check(t, server, []compattest.Exchange{
		{Name: "of the extension", Path: "/kiss", Headers: []string{"Authorization", "Bearer " + key}, Body: body, Status: 200, Want: `{"text":"X","src":"en"}`},
		{Name: "none", Path: "/kiss", Headers: []string{"Authorization", "Bearer "}, Body: body, Status: 401,
			Want: `{"error":"An API key is needed: send Authorization: Bearer KEY, or X-API-Key: KEY."}`},
	})
}
