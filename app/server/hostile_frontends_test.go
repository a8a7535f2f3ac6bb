package server

import "strings"

// frontEndRequests are hostile requests to the APIs of browser extensions, DeepLX, Google and Azure.
func frontEndRequests() []hostile {
	const form = "application/x-www-form-urlencoded"
	const imme, kiss, hcfy, deeplx, google, gtx, azure, chat = "/imme", "/kiss", "/hcfy", "/deeplx", "/language/translate/v2", "/translate_a/single", "/translate?api-version=3.0", "/v1/chat/completions"
	const v3 = "/v3/projects/p"
	post := func(name, path, body string) hostile { return hostile{name: name, wire: wire("POST", path, body)} }
	tool := func(name, body string) hostile {
		return hostile{name: name, wire: wire("POST", "/mcp", body, "Content-Type", "application/json", "Accept", "application/json, text/event-stream")}
	}
	get := func(name, path string) hostile { return hostile{name: name, wire: wire("GET", path, "")} }
	return []hostile{
		post("Immersive Translate", imme, `{"source_lang":"auto","target_lang":"fr","text_list":["It is raining.","{0}"]}`),
		post("Immersive Translate, nothing", imme, ""), post("Immersive Translate, null", imme, "null"),
		post("Immersive Translate, too many", imme, `{"source_lang":"en","target_lang":"fr","text_list":["a","b","c","d"]}`),
		post("Immersive Translate, too long", imme, `{"source_lang":"en","target_lang":"fr","text_list":["`+strings.Repeat("a", 401)+`"]}`),
		post("Immersive Translate, a list in the list", imme, `{"target_lang":"fr","text_list":[["a"]]}`),
		post("Immersive Translate, an object for a text", imme, `{"target_lang":"fr","text_list":{"a":"b"}}`),
		post("Immersive Translate, languages as lists", imme, `{"source_lang":["en"],"target_lang":["fr"],"text_list":["a"]}`),
		get("Immersive Translate, GET", imme),
		{name: "Immersive Translate, a page from elsewhere", wire: wire("POST", imme, `{"source_lang":"en","target_lang":"fr","text_list":["It is raining."]}`, "Origin", "https://evil.example")},
		{name: "Immersive Translate, a preflight", wire: wire("OPTIONS", imme, "", "Origin", "moz-extension://0", "Access-Control-Request-Method", "POST")},
		post("KISS Translator", kiss, `{"texts":["It is raining."],"from":"auto","to":"fr"}`), post("KISS Translator, one text", kiss, `{"text":"It is raining.","from":"en","to":"fr"}`),
		post("KISS Translator, nothing", kiss, `{}`), post("KISS Translator, both", kiss, `{"text":"a","texts":null,"to":"xx"}`),
		post("hcfy", hcfy, `{"name":"x","text":"It is raining.\n\r\n","destination":["法语"],"source":"英语"}`),
		post("hcfy, no lines", hcfy, `{"text":"","destination":["法语"]}`), post("hcfy, many lines", hcfy, `{"text":"a\nb\nc\nd","destination":["法语"],"source":"英语"}`),
		post("hcfy, a language that is a path", hcfy, `{"text":"a","destination":["../法语"]}`), post("hcfy, a language as a string", hcfy, `{"text":"It is raining.","destination":"法语","source":"英语"}`),
		post("DeepLX", deeplx, `{"text":"It is raining.","source_lang":"auto","target_lang":"FR"}`),
		post("DeepLX, nothing", deeplx, ""), post("DeepLX, a list", deeplx, `["It is raining."]`),
		post("DeepLX, on LibreTranslate's path", "/translate", `{"text":"<b>It is raining.</b>","source_lang":"EN","target_lang":"FR","tag_handling":"html"}`),
		post("DeepLX, null for a text", "/translate", `{"text":null,"source_lang":"EN","target_lang":"FR"}`),
		post("Google", google, `{"q":["It is raining."],"source":"en","target":"fr"}`), post("Google, a number", google, `{"q":5,"target":"fr"}`),
		{name: "Google, a form", wire: wire("POST", google, "q=It+is+raining.&source=en&target=fr&format=text", "Content-Type", form)},
		get("Google, GET", google+"?q=It+is+raining.&source=en&target=fr&format=text"), get("Google, nothing", google), get("Google, no such path", "/language/translate/v3"),
		post("Google, detect nothing", google+"/detect", `{"q":""}`), get("Google, languages", google+"/languages?target=en"),
		get("gtx", gtx+"?client=gtx&sl=en&tl=fr&dt=t&q=It+is+raining."), get("gtx, named", gtx+"?client=gtx&sl=en&tl=fr&dt=t&dj=1&q=100%"), get("gtx, nothing", gtx),
		get("gtx, many fields", gtx+"?"+strings.Repeat("dt=t&", 5000)+"q=a"),
		post("Azure", azure+"&from=en&to=fr", `[{"Text":"It is raining."}]`), post("Azure, nothing", azure+"&to=fr", ""), post("Azure, null", azure+"&to=fr", "null"),
		post("Azure, nulls", azure+"&to=fr", "[null,null]"), post("Azure, no Text", azure+"&to=fr", `[{}]`), post("Azure, deep", azure+"&to=fr", strings.Repeat("[", 9000)),
		post("Azure, cut off", azure+"&to=fr", `[{"Text":"a"`), post("Azure, Text twice", azure+"&to=fr", `[{"Text":"a","Text":"b"}]`),
		post("Azure, many languages", azure+"&from=en"+strings.Repeat("&to=fr&to=ja", 4000), `[{"Text":"7"}]`), post("Azure, too many", azure+"&from=en&to=fr&to=ja", `[{"Text":"7"},{"Text":"8"}]`),
		post("Azure, another version", "/translate?api-version=", `[{"Text":"a"}]`), post("Azure, too large", azure+"&to=fr", strings.Repeat(" ", 20_001)),
		post("Azure, detect nothing", "/detect?api-version=3.0", `[{"Text":"7"}]`), get("Azure, languages of nothing", "/languages?api-version=3.0&scope=x"),
		post("MCP, no Accept", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), get("MCP, GET", "/mcp"),
		tool("MCP, not a message", `[]`), tool("MCP, nothing", ""), tool("MCP, deep", strings.Repeat("[", 9000)), tool("MCP, no such method", `{"jsonrpc":"2.0","id":1,"method":"x"}`),
		tool("MCP, no such tool", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`),
		tool("MCP, arguments of another type", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"translate","arguments":{"texts":[1,null],"to":[]}}}`),
		tool("MCP, too many texts", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"translate","arguments":{"texts":["a","b","c","d"],"to":"fr"}}}`),
		tool("MCP, a text that is too long", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"translate","arguments":{"texts":["`+strings.Repeat("a", 401)+`"],"to":"fr"}}}`),
		post("OpenAI", chat, `{"model":"dragoman:fr","messages":[{"role":"user","content":"It is raining."}]}`),
		post("OpenAI, a stream", chat, `{"model":"dragoman","stream":true,"messages":[{"role":"user","content":"Translate to French:\n\n1. It is raining.\n2. a"}]}`),
		post("OpenAI, nothing", chat, ""), post("OpenAI, no target", chat, `{"messages":[{"role":"user","content":"a"}]}`), post("OpenAI, a text as messages", chat, `{"messages":"a"}`),
		post("OpenAI, nulls", chat, `{"model":null,"messages":[{"role":null,"content":null}]}`), post("OpenAI, deep", chat, `{"messages":[{"role":"user","content":`+strings.Repeat("[", 5000)+`}]}`),
		post("OpenAI, JSON that is deep", chat, `{"model":"dragoman:fr","messages":[{"role":"user","content":"`+strings.Repeat("[", 9000)+`"}]}`),
		post("OpenAI, many texts", chat, `{"model":"dragoman:fr","messages":[{"role":"user","content":"`+strings.Repeat(`a\n%%\n`, 2500)+`"}]}`),
		post("OpenAI, many languages", chat, `{"messages":[{"role":"system","content":"`+strings.Repeat(`to French to German `, 900)+`"},{"role":"user","content":"a"}]}`),
		post("OpenAI, marks", chat, `{"messages":[{"role":"user","content":"`+strings.Repeat("🔤", 4500)+`"}]}`),
		post("OpenAI, prompts", "/v1/completions", `{"model":"dragoman:fr","prompt":["It is raining.",""]}`), post("OpenAI, numbers", "/v1/completions", `{"model":"dragoman:fr","prompt":[1,2]}`),
		get("OpenAI, models", "/v1/models"), get("OpenAI, a model", "/v1/models/x:fr"), post("OpenAI, what is not there", "/v1/embeddings", `{}`),
		post("Google 3", v3+":translateText", `{"contents":["It is raining."],"mimeType":"text/plain","sourceLanguageCode":"en","targetLanguageCode":"fr"}`),
		post("Google 3, nothing", v3+":translateText", ""), post("Google 3, a list", v3+":translateText", `[{"contents":["a"]}]`), post("Google 3, no list", v3+":translateText", `{"contents":{"a":"b"},"targetLanguageCode":"fr"}`),
		post("Google 3, too many", v3+":translateText", `{"contents":["a","b","c","d"],"sourceLanguageCode":"en","targetLanguageCode":"fr"}`),
		post("Google 3, too long", v3+":translateText", `{"contents":["`+strings.Repeat("a", 401)+`"],"sourceLanguageCode":"en","targetLanguageCode":"fr"}`),
		post("Google 3, colons", "/v3/projects/:::/locations/::", `{}`), post("Google 3, a model of slashes", v3+":translateText", `{"contents":["7"],"targetLanguageCode":"fr","model":"////"}`),
		post("Google 3, a glossary of slashes", v3+":translateText", `{"contents":["7"],"sourceLanguageCode":"en","targetLanguageCode":"fr","glossaryConfig":{"glossary":"///"}}`),
		post("Google 3, detect nothing", v3+":detectLanguage", `{"content":""}`), get("Google 3, languages", v3+"/supportedLanguages?displayLanguageCode=xx"),
		get("Google 3, a glossary that is a path", v3+"/locations/l/glossaries/..%2f..%2fetc"), post("Google 3, batches", v3+"/locations/l:batchTranslateText", `{}`),
		post("MTranServer", "/translate", `{"from":"en","to":"fr","text":"It is raining."}`), post("MTranServer, several", "/translate/batch", `{"from":"en","to":"fr","texts":["It is raining.",""],"html":true}`),
		post("MTranServer, nothing", "/mtranserver/translate", ""), post("MTranServer, nulls", "/mtranserver/translate", `{"from":null,"to":null,"text":null}`),
		post("MTranServer, too many", "/translate/batch", `{"from":"en","to":"fr","texts":["a","b","c","d"]}`), post("MTranServer, texts in texts", "/translate/batch", `{"from":"en","to":"fr","texts":[["a"]]}`),
		post("MTranServer, detect", "/detect", `{"text":"駅はどこですか。","minConfidence":1e999}`), post("MTranServer, detect with NaN", "/mtranserver/detect", `{"text":"駅はどこですか。","minConfidence":"NaN"}`),
		get("MTranServer, languages", "/mtranserver/languages"), get("MTranServer, heartbeat", "/__heartbeat__"), post("MTranServer, no such plugin", "/mtranserver/bing", `{}`),
		post("MTranServer, a plugin", "/deeplx", `{"text":"It is raining.","source_lang":"EN","target_lang":"FR"}`),
		post("nllb-serve, a number", "/translate", `{"source":7,"src_lang":"eng_Latn","tgt_lang":"fra_Latn"}`), post("nllb-serve, a language as a list", "/nllb-serve/translate", `{"source":"a","tgt_lang":["fra_Latn"]}`),
		post("nllb-serve, too many", "/nllb-serve/translate", `{"source":["a","b","c","d"],"src_lang":"eng_Latn","tgt_lang":"fra_Latn"}`), post("nllb-serve, an object", "/nllb-serve/translate", `{"source":{},"tgt_lang":"fra_Latn"}`),
		get("nllb-api", "/api/v4/translator?text=It+is+raining.&source=eng_Latn&target=fra_Latn"), get("nllb-api, nothing", "/api/v4/translator"), get("nllb-api, a language of another script", "/api/v4/translator?text=7&source=eng_Arab&target=fra_Zzzz"), get("nllb-api, text twice", "/api/v4/translator?text=7&text=8&source=eng_Latn&target=fra_Latn"),
		get("nllb-api, a stream", "/api/v4/translator/stream?text=It+is+raining.&source=eng_Latn&target=fra_Latn&event_type=a%0D%0Ab"), get("nllb-api, tokens", "/api/v4/translator/tokens?text=a"),
		post("Azure's documents, JSON", "/translator/document:translate?api-version=2024-05-01&targetLanguage=fr", `{"document":"a"}`), post("Azure's documents, no such action", "/translator/documents", `{}`),
		get("Azure's documents, GET", "/translator/document:translate"),
		post("Azure, a list without a version", "/translate?to=fr", `[{"Text":"a"}]`),
	}
}
