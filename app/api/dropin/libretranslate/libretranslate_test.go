package libretranslate

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
	return compattest.Server(dialect.Config{Gate: gate}, compattest.Translator{}, New, withoutFiles)
}

// withoutFiles has the routes for files of a server without documents.
func withoutFiles(s *dialect.Server) dialect.Dialect { return Files(s, nil) }

// send sends a request to a server without keys.
func send(t *testing.T, path, contentType, body string) *httptest.ResponseRecorder {
	return compattest.Send(t.Context(), server(nil), "POST", path, contentType, body)
}

// strict is a gate with the keys right and hasty.
type strict struct{ *access.Gate }

func (strict) NeedsKeys() bool { return true }

func (strict) MustReadKey(*http.Request, string) (bool, error) { return true, nil }

func (strict) Enter(_ *http.Request, key string) error {
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
	if characters == 5 {
		return &access.LimitError{Limit: "characters", Rate: access.Rate{N: 100, Per: 24 * time.Hour}, Wait: time.Hour}
	}
	return nil
}

func TestPaths(t *testing.T) {
	open := server(nil)
	two := compattest.Server(dialect.Config{}, compattest.Translator{Codes: []string{"fr", "ja"}, Mute: true}, New)
	keys := compattest.Server(dialect.Config{Gate: strict{}, MaxChars: 5000}, compattest.Translator{}, New)
	loading := compattest.Server(dialect.Config{}, nil, New)

	const settings = `"filesTranslation":false,"frontendTimeout":500,`
	for _, test := range []struct {
		name         string
		server       http.Handler
		method, path string
		status       int
		want         string
	}{
		{"languages", two, "GET", "/languages", 200,
			`[{"code":"fr","name":"French","nativeName":"français","targets":["fr","ja"]},` +
				`{"code":"ja","name":"Japanese","nativeName":"日本語","targets":["fr","ja"]}]`},
		{"settings", open, "GET", "/frontend/settings", 200,
			`{"apiKeys":false,"charLimit":-1,` + settings + `"keyRequired":false,"language":{"source":{"code":"auto","name":"Auto Detect"},` +
				`"target":{"code":"en","name":"English"}},"suggestions":false,"supportedFilesFormat":[]}`},
		{"settings with keys and a limit", keys, "GET", "/frontend/settings", 200,
			`{"apiKeys":true,"charLimit":5000,` + settings + `"keyRequired":true,"language":{"source":{"code":"auto","name":"Auto Detect"},` +
				`"target":{"code":"en","name":"English"}},"suggestions":false,"supportedFilesFormat":[]}`},
		{"settings without detection and English", two, "GET", "/frontend/settings", 200,
			`{"apiKeys":false,"charLimit":-1,` + settings + `"keyRequired":false,"language":{"source":{"code":"fr","name":"French"},` +
				`"target":{"code":"fr","name":"French"}},"suggestions":false,"supportedFilesFormat":[]}`},
		{"health", open, "GET", "/health", 200, `{"status":"ok"}`},
		{"files", open, "POST", "/translate_file", 403, `{"error":"This service has no documents: its operator has turned them off by JOB_FILE=off."}`},
		{"suggestions", open, "POST", "/suggest", 403, `{"error":"Suggestions are disabled on this server."}`},

		{"languages while loading", loading, "GET", "/languages", 503, `{"error":"The model is loading: try again in a moment."}`},
		{"settings while loading", loading, "GET", "/frontend/settings", 503, `{"error":"The model is loading: try again in a moment."}`},
		{"health while loading", loading, "GET", "/health", 503, `{"error":"The model is loading: try again in a moment."}`},
		{"translation while loading", loading, "POST", "/translate", 503, `{"error":"The model is loading: try again in a moment."}`},
		{"detection while loading", loading, "POST", "/detect", 503, `{"error":"The model is loading: try again in a moment."}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := compattest.Send(t.Context(), test.server, test.method, test.path, "", "")
			assert.Equal(t, test.status, w.Code)
			assert.Equal(t, test.want, compattest.Body(w))
			if test.method == "GET" {
				assert.Equal(t, test.status, compattest.Send(t.Context(), test.server, "HEAD", test.path, "", "").Code)
			}
		})
	}
}

// Clients of LibreTranslate send GET with a form; the list of languages needs no key.
func TestLanguagesIgnoresBodiesAndKeys(t *testing.T) {
	w := compattest.Send(t.Context(), server(strict{}), "GET", "/languages?api_key=wrong", formType, "api_key=wrong")
	assert.Equal(t, 200, w.Code)
}

func TestDetect(t *testing.T) {
	for _, test := range []struct {
		name, contentType, body string
		status                  int
		want                    string
	}{
		{"JSON", jsonType, `{"q":"Hello"}`, 200, `[{"confidence":87.7,"language":"en"}]`},
		{"form", formType, `q=Bonjour+tout+le+monde`, 200, `[{"confidence":90,"language":"fr"}]`},
		{"two languages, by length", jsonType, `{"q":["Hi","Bonjour","Hello"]}`, 200,
			`[{"confidence":90,"language":"fr"},{"confidence":87.7,"language":"en"}]`},
		{"nothing to tell", jsonType, `{"q":"123"}`, 200, `[{"confidence":0,"language":"en"}]`},
		{"nothing to tell in a list", jsonType, `{"q":["123",""]}`, 200, `[{"confidence":0,"language":"en"}]`},

		{"no body", "", ``, 400, `{"error":"Invalid request: missing q parameter"}`},
		{"empty JSON", jsonType, ``, 400, `{"error":"Invalid request: missing q parameter"}`},
		{"no q", jsonType, `{}`, 400, `{"error":"Invalid request: missing q parameter"}`},
		{"empty q", formType, `q=`, 400, `{"error":"Invalid request: missing q parameter"}`},
		{"empty list", jsonType, `{"q":[]}`, 400, `{"error":"Invalid request: missing q parameter"}`},
		{"number", jsonType, `{"q":1}`, 400, `{"error":"Invalid request: q is a number, expected a string or an array of strings"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := send(t, "/detect", test.contentType, test.body)
			assert.Equal(t, test.status, w.Code)
			assert.Equal(t, test.want, compattest.Body(w))
		})
	}
}

func TestDetectWithoutDetector(t *testing.T) {
	mute := compattest.Server(dialect.Config{}, compattest.Translator{Mute: true}, New)
	w := compattest.Send(t.Context(), mute, "POST", "/detect", jsonType, `{"q":"Hello"}`)
	assert.Equal(t, 403, w.Code)
	assert.Equal(t, `{"error":"Language detection is disabled on this server."}`, compattest.Body(w))
}

func TestKeys(t *testing.T) {
	const wrong, noKey = `{"error":"Invalid API key"}`, `{"error":"Please contact the server operator to get an API key"}`
	for _, test := range []struct {
		name, path, contentType, body string
		status                        int
		want, wait                    string
	}{
		{"right, in a form", "/translate", formType, "q=hi&source=en&target=fr&api_key=right", 200, `{"translatedText":"HI"}`, ""},
		{"right, in the query", "/translate?api_key=right", formType, "q=hi&source=en&target=fr", 200, `{"translatedText":"HI"}`, ""},
		{"right, in JSON", "/translate", jsonType, `{"q":"hi","source":"en","target":"fr","api_key":"right"}`, 200, `{"translatedText":"HI"}`, ""},
		{"right, for detection", "/detect", jsonType, `{"q":"Hi","api_key":"right"}`, 200, `[{"confidence":87.7,"language":"en"}]`, ""},
		{"none", "/translate", formType, "q=hi&source=en&target=fr", 400, noKey, ""},
		{"null", "/translate", jsonType, `{"q":"hi","source":"en","target":"fr","api_key":null}`, 400, noKey, ""},
		{"none, and nothing else is right", "/translate", formType, "", 400, noKey, ""},
		{"none, for detection", "/detect", jsonType, `{"q":"Hello"}`, 400, noKey, ""},
		{"wrong", "/translate", formType, "q=hi&source=en&target=fr&api_key=wrong", 403, wrong, ""},
		{"not a string", "/translate", jsonType, `{"q":"hi","source":"en","target":"fr","api_key":7}`, 400,
			`{"error":"Invalid request: api_key is a number, expected a string"}`, ""},
		{"too often", "/translate", formType, "q=hi&source=en&target=fr&api_key=hasty", 429,
			`{"error":"Slowdown: The limit of 10 requests per second is used up: try again in 2 s."}`, "2"},
		{"too much", "/translate", formType, "q=hello&source=en&target=fr&api_key=right", 429,
			`{"error":"Slowdown: The limit of 100 characters per day is used up: try again in 3600 s."}`, "3600"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := compattest.Send(t.Context(), server(strict{}), "POST", test.path, test.contentType, test.body)
			assert.Equal(t, test.status, w.Code)
			assert.Equal(t, test.want, compattest.Body(w))
			assert.Equal(t, test.wait, w.Header().Get("Retry-After"))
		})
	}
}

// Errors of middleware have the API's form, too.
func TestFail(t *testing.T) {
	bounded := http.MaxBytesHandler(server(nil), 10)
	for _, contentType := range []string{jsonType, formType, "multipart/form-data; boundary=xx"} {
		w := compattest.Send(t.Context(), bounded, "POST", "/translate", contentType, "--xx\r\n"+strings.Repeat("x", 100))
		assert.Equal(t, 413, w.Code)
		assert.Equal(t, `{"error":"The body is larger than 10 bytes: send several requests."}`, compattest.Body(w))
	}
}
