package libretranslate

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/access"
	"dragoman/app/compat"
	"dragoman/app/compat/toy"
	"dragoman/app/translate"
)

const (
	jsonType = "application/json"
	formType = "application/x-www-form-urlencoded"
)

// config is that of a server with the toy and without keys.
func config() compat.Config { return compat.Config{Backend: toy.Backend} }

// send sends a request to a server with the given configuration.
func send(t *testing.T, cfg compat.Config, method, path, contentType, body string) *httptest.ResponseRecorder {
	return toy.Send(t.Context(), Register, cfg, method, path, contentType, body)
}

func TestPaths(t *testing.T) {
	two := compat.Config{Backend: func() *compat.Backend {
		return &compat.Backend{Languages: compat.Languages{"fr", "ja"}, Translator: toy.Translator{}}
	}}
	keys := config()
	keys.KeyNeeded, keys.MaxChars = true, 5000
	loading := compat.Config{Backend: func() *compat.Backend { return nil }}

	const settings = `"filesTranslation":false,"frontendTimeout":500,`
	for _, test := range []struct {
		name         string
		cfg          compat.Config
		method, path string
		status       int
		want         string
	}{
		{"languages", two, "GET", "/languages", 200,
			`[{"code":"fr","name":"French","nativeName":"français","targets":["fr","ja"]},` +
				`{"code":"ja","name":"Japanese","nativeName":"日本語","targets":["fr","ja"]}]`},
		{"settings", config(), "GET", "/frontend/settings", 200,
			`{"apiKeys":false,"charLimit":-1,` + settings + `"keyRequired":false,"language":{"source":{"code":"auto","name":"Auto Detect"},` +
				`"target":{"code":"en","name":"English"}},"suggestions":false,"supportedFilesFormat":[]}`},
		{"settings with keys and a limit", keys, "GET", "/frontend/settings", 200,
			`{"apiKeys":true,"charLimit":5000,` + settings + `"keyRequired":true,"language":{"source":{"code":"auto","name":"Auto Detect"},` +
				`"target":{"code":"en","name":"English"}},"suggestions":false,"supportedFilesFormat":[]}`},
		{"settings without detection and English", two, "GET", "/frontend/settings", 200,
			`{"apiKeys":false,"charLimit":-1,` + settings + `"keyRequired":false,"language":{"source":{"code":"fr","name":"French"},` +
				`"target":{"code":"fr","name":"French"}},"suggestions":false,"supportedFilesFormat":[]}`},
		{"health", config(), "GET", "/health", 200, `{"status":"ok"}`},
		{"files", config(), "POST", "/translate_file", 403, `{"error":"Files translation are disabled on this server."}`},
		{"suggestions", config(), "POST", "/suggest", 403, `{"error":"Suggestions are disabled on this server."}`},

		{"languages while loading", loading, "GET", "/languages", 503, `{"error":"The model is loading: try again in a moment."}`},
		{"settings while loading", loading, "GET", "/frontend/settings", 503, `{"error":"The model is loading: try again in a moment."}`},
		{"health while loading", loading, "GET", "/health", 503, `{"error":"The model is loading: try again in a moment."}`},
		{"translation while loading", loading, "POST", "/translate", 503, `{"error":"The model is loading: try again in a moment."}`},
		{"detection while loading", loading, "POST", "/detect", 503, `{"error":"The model is loading: try again in a moment."}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := send(t, test.cfg, test.method, test.path, "", "")
			assert.Equal(t, test.status, w.Code)
			assert.Equal(t, test.want, toy.Body(w))
			if test.method == "GET" {
				assert.Equal(t, test.status, send(t, test.cfg, "HEAD", test.path, "", "").Code)
			}
		})
	}
}

// A client of LibreTranslate sends GET with a form; the list needs no key.
func TestLanguagesIgnoresBodiesAndKeys(t *testing.T) {
	cfg := config()
	cfg.Key = func(*gin.Context, string) error { return access.ErrBadKey }
	w := send(t, cfg, "GET", "/languages?api_key=wrong", formType, "api_key=wrong")
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
			w := send(t, config(), "POST", "/detect", test.contentType, test.body)
			assert.Equal(t, test.status, w.Code)
			assert.Equal(t, test.want, toy.Body(w))
		})
	}
}

func TestDetectWithoutDetector(t *testing.T) {
	backend := toy.Backend()
	backend.Detector = nil
	cfg := compat.Config{Backend: func() *compat.Backend { return backend }}
	w := send(t, cfg, "POST", "/detect", jsonType, `{"q":"Hello"}`)
	assert.Equal(t, 403, w.Code)
	assert.Equal(t, `{"error":"Language detection is disabled on this server."}`, toy.Body(w))
}

func TestKeys(t *testing.T) {
	cfg := config()
	cfg.Key = func(_ *gin.Context, key string) error {
		switch key {
		case "":
			return access.ErrNoKey
		case "right", "tired":
			return nil
		case "hasty":
			return &access.LimitError{Limit: "requests", Rate: access.Rate{N: 10, Per: time.Second}, Wait: 1500 * time.Millisecond}
		}
		return access.ErrBadKey
	}
	cfg.Charge = func(_ *gin.Context, characters int) error {
		if characters == 5 {
			return &access.LimitError{Limit: "characters", Rate: access.Rate{N: 100, Per: 24 * time.Hour}, Wait: time.Hour}
		}
		return nil
	}
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
			w := send(t, cfg, "POST", test.path, test.contentType, test.body)
			assert.Equal(t, test.status, w.Code)
			assert.Equal(t, test.want, toy.Body(w))
			assert.Equal(t, test.wait, w.Header().Get("Retry-After"))
		})
	}
}

func TestHooks(t *testing.T) {
	cfg := config()
	charged, told := 0, 0
	cfg.Charge = func(_ *gin.Context, characters int) error {
		charged += characters
		return nil
	}
	cfg.Translated = func(c *gin.Context, results []translate.Result) {
		told += len(results)
		c.Header("Dragoman-Cache", "misses")
	}
	w := send(t, cfg, "POST", "/translate", jsonType, `{"q":["<b>é</b>","日本"],"source":"en","target":"fr","format":"html"}`)
	assert.Equal(t, 200, w.Code)
	assert.Equal(t, []int{3, 2}, []int{charged, told})
	assert.Equal(t, "misses", w.Header().Get("Dragoman-Cache"))

	// What is refused costs nothing.
	send(t, cfg, "POST", "/translate", jsonType, `{"q":"hi","source":"en","target":"xx"}`)
	assert.Equal(t, []int{3, 2}, []int{charged, told})
}

// The deadline that bounded the body must not end a translation that takes longer:
// the server would take it for a client that left.
func TestBodyDeadlineEndsWithTheBody(t *testing.T) {
	router := gin.New()
	router.Use(func(c *gin.Context) {
		assert.NoError(t, http.NewResponseController(c.Writer).SetReadDeadline(time.Now().Add(100*time.Millisecond)))
		ctx, cancel := context.WithTimeout(c.Request.Context(), 250*time.Millisecond)
		defer cancel()
		c.Request = c.Request.WithContext(ctx)
		c.Next()
	})
	Register(router, config())
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	resp, err := http.Post(server.URL+"/translate", jsonType, strings.NewReader(`{"q":"wait","source":"en","target":"fr"}`))
	require.NoError(t, err)
	defer resp.Body.Close()
	assert.Equal(t, 504, resp.StatusCode, "the translation's own timeout")
}

// What middleware refuses has the form of the API too.
func TestFail(t *testing.T) {
	router := gin.New()
	router.Use(func(c *gin.Context) { c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, 10) })
	Register(router, config())
	for _, contentType := range []string{jsonType, formType, "multipart/form-data; boundary=xx"} {
		r := httptest.NewRequest("POST", "/translate", strings.NewReader(`--xx`+"\r\n"+strings.Repeat("x", 100)))
		r.Header.Set("Content-Type", contentType)
		w := httptest.NewRecorder()
		router.ServeHTTP(w, r)
		assert.Equal(t, 413, w.Code)
		assert.Equal(t, `{"error":"The body is larger than 10 bytes: send several requests."}`, toy.Body(w))
	}
}

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode)
	os.Exit(m.Run())
}
