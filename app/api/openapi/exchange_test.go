package openapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/compattest"
	"dragoman/app/api/dropin/openinference"
	"dragoman/app/api/httpapi"
	"dragoman/app/api/openapi"
	"dragoman/app/api/openapi/contracttest"
	"dragoman/app/api/webpage"
	"dragoman/app/catalog"
	"dragoman/app/translate"
)

// newContract returns the contract of the service in the tests.
func newContract(t *testing.T) *contracttest.Contract {
	t.Helper()
	c, err := contracttest.New(document(t, describe(t)))
	require.NoError(t, err)
	return c
}

// call sends a request to a handler and checks the answer against the contract.
func call(t *testing.T, c *contracttest.Contract, h http.Handler, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, "http://service:9527"+path, strings.NewReader(body))
	if method == http.MethodPost || method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	c.Check(t, contracttest.Exchange{Request: r, Sent: []byte(body), Response: w.Result(), Received: w.Body.Bytes()})
	return w
}

// payload returns a request with the given fields beside the records.
func payload(fields, records string) string {
	return `{"payload":{` + fields + `,"records":` + records + `}}`
}

// text returns a request to translate one text from English to French.
func text(s string) string {
	return payload(`"fromLang":"en","toLang":"fr"`, `[{"id":"1","text":"`+s+`"}]`)
}

// The service's own answers match the description, for valid and invalid requests.
func TestAnswers(t *testing.T) {
	c, h := newContract(t), newAPI(t, true).Handler()
	const (
		post, path, stream = "POST", "/translation", "/translation/stream"
		enfr               = `"fromLang":"en","toLang":"fr"`
		one                = `[{"id":"1","text":"one"}]`
	)
	with := func(fields string) string { return payload(enfr+","+fields, one) }
	events := []string{"Accept", "text/event-stream"}
	for _, test := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
	}{
		{"plain", post, path, text("one"), nil, 200},
		{"no records", post, path, payload(enfr, "[]"), nil, 200},
		{"several languages", post, path, payload(`"fromLang":"en","toLangs":["fr","ja"]`, one), nil, 200},
		{"detail", post, path, payload(`"fromLang":"auto","toLang":"fr","detail":true`, `[{"id":"1","text":"loop"},{"id":"","text":"12"}]`), nil, 200},
		{"everything", post, path, with(`"priority":"low","format":"html","split":false,"detail":true,"alternatives":3,"options":` +
			`{"beams":8,"maxLength":200,"lengthPenalty":-0.5,"noRepeatNgramSize":3,"repetitionPenalty":1.5}`), nil, 200},
		{"alternatives", post, path, with(`"alternatives":2`), nil, 200},
		{"an outline", post, path, with(`"format":"xml","xml":{"splittingTags":["a"],"nonSplittingTags":[],"outlineDetection":false,"splitLines":true}`), nil, 200},
		{"outline string", post, path, with(`"xml":"a"`), nil, 400},
		{"outline of numbers", post, path, with(`"xml":{"splittingTags":[1]}`), nil, 400},
		{"unknown field of an outline", post, path, with(`"xml":{"tags":[]}`), nil, 400},
		{"glossary", post, path, with(`"glossary":[{"source":"a","target":"b"},{"source":"c"}]`), nil, 200},
		{"a model", post, path, with(`"model":"default"`), nil, 200},
		{"several steps", post, path, payload(enfr+`,"detail":true`, `[{"id":"1","text":"pivot"}]`), nil, 200},
		{"empty options", post, path, with(`"options":{}`), nil, 200},
		{"as many records as may be", post, path, payload(enfr, `[{"id":"1","text":"a"},{"id":"2","text":"b"},{"id":"3","text":"c"},{"id":"4","text":"d"}]`), nil, 200},
		{"a text as long as may be", post, path, text(strings.Repeat("é", config().MaxChars)), nil, 200},
		{"a request id of its own", post, path, text("one"), []string{"X-Request-Id", "a/b"}, 200},
		{"a request id that is replaced", post, path, text("one"), []string{"X-Request-Id", "a b"}, 200},
		{"another case of the type", post, path, text("one"), []string{"Content-Type", "Application/JSON; charset=UTF-8"}, 200},

		{"lines", post, stream, text("one"), nil, 200},
		{"no lines", post, stream, payload(enfr, "[]"), nil, 200},
		{"lines with details", post, stream, payload(`"fromLang":"auto","toLangs":["fr","ja"],"detail":true`, one), nil, 200},
		{"events", post, stream, text("one"), events, 200},
		{"lines that end with an error", post, stream, payload(enfr, `[{"id":"1","text":"one"},{"id":"2","text":"fail"}]`), nil, 200},
		{"events that end with an error", post, stream, payload(enfr, `[{"id":"1","text":"one"},{"id":"2","text":"endless"}]`), events, 200},
		{"stream into an unknown language", post, stream, strings.Replace(text("one"), `"fr"`, `"xx"`, 1), events, 400},
		{"stream of nothing", post, stream, "", nil, 400},
		{"stream that is busy", post, stream, text("busy"), nil, 503},
		{"GET of a stream", "GET", stream, "", nil, 405},

		{"no JSON", post, path, "hello", nil, 400},
		{"no body", post, path, "", nil, 400},
		{"an array", post, path, "[]", nil, 400},
		{"null", post, path, "null", nil, 400},
		{"no payload", post, path, "{}", nil, 400},
		{"payload null", post, path, `{"payload":null}`, nil, 400},
		{"no records", post, path, `{"payload":{"fromLang":"en","toLang":"fr"}}`, nil, 400},
		{"no fromLang", post, path, payload(`"toLang":"fr"`, one), nil, 400},
		{"no toLang", post, path, payload(`"fromLang":"en"`, one), nil, 400},
		{"toLang and toLangs", post, path, with(`"toLangs":["ja"]`), nil, 400},
		{"no toLangs", post, path, payload(`"fromLang":"en","toLangs":[]`, one), nil, 400},
		{"toLangs string", post, path, payload(`"fromLang":"en","toLangs":"fr"`, one), nil, 400},
		{"a record without text", post, path, payload(enfr, `[{"id":"1"}]`), nil, 400},
		{"a record that is null", post, path, payload(enfr, `[null]`), nil, 400},
		{"id number", post, path, payload(enfr, `[{"id":1,"text":"x"}]`), nil, 400},
		{"unknown field at the top", post, path, `{"x":1,` + text("one")[1:], nil, 400},
		{"unknown field", post, path, with(`"beams":5`), nil, 400},
		{"unknown field of a record", post, path, payload(enfr, `[{"id":"1","text":"x","lang":"en"}]`), nil, 400},
		{"unknown option", post, path, with(`"options":{"temperature":1}`), nil, 400},
		{"field twice", post, path, with(`"toLang":"ja"`), nil, 400},
		{"priority nobody knows", post, path, with(`"priority":"urgent"`), nil, 400},
		{"priority null", post, path, with(`"priority":null`), nil, 400},
		{"detail string", post, path, with(`"detail":"true"`), nil, 400},
		{"glossary null", post, path, with(`"glossary":null`), nil, 400},
		{"glossary without a source", post, path, with(`"glossary":[{"target":"b"}]`), nil, 400},
		{"glossary with a number", post, path, with(`"glossary":[{"source":1}]`), nil, 400},
		{"glossary with another field", post, path, with(`"glossary":[{"source":"a","case":true}]`), nil, 400},
		{"alternatives string", post, path, with(`"alternatives":"2"`), nil, 400},
		{"alternatives fraction", post, path, with(`"alternatives":1.5`), nil, 400},
		{"alternatives negative", post, path, with(`"alternatives":-1`), nil, 400},
		{"too many alternatives", post, path, with(`"alternatives":9`), nil, 400},
		{"alternatives null", post, path, with(`"alternatives":null`), nil, 400},
		{"split number", post, path, with(`"split":1`), nil, 400},
		{"format number", post, path, with(`"format":1`), nil, 400},
		{"options list", post, path, with(`"options":[]`), nil, 400},
		{"beams zero", post, path, with(`"options":{"beams":0}`), nil, 400},
		{"beams fraction", post, path, with(`"options":{"beams":2.5}`), nil, 400},
		{"beams huge", post, path, with(`"options":{"beams":1e99}`), nil, 400},
		{"too many beams", post, path, with(`"options":{"beams":9}`), nil, 400},
		{"length zero", post, path, with(`"options":{"maxLength":0}`), nil, 400},
		{"penalty out of range", post, path, with(`"options":{"lengthPenalty":1e999}`), nil, 400},
		{"model null", post, path, with(`"model":null`), nil, 400},
		{"model number", post, path, with(`"model":1`), nil, 400},
		{"model empty", post, path, with(`"model":""`), nil, 400},
		{"unknown model", post, path, with(`"model":"de-xx"`), nil, 404},
		{"stream of an unknown model", post, stream, with(`"model":"default:9"`), events, 404},
		{"unknown language", post, path, strings.Replace(text("one"), `"fr"`, `"xx"`, 1), nil, 400},
		{"unknown source", post, path, strings.Replace(text("one"), `"en"`, `"EN"`, 1), nil, 400},
		{"auto as a target", post, path, strings.Replace(text("one"), `"fr"`, `"auto"`, 1), nil, 400},
		{"text too long", post, path, text(strings.Repeat("a", config().MaxChars+1)), nil, 400},

		{"form", post, path, text("one"), []string{"Content-Type", "application/x-www-form-urlencoded"}, 415},
		{"no type", post, path, text("one"), []string{"Content-Type", ""}, 415},
		{"compressed", post, path, text("one"), []string{"Content-Encoding", "gzip"}, 415},
		{"too large", post, path, strings.Repeat("x", int(config().MaxBodyBytes)+1), nil, 413},
		{"too many records", post, path, payload(enfr, "["+strings.Repeat(`{"id":"","text":""},`, 4)+`{"id":"","text":""}]`), nil, 413},
		{"no end", post, path, text("endless"), nil, 422},
		{"busy", post, path, text("busy"), nil, 503},
		{"shutting down", post, path, text("closed"), nil, 503},
		{"model that loads", post, path, text("loading"), nil, 503},
		{"model that is broken", post, path, text("broken"), nil, 503},
		{"model that is too large", post, path, text("large"), nil, 507},
		{"takes too long", post, path, text("late"), nil, 504},
		{"fails", post, path, text("fail"), nil, 500},
		{"panics", post, path, text("panic"), nil, 500},

		{"index", "GET", "/", "", nil, 200},
		{"page", "GET", "/", "", []string{"Accept", "text/html"}, 200},
		{"metrics", "GET", "/metrics", "", nil, 200},
		{"metrics in another format", "GET", "/metrics", "", []string{"Accept", "application/openmetrics-text"}, 200},
		{"deadline", post, path, text("one"), []string{"Request-Timeout", "1s"}, 200},
		{"deadline that is passed", post, path, text("wait"), []string{"Request-Timeout", "1ms"}, 504},
		{"deadline that is none", post, path, text("one"), []string{"Request-Timeout", "soon"}, 400},
		{"index, HEAD", "HEAD", "/", "", nil, 200},
		{"index with a body", "GET", "/", strings.Repeat("x", 2*int(config().MaxBodyBytes)), nil, 413},
		{"languages", "GET", "/languages", "", nil, 200},
		{"languages of a model", "GET", "/languages?model=default", "", nil, 200},
		{"languages of an unknown model", "GET", "/languages?model=xx", "", nil, 404},
		{"health", "GET", "/healthz", "", nil, 200},
		{"readiness", "GET", "/readyz", "", nil, 200},
		{"readiness with a query", "GET", "/readyz?probe=1", "", nil, 200},
		{"unknown path", "GET", "/nope", "", nil, 404},
		{"unknown path, too large", post, "/nope", strings.Repeat("x", 2*int(config().MaxBodyBytes)), nil, 413},
		{"path with a slash at the end", post, "/translation/", text("one"), nil, 404},
		{"GET of a POST path", "GET", path, "", nil, 405},
		{"HEAD of a POST path", "HEAD", path, "", nil, 405},
		{"PUT", "PUT", path, text("one"), nil, 405},
		{"OPTIONS", "OPTIONS", path, "", nil, 204},
		{"POST of a GET path", post, "/languages", "{}", nil, 405},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := call(t, c, h, test.method, test.path, test.body, test.headers...)
			assert.Equal(t, test.status, w.Code, w.Body)
		})
	}
}

func TestAnswersWhileTheModelLoads(t *testing.T) {
	h, c := newAPI(t, false).Handler(), newContract(t)
	for path, status := range map[string]int{"/": 200, "/healthz": 200, "/readyz": 503, "/languages": 503} {
		assert.Equal(t, status, call(t, c, h, "GET", path, "").Code, path)
	}
	assert.Equal(t, 503, call(t, c, h, "POST", "/translation", text("one")).Code)

	api := newAPI(t, true)
	api.Drain()
	assert.Equal(t, 503, call(t, c, api.Handler(), "GET", "/readyz", "").Code)
}

// slow is a body that does not arrive in time.
type slow struct{}

func (slow) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

func TestAnswerToABodyThatIsLate(t *testing.T) {
	r := httptest.NewRequest("POST", "/translation", slow{})
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	newAPI(t, true).Handler().ServeHTTP(w, r)
	assert.Equal(t, 408, w.Code)
	newContract(t).Check(t, contracttest.Exchange{Request: r, Response: w.Result(), Received: w.Body.Bytes()})
}

// The description includes itself and its page.
func TestAnswersOfTheDescription(t *testing.T) {
	d := describe(t)
	h, c := gin.New(), newContract(t)
	h.Use(func(c *gin.Context) { c.Header("X-Request-Id", "rid") }) // as in the service's router
	d.Register(h, nil)
	for _, path := range []string{"/openapi.json", "/openapi.yaml", "/docs"} {
		w := call(t, c, h, "GET", path, "")
		assert.Equal(t, 200, w.Code, path)
		assert.Equal(t, 304, call(t, c, h, "GET", path, "", "If-None-Match", w.Header().Get("ETag")).Code, path)
		assert.Equal(t, 200, call(t, c, h, "HEAD", path, "").Code, path)
	}
}

// Answers of the compatible routes match the description. Refusals by middleware have the form of the API; 0 leaves the exact
// status to that API's tests.
func TestAnswersOfCompatibleRoutes(t *testing.T) {
	c, h := newContract(t), newAPI(t, true).Handler()
	const post, form = "POST", "application/x-www-form-urlencoded"
	multipart, file := compattest.Form("a.txt", "one\n", "source", "en", "target", "fr", "target_lang", "FR")
	for _, test := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
	}{
		{"translate", post, "/translate", `{"q":"one","source":"en","target":"fr"}`, nil, 200},
		{"translate several", post, "/translate", `{"q":["one","bonjour"],"source":"auto","target":"ja","format":"html","alternatives":2}`, nil, 200},
		{"translate a form", post, "/translate", "q=one&source=auto&target=fr", []string{"Content-Type", form}, 200},
		{"translate by a model", post, "/translate", `{"q":"one","source":"en","target":"fr","model":"default"}`, nil, 200},
		{"translate by no model", post, "/translate", `{"q":"one","source":"en","target":"fr","model":"xx"}`, nil, 404},
		{"no text", post, "/translate", `{"source":"en","target":"fr"}`, nil, 400},
		{"unknown language", post, "/translate", `{"q":"one","source":"en","target":"xx"}`, nil, 400},
		{"busy", post, "/translate", `{"q":"busy","source":"en","target":"fr"}`, nil, 503},
		{"fails", post, "/translate", `{"q":"fail","source":"en","target":"fr"}`, nil, 500},
		{"detect", post, "/detect", `{"q":"bonjour"}`, nil, 200},
		{"detect nothing", post, "/detect", `{"q":"12"}`, nil, 200},
		{"languages", "GET", "/languages", "", nil, 200},
		{"settings", "GET", "/frontend/settings", "", nil, 200},
		{"health", "GET", "/health", "", nil, 200},
		{"spec", "GET", "/spec", "", nil, 200},
		{"spec, POST", post, "/spec", "", nil, 405},
		{"too large", post, "/translate", strings.Repeat("x", 2*int(config().MaxBodyBytes)), nil, 0},
		{"deadline that is none", post, "/translate", `{"q":"one","source":"en","target":"fr"}`, []string{"Request-Timeout", "soon"}, 0},
		{"no file", post, "/translate_file", "{}", nil, 400},
		{"file of another kind", post, "/translate_file", strings.Replace(file, "a.txt", "a.xyz", 1), []string{"Content-Type", multipart}, 400},
		{"no download", "GET", "/download_file/x", "", nil, 404},
		{"suggestions", post, "/suggest", "{}", nil, 403},

		{"v2 translate", post, "/v2/translate", `{"text":["one","two"],"target_lang":"FR","show_billed_characters":true,"model_type":"latency_optimized"}`, nil, 200},
		{"v2 translate a form", post, "/v2/translate", "text=one&text=two&target_lang=EN-GB", []string{"Content-Type", form}, 200},
		{"v2 translate a query", "GET", "/v2/translate?text=one&target_lang=FR&source_lang=EN", "", nil, 200},
		{"v2 translate by a model", post, "/v2/translate", `{"text":["one"],"target_lang":"FR","model":"default"}`, nil, 200},
		{"v2 translate by no model", "GET", "/v2/translate?text=one&target_lang=FR&model=xx", "", nil, 404},
		{"v2 no text", post, "/v2/translate", `{"target_lang":"FR"}`, nil, 400},
		{"v2 formality", post, "/v2/translate", `{"text":["one"],"target_lang":"FR","formality":"more"}`, nil, 400},
		{"v2 busy", post, "/v2/translate", `{"text":["busy"],"target_lang":"FR"}`, nil, 529},
		{"v2 too many", post, "/v2/translate", `{"text":["a","b","c","d","e"],"target_lang":"FR"}`, nil, 413},
		{"v2 sources", "GET", "/v2/languages", "", nil, 200},
		{"v2 targets", "GET", "/v2/languages?type=target", "", nil, 200},
		{"v2 targets, POST", post, "/v2/languages", `{"type":"target"}`, nil, 200},
		{"v2 another type", "GET", "/v2/languages?type=both", "", nil, 400},
		{"v2 usage", "GET", "/v2/usage", "", nil, 200},
		{"v2 usage, POST", post, "/v2/usage", "", nil, 200},
		{"v2 glossaries", "GET", "/v2/glossaries", "", nil, 200},
		{"v3 glossaries", "GET", "/v3/glossaries", "", nil, 200},
		{"v2 new glossary", post, "/v2/glossaries", "{}", nil, 400},
		{"style rules", "GET", "/v3/style_rules?page=0&page_size=10&detailed=true", "", nil, 200},
		{"translation memories", "GET", "/v3/translation_memories", "", nil, 200},
		{"v2 glossary pairs", "GET", "/v2/glossary-language-pairs", "", nil, 200},
		{"v2 document", post, "/v2/document", file, []string{"Content-Type", multipart}, 200},
		{"v2 no document", post, "/v2/document", "", nil, 400},
		{"v2 unknown document", post, "/v2/document/x", `{"document_key":"x"}`, nil, 404},
		{"v2 unknown result", post, "/v2/document/x/result", `{"document_key":"x"}`, nil, 404},
		{"v2 usage, DELETE", "DELETE", "/v2/usage", "", nil, 405},
		{"v2 rephrase", post, "/v2/write/rephrase", "{}", nil, 400},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := call(t, c, h, test.method, test.path, test.body, test.headers...)
			if test.status != 0 {
				assert.Equal(t, test.status, w.Code, w.Body)
			}
		})
	}
}

// managed implements the Open Inference Protocol's model repository, with one model that stays.
type managed struct{}

func (managed) Index() []catalog.Status {
	return []catalog.Status{{Name: "default", Version: "1", Current: true, Served: true, State: catalog.Ready, Bytes: 5}}
}

func (managed) Statistics() []translate.Statistics {
	return []translate.Statistics{{Model: "default", Version: "1", Last: time.UnixMilli(9), Sentences: 3}}
}

func (managed) Load(context.Context, string) error { return openinference.ErrNoRepository }

func (managed) Unload(string) error { return openinference.ErrNoRepository }

func TestAnswersOfTheInferenceProtocol(t *testing.T) {
	api := newAPI(t, true)
	api.Manage(managed{})
	c, h := newContract(t), api.Handler()
	const post, infer = "POST", "/v2/models/default/infer"
	const one = `{"inputs":[{"name":"text","datatype":"BYTES","shape":[1],"data":["one"]}],"parameters":{"to":"fr"`
	for _, test := range []struct {
		name, method, path, body string
		status                   int
	}{
		{"server", "GET", "/v2", "", 200},
		{"live", "GET", "/v2/health/live", "", 200},
		{"ready", "GET", "/v2/health/ready", "", 200},
		{"model", "GET", "/v2/models/default", "", 200},
		{"version", "GET", "/v2/models/default/versions/1", "", 200},
		{"no model", "GET", "/v2/models/nope", "", 404},
		{"model is ready", "GET", "/v2/models/default/ready", "", 200},
		{"version is ready", "GET", "/v2/models/default/versions/1/ready", "", 200},
		{"config", "GET", "/v2/models/default/config", "", 200},
		{"config of a version", "GET", "/v2/models/default/versions/1/config", "", 200},
		{"statistics", "GET", "/v2/models/default/stats", "", 200},
		{"statistics of a version", "GET", "/v2/models/default/versions/1/stats", "", 200},
		{"statistics of all", "GET", "/v2/models/stats", "", 200},
		{"infer", post, infer, one + `}}`, 200},
		{"infer with all", post, infer, one + `,"from":"en","beams":2,"priority":3,"timeout":1000000},"id":"x",` +
			`"outputs":[{"name":"score","parameters":{"binary_data":false}}]}`, 200},
		{"infer binary", post, infer, one + `,"binary_data_output":true}}`, 200},
		{"infer by a version that is unknown", post, "/v2/models/default/versions/7/infer", one + `}}`, 404},
		{"no input", post, infer, `{"inputs":[]}`, 400},
		{"no body", post, infer, "", 400},
		{"busy", post, infer, strings.Replace(one, "one", "busy", 1) + `}}`, 503},
		{"too large", post, infer, strings.Repeat("x", 2*int(config().MaxBodyBytes)), 413},
		{"no such path", "GET", "/v2/models/default/nope", "", 404},
		{"no such extension", "GET", "/v2/logging", "", 404},
		{"no such method", "DELETE", "/v2/models/default", "", 405},
		{"index", post, "/v2/repository/index", "", 200},
		{"index of what is ready", post, "/v2/repository/index", `{"ready":true}`, 200},
		{"load", post, "/v2/repository/models/default/load", "{}", 403},
		{"unload", post, "/v2/repository/models/default/unload", "", 403},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := call(t, c, h, test.method, test.path, test.body)
			assert.Equal(t, test.status, w.Code, w.Body)
			assert.Equal(t, test.status >= 400, strings.HasPrefix(w.Body.String(), `{"error":"`), w.Body)
		})
	}
}

// The description has each route, and each operation of the description has a route.
func TestRoutes(t *testing.T) {
	routes := append(newAPI(t, true).Routes(), routerOf(describe(t)).Routes()...)
	// The compatible routes exist a second time below each model, as their tags say.
	routes = slices.DeleteFunc(routes, func(r gin.RouteInfo) bool { return strings.HasPrefix(r.Path, dialect.ModelPath+"/") })
	assert.NoError(t, newContract(t).Routes(routes, openapi.FilesPath, webpage.AssetsPath))
}

func TestExamples(t *testing.T) {
	n, err := newContract(t).Examples()
	assert.NoError(t, err)
	assert.Greater(t, n, 40)
}

// Several models are listed, and the first one is the default.
func TestAnswersWithSeveralModels(t *testing.T) {
	api := newAPI(t, false)
	api.Ready(capitals{}, func() []httpapi.Model {
		return []httpapi.Model{{Name: "m", Version: "2", Source: "owner/name", Precision: "fp16"}, {Name: "m", Version: "1"}, {Name: "pipeline", Version: "1"}}
	})
	w := call(t, newContract(t), api.Handler(), "GET", "/", "")
	assert.Contains(t, w.Body.String(), `"model":{"name":"m","version":"2"`)
	assert.Contains(t, w.Body.String(), `{"name":"pipeline","version":"1"}]`)
	w = call(t, newContract(t), api.Handler(), "GET", "/v1/models", "")
	assert.Equal(t, 1, strings.Count(w.Body.String(), `"id":"m"`), w.Body.String())
}
