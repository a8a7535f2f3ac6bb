package openapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Answers about jobs match the description.
func TestAnswersOfJobs(t *testing.T) {
	c, h := newContract(t), newAPI(t, true).Handler()
	const jobs = "/jobs"
	submit := func(body string, headers ...string) (url string) {
		w := call(t, c, h, "POST", jobs, body, headers...)
		require.Equal(t, 202, w.Code, w.Body)
		return w.Header().Get("Location")
	}
	state := func(url string) (state string, raw string) {
		w := call(t, c, h, "GET", url, "")
		require.Equal(t, 200, w.Code, w.Body)
		var answer struct{ Job struct{ State string } }
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
		return answer.Job.State, w.Body.String()
	}
	url := submit(payload(`"fromLang":"en","toLangs":["fr","ja"],"detail":true,"priority":"normal"`, `[{"id":"1","text":"one"},{"id":"2","text":"two"}]`), "Idempotency-Key", "k")
	assert.Equal(t, 200, call(t, c, h, "GET", url+"/events", "").Code) // waits until the job has ended
	done, raw := state(url)
	assert.Equal(t, "done", done)
	assert.Contains(t, raw, `"result":[{"id":"1","toLang":"fr","text":"ONE"`)
	assert.Equal(t, 200, call(t, c, h, "HEAD", url, "").Code)
	assert.Equal(t, 200, call(t, c, h, "HEAD", url+"/events", "").Code)

	failed := submit(text("endless")[:len(text("endless"))-1] + `,"webhook":"https://example.com"}`)
	call(t, c, h, "GET", failed+"/events", "")
	last, raw := state(failed)
	assert.Equal(t, "failed", last)
	assert.Contains(t, raw, `"error":{"code":"unfinished","field":"payload.records[0].text"`)
	assert.Equal(t, 204, call(t, c, h, "DELETE", failed, "").Code)
	assert.Equal(t, 404, call(t, c, h, "DELETE", failed, "").Code)
	assert.Equal(t, 404, call(t, c, h, "GET", failed+"/events", "").Code)
	assert.Equal(t, 404, call(t, c, h, "GET", failed, "").Code)

	running := submit(text("wait"))
	assert.Equal(t, 200, call(t, c, h, "DELETE", running, "").Code)
	assert.Equal(t, 200, call(t, c, h, "GET", running+"/events", "").Code)
	assert.Equal(t, 200, call(t, c, h, "GET", jobs, "").Code)

	one := `[{"id":"1","text":"one"}]`
	for _, test := range []struct {
		body    string
		headers []string
		status  int
	}{
		{text("two"), []string{"Idempotency-Key", "k"}, 422},
		{text("one"), []string{"Idempotency-Key", "a b"}, 400},
		{text("one"), []string{"Idempotency-Key", strings.Repeat("k", 201)}, 400},
		{text("one"), []string{"Content-Type", "text/plain"}, 415},
		{"{}", nil, 400},
		{`{"webhook":"https://example.com"}`, nil, 400},
		{`{"webhook":1,` + text("one")[1:], nil, 400},
		{`{"webhook":"",` + text("one")[1:], nil, 400},
		{`{"hook":"https://example.com",` + text("one")[1:], nil, 400},
		{strings.Replace(text("one"), `"fr"`, `"xx"`, 1), nil, 400},
		{payload(`"fromLang":"en","toLang":"fr","model":"nope"`, one), nil, 404},
		{payload(`"fromLang":"en","toLang":"fr","options":{"beams":0}`, one), nil, 400},
		{payload(`"fromLang":"en","toLang":"fr"`, "["+strings.Repeat(`{"id":"","text":""},`, 8)+`{"id":"","text":""}]`), nil, 413},
		{text(strings.Repeat("x", 5000)), nil, 413},
	} {
		w := call(t, c, h, "POST", jobs, test.body, test.headers...)
		assert.Equal(t, test.status, w.Code, "%.100s: %s", test.body, w.Body)
	}
	assert.Equal(t, 405, call(t, c, h, "PUT", jobs, text("one")).Code)
	assert.Equal(t, 200, call(t, c, h, "POST", jobs, payload(`"fromLang":"en","toLangs":["fr","ja"],"detail":true,"priority":"normal"`, `[{"id":"1","text":"one"},{"id":"2","text":"two"}]`), "Idempotency-Key", "k").Code)
	for i := range 6 { // the owner's maximum
		w := call(t, c, h, "POST", jobs, text(fmt.Sprint("one ", i)))
		if w.Code == 429 {
			assert.Contains(t, w.Body.String(), "too_many_jobs")
			return
		}
		assert.Equal(t, 202, w.Code)
	}
	assert.Fail(t, "there is no limit")
}
