package httpapi

import (
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// FuzzFrontEnds sends arbitrary queries and bodies to the front ends' paths. Each gets an answer in JSON or a stream of it, and
// each error is the client's.
func FuzzFrontEnds(f *testing.F) {
	paths := []string{"/imme", "/kiss", "/hcfy", "/deeplx", "/translate", "/detect", "/language/translate/v2", "/language/translate/v2/detect", "/translate_a/single",
		"/v3/projects/p:translateText", "/v3/projects/p/locations/l:detectLanguage", "/translate/batch", "/mtranserver/detect", "/nllb-serve/translate", "/api/v4/translator", "/translator/document:translate",
		"/v1/chat/completions", "/v1/completions", "/v1/responses", "/api/v4/translator/stream"}
	const form = "application/x-www-form-urlencoded"
	for i, seed := range []struct{ query, body, contentType string }{
		{"token=x", `{"source_lang":"auto","target_lang":"fr","text_list":["one","{0}"]}`, "application/json"},
		{"", `{"texts":["one"],"from":"auto","to":"ja"}`, "application/json"},
		{"", `{"name":"x","text":"one\n\ntwo","destination":["英语","日语"],"source":""}`, "application/json"},
		{"", `{"text":"one","source_lang":"auto","target_lang":"FR","tag_handling":"html"}`, "application/json"},
		{"api-version=3.0&to=fr&to=ja&textType=html", `[{"Text":"one"},{"text":"two"}]`, "application/json"},
		{"api-version=3.0", `[{}]`, "application/json"},
		{"prettyPrint=false", `{"q":["one"],"target":"fr","format":null}`, "application/json"},
		{"key=x", "q=one&q=two", form},
		{"", `{"contents":["one"],"targetLanguageCode":"fr","glossaryConfig":{"glossary":"x"}}`, "application/json"},
		{"", `{"content":"<p>one"}`, "application/json"},
		{"", `{"from":"en","to":"fr","texts":["one"],"text":"one","html":true}`, "application/json"},
		{"", `{"text":"one","minConfidence":1e9}`, "application/json"},
		{"", `{"source":["one"],"src_lang":"eng_Latn","tgt_lang":"fra_Latn"}`, "application/json"},
		{"source=eng_Latn&target=fra_Latn", `{"text":"one"}`, "application/json"},
		{"", `{"model":"dragoman:fr","messages":[{"role":"user","content":"1. one\n2. two\n"}]}`, "application/json"},
		{"", `{"model":"dragoman","messages":[{"role":"system","content":"x"},{"role":"user","content":[{"type":"text","text":"Translate to French:\n\n{\"a\":\"b\"}"}]}]}`, "application/json"},
		{"", `{"model":"dragoman:fr","prompt":["one","two\n---\nthree"],"n":1}`, "application/json"},
		{"", `{"model":"dragoman:fr","messages":[{"role":"user","content":"{\"targetLanguage\":\"fr\",\"segments\":[{\"id\":1,\"text\":\"one\"}],\"glossary\":{\"one\":\"\"}}"}],"stream":true}`, "application/json"},
		{"client=gtx&sl=auto&tl=fr&dt=t&dj=1", "q=100%+sure", form},
	} {
		f.Add(i, seed.query, seed.body, seed.contentType)
	}
	a := New(Config{MaxBodyBytes: maxBody, MaxRecords: 100, RequestTimeout: time.Minute, Log: slog.New(slog.DiscardHandler)})
	a.Ready(mirror{}, one)
	h := a.Handler()
	f.Fuzz(func(t *testing.T, path int, query, body, contentType string) {
		r := httptest.NewRequest("POST", paths[uint(path)%uint(len(paths))], strings.NewReader(body))
		r.URL.RawQuery = query
		r.Header.Set("Content-Type", contentType)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		isStream := strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream")
		assert.True(t, isStream || json.Valid(w.Body.Bytes()), w.Body)
		assert.True(t, w.Code == 200 || w.Code >= 400 && w.Code < 500, "status %d: %s", w.Code, w.Body)
	})
}
