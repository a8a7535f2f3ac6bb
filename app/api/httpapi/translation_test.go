package httpapi

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/translate"
)

func TestTranslation(t *testing.T) {
	a, _ := newAPI()
	for _, test := range []struct{ name, records, want string }{
		{"one", `[{"id":"1","text":"one"}]`, `[{"id":"1","text":"ONE"}]`},
		{"order and equal ids are kept", `[{"id":"b","text":"x"},{"id":"a","text":"y"},{"id":"b","text":"z"}]`,
			`[{"id":"b","text":"X"},{"id":"a","text":"Y"},{"id":"b","text":"Z"}]`},
		{"no records", `[]`, `[]`},
		{"empty id and text", `[{"id":"","text":""}]`, `[{"id":"","text":""}]`},
		{"fields in another order", `[{"text":"one","id":"1"}]`, `[{"id":"1","text":"ONE"}]`},
		{"escapes", `[{"id":"\u00e9\ud83d\ude00","text":"a\n\t\"\\"}]`, `[{"id":"é😀","text":"A\n\t\"\\"}]`},
		{"NUL", `[{"id":"1","text":"a\u0000b"}]`, `[{"id":"1","text":"A\u0000B"}]`},
		{"HTML is not escaped", `[{"id":"<&>","text":"<b>"}]`, `[{"id":"<&>","text":"<B>"}]`},
		{"space around", " \n[ { \"id\" : \"1\" , \"text\" : \"x\" } ]\r\t", `[{"id":"1","text":"X"}]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := do(a.Handler(), "POST", "/translation", payload(test.records))
			assert.Equal(t, 200, w.Code)
			assert.Equal(t, `{"result":`+test.want+"}\n", w.Body.String())
			assert.Equal(t, "application/json; charset=utf-8", w.Header().Get("Content-Type"))
		})
	}
}

func TestCacheHeader(t *testing.T) {
	for _, test := range []struct{ records, header, log string }{
		{`[]`, "hits=0, misses=0", "records=0 cached=0"},
		{`[{"id":"1","text":"new"}]`, "hits=0, misses=1", "records=1 cached=0"},
		{`[{"id":"1","text":"old 1"},{"id":"2","text":"new"},{"id":"3","text":""},{"id":"4","text":"old 2"}]`,
			"hits=2, misses=1", "records=4 cached=2"},
	} {
		t.Run(test.header, func(t *testing.T) {
			a, log := newAPI()
			w := do(a.Handler(), "POST", "/translation", payload(test.records))
			assert.Equal(t, 200, w.Code)
			assert.Equal(t, test.header, w.Header().Get("Dragoman-Cache"))
			assert.Contains(t, log.String(), test.log)
			assert.NotContains(t, w.Body.String(), "hits")
		})
	}
	a, log := newAPI()
	w := do(a.Handler(), "POST", "/translate", `{"q":["old","loop"],"source":"en","target":"fr"}`)
	assert.Equal(t, "hits=1, misses=1", w.Header().Get("Dragoman-Cache"), "also of drop-ins")
	assert.Contains(t, log.String(), "records=2 cached=1")

	a, log = newAPI()
	w = do(a.Handler(), "POST", "/translation", payload(`[{"id":"1","text":"old"},{"id":"2","text":"fail"}]`))
	assert.Equal(t, 500, w.Code)
	assert.Empty(t, w.Header().Get("Dragoman-Cache"))
	assert.NotContains(t, log.String(), "cached=")
}

// The fields of a request reach the translator.
func TestRequestFields(t *testing.T) {
	a, _ := newAPI()
	const none = "Options:{Beams:0 MaxLength:0 LengthPenalty:<nil> NoRepeatNgramSize:<nil> RepetitionPenalty:<nil>}"
	for fields, want := range map[string]string{
		`"toLang":"fr"`:                                    "From:en To:[fr] Records:[] Model: Caller:192.0.2.1/32 Priority:0 Format: Whole:false Wrapped:false Wrap:auto Once:false " + none + " Alternatives:0 Terms:[] Memory:<nil> Outline:{Splitting:[] NonSplitting:[] Undetected:false Lines:false} Progress:<nil> parts:[] Flagged:false",
		`"toLang":"fr","model":"default"`:                  "Model:default",
		`"toLang":"fr","priority":"normal"`:                "Priority:0",
		`"toLang":"fr","priority":"low"`:                   "Priority:-1",
		`"toLang":"fr", "priority" : "\u0068igh"`:          "Priority:1",
		`"toLangs":["fr"]`:                                 "To:[fr]",
		`"toLang":"fr","format":"html"`:                    "Format:html",
		`"toLang":"fr","format":"what the use case takes"`: "Format:what the use case takes",
		`"toLang":"fr","split":false`:                      "Whole:true",
		`"toLang":"fr","split":true`:                       "Whole:false",
		`"toLang":"fr","wrapped":"on"`:                     "Wrap:on",
		`"toLang":"fr","detail":true`:                      "Flagged:true",
		`"toLang":"fr","alternatives":0`:                   "Alternatives:0 ",
		`"toLang":"fr","xml":{}`:                           "Outline:{Splitting:[] NonSplitting:[] Undetected:false Lines:false}",
		`"toLang":"fr","xml":{"splittingTags":["a","b"],"nonSplittingTags":["c"],"outlineDetection":false,"splitLines":true}`: "Outline:{Splitting:[a b] NonSplitting:[c] Undetected:true Lines:true}",
		`"toLang":"fr","xml":{"outlineDetection":true}`:                                                                       "Undetected:false",
		`"toLang":"fr","options":{}`:                                            none,
		`"toLang":"fr","options":{"beams":5,"maxLength":100}`:                   "Beams:5 MaxLength:100",
		`"toLang":"fr","glossary":[{"source":"a"},{"source":"b","target":"c"}]`: "Terms:[{Source:a Target:a} {Source:b Target:c}]",
	} {
		w := do(a.Handler(), "POST", "/translation",
			`{"payload":{"fromLang":"en",`+fields+`,"records":[{"id":"1","text":"request"}]}}`)
		assert.Equal(t, 200, w.Code, w.Body)
		assert.Contains(t, w.Body.String(), want, fields)
	}
}

func TestSearchOptions(t *testing.T) {
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequest("POST", "/", strings.NewReader(`{"payload":{"fromLang":"en","toLang":"fr","records":[],"options":
		{"lengthPenalty":-0.5,"noRepeatNgramSize":0,"repetitionPenalty":1.5}}}`))
	c.Request.Header.Set("Content-Type", "application/json")
	req, err := decodeTranslation(c, 1024)
	require.NoError(t, err)
	penalty, size, repetition := -0.5, 0, 1.5
	assert.Equal(t, translate.Options{LengthPenalty: &penalty, NoRepeatNgramSize: &size, RepetitionPenalty: &repetition}, req.Options)
}

func TestSeveralLanguages(t *testing.T) {
	a, _ := newAPI()
	w := do(a.Handler(), "POST", "/translation",
		`{"payload":{"fromLang":"en","toLangs":["fr","ja"],"records":[{"id":"1","text":"x"},{"id":"2","text":"y"}]}}`)
	assert.Equal(t, `{"result":[{"id":"1","toLang":"fr","text":"X"},{"id":"2","toLang":"fr","text":"Y"},`+
		`{"id":"1","toLang":"ja","text":"X"},{"id":"2","toLang":"ja","text":"Y"}]}`+"\n", w.Body.String())
}

func TestDetail(t *testing.T) {
	a, log := newAPI()
	w := do(a.Handler(), "POST", "/translation",
		`{"payload":{"fromLang":"auto","toLang":"fr","detail":true,"records":[{"id":"1","text":"x"},{"id":"2","text":"loop"}]}}`)
	assert.Equal(t, `{"result":[{"id":"1","text":"X","detail":{"model":"m","version":"1","fromLang":"en","detected":true,"segments":[{"source":"x","text":"X"}],`+
		`"sourceTokens":4,"targetTokens":3,"score":-0.1235,"cacheHit":false,"queueMs":1.5,"computeMs":2,"flags":[]}},`+
		`{"id":"2","text":"LOOP","detail":{"model":"m","version":"1","fromLang":"en","detected":true,"segments":[{"source":"loop","text":"LOOP","flags":["truncated","loop"]}],`+
		`"sourceTokens":4,"targetTokens":3,"score":-0.1235,"cacheHit":false,"queueMs":1.5,"computeMs":2,"flags":["truncated","loop"]}}]}`+"\n",
		w.Body.String())
	assert.Equal(t, "truncated=1, loop=1", w.Header().Get("Dragoman-Flags"))
	assert.Contains(t, log.String(), `flags="truncated=1 loop=1"`)

	w = do(a.Handler(), "POST", "/translation", payload(`[{"id":"1","text":"x"}]`))
	assert.Empty(t, w.Header().Values("Dragoman-Flags"))
}

// Alternatives are in the answer and in each sentence of its details.
func TestAlternatives(t *testing.T) {
	a, _ := newAPI()
	const alternatives = `"alternatives":[{"text":"X","score":-0.1235},{"text":"3","score":-1}]`
	for detail, want := range map[string]string{
		"":                `{"id":"1","text":"X",` + alternatives + `}`,
		`"detail":true, `: `{"id":"1","text":"X",` + alternatives + `,"detail":{"model":"m","version":"1","fromLang":"en","detected":false,"segments":[{"source":"x","text":"X",` + alternatives + `}]`,
	} {
		body := `{"payload":{"fromLang":"en","toLang":"fr",` + detail + `"alternatives":3,"records":[{"id":"1","text":"x"}]}}`
		assert.Contains(t, do(a.Handler(), "POST", "/translation", body).Body.String(), want)
		assert.Contains(t, do(a.Handler(), "POST", "/translation/stream", body).Body.String(), `{"result":`+want)
	}
}

// If a sentence has several steps, the details list them.
func TestDetailOfSteps(t *testing.T) {
	a, _ := newAPI()
	w := do(a.Handler(), "POST", "/translation", `{"payload":{"fromLang":"ja","toLang":"de","detail":true,"records":[{"id":"1","text":"pivot"}]}}`)
	assert.Contains(t, w.Body.String(), `"segments":[{"source":"pivot","text":"PIVOT","steps":[`+
		`{"model":"ja-en","version":"1","fromLang":"ja","toLang":"en","text":"x","score":-0.5,"cacheHit":true},`+
		`{"model":"en-de","version":"2","fromLang":"en","toLang":"de","text":"PIVOT","score":-0.1235,"cacheHit":false,"flags":["loop"]}]}]`)
}

// The log names the models that translated a request.
func TestModelsInTheLog(t *testing.T) {
	a, log := newAPI()
	do(a.Handler(), "POST", "/translation", payload(`[{"id":"1","text":"x"},{"id":"2","text":"pivot"},{"id":"3","text":"x"}]`))
	assert.Contains(t, log.String(), `model="m:1 ja-en+en-de:1+2" records=3`)

	a, log = newAPI()
	do(a.Handler(), "POST", "/translation", payload("[]"))
	assert.NotContains(t, log.String(), "model=", "none was needed")

	a, log = newAPI()
	do(a.Handler(), "POST", "/translate", `{"q":["x","x","x"],"source":"en","target":"fr"}`)
	assert.Contains(t, log.String(), "model=m:1 records=3")
}

func TestRetryAfter(t *testing.T) {
	a, _ := newAPI()
	w := do(a.Handler(), "POST", "/translation", payload(`[{"id":"1","text":"busy"}]`))
	assert.Equal(t, "3", w.Header().Get("Retry-After"))
	assert.Equal(t, `{"error":{"code":"busy","message":"too many requests are waiting: try again in 3 s"}}`+"\n", w.Body.String())
}

// A temporary lack of a resource is not an internal error.
func TestLostModel(t *testing.T) {
	a, log := newAPI()
	w := do(a.Handler(), "POST", "/translation", payload(`[{"id":"1","text":"lost"}]`))
	assert.Equal(t, 503, w.Code)
	assert.Equal(t, "1", w.Header().Get("Retry-After"))
	assert.Contains(t, w.Body.String(), `{"error":{"code":"stuck","message":"the model does not work any more`)
	assert.NotContains(t, w.Body.String(), "CUDA")
	assert.Contains(t, log.String(), "CUDA_ERROR_ILLEGAL_ADDRESS")
}
