package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/mcp"
	"dragoman/app/fault/faulttest"
	"dragoman/app/glossary"
	"dragoman/app/glossary/glossarystore"
)

// On every route, an unreadable body of any kind gets an error in words that need no knowledge of Go.
func TestAnswersNameNoGo(t *testing.T) {
	s := newJobService(t, nil, true)
	store, err := glossarystore.OpenFile(t.TempDir() + "/glossaries.db")
	require.NoError(t, err)
	defer func() { assert.NoError(t, store.Close()) }()
	s.api.cfg.Glossaries = glossary.New(glossary.Config{Store: store})
	s.api.server.Glossaries = s.api.cfg.Glossaries
	s.api.cfg.Tools = func(routes http.Handler) http.Handler { return mcp.Handler("", routes, 1000) }
	s.Handler = s.api.Handler()
	const part = "--b\r\nContent-Disposition: form-data; name="
	bodies := map[string][]string{
		"application/json": {
			"", "{", "{]", "hello", `"a`, `{"a":1}}`, `{"a":tru}`, `{"a":1,"a":2}`, "{\"\xff\":1}", `{"a":"\ud800"}`, `{"a":1e999}`, "[", "[1,{}]", "[[[]]]", "null", strings.Repeat("[", 15000), strings.Repeat(`{"a":`, 12000),
			`{"text":[1,null]}`, `{"q":{}}`, `{"messages":[1]}`, `{"payload":{"records":[{"id":1}]}}`, `{"inputs":[{"shape":["a",1e40],"data":{},"name":1}]}`, `{"inputs":[{"shape":[-1],"datatype":"BYTES","name":"text","data":[1]}]}`,
			`{"id":1e400,"parameters":{"a":"b"}}`, `{"name":"g","dictionaries":[{"entries":5}]}`, `{"name":"g","dictionaries":[{"source_lang":"en","target_lang":"fr","entries":"a","entries_format":"csv"}]}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"translate","arguments":5}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"translate","arguments":{"texts":{},"to":1}}}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"translate_document","arguments":{"name":"a.txt","content":"%","to":"fr"}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":7}`, `{"jsonrpc":"1.0"}`, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":5}}`, `[{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":{}}}]`, `{"jsonrpc":"2.0","id":{},"method":5}`, `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"%"}}`,
		},
		"application/x-www-form-urlencoded": {"%zz", "a=%", ";=;", "text=%ff&target_lang=FR", strings.Repeat("a&", 20000)},
		"multipart/form-data; boundary=b": {
			"", "--b", "--b--", "--b\r\n--b--", part + "\"file\"\r\n\r\na", part + "file; filename=\"a.json\"\r\n\r\n{\r\n--b--", part + "file; filename=a.xcstrings\r\n\r\n{\"strings\":{]\r\n--b--", "--b\r\nA\r\n\r\n--b--", "--b\r\nContent-Disposition: ;;\r\n\r\n--b--",
			part + "\"file\r\n\r\na\r\n--b--", "--b\r\nContent-Transfer-Encoding: quoted-printable\r\nContent-Disposition: form-data; name=a\r\n\r\n=ZZ\r\n--b--", strings.Repeat(part+"a\r\n\r\n\r\n", 2000) + "--b--", "--b\r\nA: " + strings.Repeat("a", 15000) + "\r\n\r\n--b--", "--b \r\nA: b\r\n --b--",
		},
		"multipart/form-data": {"", "--b--"}, "multipart/form-data; boundary=\"": {"a"}, "multipart/form-data; boundary": {"a"}, "text/plain; charset=x": {"a"}, "application/octet-stream": {"{"}, ";": {"{"},
		"text/csv": {"a\n", "\"a\n"}, "text/tab-separated-values": {"a\n\xff"},
	}
	queries := []string{"", "?api-version=3.0&to=fr", "?a=%zz", "?a;b", "?toLang=fr&fromLang=en", "?target_lang=FR&source_lang=EN&source=en&target=fr&to=fr", "?api-version=2024-05-01&targetLanguage=fr&name=a.json&toLang=fr&fromLang=en", "?limit=a&detail=x&deadline=x"}
	asked := 0
	for _, route := range s.api.Routes() {
		if strings.HasPrefix(route.Path, "/models/:model") || route.Path == "/metrics" || strings.Contains(route.Path, "docs") {
			continue
		}
		for media, list := range bodies {
			for place, body := range list {
				for number, query := range queries {
					if testing.Short() && (place+number)%4 != 0 {
						continue
					}
					w := do(s.Handler, route.Method, placeholder.ReplaceAllString(route.Path, "x")+query, body, "Content-Type", media, "Accept", "application/json, text/event-stream")
					if w.Code < 400 && route.Path != "/mcp" {
						continue
					}
					asked++
					assert.Empty(t, faulttest.NamesGo(w.Body.String()), "%s %s%s, %s, %.40q: %.300s", route.Method, route.Path, query, media, body, w.Body)
					if route.Method == "GET" {
						break
					}
				}
			}
		}
	}
	assert.Greater(t, asked, 3000)
}
