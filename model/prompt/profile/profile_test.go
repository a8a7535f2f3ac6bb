package profile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/prompt"
)

// ask returns the messages of a built-in profile's request.
func ask(t *testing.T, name, from, to string, guide prompt.Guide) (messages []any, body map[string]any) {
	p, err := Open(name, "")
	require.NoError(t, err)
	body, err = p.Request(Question{From: p.Language(from), To: p.Language(to), Text: "It's <b>5</b> o'clock.", Guide: guide})
	require.NoError(t, err)
	return body["messages"].([]any), body
}

// user is a message of the user.
func user(text string) []any { return []any{map[string]any{"role": "user", "content": text}} }

// The prompts are those of the model cards, byte for byte.
func TestCards(t *testing.T) {
	const text = "It's <b>5</b> o'clock."
	terms := prompt.Guide{Terms: []prompt.Term{{Source: "clock", Target: "horloge"}, {Source: "5", Target: "5"}}}
	context := prompt.Guide{Before: []string{"Look!", "There it is."}}
	for name, test := range map[string]struct {
		profile, from, to string
		guide             prompt.Guide
		want              string
	}{
		"HY-MT without Chinese": {"hy-mt", "en", "fr", prompt.Guide{}, "Translate the following segment into French, without additional explanation.\n\n" + text},
		"HY-MT into Chinese":    {"hy-mt", "en", "zh", prompt.Guide{}, "将以下文本翻译为中文，注意只需要输出翻译后的结果，不要额外解释：\n\n" + text},
		"HY-MT from Chinese":    {"hy-mt", "zh", "fr", prompt.Guide{}, "将以下文本翻译为法语，注意只需要输出翻译后的结果，不要额外解释：\n\n" + text},
		"HY-MT with terms": {"hy-mt", "en", "fr", terms,
			"参考下面的翻译：\nclock 翻译成 horloge\n5 翻译成 5\n\n将以下文本翻译为法语，注意只需要输出翻译后的结果，不要额外解释：\n" + text},
		"HY-MT with context": {"hy-mt", "en", "fr", context, "Look!\nThere it is.\n参考上面的信息，把下面的文本翻译成法语，注意不需要翻译上文，也不要额外解释：\n" + text},
		"TranslateGemma as text": {"translategemma-text", "en", "fr", prompt.Guide{},
			"You are a professional English (en) to French (fr) translator. Your goal is to accurately convey the meaning and nuances of the original English text " +
				"while adhering to French grammar, vocabulary, and cultural sensitivities.\nProduce only the French translation, without any additional explanations " +
				"or commentary. Please translate the following English text into French:\n\n\n" + text},
	} {
		t.Run(name, func(t *testing.T) {
			messages, _ := ask(t, test.profile, test.from, test.to, test.guide)
			assert.Equal(t, user(test.want), messages)
		})
	}
	messages, body := ask(t, "translategemma", "en", "zh-Hant", prompt.Guide{})
	assert.Equal(t, []any{map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "text", "source_lang_code": "en", "target_lang_code": "zh-Hant", "text": text},
	}}}, messages)
	assert.Equal(t, map[string]any{"source_lang_code": "en", "target_lang_code": "zh-Hant"}, body["chat_template_kwargs"])
	_, body = ask(t, "hy-mt", "en", "fr", prompt.Guide{})
	assert.Equal(t, []any{0.7, 0.6, 20, 1.05}, []any{body["temperature"], body["top_p"], body["top_k"], body["repetition_penalty"]})
}

func TestInstruct(t *testing.T) {
	guide := prompt.Guide{
		Before: []string{"Before."}, Terms: []prompt.Term{{Source: "clock", Target: "horloge"}},
		Examples: []prompt.Example{{Source: "It's 4.", Target: "Il est 4 h."}}, Try: 1, Fault: prompt.Chatter,
	}
	plain, _ := ask(t, "instruct", "en", "fr", prompt.Guide{})
	full, _ := ask(t, "instruct", "en", "fr", guide)
	require.Len(t, full, 2)
	short, long := plain[0].(map[string]any)["content"].(string), full[0].(map[string]any)["content"].(string)
	assert.True(t, strings.HasPrefix(long, short))
	assert.NotContains(t, short, "\n\n")
	for _, part := range []string{"\nclock = horloge", "\nIt's 4.\n= Il est 4 h.", "\nBefore.", "\nYour last answer had other text"} {
		assert.Contains(t, long, part)
	}
	assert.Equal(t, "It's <b>5</b> o'clock.", full[1].(map[string]any)["content"])
}

func TestFor(t *testing.T) {
	for model, want := range map[string]string{
		"tencent/HY-MT1.5-1.8B-GGUF": "hy-mt", "Hunyuan-MT-7B": "hy-mt", "google/translategemma-4b-it": "translategemma",
		"translategemma:12b": "translategemma-text", "qwen3:8b": "instruct", "": "instruct",
	} {
		assert.Equal(t, want, For(model), model)
	}
}

func TestParseRefuses(t *testing.T) {
	const languages, request = "languages: {en: English, fr: French}\n", "request: {messages: [{role: user, content: \"{{.Text}}\"}]}\n"
	_, err := Parse([]byte(languages + request))
	require.NoError(t, err)
	for text, want := range map[string]string{
		"":                                     "is not a profile: EOF",
		"- a":                                  "is not a profile",
		languages + request + "tone: x":        "field tone not found",
		request:                                "languages: use at least two codes",
		"languages: {en: English}\n" + request: "languages: use at least two codes",
		"languages: {en: English, FR!: x}\n" + request:                                                "line 1: use a code of a language",
		"languages: {en: English, fr: []}\n" + request:                                                "line 1: use a code of a language",
		"languages: {en: English, fr: French, en: x}\n" + request:                                     "line 1: en is there twice",
		languages + "unit: page\n" + request:                                                          `unit "page": use sentence or paragraph`,
		languages + "neighbours: 99\n" + request:                                                      "neighbours is 99: use 0 to 16",
		languages:                                                                                     "request: use a mapping",
		languages + "request: [a]":                                                                    "messages are missing",
		languages + "request: {temperature: 0}":                                                       "messages are missing",
		languages + "request: {messages: [{content: Hello}]}":                                         "request: from en into fr no message has the text to translate",
		languages + "request: {messages: [{content: \"{{.Txt}}\"}]}":                                  "line 2: .Txt: use texts such as .Text and .To.Name",
		languages + "request: {messages: [{content: \"{{.Text\"}]}":                                   "line 2: unclosed action",
		languages + "request: {messages: [{content: \"{{range .Terms}}{{.Name}}{{end}}{{.Text}}\"}]}": "line 2: .Name: use texts",
		languages + "request: &a {messages: [*a]}":                                                    "aliases such as *name are not read",
		languages + "request: {messages: [" + strings.Repeat("a,", maxNodes) + "]}":                   "more than 1000 values",
	} {
		t.Run(text, func(t *testing.T) {
			_, err := Parse([]byte(text))
			require.ErrorContains(t, err, want)
		})
	}
}

// A template's result is limited, however long the text is.
func TestRequestIsLimited(t *testing.T) {
	p, err := Parse([]byte("languages: {en: English, fr: French}\nrequest: {messages: [\"{{.Text}}{{.Text}}\", \"{{.Text}}\"]}"))
	require.NoError(t, err)
	_, err = p.Request(Question{Text: strings.Repeat("x", maxRequest/3)})
	require.NoError(t, err)
	_, err = p.Request(Question{Text: strings.Repeat("x", maxRequest/3+1)})
	require.ErrorIs(t, err, errTooLong)
}
