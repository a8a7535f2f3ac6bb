package httpapi

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"dragoman/app/engine"
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
	w := do(a.Handler(), "POST", "/translation", payload(`[{"id":"1","text":"old"},{"id":"2","text":"fail"}]`))
	assert.Equal(t, 500, w.Code)
	assert.Empty(t, w.Header().Get("Dragoman-Cache"))
	assert.NotContains(t, log.String(), "cached=")
}

func TestPriority(t *testing.T) {
	a, _ := newAPI()
	for field, want := range map[string]engine.Priority{
		``: engine.Normal, `"priority":"normal",`: engine.Normal, `"priority":"high",`: engine.High,
		`"priority":"low",`: engine.Low, `"priority" : "\u0068igh" ,`: engine.High,
	} {
		w := do(a.Handler(), "POST", "/translation",
			`{"payload":{`+field+`"fromLang":"en","toLang":"fr","records":[{"id":"1","text":"priority"}]}}`)
		assert.Equal(t, fmt.Sprintf(`{"result":[{"id":"1","text":"%d"}]}`+"\n", want), w.Body.String(), field)
	}
}

func TestRetryAfter(t *testing.T) {
	for want, err := range map[int]error{
		1: engine.ErrClosed,
		2: &engine.BusyError{Wait: 2 * time.Second},
		3: fmt.Errorf("worker 1: %w", &engine.BusyError{Wait: 2*time.Second + 1}),
	} {
		assert.Equal(t, want, retryAfter(err), err)
	}
	assert.Equal(t, 1, retryAfter(&engine.BusyError{}), "no estimate")
	assert.Equal(t, 1, retryAfter(engine.ErrBusy))

	a, _ := newAPI()
	w := do(a.Handler(), "POST", "/translation", payload(`[{"id":"1","text":"busy"}]`))
	assert.Equal(t, "3", w.Header().Get("Retry-After"))
	assert.Equal(t, `{"error":{"code":"busy","message":"too many requests are waiting: try again in 3 s"}}`+"\n", w.Body.String())
}
