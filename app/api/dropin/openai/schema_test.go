package openai

import (
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/dropin/compattest"
)

// formatted asks for an answer of a response format, in both APIs, and returns their text, or the error.
func formatted(t *testing.T, format, user string) string {
	t.Helper()
	quoted, err := json.Marshal(user)
	require.NoError(t, err)
	w := compattest.Send(t.Context(), served(nil), "POST", "/v1/chat/completions", "application/json",
		`{"model":"dragoman:fr","response_format":`+format+`,"messages":[{"role":"user","content":`+string(quoted)+`}]}`)
	var chat struct {
		Choices []struct{ Message message }
		Error   failure
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &chat, json.MatchCaseInsensitiveNames(true)), w.Body.String())
	flat := strings.TrimSuffix(strings.Replace(format, `"json_schema":{`, "", 1), "}")
	if strings.Count(flat, "{") > strings.Count(flat, "}") {
		flat += "}"
	}
	w = compattest.Send(t.Context(), served(nil), "POST", "/v1/responses", "application/json", `{"model":"dragoman:fr","text":{"format":`+flat+`},"input":`+string(quoted)+`}`)
	var response struct {
		Output []outputItem
		Error  failure
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &response, json.MatchCaseInsensitiveNames(true)), w.Body.String())
	if len(chat.Choices) == 0 {
		assert.Equal(t, chat.Error.Message, response.Error.Message)
		assert.Equal(t, http.StatusBadRequest, w.Code)
		return chat.Error.Message
	}
	require.NotEmpty(t, response.Output, w.Body.String())
	assert.Equal(t, chat.Choices[0].Message.Content, response.Output[0].Content[0].Text)
	return chat.Choices[0].Message.Content
}

// An answer has the form that its schema says, or the request is refused.
func TestResponseFormats(t *testing.T) {
	of := func(schema string) string {
		return `{"type":"json_schema","json_schema":{"name":"x","strict":true,"schema":` + schema + `}}`
	}
	object := func(property, schema string) string {
		return of(`{"type":"object","properties":{"` + property + `":` + schema + `},"required":["` + property + `"],"additionalProperties":false}`)
	}
	const text, list, refused = `{"type":"string"}`, `{"type":"array","items":{"type":"string"}}`, "the response format"
	const items = `{"type":"array","items":{"type":"object","properties":{"id":{"type":"number"},"translated":{"type":"string"}},"required":["id","translated"],"additionalProperties":false}}`
	for _, test := range []struct{ name, format, user, want string }{
		{"text", `{"type":"text"}`, "A dog.", "A DOG."},
		{"one text", object("translation", text), "A \"dog\".\n\nA cat.", `{"translation":"A \"DOG\".\n\nA CAT."}`},
		{"one text, of a request", object("translation", text), "Translate to French:\n\nA dog.", `{"translation":"A DOG."}`},
		{"one text without letters", object("translation", text), "7", `{"translation":"7"}`},
		{"one text or null", object("translation", `{"type":["string","null"]}`), "A dog.", `{"translation":"A DOG."}`},
		{"a list of one text", object("translations", list), "A dog.\n\nA cat.", `{"translations":["A DOG.\n\nA CAT."]}`},
		{"a list of JSON", object("translations", list), `["A dog","7","","A cat"]`, `{"translations":["A DOG","7","","A CAT"]}`},
		{"a list in an object", object("translations", list), `{"texts":["A dog","A cat"]}`, `{"translations":["A DOG","A CAT"]}`},
		{"a list of numbered lines", object("translations", list), "1. A dog\n2. 7\n3. A cat\nand more", `{"translations":["A DOG","7","A CAT\nAND MORE"]}`},
		{"a list of separated texts", object("translations", list), "A dog\n%%\n1\n%%\nA cat", `{"translations":["A DOG","1","A CAT"]}`},
		{"one text and what may be null", of(`{"type":"object","properties":{"a":{"type":"string"},"n":{"anyOf":[{"type":"string"},{"type":"null"}]},"z":{"type":"number"}},"required":["a","n"]}`), "A dog.", `{"a":"A DOG.","n":null}`},
		{"a list alone", of(list), `["A dog"]`, `["A DOG"]`},
		{"the message's own form", of(`{"type":"object","properties":{"title":{"type":"string"},"n":{"type":"integer"}},"required":["title"],"additionalProperties":false}`), `{"title":"A dog","n":3}`, `{"title":"A DOG","n":3}`},
		{"a form within definitions", of(`{"$defs":{"T":{"type":"object","properties":{"a":{"type":"string"}}}},"type":"object","properties":{"all":{"type":"array","items":{"$ref":"#/$defs/T"}}}}`), `{"all":[{"a":"A dog"}]}`, `{"all":[{"a":"A DOG"}]}`},
		{"i18n-ai-translate 5.1.0", object("items", items), `[{"id":1,"original":"A dog"},{"id":2,"original":"7","context":"A menu"}]`, `{"items":[{"id":1,"translated":"A DOG"},{"id":2,"translated":"7"}]}`},
		{"any object", `{"type":"json_object"}`, `{"title":"A dog","n":3}`, `{"title":"A DOG","n":3}`},

		{"any object for a text", `{"type":"json_object"}`, "A dog.", refused},
		{"any object for a list", `{"type":"json_object"}`, `["A dog"]`, refused},
		{"two texts", of(`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"]}`), "A dog.", refused},
		{"a number", object("n", `{"type":"number"}`), "A dog.", refused},
		{"a choice", object("tone", `{"type":"string","enum":["good","bad"]}`), "A dog.", refused},
		{"a pattern", object("a", `{"type":"string","pattern":"^[a-z]+$"}`), "A dog.", refused},
		{"a short text", object("a", `{"type":"string","maxLength":3}`), "A dog.", refused},
		{"few texts", object("a", `{"type":"array","maxItems":1,"items":{"type":"string"}}`), `["A dog","A cat"]`, refused},
		{"few texts of the message's form", of(`{"type":"array","maxItems":1,"items":{"type":"string"}}`), `["A dog","A cat"]`, refused},
		{"enough texts", object("a", `{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","minLength":1}}`), `["A dog","A cat"]`, `{"a":["A DOG","A CAT"]}`},
		{"no schema", `{"type":"json_schema","json_schema":{"name":"x"}}`, "A dog.", "has no schema"},
		{"a schema of another kind", of(`5`), "A dog.", "has no schema"},
		{"a schema that is long", object("a", `{"type":"string","description":"`+strings.Repeat("x", mostSchema)+`"}`), "A dog.", "has no schema"},
		{"a schema without an end", of(`{"$ref":"#"}`), "A dog.", refused},
		{"definitions without an end", of(`{"$defs":{"A":{"anyOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/A"}]}},"$ref":"#/$defs/A"}`), `["A dog"]`, refused},
		{"a schema from elsewhere", of(`{"$ref":"https://example.com/schema.json"}`), "A dog.", refused},
		{"verification", object("items", `{"type":"array","items":{"type":"object","properties":{"id":{"type":"number"},"valid":{"type":"boolean"},"fixed":{"type":"string"}},"required":["fixed","id","valid"]}}`), `[{"id":1,"original":"A dog"}]`, refused},
		{"a number that is too long", object("items", items), `[{"id":12345678901234567890,"original":"A dog"}]`, refused},
		{"a list with other values", object("translations", list), `["A dog",7]`, refused},
		{"objects without a text", object("items", items), `[{"id":1}]`, refused},
		{"no such format", `{"type":"grammar"}`, "A dog.", "is not known"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := formatted(t, test.format, test.user)
			if strings.HasPrefix(test.want, "{") || strings.HasPrefix(test.want, "[") || !strings.Contains(test.want, " f") && !strings.Contains(test.want, "is") && !strings.Contains(test.want, "has") {
				assert.Equal(t, test.want, got)
				return
			}
			assert.Contains(t, got, test.want)
		})
	}
}

func TestResponses(t *testing.T) {
	server := served(nil)
	send := func(body string) (int, string) {
		w := compattest.Send(t.Context(), server, "POST", "/v1/responses", "application/json", body)
		return w.Code, w.Body.String()
	}
	for _, input := range []string{`"A dog."`, `[{"role":"user","content":"A dog."}]`, `[{"role":"developer","content":"Be brief."},{"type":"message","role":"user","content":[{"type":"input_text","text":"A dog."}]}]`} {
		status, got := send(`{"model":"dragoman:fr","input":` + input + `}`)
		require.Equal(t, http.StatusOK, status, got)
		assert.Contains(t, got, `"output":[{"type":"message","id":"msg_id-77","status":"completed","role":"assistant","content":[{"type":"output_text","text":"A DOG.","annotations":[],"logprobs":[]}]}]`)
		assert.Contains(t, got, `{"id":"resp_id-77","object":"response"`)
		assert.Contains(t, got, `"status":"completed","error":null,"incomplete_details":null`)
	}
	status, got := send(`{"model":"dragoman","instructions":"Translate from English to French.","input":"A dog."}`)
	assert.Equal(t, http.StatusOK, status, got)
	_, got = send(`{"model":"dragoman:fr","input":"endless"}`)
	assert.Contains(t, got, `"status":"incomplete","error":null,"incomplete_details":{"reason":"max_output_tokens"}`)

	_, got = send(`{"model":"dragoman:fr","stream":true,"input":"1. A dog.\n2. A cat."}`)
	var names []string
	for i, event := range strings.Split(strings.TrimSpace(got), "\n\n") {
		name, data, _ := strings.Cut(event, "\n")
		names = append(names, strings.TrimPrefix(name, "event: "))
		var parsed struct {
			Type     string `json:"type"`
			Sequence int    `json:"sequence_number"`
		}
		require.NoError(t, json.Unmarshal([]byte(strings.TrimPrefix(data, "data: ")), &parsed))
		assert.Equal(t, i, parsed.Sequence)
		assert.Equal(t, names[i], parsed.Type)
	}
	assert.Equal(t, []string{"response.created", "response.in_progress", "response.output_item.added", "response.content_part.added", "response.output_text.delta", "response.output_text.delta",
		"response.output_text.done", "response.content_part.done", "response.output_item.done", "response.completed"}, names)
	assert.Contains(t, got, `"text":"1. A DOG.\n2. A CAT."`)
	_, got = send(`{"model":"dragoman:fr","stream":true,"input":"1. a dog\n2. fail\n"}`)
	assert.Contains(t, got, "event: response.failed\n")
	assert.Contains(t, got, `"error":{"code":"server_error","message":"Internal error, request id id-77"}`)
	assert.NotContains(t, got, "response.completed")

	for body, want := range map[string]string{
		`{"model":"dragoman:fr"}`:                                                                              "input has no text",
		`{"model":"dragoman:fr","input":" "}`:                                                                  "input has no text",
		`{"model":"dragoman:fr","input":[]}`:                                                                   "input has no message of the user",
		`{"model":"dragoman:fr","input":7}`:                                                                    "input is a number",
		`{"model":"dragoman","input":"A dog."}`:                                                                "it is not clear into which language",
		`{"model":"dragoman:fr","input":"A","tools":[{"a":1}]}`:                                                "tools are not offered",
		`{"model":"dragoman:fr","input":"A","background":true}`:                                                "background is not offered",
		`{"model":"dragoman:fr","input":"A","previous_response_id":"resp_1"}`:                                  "previous_response_id is not offered",
		`{"model":"dragoman:fr","input":[{"role":"user","content":[{"type":"input_image","image_url":"x"}]}]}`: "only text can be translated",
	} {
		status, got := send(body)
		assert.Equal(t, http.StatusBadRequest, status, body)
		assert.Contains(t, got, want)
	}
	w := compattest.Send(t.Context(), server, "POST", "/v1/chat/completions", "application/json", `{"model":"dragoman:fr","functions":[{"name":"a"}],"messages":[{"role":"user","content":"A dog."}]}`)
	assert.Equal(t, http.StatusBadRequest, w.Code)
	assert.Contains(t, w.Body.String(), "functions are not offered")
	w = compattest.Send(t.Context(), server, "POST", "/v1/chat/completions", "application/json", `{"model":"dragoman:fr","tools":[],"modalities":["text"],"messages":[{"role":"user","content":"A dog."}]}`)
	assert.Equal(t, http.StatusOK, w.Code, w.Body.String())
}
