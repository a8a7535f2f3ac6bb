package httpapi

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRefusals sends odd and hostile requests. Each has one right answer.
func TestRefusals(t *testing.T) {
	const post, path = "POST", "/translation"
	one := payload(`[{"id":"1","text":"one"}]`)
	record := func(s string) string { return payload("[" + s + "]") }
	text := func(s string) string { return record(`{"id":"1","text":"` + s + `"}`) }
	fill := func(n int) string { return strings.Repeat("a", n-len(text(""))) }
	priority := func(value string) string {
		return `{"payload":{"fromLang":"en","toLang":"fr","records":[],"priority":` + value + `}}`
	}
	model := func(value string) string {
		return `{"payload":{"fromLang":"en","toLang":"fr","records":[],"model":` + value + `}}`
	}
	option := func(field string) string {
		return `{"payload":{"fromLang":"en","toLang":"fr","records":[],` + field + `}}`
	}
	languages := func(list string) string {
		return `{"payload":{"fromLang":"en","toLangs":` + list + `,"records":[]}}`
	}
	deep := strings.Repeat("[", 900) + strings.Repeat("]", 900)
	none := "" // no Content-Type

	for _, test := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		code, field              string
	}{
		// Wrong paths and methods.
		{"unknown path", "GET", "/nope", "", nil, 404, "not_found", ""},
		{"unknown path, POST", post, "/translations", one, nil, 404, "not_found", ""},
		{"path with a slash at the end", post, "/translation/", one, nil, 404, "not_found", ""},
		{"path in another case", post, "/Translation", one, nil, 404, "not_found", ""},
		{"path with two slashes", post, "//translation", one, nil, 404, "not_found", ""},
		{"path that climbs", "GET", "/../../etc/passwd", "", nil, 404, "not_found", ""},
		{"path with escapes", "GET", "/%2e%2e%2f%00", "", nil, 404, "not_found", ""},
		{"GET of a POST path", "GET", path, "", nil, 405, "method_not_allowed", ""},
		{"HEAD of a POST path", "HEAD", path, "", nil, 405, "method_not_allowed", ""},
		{"PUT", "PUT", path, one, nil, 405, "method_not_allowed", ""},
		{"a method nobody knows", "BREW", path, one, nil, 405, "method_not_allowed", ""},
		{"POST of a GET path", post, "/healthz", "{}", nil, 405, "method_not_allowed", ""},
		{"DELETE of /", "DELETE", "/", "", nil, 405, "method_not_allowed", ""},
		{"no content type", post, path, one, []string{"Content-Type", none}, 415, "unsupported_media_type", ""},
		{"form", post, path, one, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "unsupported_media_type", ""},
		{"plain text", post, path, one, []string{"Content-Type", "text/plain"}, 415, "unsupported_media_type", ""},
		{"nonsense as a type", post, path, one, []string{"Content-Type", "json;;;="}, 415, "unsupported_media_type", ""},
		{"another charset", post, path, one, []string{"Content-Type", "application/json; charset=shift_jis"}, 415, "unsupported_media_type", ""},
		{"compressed", post, path, one, []string{"Content-Encoding", "gzip"}, 415, "unsupported_media_type", ""},
		{"one byte too large", post, path, text(fill(maxBody + 1)), nil, 413, "body_too_large", ""},
		{"much too large", post, path, strings.Repeat("x", 100*maxBody), nil, 413, "body_too_large", ""},
		{"too large for a path that takes none", "GET", "/", strings.Repeat("x", 2*maxBody), nil, 413, "body_too_large", ""},

		// Invalid JSON.
		{"empty body", post, path, "", nil, 400, "invalid_json", ""},
		{"white space", post, path, " \n", nil, 400, "invalid_json", ""},
		{"not JSON", post, path, "hello", nil, 400, "invalid_json", ""},
		{"cut off", post, path, one[:len(one)-5], nil, 400, "invalid_json", "payload.records[0].text"},
		{"cut off in a string", post, path, `{"pay`, nil, 400, "invalid_json", ""},
		{"something after the end", post, path, one + "x", nil, 400, "invalid_json", ""},
		{"two values", post, path, one + one, nil, 400, "invalid_json", ""},
		{"a comma too many", post, path, record(`{"id":"1","text":"x"},`), nil, 400, "invalid_json", "payload.records"},
		{"a comment", post, path, `/* hi */` + one, nil, 400, "invalid_json", ""},
		{"single quotes", post, path, strings.ReplaceAll(one, `"`, `'`), nil, 400, "invalid_json", ""},
		{"NaN", post, path, payload("NaN"), nil, 400, "invalid_json", "payload.records"},
		{"UTF-16", post, path, "\xff\xfe{\x00}\x00", nil, 400, "invalid_json", ""},
		{"invalid UTF-8 in a text", post, path, text("a\xffb"), nil, 400, "invalid_json", ""},
		{"overlong UTF-8", post, path, text("\xc0\xaf"), nil, 400, "invalid_json", ""},
		{"surrogate in UTF-8", post, path, text("\xed\xa0\x80"), nil, 400, "invalid_json", ""},
		{"half a surrogate pair", post, path, text(`\ud800`), nil, 400, "invalid_json", "payload.records[0].text"},
		{"unknown escape", post, path, text(`\x41`), nil, 400, "invalid_json", "payload.records[0].text"},
		{"a line break in a string", post, path, text("a\nb"), nil, 400, "invalid_json", "payload.records[0].text"},
		{"a NUL in a string", post, path, text("a\x00b"), nil, 400, "invalid_json", "payload.records[0].text"},
		{"deep, no object", post, path, deep, nil, 400, "wrong_type", ""},
		{"deep where a text should be", post, path, record(`{"id":"1","text":` + deep + `}`), nil, 400, "wrong_type", "payload.records[0].text"},

		// JSON that is not a request.
		{"null", post, path, "null", nil, 400, "missing_field", "payload"},
		{"an array", post, path, "[" + one + "]", nil, 400, "wrong_type", ""},
		{"a string", post, path, `"x"`, nil, 400, "wrong_type", ""},
		{"a number", post, path, "1e999", nil, 400, "wrong_type", ""},
		{"empty object", post, path, "{}", nil, 400, "missing_field", "payload"},
		{"no envelope", post, path, `{"fromLang":"en","toLang":"fr","records":[]}`, nil, 400, "unknown_field", "fromLang"},
		{"payload null", post, path, `{"payload":null}`, nil, 400, "missing_field", "payload"},
		{"payload array", post, path, `{"payload":[]}`, nil, 400, "wrong_type", "payload"},
		{"payload empty", post, path, `{"payload":{}}`, nil, 400, "missing_field", "payload.fromLang"},
		{"no toLang", post, path, `{"payload":{"fromLang":"en","records":[]}}`, nil, 400, "missing_field", "payload.toLang"},
		{"no records", post, path, `{"payload":{"fromLang":"en","toLang":"fr"}}`, nil, 400, "missing_field", "payload.records"},
		{"records null", post, path, payload("null"), nil, 400, "missing_field", "payload.records"},
		{"records object", post, path, payload(`{"id":"1","text":"x"}`), nil, 400, "wrong_type", "payload.records"},
		{"records string", post, path, payload(`"x"`), nil, 400, "wrong_type", "payload.records"},
		{"language number", post, path, `{"payload":{"fromLang":1,"toLang":"fr","records":[]}}`, nil, 400, "wrong_type", "payload.fromLang"},
		{"language list", post, path, `{"payload":{"fromLang":"en","toLang":["fr"],"records":[]}}`, nil, 400, "wrong_type", "payload.toLang"},
		{"record null", post, path, record(`null`), nil, 400, "missing_field", "payload.records[0].id"},
		{"record string", post, path, record(`"x"`), nil, 400, "wrong_type", "payload.records[0]"},
		{"record without id", post, path, record(`{"id":"1","text":"x"},{"text":"y"}`), nil, 400, "missing_field", "payload.records[1].id"},
		{"record without text", post, path, record(`{"id":"1"}`), nil, 400, "missing_field", "payload.records[0].text"},
		{"id null", post, path, record(`{"id":null,"text":"x"}`), nil, 400, "missing_field", "payload.records[0].id"},
		{"id number", post, path, record(`{"id":1,"text":"x"}`), nil, 400, "wrong_type", "payload.records[0].id"},
		{"text boolean", post, path, record(`{"id":"1","text":true}`), nil, 400, "wrong_type", "payload.records[0].text"},
		{"text object", post, path, record(`{"id":"1","text":{}}`), nil, 400, "wrong_type", "payload.records[0].text"},
		{"unknown field", post, path, `{"payload":{"fromLang":"en","toLang":"fr","records":[],"beams":5}}`, nil, 400, "unknown_field", "payload.beams"},
		{"unknown field at the top", post, path, `{"x":1,` + one[1:], nil, 400, "unknown_field", "x"},
		{"unknown field of a record", post, path, record(`{"id":"1","text":"x","lang":"en"}`), nil, 400, "unknown_field", "payload.records[0].lang"},
		{"name in another case", post, path, `{"Payload":{}}`, nil, 400, "unknown_field", "Payload"},
		{"name in snake case", post, path, `{"payload":{"from_lang":"en"}}`, nil, 400, "unknown_field", "payload.from_lang"},
		{"payload twice", post, path, `{"payload":{"fromLang":"en","toLang":"fr","records":[]},"payload":{}}`, nil, 400, "duplicate_field", "payload"},
		{"toLang twice", post, path, `{"payload":{"toLang":"en","toLang":"fr"}}`, nil, 400, "duplicate_field", "payload.toLang"},
		{"text twice", post, path, record(`{"id":"1","text":"x","text":"y"}`), nil, 400, "duplicate_field", "payload.records[0].text"},
		{"__proto__", post, path, `{"__proto__":{}}`, nil, 400, "unknown_field", "__proto__"},
		{"a name that is long", post, path, `{"` + strings.Repeat("n", 1000) + `":1}`, nil, 400, "unknown_field", strings.Repeat("n", 100) + "…"},

		{"priority nobody knows", post, path, priority(`"urgent"`), nil, 400, "invalid_value", "payload.priority"},
		{"priority in another case", post, path, priority(`"High"`), nil, 400, "invalid_value", "payload.priority"},
		{"priority with a space", post, path, priority(`"high "`), nil, 400, "invalid_value", "payload.priority"},
		{"priority empty", post, path, priority(`""`), nil, 400, "invalid_value", "payload.priority"},
		{"priority that is long", post, path, priority(`"` + strings.Repeat("h", 1000) + `"`), nil, 400, "invalid_value", "payload.priority"},
		{"priority null", post, path, priority(`null`), nil, 400, "wrong_type", "payload.priority"},
		{"priority number", post, path, priority(`1`), nil, 400, "wrong_type", "payload.priority"},
		{"priority list", post, path, priority(`["high"]`), nil, 400, "wrong_type", "payload.priority"},
		{"priority object", post, path, priority(`{"level":"high"}`), nil, 400, "wrong_type", "payload.priority"},
		{"priority deep", post, path, priority(deep), nil, 400, "wrong_type", "payload.priority"},
		{"priority twice", post, path, priority(`"high","priority":"low"`), nil, 400, "duplicate_field", "payload.priority"},
		{"priority with half a surrogate pair", post, path, priority(`"\ud800"`), nil, 400, "invalid_json", "payload.priority"},
		{"priority of a record", post, path, record(`{"id":"1","text":"x","priority":"high"}`), nil, 400, "unknown_field", "payload.records[0].priority"},

		{"model nobody knows", post, path, model(`"en-xx"`), nil, 404, "unknown_model", "payload.model"},
		{"version nobody knows", post, path, model(`"default:99"`), nil, 404, "unknown_model", "payload.model"},
		{"model with colons", post, path, model(`"default:1:2::"`), nil, 404, "unknown_model", "payload.model"},
		{"model that is a colon", post, path, model(`":"`), nil, 404, "unknown_model", "payload.model"},
		{"model that climbs", post, path, model(`"../../etc/passwd"`), nil, 404, "unknown_model", "payload.model"},
		{"model that is two dots", post, path, model(`".."`), nil, 404, "unknown_model", "payload.model"},
		{"model with control characters", post, path, model(`"\u0000\n\r\u001b[31m\u202e"`), nil, 404, "unknown_model", "payload.model"},
		{"model that is long", post, path, model(`"` + strings.Repeat("m", 1800) + `"`), nil, 400, "invalid_value", "payload.model"},
		{"model with a space", post, path, model(`"default "`), nil, 404, "unknown_model", "payload.model"},
		{"model in another case", post, path, model(`"DEFAULT"`), nil, 404, "unknown_model", "payload.model"},
		{"model empty", post, path, model(`""`), nil, 400, "invalid_value", "payload.model"},
		{"model null", post, path, model(`null`), nil, 400, "wrong_type", "payload.model"},
		{"model number", post, path, model(`1`), nil, 400, "wrong_type", "payload.model"},
		{"model list", post, path, model(`["default"]`), nil, 400, "wrong_type", "payload.model"},
		{"model object", post, path, model(`{"name":"default"}`), nil, 400, "wrong_type", "payload.model"},
		{"model deep", post, path, model(deep), nil, 400, "wrong_type", "payload.model"},
		{"model twice", post, path, model(`"default","model":"default"`), nil, 400, "duplicate_field", "payload.model"},
		{"model with half a surrogate pair", post, path, model(`"\ud800"`), nil, 400, "invalid_json", "payload.model"},
		{"model of a record", post, path, record(`{"id":"1","text":"x","model":"default"}`), nil, 400, "unknown_field", "payload.records[0].model"},
		{"stream by a model nobody knows", post, path + "/stream", model(`"en-xx"`), nil, 404, "unknown_model", "payload.model"},

		// Options of wrong types or in wrong places.
		{"two ways to name languages", post, path, option(`"toLangs":["ja"]`), nil, 400, "invalid_value", "payload.toLangs"},
		{"toLang null", post, path, `{"payload":{"fromLang":"en","toLang":null,"records":[]}}`, nil, 400, "wrong_type", "payload.toLang"},
		{"toLangs string", post, path, languages(`"fr"`), nil, 400, "wrong_type", "payload.toLangs"},
		{"toLangs null", post, path, languages(`null`), nil, 400, "wrong_type", "payload.toLangs"},
		{"toLangs of numbers", post, path, languages(`[1]`), nil, 400, "wrong_type", "payload.toLangs[0]"},
		{"toLangs of lists", post, path, languages(`["fr",["ja"]]`), nil, 400, "wrong_type", "payload.toLangs[1]"},
		{"detail string", post, path, option(`"detail":"true"`), nil, 400, "wrong_type", "payload.detail"},
		{"detail number", post, path, option(`"detail":1`), nil, 400, "wrong_type", "payload.detail"},
		{"detail null", post, path, option(`"detail":null`), nil, 400, "wrong_type", "payload.detail"},
		{"split string", post, path, option(`"split":"no"`), nil, 400, "wrong_type", "payload.split"},
		{"format number", post, path, option(`"format":1`), nil, 400, "wrong_type", "payload.format"},
		{"options list", post, path, option(`"options":[]`), nil, 400, "wrong_type", "payload.options"},
		{"options null", post, path, option(`"options":null`), nil, 400, "wrong_type", "payload.options"},
		{"unknown option", post, path, option(`"options":{"temperature":1}`), nil, 400, "unknown_field", "payload.options.temperature"},
		{"option twice", post, path, option(`"options":{"beams":1,"beams":2}`), nil, 400, "duplicate_field", "payload.options.beams"},
		{"beams string", post, path, option(`"options":{"beams":"5"}`), nil, 400, "wrong_type", "payload.options.beams"},
		{"beams fraction", post, path, option(`"options":{"beams":2.5}`), nil, 400, "wrong_type", "payload.options.beams"},
		{"beams huge", post, path, option(`"options":{"beams":1e99}`), nil, 400, "wrong_type", "payload.options.beams"},
		{"beams zero", post, path, option(`"options":{"beams":0}`), nil, 400, "invalid_value", "payload.options"},
		{"length zero", post, path, option(`"options":{"maxLength":0}`), nil, 400, "invalid_value", "payload.options"},
		{"beams null", post, path, option(`"options":{"beams":null}`), nil, 400, "wrong_type", "payload.options.beams"},
		{"penalty boolean", post, path, option(`"options":{"lengthPenalty":true}`), nil, 400, "wrong_type", "payload.options.lengthPenalty"},
		{"penalty out of range", post, path, option(`"options":{"lengthPenalty":1e999}`), nil, 400, "wrong_type", "payload.options.lengthPenalty"},

		// Streams refuse requests alike.
		{"GET of a stream", "GET", path + "/stream", "", nil, 405, "method_not_allowed", ""},
		{"stream of nothing", post, path + "/stream", "", nil, 400, "invalid_json", ""},
		{"stream into an unknown language", post, path + "/stream", strings.Replace(one, `"fr"`, `"xx"`, 1), nil, 400, "unknown_language", "payload.toLang"},
		{"stream that is busy", post, path + "/stream", text("busy"), []string{"Accept", "text/event-stream"}, 503, "busy", ""},
		{"stream that fails", post, path + "/stream", text("fail"), nil, 500, "internal", ""},
		{"stream that panics", post, path + "/stream", text("panic"), nil, 500, "internal", ""},
		{"stream that takes too long", post, path + "/stream", text("late"), nil, 504, "timeout", ""},

		// Requests that the translator refuses.
		{"unknown language", post, path, strings.Replace(one, `"fr"`, `"xx"`, 1), nil, 400, "unknown_language", "payload.toLang"},
		{"text too long", post, path, text("long"), nil, 400, "text_too_long", "payload.records[0].text"},
		{"too many records", post, path, text("many"), nil, 413, "too_many_records", "payload.records[0].text"},
		{"no end", post, path, text("endless"), nil, 422, "unfinished", "payload.records[0].text"},
		{"busy", post, path, text("busy"), nil, 503, "busy", ""},
		{"shutting down", post, path, text("closed"), nil, 503, "shutting_down", ""},
		{"takes too long", post, path, text("late"), nil, 504, "timeout", ""},
		{"fails", post, path, text("fail"), nil, 500, "internal", ""},
		{"panics", post, path, text("panic"), nil, 500, "internal", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, _ := newAPI()
			w := do(a.Handler(), test.method, test.path, test.body, test.headers...)
			assert.Equal(t, test.status, w.Code, w.Body)
			assert.NotEmpty(t, w.Header().Get("X-Request-Id"))
			assert.Equal(t, "application/json; charset=utf-8", w.Header().Get("Content-Type"))
			assert.Equal(t, test.status == 503, w.Header().Get("Retry-After") != "")
			assert.Equal(t, test.status == 405, w.Header().Get("Allow") != "")

			var got errorBody
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got), w.Body)
			assert.Equal(t, test.code, string(got.Error.Code))
			assert.Equal(t, test.field, got.Error.Field, got.Error.Message)
			assert.NotEmpty(t, got.Error.Message)
			assert.Less(t, len(got.Error.Message), 600, "the message repeats too much")
			assert.NotContains(t, got.Error.Message, "\n")
		})
	}
}

// A body of the maximum size is accepted.
func TestBodyAtTheLimit(t *testing.T) {
	body := payload(`[{"id":"1","text":"` + strings.Repeat("a", maxBody-len(payload(`[{"id":"1","text":""}]`))) + `"}]`)
	require.Len(t, body, maxBody)
	a, _ := newAPI()
	assert.Equal(t, 200, do(a.Handler(), "POST", "/translation", body).Code)
}

func TestUnknownLanguageNamesTheList(t *testing.T) {
	a, _ := newAPI()
	w := do(a.Handler(), "POST", "/translation", `{"payload":{"fromLang":"en","toLang":"xx","records":[]}}`)
	assert.Equal(t, `{"error":{"code":"unknown_language","field":"payload.toLang",`+
		`"message":"\"xx\" is not a language of this model, see http://service:9527/languages"}}`+"\n", w.Body.String())
}

func TestContentTypesThatAreTaken(t *testing.T) {
	a, _ := newAPI()
	for _, contentType := range []string{"application/json", "Application/JSON", "application/json; charset=utf-8", "application/json;charset=UTF-8"} {
		w := do(a.Handler(), "POST", "/translation", payload("[]"), "Content-Type", contentType)
		assert.Equal(t, 200, w.Code, contentType)
	}
}
