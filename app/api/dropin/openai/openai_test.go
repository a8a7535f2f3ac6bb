package openai

import (
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/compattest"
	"dragoman/app/translate"
)

// served returns the API with a translator that writes capitals and stores its requests in asked.
func served(asked func(translate.Request)) http.Handler {
	return compattest.Server(dialect.Config{MaxRecords: 1024}, compattest.Translator{Asked: asked}, func(s *dialect.Server) dialect.Dialect {
		return New(s, func() []string { return []string{"default"} })
	})
}

// ask sends a chat and returns the assistant's message, or the error.
func ask(t *testing.T, model, system, user string) (content, direction string) {
	t.Helper()
	var req translate.Request
	messages := []map[string]string{{"role": "user", "content": user}}
	if system != "" {
		messages = append([]map[string]string{{"role": "system", "content": system}}, messages...)
	}
	body, err := json.Marshal(map[string]any{"model": model, "messages": messages, "temperature": 0})
	require.NoError(t, err)
	w := compattest.Send(t.Context(), served(func(r translate.Request) { req = r }), "POST", "/v1/chat/completions", "application/json", string(body))
	var out struct {
		Choices []struct{ Message message }
		Error   failure
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &out, json.MatchCaseInsensitiveNames(true)), w.Body.String())
	if w.Code != http.StatusOK {
		return out.Error.Message, ""
	}
	require.Len(t, out.Choices, 1)
	return out.Choices[0].Message.Content, req.From + ">" + strings.Join(req.To, ",")
}

// Messages of programs, with a short text. Each comes from the program's source; its rules of style are shortened.
func TestPromptsOfPrograms(t *testing.T) {
	const immersive = "You are a professional %s native translator who needs to fluently translate text into %s.\n\n## Translation Rules\n" +
		"1. Output only the translated content, without explanations or additional content (such as \"Here's the translation:\" or \"Translation as follows:\")\n" +
		"5. If input contains %%, use %% in your output, if input has no %%, don't use %% in your output\n\n## Examples\n### Multi-paragraph Input:\nParagraph A\n%%\nParagraph B"
	into := func(name string) string { return strings.ReplaceAll(immersive, "%s", name) }
	const kissSystem = "Act as a translation API. Output a single raw JSON object only. No extra text or fences.\n\nInput:\n{\"targetLanguage\":\"<lang>\",…"
	for _, test := range []struct{ program, model, system, user, want, direction string }{
		{"Immersive Translate", "dragoman", into("French"), "Translate to French (output translation only):\n\nA dog.", "A DOG.", "auto>fr"},
		{"Immersive Translate, several", "dragoman", into("Simplified Chinese"), "Translate to Simplified Chinese:\n\nA dog.\n\n%%\n\nA cat: black.", "A DOG.\n\n%%\n\nA CAT: BLACK.", "auto>zh"},
		{"Read Frog", "gpt-4o-mini", into("Japanese"), "Translate to Japanese:\nA dog.", "A DOG.", "auto>ja"},
		{"FluentRead", "dragoman", "You are a translator.", "Translate to German: A dog: brown.", "A DOG: BROWN.", "auto>de"},
		{"KISS Translator", "gpt-4", kissSystem, `{"targetLanguage":"fr","title":"x","segments":[{"id":1,"text":"A <i1>dog</i1>"},{"id":2,"text":"7"},{"id":"b","text":"A cat"}],"glossary":{"cat":"","dog":"chien"},"tone":"formal"}`,
			`{"translations":[{"id":1,"text":"A <I1>chien</I1>","sourceLanguage":"en"},{"id":2,"text":"7"},{"id":"b","text":"A cat","sourceLanguage":"en"}]}`, "auto>fr"},
		{"PDFMathTranslate", "dragoman", "", "You are a professional,authentic machine translation engine. Only Output the translated text, do not include any other text.\n\nTranslate the following markdown source text to zh. Keep the formula notation {v*} unchanged. Output translation directly without any additional text.\n\nSource Text: The dog {v1}.\n\nTranslated Text:",
			"THE DOG {V1}.", "auto>zh"},
		{"BabelDOC", "dragoman", "You are a professional,authentic machine translation engine.",
			";; Treat next line as plain text input and translate it into French, output translation ONLY. If translation is unnecessary (e.g. proper nouns, codes, {{1}}, etc. ), return the original text. NO explanations. NO notes. Input:\n\nThe input: a dog.",
			"THE INPUT: A DOG.", "auto>fr"},
		{"Zotero PDF Translate", "dragoman", "", "As an academic expert with specialized knowledge in various fields, please provide a proficient and precise translation from English to Chinese of the academic text enclosed in 🔤. It is crucial to maintaining the original phrase or sentence and ensure accuracy while utilizing the appropriate language. The text is as follows:  🔤 A dog. 🔤  Please provide the translated result without any additional explanation and remove 🔤.",
			"A DOG.", "en>zh"},
		{"Subtitle Edit", "dragoman", "", "Please translate the following text from English to French, only write the result:\n\nA dog.\nA cat.", "A DOG.\nA CAT.", "en>fr"},
		{"a subtitle tool", "dragoman:fr", "You are a professional subtitle translator.", "1\n00:00:01,000 --> 00:00:02,000\nA dog.\n\n2\n00:00:03,000 --> 00:00:04,000\nA cat\nand a dog.\n", "1\n00:00:01,000 --> 00:00:02,000\nA DOG.\n\n2\n00:00:03,000 --> 00:00:04,000\nA CAT\nAND A DOG.\n", "auto>fr"},
		{"numbered lines", "dragoman", "Translate subtitle lines from English into German.", "1|A dog.\n2|A cat.\n3|...", "1|A DOG.\n2|A CAT.\n3|...", "en>de"},
		{"numbered strings", "dragoman", "You are a professional subtitle translator.\nTranslate 2 subtitles from en to zh-CN.", `["[0] A dog","[1] A \"cat\""]`, `["[0] A DOG","[1] A \"CAT\""]`, "en>zh"},
		{"a locale's JSON", "dragoman", "Translate UI locale JSON from English. Preserve placeholders.", "Translate this JSON from en to fr:\n{\n  \"title\": \"A dog\", \"n\": 3, \"x\": {\"y\": [\"a cat\", true, \"\"]}}",
			"{\n  \"title\": \"A DOG\", \"n\": 3, \"x\": {\"y\": [\"A CAT\", true, \"\"]}}", "en>fr"},
		{"a Chinese program", "dragoman", "你是一个专业的简体中文母语译者，需将文本流畅地翻译为简体中文。", "A dog.", "A DOG.", "auto>zh"},
		{"another one", "dragoman", "", "将以下文本翻译成法语：\n\nA dog.", "A DOG.", "auto>fr"},
		{"a third one", "dragoman", "", "翻译成英文：ein Hund", "EIN HUND", "auto>en"},
		{"a script", "dragoman", "You are a translation engine. Do not add commentary or explanations.", "Translate the following text to Portuguese (Brazil). Return only the translated text.\n\n```\nA dog.\n```", "A DOG.", "auto>pt"},
		{"codes that are words", "dragoman", "Translate from en to no.", "A dog.", "A DOG.", "en>no"},
		{"marks of the system's", "dragoman", "Translate the user's text into **Norwegian**. Keep it short.", "A dog.", "A DOG.", "auto>no"},
		{"a chat", "dragoman:en-fr", "", "A dog.\n\nA cat.", "A DOG.\n\nA CAT.", "en>fr"},
		{"a chat that says a language", "default:fr", "", "He came from English lessons to French ones.", "HE CAME FROM ENGLISH LESSONS TO FRENCH ONES.", "auto>fr"},
	} {
		t.Run(test.program, func(t *testing.T) {
			got, direction := ask(t, test.model, test.system, test.user)
			assert.Equal(t, test.want, got)
			assert.Equal(t, test.direction, direction)
		})
	}
}

// An ambiguous message is refused, with advice.
func TestUnclearPrompts(t *testing.T) {
	for _, test := range []struct{ name, model, system, user, want string }{
		{"no target", "dragoman", "", "A dog.", "begin the message with"},
		{"no target, a model", "default", "You are a translator. It is up to it.", "A dog.", "name the model default:fr"},
		{"both ways", "dragoman", "If it is English, translate it to German. If it is German, translate it to English.", "A dog.", "name several target languages, de and en"},
		{"two sayings", "dragoman:fr", "", "Translate to German:\n\nA dog.", `the model's name says "fr", the messages "de"`},
		{"a language that is not there", "dragoman:tlh", "", "A dog.", "tlh"},
		{"a language that the model has not", "dragoman:uk", "", "A dog.", "is not a target language"},
		{"traditional Chinese", "dragoman", "Translate into Traditional Chinese.", "A dog.", "traditional Chinese"},
		{"no such model", "other:fr", "", "A dog.", "other"},
		{"nothing to translate", "dragoman:fr", "", "  ", "no message of the user"},
		{"a task", "dragoman:fr", "", "### Task:\nGenerate a concise title", "no other task"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, _ := ask(t, test.model, test.system, test.user)
			assert.Contains(t, got, test.want)
		})
	}
}

func TestNames(t *testing.T) {
	for field, want := range map[string]string{
		"dragoman": " []>[]", "dragoman:fr": " []>[fr]", "dragoman:en-fr": " [en]>[fr]", "m2m:3:en-fr": "m2m:3 [en]>[fr]", "m2m:3": "m2m:3 []>[]",
		"dragoman:pt-BR": " []>[pt-BR]", "dragoman:zh-Hant": " []>[zh-Hant]", "dragoman:en-pt-BR": " [en]>[pt-BR]", "dragoman:auto-de": " [auto]>[de]",
		"dragoman:pt-br": " [pt]>[br]", "dragoman:zh_CN": " []>[zh_CN]", "gpt-4o": " []>[]", "o1-mini": " []>[]", "opus:latest": "opus:latest []>[]",
	} {
		name, languages := splitName(field)
		assert.Equal(t, want, name+" ["+strings.Join(languages.from, ",")+"]>["+strings.Join(languages.to, ",")+"]", field)
	}
}

func TestAnswers(t *testing.T) {
	server := served(nil)
	w := compattest.Send(t.Context(), server, "POST", "/v1/chat/completions", "application/json",
		`{"model":"dragoman:en-fr","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":[{"type":"text","text":"A dog."},{"type":"text","text":"\nA cat."}]}]}`)
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	assert.Equal(t, "text/event-stream", w.Header().Get("Content-Type"))
	events := strings.Split(strings.TrimSuffix(w.Body.String(), "\n\n"), "\n\n")
	assert.Equal(t, "data: [DONE]", events[len(events)-1])
	assert.Contains(t, events[0], `"object":"chat.completion.chunk"`)
	assert.Contains(t, events[0], `"choices":[{"index":0,"delta":{"role":"assistant","content":"A DOG."},"finish_reason":null}]`)
	assert.Contains(t, events[len(events)-3], `"delta":{"content":""},"finish_reason":"stop"`)
	assert.Contains(t, events[len(events)-2], `"choices":[],"usage":{"prompt_tokens":`)

	w = compattest.Send(t.Context(), server, "POST", "/v1/completions", "application/json", `{"model":"dragoman:fr","prompt":["a dog","1. a\n2. b"]}`)
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	assert.Contains(t, w.Body.String(), `"choices":[{"index":0,"text":"A DOG","logprobs":null,"finish_reason":"stop"},{"index":1,"text":"1. A\n2. B","logprobs":null,"finish_reason":"stop"}]`)

	// A translation that reached the limit of tokens is incomplete, and finish_reason says so.
	w = compattest.Send(t.Context(), server, "POST", "/v1/completions", "application/json", `{"model":"dragoman:fr","prompt":["1. a\n2. endless","a"]}`)
	assert.Contains(t, w.Body.String(), `2. ENDLESS","logprobs":null,"finish_reason":"length"},{"index":1,"text":"A","logprobs":null,"finish_reason":"stop"}`)
	w = compattest.Send(t.Context(), server, "POST", "/v1/chat/completions", "application/json", `{"model":"dragoman:fr","stream":true,"messages":[{"role":"user","content":"endless"}]}`)
	assert.Contains(t, w.Body.String(), `"delta":{"content":""},"finish_reason":"length"`)

	compattest.Check(t, server, []compattest.Exchange{
		{Name: "models", Method: "GET", Path: "/v1/models/dragoman:fr", Status: 200, Want: `{"id":"dragoman:fr","object":"model","created":0,"owned_by":"dragoman"}`},
		{Name: "no such model", Method: "GET", Path: "/v1/models/other", Status: 404,
			Want: `{"error":{"message":"There is no model \"other\": use default.","type":"invalid_request_error","param":null,"code":"model_not_found"}}`},
		{Name: "a fault", Path: "/v1/chat/completions", Body: `{"model":"dragoman:fr","messages":[{"role":"user","content":"fail"}]}`, Status: 500,
			Want: `{"error":{"message":"Internal error, request id id-77","type":"server_error","param":null,"code":"internal"}}`},
		{Name: "a fault of a stream", Path: "/v1/chat/completions", Body: `{"model":"dragoman:fr","stream":true,"messages":[{"role":"user","content":"fail"}]}`, Status: 500,
			Want: `{"error":{"message":"Internal error, request id id-77","type":"server_error","param":null,"code":"internal"}}`},
		{Name: "a picture", Path: "/v1/chat/completions", Body: `{"model":"dragoman:fr","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}]}`, Status: 400,
			Want: `{"error":{"message":"messages has content of the type \"image_url\", only text can be translated","type":"invalid_request_error","param":null,"code":"invalid_value"}}`},
		{Name: "no messages", Path: "/v1/chat/completions", Body: `{"model":"dragoman:fr"}`, Status: 400,
			Want: `{"error":{"message":"messages has no message of the user with a text to translate","type":"invalid_request_error","param":null,"code":"missing_field"}}`},
		{Name: "messages of another type", Path: "/v1/chat/completions", Body: `{"model":"dragoman:fr","messages":{"role":"user"}}`, Status: 400,
			Want: `{"error":{"message":"Invalid request: messages is an object, expected an array","type":"invalid_request_error","param":null,"code":"invalid_value"}}`},
		{Name: "several answers", Path: "/v1/chat/completions", Body: `{"model":"dragoman:fr","n":2,"messages":[{"role":"user","content":"a"}]}`, Status: 400,
			Want: `{"error":{"message":"n is more than 1: there is one translation","type":"invalid_request_error","param":null,"code":"invalid_value"}}`},
	})
}

// A stream whose translation fails in the middle ends with the error, not with [DONE].
func TestStreamThatFails(t *testing.T) {
	w := compattest.Send(t.Context(), served(nil), "POST", "/v1/chat/completions", "application/json",
		`{"model":"dragoman:fr","stream":true,"messages":[{"role":"user","content":"1. a dog\n2. fail\n"}]}`)
	require.Equal(t, http.StatusOK, w.Code)
	assert.Contains(t, w.Body.String(), `"content":"1. A DOG"`)
	assert.NotContains(t, w.Body.String(), "[DONE]")
	assert.Contains(t, w.Body.String(), `data: {"error":{"message":"Internal error, request id id-77"`)
}

// FuzzSplit checks that joining the parts restores the message, and that every part to translate has a letter.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"a\n\nb", "1. a\n2. b\n", "a\n%%\nb", `{"a":["b\u00e9",1,"[0] c"]}`, `{"targetLanguage":"fr","segments":[{"id":1,"text":"a"}]}`, "1\n00:01 --> 00:02\na\n", "[1] x [", "\xff\n%%", `["a"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parts, err := split(text)
		if err != nil {
			return
		}
		var out strings.Builder
		for i, p := range parts {
			out.WriteString(p.before)
			switch {
			case i == len(parts)-1:
				assert.Empty(t, p.text)
			case p.write != nil:
				out.WriteString(p.write(translate.Result{Record: translate.Record{Text: p.text}}))
			default:
				out.WriteString(p.text)
			}
		}
		if got := out.String(); got != text {
			a, b := jsontext.Value(text), jsontext.Value(got)
			require.NoError(t, a.Canonicalize(jsontext.AllowDuplicateNames(true)), "%q", text)
			require.NoError(t, b.Canonicalize(jsontext.AllowDuplicateNames(true)), "%q", got)
			assert.Equal(t, string(a), string(b))
		}
		readOrder(text)
		read("", text, mostInstructions, false)
		read(text, text, mostInstructions, false)
	})
}
