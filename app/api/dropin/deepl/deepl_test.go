package deepl

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/compattest"
	"dragoman/app/guard/access"
)

const (
	jsonType = "application/json"
	formType = "application/x-www-form-urlencoded"
)

// server returns a server with the API and a gate; nil: no gate.
func server(gate dialect.Gate) http.Handler {
	return compattest.Server(dialect.Config{Gate: gate}, compattest.Translator{}, New, func(s *dialect.Server) dialect.Dialect { return Documents(s, nil) })
}

// send sends a request to a server without keys.
func send(t *testing.T, contentType, body string) *httptest.ResponseRecorder {
	return compattest.Send(t.Context(), server(nil), "POST", "/v2/translate", contentType, body)
}

// gate is a gate with fixed decisions; the embedded gate lets all callers in.
type gate struct {
	*access.Gate
	usage access.Usage
}

func (g gate) Usage(*http.Request) access.Usage { return g.usage }

func TestPaths(t *testing.T) {
	open := server(nil)
	some := compattest.Server(dialect.Config{}, compattest.Translator{Codes: []string{"de", "en", "no", "pt", "zh"}}, New)
	counting := func(n int64, per time.Duration) http.Handler {
		return server(gate{usage: access.Usage{Total: 180118, Used: 77, Rate: access.Rate{N: n, Per: per}}})
	}
	loading := compattest.Server(dialect.Config{}, nil, New)

	const (
		sources = `[{"language":"DE","name":"German"},{"language":"EN","name":"English"},{"language":"NB","name":"Norwegian"},` +
			`{"language":"PT","name":"Portuguese"},{"language":"ZH","name":"Chinese"}]`
		targets = `[{"language":"DE","name":"German","supports_formality":false},` +
			`{"language":"EN-GB","name":"English (British)","supports_formality":false},` +
			`{"language":"EN-US","name":"English (American)","supports_formality":false},` +
			`{"language":"NB","name":"Norwegian","supports_formality":false},` +
			`{"language":"PT-BR","name":"Portuguese (Brazilian)","supports_formality":false},` +
			`{"language":"PT-PT","name":"Portuguese (European)","supports_formality":false},` +
			`{"language":"ZH","name":"Chinese (simplified)","supports_formality":false},` +
			`{"language":"ZH-HANS","name":"Chinese (simplified)","supports_formality":false}]`
		noGlossary = `{"message":"Glossary not found"}`
		notReady   = `{"message":"The model is loading: try again in a moment."}`
	)
	for _, test := range []struct {
		name                            string
		server                          http.Handler
		method, path, contentType, body string
		status                          int
		want                            string
	}{
		{"sources", some, "GET", "/v2/languages", "", "", 200, sources},
		{"sources by name", some, "GET", "/v2/languages?type=source", "", "", 200, sources},
		{"sources by POST", some, "POST", "/v2/languages", formType, "", 200, sources},
		{"targets", some, "GET", "/v2/languages?type=target", "", "", 200, targets},
		{"targets by POST", some, "POST", "/v2/languages", formType, "type=target", 200, targets},
		{"targets by GET with a form", some, "GET", "/v2/languages", formType, "type=target", 200, targets},
		{"targets by GET with JSON", some, "GET", "/v2/languages", jsonType, `{"type":"target"}`, 200, targets},
		{"another type", some, "GET", "/v2/languages?type=voice", "", "", 400,
			`{"message":"Parameter 'type' is invalid. 'source' and 'target' are valid values."}`},
		{"a number as the type", some, "GET", "/v2/languages", jsonType, `{"type":1}`, 400,
			`{"message":"Invalid request: type is a number, expected a string"}`},

		{"usage", open, "GET", "/v2/usage", "", "", 200, `{"character_count":0,"character_limit":1000000000000}`},
		{"usage of a day", counting(1250000, 24*time.Hour), "POST", "/v2/usage", formType, "", 200, `{"character_count":77,"character_limit":1250000}`},
		{"usage of an hour", counting(200, time.Hour), "GET", "/v2/usage", "", "", 200, `{"character_count":77,"character_limit":200}`},
		{"usage with a limit on speed", counting(100, time.Minute), "GET", "/v2/usage", "", "", 200,
			`{"character_count":180118,"character_limit":1000000000000}`},
		{"usage without a limit", counting(0, 0), "GET", "/v2/usage", "", "", 200, `{"character_count":180118,"character_limit":1000000000000}`},

		{"glossaries", open, "GET", "/v2/glossaries", "", "", 200, `{"glossaries":[]}`},
		{"glossaries of version 3", open, "GET", "/v3/glossaries", "", "", 200, `{"glossaries":[]}`},
		{"glossary languages", open, "GET", "/v2/glossary-language-pairs", "", "", 200, `{"supported_languages":[]}`},
		{"a glossary", open, "GET", "/v2/glossaries/1", "", "", 404, noGlossary},
		{"a glossary of version 3", open, "PATCH", "/v3/glossaries/1", jsonType, "{}", 404, noGlossary},
		{"deleting a glossary", open, "DELETE", "/v2/glossaries/1", "", "", 404, noGlossary},
		{"a new glossary", open, "POST", "/v2/glossaries", formType, "name=x", 404, `{"message":"This service has no stored glossaries: its operator has turned them off by GLOSSARY_FILE=off."}`},
		{"a document", open, "POST", "/v2/document", "", "", 404, `{"message":"This service has no documents: its operator has turned them off by JOB_FILE=off."}`},
		{"rephrasing", open, "POST", "/v2/write/rephrase", formType, "text=x", 400, `{"message":"Rephrasing is not offered by this server."}`},

		{"languages while loading", loading, "GET", "/v2/languages", "", "", 503, notReady},
		{"usage while loading", loading, "GET", "/v2/usage", "", "", 503, notReady},
		{"translation while loading", loading, "POST", "/v2/translate", formType, "text=x", 503, notReady},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := compattest.Send(t.Context(), test.server, test.method, test.path, test.contentType, test.body)
			assert.Equal(t, test.status, w.Code)
			assert.Equal(t, test.want, compattest.Body(w))
			if test.method == "GET" {
				assert.Equal(t, test.status, compattest.Send(t.Context(), test.server, "HEAD", test.path, test.contentType, test.body).Code)
			}
		})
	}
}

// strict is a gate with the keys right and hasty.
type strict struct{ gate }

func (strict) MustReadKey(*http.Request, string) (bool, error) { return true, nil }

func (strict) Enter(r *http.Request, key string) error {
	if key == "" {
		_, key, _ = strings.Cut(r.Header.Get("Authorization"), " ")
	}
	switch key {
	case "":
		return access.ErrNoKey
	case "right":
		return nil
	case "hasty":
		return &access.LimitError{Limit: "requests", Rate: access.Rate{N: 10, Per: time.Second}, Wait: 1500 * time.Millisecond}
	}
	return access.ErrBadKey
}

func (strict) Charge(_ *http.Request, characters int) error {
	per := map[int]time.Duration{5: 24 * time.Hour, 6: time.Minute}[characters]
	switch {
	case per > 0:
		return &access.LimitError{Limit: "characters", Rate: access.Rate{N: 100, Per: per}, Wait: time.Minute}
	case characters > 100:
		return access.TooManyCharacters(characters, 100)
	}
	return nil
}

func TestKeys(t *testing.T) {
	const (
		denied = `{"message":"Authorization failed. Please supply a valid DeepL-Auth-Key via the Authorization header."}`
		fine   = `{"translations":[{"detected_source_language":"EN","text":"HI"}]}`
		form   = "text=hi&source_lang=EN&target_lang=FR"
	)
	for _, test := range []struct {
		name, path, header, contentType, body string
		status                                int
		want, wait                            string
	}{
		{"in the header", "/v2/translate", "DeepL-Auth-Key right", formType, form, 200, fine, ""},
		{"in a form", "/v2/translate", "", formType, form + "&auth_key=right", 200, fine, ""},
		{"in JSON", "/v2/translate", "", jsonType, `{"text":["hi"],"source_lang":"EN","target_lang":"FR","auth_key":"right"}`, 200, fine, ""},
		{"in the query", "/v2/translate?auth_key=right", "", formType, form, 200, fine, ""},
		{"none", "/v2/translate", "", formType, form, 403, denied, ""},
		{"none, and nothing else is right", "/v2/translate", "", formType, "", 403, denied, ""},
		{"none, for usage", "/v2/usage", "", formType, "", 403, denied, ""},
		{"none, for languages", "/v2/languages", "", formType, "", 403, denied, ""},
		{"none, for what is not offered", "/v2/document", "", formType, "", 403, denied, ""},
		{"wrong", "/v2/translate", "DeepL-Auth-Key wrong", formType, form, 403, denied, ""},
		{"wrong, in a form", "/v2/translate", "", formType, form + "&auth_key=wrong", 403, denied, ""},
		{"too often", "/v2/translate", "DeepL-Auth-Key hasty", formType, form, 429,
			`{"message":"The limit of 10 requests per second is used up: try again in 2 s."}`, "2"},
		{"too many characters of a day", "/v2/translate", "DeepL-Auth-Key right", formType, "text=hello&target_lang=FR", 456,
			`{"message":"Quota for this billing period has been exceeded: The limit of 100 characters per day is used up: try again in 60 s."}`, "60"},
		{"too many characters of a minute", "/v2/translate", "DeepL-Auth-Key right", formType, "text=hello!&target_lang=FR", 429,
			`{"message":"The limit of 100 characters per minute is used up: try again in 60 s."}`, "60"},
		{"too many characters at all", "/v2/translate", "DeepL-Auth-Key right", formType, "target_lang=FR&text=" + strings.Repeat("x", 101), 413,
			`{"message":"The request has 101 characters and your limit allows 100 at once: send several requests."}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := compattest.Send(t.Context(), server(strict{}), "POST", test.path, test.contentType, test.body, "Authorization", test.header)
			assert.Equal(t, test.status, w.Code)
			assert.Equal(t, test.want, compattest.Body(w))
			assert.Equal(t, test.wait, w.Header().Get("Retry-After"))
		})
	}
}
