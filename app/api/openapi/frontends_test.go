package openapi_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Answers of the front ends' routes match the description.
func TestAnswersOfFrontEnds(t *testing.T) {
	c, h := newContract(t), newAPI(t, true).Handler()
	const post, form, azure, google = "POST", "application/x-www-form-urlencoded", "/translate?api-version=3.0", "/language/translate/v2"
	const v3 = "/v3/projects/p"
	for _, test := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
	}{
		{"Immersive Translate", post, "/imme", `{"source_lang":"auto","target_lang":"fr","text_list":["one","12"]}`, nil, 200},
		{"Immersive Translate, nothing", post, "/imme", `{"target_lang":"fr"}`, nil, 400},
		{"Immersive Translate, busy", post, "/imme", `{"target_lang":"fr","text_list":["busy"]}`, nil, 503},
		{"Immersive Translate, GET", "GET", "/imme", "", nil, 405},
		{"KISS", post, "/kiss", `{"texts":["one"],"from":"auto","to":"fr"}`, nil, 200},
		{"KISS, one text", post, "/kiss", `{"text":"one","from":"en","to":"fr"}`, nil, 200},
		{"KISS, another language", post, "/kiss", `{"text":"one","to":"xx"}`, nil, 400},
		{"hcfy", post, "/hcfy", `{"name":"x","text":"one","destination":["法语","英语"],"source":""}`, nil, 200},
		{"hcfy, another language", post, "/hcfy", `{"text":"one","destination":["克林贡语"]}`, nil, 400},
		{"DeepLX", post, "/deeplx", `{"text":"one","source_lang":"auto","target_lang":"FR","tag_handling":""}`, nil, 200},
		{"DeepLX, no text", post, "/deeplx", `{"text":"","target_lang":"FR"}`, nil, 404},
		{"MCP", post, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"translate","arguments":{"texts":["one"],"to":"fr"}}}`, []string{"Accept", "application/json, text/event-stream"}, 200},
		{"MCP, not a message", post, "/mcp", `{}`, []string{"Accept", "application/json, text/event-stream"}, 400},
		{"OpenAI", post, "/v1/chat/completions", `{"model":"dragoman:en-fr","temperature":0,"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"one"}]}]}`, nil, 200},
		{"OpenAI, a stream", post, "/v1/chat/completions", `{"model":"dragoman:fr","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"one"}]}`, nil, 200},
		{"OpenAI, no messages", post, "/v1/chat/completions", `{"model":"dragoman:fr"}`, nil, 400},
		{"OpenAI, no such model", post, "/v1/chat/completions", `{"model":"nope:fr","messages":[{"role":"user","content":"one"}]}`, nil, 404},
		{"OpenAI, a response", post, "/v1/responses", `{"model":"dragoman:fr","input":"one"}`, nil, 200},
		{"OpenAI, a response of messages", post, "/v1/responses", `{"model":"dragoman:fr","instructions":"Be brief.","input":[{"role":"user","content":"one"}],"text":{"format":{"type":"text"}}}`, nil, 200},
		{"OpenAI, a response as a stream", post, "/v1/responses", `{"model":"dragoman:fr","stream":true,"input":"one"}`, nil, 200},
		{"OpenAI, a response to nothing", post, "/v1/responses", `{"model":"dragoman:fr"}`, nil, 400},
		{"OpenAI, completions", post, "/v1/completions", `{"model":"dragoman:fr","prompt":["one","two"]}`, nil, 200},
		{"OpenAI, no prompt", post, "/v1/completions", `{}`, nil, 400},
		{"OpenAI, models", "GET", "/v1/models", "", nil, 200},
		{"OpenAI, a model", "GET", "/v1/models/dragoman:fr", "", nil, 200},
		{"OpenAI, no model", "GET", "/v1/models/nope", "", nil, 404},
		{"DeepLX, GET", "GET", "/deeplx", "", nil, 405},
		{"DeepLX on LibreTranslate's path", post, "/translate", `{"text":"one","source_lang":"auto","target_lang":"FR"}`, nil, 200},
		{"DeepLX on LibreTranslate's path, fails", post, "/translate", `{"text":"fail","target_lang":"FR"}`, nil, 500},
		{"Azure", post, azure + "&from=en&to=fr&to=ja", `[{"Text":"one"},{"text":"two"}]`, nil, 200},
		{"Azure, detecting", post, azure + "&to=fr", `[{"Text":"one"}]`, nil, 200},
		{"Azure, inputs", post, "/translate?api-version=2026-06-06", `{"inputs":[{"text":"one","language":"en","targets":[{"language":"fr"},{"language":"ja"}]},{"text":"two","targets":[{"language":"fr"}]}]}`, nil, 200},
		{"Azure, no inputs", post, "/translate?api-version=2026-06-06", `{}`, nil, 400},
		{"Azure, languages of inputs", "GET", "/languages?api-version=2026-06-06", "", nil, 200},
		{"Azure, no target", post, azure, `[{"Text":"one"}]`, nil, 400},
		{"Azure, too many", post, azure + "&to=fr&to=ja", `[{"Text":"a"},{"Text":"b"},{"Text":"c"}]`, nil, 400},
		{"Azure, another version", post, "/translate?api-version=4&to=fr", `[{"Text":"one"}]`, nil, 400},
		{"Azure, too large", post, azure + "&to=fr", strings.Repeat("x", 2*int(config().MaxBodyBytes)), nil, 0},
		{"Azure, detection", post, "/detect?api-version=3.0", `[{"Text":"bonjour"}]`, nil, 200},
		{"Azure, languages", "GET", "/languages?api-version=3.0&scope=translation", "", nil, 200},
		{"Azure, all languages", "GET", "/languages?api-version=3.0", "", nil, 200},
		{"Google", post, google, `{"q":["one"],"target":"fr","cid":[],"format":null,"source":null,"model":null}`, nil, 200},
		{"Google, all", post, google + "?prettyPrint=false", `{"q":["one","two"],"target":"fr","source":"en","format":"text","model":"nmt"}`, nil, 200},
		{"Google, a form", post, google, "q=one&q=two&target=fr", []string{"Content-Type", form}, 200},
		{"Google, GET", "GET", google + "?q=one&q=two&target=fr&source=en&format=html", "", nil, 200},
		{"Google, nothing", post, google, `{"target":"fr"}`, nil, 400},
		{"Google, PUT", "PUT", google, `{}`, nil, 405},
		{"Google, no such path", "GET", "/language/translate/v3", "", nil, 404},
		{"Google, detection", post, google + "/detect", `{"q":"one"}`, nil, 200},
		{"Google, detection, GET", "GET", google + "/detect?q=one", "", nil, 200},
		{"Google, languages", "GET", google + "/languages", "", nil, 200},
		{"Google, names of languages", post, google + "/languages", `{"target":"en"}`, nil, 200},
		{"gtx", "GET", "/translate_a/single?client=gtx&sl=auto&tl=fr&dt=t&dt=at&q=one", "", nil, 200},
		{"gtx, named", "GET", "/translate_a/single?client=gtx&sl=en&tl=fr&dt=t&dj=1&q=one", "", nil, 200},
		{"gtx, POST", post, "/translate_a/single?client=gtx&dt=t", "sl=en&tl=fr&q=one", []string{"Content-Type", form}, 200},
		{"gtx, nothing", "GET", "/translate_a/single?client=gtx", "", nil, 400},
		{"Google 3", post, v3 + "/locations/global:translateText", `{"contents":["one","two"],"targetLanguageCode":"fr","mimeType":"text/plain"}`, nil, 200},
		{"Google 3, a model", post, v3 + ":translateText", `{"contents":["one"],"targetLanguageCode":"fr","sourceLanguageCode":"en","model":"projects/p/locations/l/models/general/nmt"}`, nil, 200},
		{"Google 3, detection", post, v3 + ":detectLanguage", `{"content":"one"}`, nil, 200},
		{"Google 3, nothing", post, v3 + ":translateText", `{}`, nil, 400},
		{"Google 3, no method", post, v3 + ":romanizeText", `{"contents":["one"],"targetLanguageCode":"fr"}`, nil, 404},
		{"Google 3, no such glossary", post, v3 + ":translateText", `{"contents":["one"],"sourceLanguageCode":"en","targetLanguageCode":"fr","glossaryConfig":{"glossary":"projects/p/locations/l/glossaries/x"}}`, nil, 404},
		{"Google 3, languages", "GET", v3 + "/supportedLanguages?displayLanguageCode=en", "", nil, 200},
		{"Google 3, languages of a location", "GET", v3 + "/locations/l/supportedLanguages", "", nil, 200},
		{"Google 3, glossaries", "GET", v3 + "/locations/l/glossaries", "", nil, 400},
		{"Google 3, a new glossary", post, v3 + "/locations/l/glossaries", `{}`, nil, 400},
		{"Google 3, a glossary", "GET", v3 + "/locations/l/glossaries/x", "", nil, 400},
		{"Google 3, a deleted glossary", "DELETE", v3 + "/locations/l/glossaries/x", "", nil, 400},
		{"Google 3, no such path", "GET", v3 + "/locations/l/datasets", "", nil, 404},
		{"Azure, no such path", "GET", "/translator/document/batches", "", nil, 404},
		{"Azure, another method", "GET", "/translator/document:translate", "", nil, 405},
		{"nllb-api, another method", "PUT", "/api/v4/translator", "{}", nil, 405},
		{"MTranServer", post, "/mtranserver/translate", `{"from":"auto","to":"fr","text":"one","html":false}`, nil, 200},
		{"MTranServer on LibreTranslate's path", post, "/translate", `{"from":"en","to":"fr","text":"one"}`, nil, 200},
		{"MTranServer, several", post, "/translate/batch", `{"from":"en","to":"fr","texts":["one","12"]}`, nil, 200},
		{"MTranServer, nothing", post, "/mtranserver/translate/batch", `{}`, nil, 400},
		{"MTranServer, detection", post, "/detect", `{"text":"one"}`, nil, 200},
		{"MTranServer, surer detection", post, "/mtranserver/detect", `{"text":"one","minConfidence":0.99}`, nil, 200},
		{"MTranServer, languages", "GET", "/mtranserver/languages", "", nil, 200},
		{"MTranServer, version", "GET", "/version", "", nil, 200},
		{"MTranServer, heartbeat", "GET", "/mtranserver/__lbheartbeat__", "", nil, 200},
		{"MTranServer, Immersive Translate", post, "/imme", `{"source_lang":"auto","target_lang":"fr","text_list":["one"]}`, nil, 200},
		{"nllb-serve", post, "/nllb-serve/translate", `{"source":["one","two"],"src_lang":"eng_Latn","tgt_lang":"fra_Latn"}`, nil, 200},
		{"nllb-serve on LibreTranslate's path", post, "/translate", `{"source":"one","src_lang":"eng_Latn","tgt_lang":"fra_Latn"}`, nil, 200},
		{"nllb-serve, GET", "GET", "/nllb-serve/translate?source=one&src_lang=eng_Latn&tgt_lang=fra_Latn", "", nil, 200},
		{"nllb-serve, nothing", post, "/nllb-serve/translate", `{}`, nil, 400},
		{"nllb-api", "GET", "/api/v4/translator?text=one&source=eng_Latn&target=fra_Latn", "", nil, 200},
		{"nllb-api, a stream", "GET", "/api/v4/translator/stream?text=one&target=fra_Latn", "", nil, 200},
		{"nllb-api, POST", post, "/api/v4/translator", `{"text":"one","source":"eng_Latn","target":"fra_Latn"}`, nil, 200},
		{"nllb-api, nothing", post, "/api/v4/translator", `{}`, nil, 400},
		{"nllb-api, no such path", "GET", "/api/v4/language?text=one", "", nil, 404},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := call(t, c, h, test.method, test.path, test.body, test.headers...)
			if test.status != 0 {
				assert.Equal(t, test.status, w.Code, w.Body)
			}
		})
	}
}
