package client

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRequestsOnTheWire(t *testing.T) {
	penalty, size := -0.5, 0
	one := []Record{{ID: "1", Text: "<b> & \"é\"\n"}}
	for name, test := range map[string]struct {
		request Request
		want    string
	}{
		"smallest": {Request{From: "en", To: "fr"}, `{"fromLang":"en","toLang":"fr","records":[]}`},
		"text": {Request{From: Auto, To: "fr", Records: one},
			`{"fromLang":"auto","toLang":"fr","records":[{"id":"1","text":"<b> & \"é\"\n"}]}`},
		"languages": {Request{From: "en", ToLangs: []string{"fr", "ja"}}, `{"fromLang":"en","toLangs":["fr","ja"],"records":[]}`},
		"all": {Request{From: "en", To: "fr", Model: "en-fr:2", Format: FormatHTML, Priority: PriorityLow, NoSplit: true, Detail: true, Alternatives: 3,
			Options: &Options{Beams: 2, MaxLength: 9, LengthPenalty: &penalty, NoRepeatNgramSize: &size, RepetitionPenalty: &penalty}},
			`{"fromLang":"en","toLang":"fr","records":[],"model":"en-fr:2","format":"html","priority":"low","detail":true,"alternatives":3,` +
				`"options":{"beams":2,"maxLength":9,"lengthPenalty":-0.5,"noRepeatNgramSize":0,"repetitionPenalty":-0.5},"split":false}`},
		"XML": {Request{From: "en", To: "fr", Format: FormatXML, XML: &XML{SplittingTags: []string{"a"}, NonSplittingTags: []string{"b"}, OutlineDetection: new(bool), SplitLines: true}},
			`{"fromLang":"en","toLang":"fr","records":[],"format":"xml","xml":{"splittingTags":["a"],"nonSplittingTags":["b"],"outlineDetection":false,"splitLines":true}}`},
		"terms": {Request{From: "en", To: "fr", Terms: []Term{{"cat", "chat"}, {Source: "IBM"}}},
			`{"fromLang":"en","toLang":"fr","records":[],"glossary":[{"source":"cat","target":"chat"},{"source":"IBM"}]}`},
		"no options": {Request{From: "en", To: "fr", Options: &Options{}}, `{"fromLang":"en","toLang":"fr","records":[],"options":{}}`},
		"what the service refuses": {Request{To: "fr", ToLangs: []string{"fr"}, Format: "pdf"},
			`{"fromLang":"","toLang":"fr","toLangs":["fr"],"records":[],"format":"pdf"}`},
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			var header http.Header
			keep := func(w http.ResponseWriter, r *http.Request) {
				raw, _ := io.ReadAll(r.Body)
				got, header = string(raw), r.Header
				w.WriteHeader(http.StatusTeapot)
			}
			inBubble(t, Config{Key: "k-1"}, keep, func(t *testing.T, c *Client) {
				_, err := c.Translate(t.Context(), test.request)
				assert.Equal(t, http.StatusTeapot, requireError(t, err).Status)
			})
			assert.Equal(t, `{"payload":`+test.want+`}`, got)
			assert.Equal(t, "application/json", header.Get("Content-Type"))
			assert.Equal(t, "application/json", header.Get("Accept"))
			assert.Equal(t, "Bearer k-1", header.Get("Authorization"))
			assert.Equal(t, "dragoman-go-client", header.Get("User-Agent"))
			assert.Regexp(t, requestID, header.Get("X-Request-Id"))
			assert.NotContains(t, header, "Idempotency-Key")
			assert.NotContains(t, header, "Request-Timeout")
		})
	}
}

func TestRequestsThatCannotBeSent(t *testing.T) {
	notANumber := math.NaN()
	for want, r := range map[string]Request{
		`"/payload/records/1/text"`: {From: "en", To: "fr", Records: []Record{{}, {Text: "a\xff"}}},
		`"/payload/records/0/id"`:   {From: "en", To: "fr", Records: []Record{{ID: "\xc3"}}},
		`lengthPenalty`:             {From: "en", To: "fr", Options: &Options{LengthPenalty: &notANumber}},
		`Request.ID has`:            {From: "en", To: "fr", ID: "a b"},
		`more than 128`:             {From: "en", To: "fr", ID: strings.Repeat("a", 129)},
	} {
		var requests atomic.Int32
		inBubble(t, Config{}, inTurn(&requests, capitals), func(t *testing.T, c *Client) {
			_, err := c.Translate(t.Context(), r)
			assert.ErrorContains(t, err, want)
			_, err = c.Submit(t.Context(), r, SubmitOptions{})
			assert.ErrorContains(t, err, want)
			for _, err := range c.Stream(t.Context(), r) {
				assert.ErrorContains(t, err, want)
			}
		})
		assert.Zero(t, requests.Load())
	}
}

// A record that alone fails has an error of its own, and the others have their translations; also in streams, where equal ids are
// told apart by nothing.
func TestRecordsThatFail(t *testing.T) {
	const failed, fine = `{"id":"a","toLang":"fr","error":{"code":"unfinished","message":"no end","hint":1}}`, `{"id":"a","text":"TWO","toLang":"fr"}`
	request := Request{ToLangs: []string{"fr"}, Records: []Record{{"a", "one"}, {"a", "two"}}, ID: "r1"}
	want := func(field string) []Result {
		return []Result{{ID: "a", To: "fr", Err: &Error{Code: CodeUnfinished, Message: "no end", Field: field, RequestID: "r1"}}, {ID: "a", Text: "TWO", To: "fr"}}
	}
	inBubble(t, Config{}, answer(200, `{"result":[`+failed+`,`+fine+`]}`), func(t *testing.T, c *Client) {
		results, err := c.Translate(t.Context(), request)
		require.NoError(t, err)
		assert.Equal(t, want("payload.records[0].text"), results)
	})
	inBubble(t, Config{}, answer(200, `{"result":`+failed+"}\n"+`{"result":`+fine+"}\n"+`{"done":{"results":2}}`+"\n"), func(t *testing.T, c *Client) {
		results, err := collect(t.Context(), c, request)
		require.NoError(t, err)
		assert.Equal(t, want(""), results)
	})
	for _, wrong := range []string{`{"error":{"code":"unfinished"}}`, `{"id":"b","toLang":"fr","error":{"code":"unfinished"}}`} {
		inBubble(t, Config{}, answer(200, `{"result":[`+wrong+`,`+fine+`]}`), func(t *testing.T, c *Client) {
			_, err := c.Translate(t.Context(), request)
			assert.ErrorIs(t, err, ErrInvalidAnswer)
		})
	}
}

func TestTranslate(t *testing.T) {
	records := []Record{{"a", "one"}, {"b", "two"}, {"a", "three"}}
	for name, test := range map[string]struct {
		request Request
		want    []Result
	}{
		"nothing":      {Request{To: "fr"}, []Result{}},
		"equal ids":    {Request{To: "fr", Records: records}, []Result{{"a", "ONE", "fr", nil, nil, nil}, {"b", "TWO", "fr", nil, nil, nil}, {"a", "THREE", "fr", nil, nil, nil}}},
		"one of many":  {Request{ToLangs: []string{"fr"}, Records: records[:1]}, []Result{{"a", "ONE", "fr", nil, nil, nil}}},
		"languages":    {Request{ToLangs: []string{"fr", "ja"}, Records: records[:2]}, []Result{{"a", "ONE", "fr", nil, nil, nil}, {"b", "TWO", "fr", nil, nil, nil}, {"a", "ONE", "ja", nil, nil, nil}, {"b", "TWO", "ja", nil, nil, nil}}},
		"no languages": {Request{Records: records[:1]}, []Result{{"a", "ONE", "", nil, nil, nil}}}, // decided by the service
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Config{}, capitals, func(t *testing.T, c *Client) {
				results, err := c.Translate(t.Context(), test.request)
				require.NoError(t, err)
				assert.Equal(t, test.want, results)
			})
		})
	}
}

func TestDetail(t *testing.T) {
	const detail = `{"result":[{"id":"1","text":"Où ?","new":[1],"detail":{"model":"p","version":"3","fromLang":"en","detected":true,"later":{},
		"segments":[{"source":"Where?","text":"Où ?","flags":["loop"],"steps":[{"model":"m","version":"1","fromLang":"en","toLang":"de","text":"Wo?","score":-1,"cacheHit":true,"new":1}]}],"sourceTokens":7,"targetTokens":8,"score":-0.1213,
		"cacheHit":true,"queueMs":0.4,"computeMs":11.25,"flags":["loop","truncated"]}}],"more":null}`
	inBubble(t, Config{}, answer(200, detail), func(t *testing.T, c *Client) {
		results, err := c.Translate(t.Context(), hello)
		require.NoError(t, err)
		assert.Equal(t, []Result{{ID: "1", Text: "Où ?", To: "fr", Detail: &Detail{
			Model: "p", Version: "3", From: "en", Detected: true,
			Segments:     []Segment{{"Where?", "Où ?", []string{"loop"}, []Step{{"m", "1", "en", "de", "Wo?", -1, true, nil}}, nil, nil}},
			SourceTokens: 7, TargetTokens: 8, Score: -0.1213, CacheHit: true,
			Queued: 400 * time.Microsecond, Computed: 11250 * time.Microsecond, Flags: []string{"loop", "truncated"},
		}}}, results)
	})
}

func TestAlternatives(t *testing.T) {
	const alternatives = `"alternatives":[{"text":"Où ?","score":-0.5,"new":1},{"text":"D'où ?","score":-1}]`
	const body = `{"result":[{"id":"1","text":"Où ?",` + alternatives + `,"detail":{"segments":[{"source":"Where?","text":"Où ?",` + alternatives + `}]}}]}`
	inBubble(t, Config{}, answer(200, body), func(t *testing.T, c *Client) {
		results, err := c.Translate(t.Context(), hello)
		require.NoError(t, err)
		want := []Alternative{{Text: "Où ?", Score: -0.5}, {Text: "D'où ?", Score: -1}}
		assert.Equal(t, []Result{{ID: "1", Text: "Où ?", To: "fr", Alternatives: want, Detail: &Detail{
			Segments: []Segment{{Source: "Where?", Text: "Où ?", Alternatives: want}},
		}}}, results)
	})
}

// No result of a mismatched answer is delivered.
func TestInvalidAnswers(t *testing.T) {
	two := Request{From: "en", To: "fr", Records: []Record{{"a", "x"}, {"b", "y"}}}
	languages := Request{From: "en", ToLangs: []string{"fr", "ja"}, Records: two.Records[:1]}
	for name, test := range map[string]struct {
		request Request
		answer  string
		want    string
	}{
		"empty":                 {two, ``, "0 bytes"},
		"a page":                {two, `<html>`, "6 bytes"},
		"half":                  {two, `{"result":[{"id":"a","text":"A"},{"id":"b"`, "42 bytes"},
		"more behind it":        {two, `{"result":[{"id":"a","text":"A"},{"id":"b","text":"B"}]}{}`, "bytes"},
		"null":                  {two, `null`, "0 results for 2 records × 1 languages"},
		"no result":             {two, `{}`, "0 results for 2 records × 1 languages"},
		"result is an object":   {two, `{"result":{}}`, "13 bytes"},
		"too few":               {two, `{"result":[{"id":"a","text":"A"}]}`, "1 results for 2 records"},
		"too many":              {two, `{"result":[{"id":"a","text":"A"},{"id":"b","text":"B"},{"id":"b","text":"B"}]}`, "3 results for 2 records"},
		"another order":         {two, `{"result":[{"id":"b","text":"B"},{"id":"a","text":"A"}]}`, `result 0 is of record "b" in "fr", expected "a" in "fr"`},
		"another id":            {two, `{"result":[{"id":"a","text":"A"},{"id":"c","text":"C"}]}`, `result 1 is of record "c"`},
		"no id":                 {two, `{"result":[{"text":"A"},{"id":"b","text":"B"}]}`, "no id or no text"},
		"no text":               {two, `{"result":[{"id":"a","text":null},{"id":"b","text":"B"}]}`, "no id or no text"},
		"ID in capitals":        {two, `{"result":[{"ID":"a","text":"A"},{"id":"b","text":"B"}]}`, "no id or no text"},
		"a number for a text":   {two, `{"result":[{"id":"a","text":1},{"id":"b","text":"B"}]}`, "/result/0/text"},
		"two texts":             {two, `{"result":[{"id":"a","text":"A","text":"B"},{"id":"b","text":"B"}]}`, "duplicate"},
		"not UTF-8":             {two, "{\"result\":[{\"id\":\"a\",\"text\":\"\xff\"},{\"id\":\"b\",\"text\":\"B\"}]}", "UTF-8"},
		"no language":           {languages, `{"result":[{"id":"a","text":"A"},{"id":"a","text":"B"}]}`, "does not say its language"},
		"languages exchanged":   {languages, `{"result":[{"id":"a","text":"A","toLang":"ja"},{"id":"a","text":"B","toLang":"fr"}]}`, `"a" in "ja", expected "a" in "fr"`},
		"larger than allowed":   {two, strings.Repeat(" ", 1001), "more than 1000 bytes: send fewer records, or raise MaxResponseBytes"},
		"something for nothing": {Request{To: "fr"}, `{"result":[{"id":"a","text":"A"}]}`, "1 results for 0 records"},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			inBubble(t, Config{MaxResponseBytes: 1000}, inTurn(&requests, answer(200, test.answer)), func(t *testing.T, c *Client) {
				results, err := c.Translate(t.Context(), test.request)
				assert.Nil(t, results)
				assert.ErrorIs(t, err, ErrInvalidAnswer)
				assert.ErrorContains(t, err, test.want)
			})
			assert.EqualValues(t, 1, requests.Load(), "asking again does not help")
		})
	}
}

func TestErrors(t *testing.T) {
	const id = "X-Request-Id"
	for name, test := range map[string]struct {
		service http.HandlerFunc
		want    Error
		tries   int32
	}{
		"the service's own": {answer(400, `{"error":{"code":"unknown_language","field":"payload.toLang","message":"\"xx\" is none"}}`, id, "theirs"),
			Error{400, "unknown_language", "payload.toLang", `"xx" is none`, "theirs", 0}, 1},
		"newer fields":   {answer(400, `{"error":{"code":"c","message":"m","hint":1},"v":2}`), Error{400, "c", "", "m", "mine", 0}, 1},
		"unauthorized":   {problem(401, "unauthorized"), Error{401, "unauthorized", "", "no", "mine", 0}, 1},
		"not found":      {answer(404, "404 page not found\n"), Error{404, "", "", "Not Found: 404 page not found", "mine", 0}, 1},
		"wrong method":   {problem(405, "method_not_allowed"), Error{405, "method_not_allowed", "", "no", "mine", 0}, 1},
		"too large":      {problem(413, "body_too_large", "Connection", "close"), Error{413, "body_too_large", "", "no", "mine", 0}, 1},
		"unfinished":     {problem(422, "unfinished"), Error{422, "unfinished", "", "no", "mine", 0}, 1},
		"rate limit":     {problem(429, "rate_limited", "Retry-After", "2"), Error{429, "rate_limited", "", "no", "mine", 2 * time.Second}, 3},
		"fault":          {problem(500, "internal"), Error{500, "internal", "", "no", "mine", 0}, 1},
		"bad gateway":    {answer(502, "<html>\r\n<h1>502\tBad\x1b[31m Gateway</h1>"), Error{502, "", "", "Bad Gateway: <html> <h1>502 Bad[31m Gateway</h1>", "mine", 0}, 3},
		"busy":           {problem(503, "busy"), Error{503, "busy", "", "no", "mine", 0}, 3},
		"drop-in's form": {answer(503, `{"error":"The model is loading"}`), Error{503, "", "", "The model is loading", "mine", 0}, 3},
		"no body":        {answer(503, ``), Error{503, "", "", "Service Unavailable", "mine", 0}, 3},
		"long page":      {answer(503, strings.Repeat("é", 101)), Error{503, "", "", "Service Unavailable: " + strings.Repeat("é", 100) + "...", "mine", 0}, 3},
		"other JSON":     {answer(503, `{"error":[]}`), Error{503, "", "", `Service Unavailable: {"error":[]}`, "mine", 0}, 3},
		"empty error":    {answer(503, `{"error":""}`), Error{503, "", "", `Service Unavailable: {"error":""}`, "mine", 0}, 3},
		"timeout":        {problem(504, "timeout"), Error{504, "timeout", "", "no", "mine", 0}, 1},
		"proxy timeout":  {answer(504, ``), Error{504, "", "", "Gateway Timeout", "mine", 0}, 3},
		"no content":     {answer(204, ``), Error{204, "", "", "No Content", "mine", 0}, 1},
		"other status":   {answer(299, ``), Error{299, "", "", "", "mine", 0}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			inBubble(t, Config{Retries: 2}, inTurn(&requests, test.service), func(t *testing.T, c *Client) {
				request := hello
				request.ID = "mine"
				results, err := c.Translate(t.Context(), request)
				assert.Nil(t, results)
				assert.Equal(t, test.want, *requireError(t, err))
				assert.Equal(t, test.tries > 1, strings.Contains(err.Error(), "(after 3 tries)"), err)
				assert.Equal(t, test.want.Code == CodeTimeout, errors.Is(err, context.DeadlineExceeded))
				assert.True(t, IsCode(err, test.want.Code))
				assert.False(t, IsCode(err, "other"))
			})
			assert.Equal(t, test.tries, requests.Load())
		})
	}
	assert.False(t, IsCode(nil, ""))
	assert.False(t, IsCode(io.EOF, ""))
}

func TestErrorText(t *testing.T) {
	assert.Equal(t, "dragoman: 503 busy: try again (request id r1)",
		(&Error{Status: 503, Code: "busy", Message: "try again", RequestID: "r1"}).Error())
	assert.Equal(t, "dragoman: unfinished: too long (request id r2)",
		(&Error{Code: "unfinished", Message: "too long", RequestID: "r2"}).Error(), "within a stream")
	assert.Equal(t, "dragoman: 502: Bad Gateway (request id r3)",
		(&Error{Status: 502, Message: "Bad Gateway", RequestID: "r3"}).Error())
}

func TestLanguagesAndInfo(t *testing.T) {
	service := http.NewServeMux()
	service.Handle("GET /languages", answer(200, `[{"code":"ja","name":"Japanese","nativeName":"日本語","targets":["en"],"new":1}]`))
	service.Handle("GET /{$}", answer(200, `{"name":"dragoman","version":"v1","model":{"source":"s","revision":"r","precision":"int8"},"new":[]}`))
	inBubble(t, Config{}, service.ServeHTTP, func(t *testing.T, c *Client) {
		languages, err := c.Languages(t.Context(), "")
		require.NoError(t, err)
		assert.Equal(t, []Language{{"ja", "Japanese", "日本語", []string{"en"}}}, languages)
		info, err := c.Info(t.Context())
		require.NoError(t, err)
		assert.Equal(t, Info{"dragoman", "v1", &Model{"", "", "s", "r", "int8", ""}, nil}, info)
		assert.Equal(t, 404, requireError(t, c.Ready(t.Context())).Status)
	})
	var requests atomic.Int32
	inBubble(t, Config{}, inTurn(&requests, problem(503, "not_ready"), broken(""), answer(200, `{"name":"dragoman","version":[]}`)), func(t *testing.T, c *Client) {
		info, err := c.Info(t.Context())
		assert.ErrorIs(t, err, ErrInvalidAnswer)
		assert.Zero(t, info, "not the half that could be read")
	})
	assert.EqualValues(t, 3, requests.Load())
}

func TestWaitReady(t *testing.T) {
	for name, test := range map[string]struct {
		service  []http.HandlerFunc
		want     string // part of the error; "": none
		requests int32
		took     time.Duration
	}{
		"ready":         {[]http.HandlerFunc{answer(200, `{}`)}, "", 1, 0},
		"soon":          {[]http.HandlerFunc{problem(503, "not_ready", "Retry-After", "1"), answer(502, ``), answer(200, `{}`)}, "", 3, 2 * readyPause},
		"another place": {[]http.HandlerFunc{answer(404, ``)}, "404", 1, 0},
		"too late":      {[]http.HandlerFunc{problem(503, "not_ready")}, "not ready: context deadline exceeded, after: dragoman: 503 not_ready", 8, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			inBubble(t, Config{}, inTurn(&requests, test.service...), func(t *testing.T, c *Client) {
				start := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				err := c.WaitReady(ctx)
				if test.want == "" {
					assert.NoError(t, err)
				} else {
					assert.ErrorContains(t, err, test.want)
				}
				assert.Equal(t, test.took, time.Since(start))
			})
			assert.Equal(t, test.requests, requests.Load())
		})
	}
}

func TestRequestIDOfTheCaller(t *testing.T) {
	var ids []string
	keep := func(w http.ResponseWriter, r *http.Request) {
		ids = append(ids, r.Header.Get(requestIDHeader))
		capitals(w, r)
	}
	inBubble(t, Config{}, keep, func(t *testing.T, c *Client) {
		for _, id := range []string{"order-7:fr/1", "", ""} {
			request := hello
			request.ID = id
			_, err := c.Translate(t.Context(), request)
			require.NoError(t, err)
		}
	})
	assert.Equal(t, "order-7:fr/1", ids[0])
	assert.NotEqual(t, ids[1], ids[2])
	assert.Regexp(t, regexp.MustCompile(`^[A-Z2-7]{26}$`), ids[1])
}
