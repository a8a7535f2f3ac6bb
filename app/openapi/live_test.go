package openapi_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/live"
	"dragoman/app/translate"
)

// liveChars is what a live text of the service of the tests may have.
const liveChars = 200

// Cut makes a sentence of a text.
func (t capitals) Cut(_ context.Context, req translate.Request) (translate.Cut, error) {
	if _, err := t.Select(req.Model); err != nil {
		return translate.Cut{}, err
	}
	if err := refuse(req); err != nil {
		return translate.Cut{}, err
	}
	cut := translate.Cut{From: "en", To: req.To[0]}
	if text := req.Records[0].Text; text != "" {
		cut.Parts = []translate.Part{{Text: text, Translated: true}}
	}
	return cut, nil
}

// newLive makes what has live sessions until the test ends.
func newLive(t *testing.T) *live.Service {
	s := live.New(live.Config{MaxSessions: 8, MaxChars: liveChars, Idle: time.Hour})
	s.Ready(capitals{})
	t.Cleanup(s.Close)
	return s
}

// What requests about live text are answered is what the document says.
func TestAnswersOfLiveText(t *testing.T) {
	c, h := newContract(t), newAPI(t, true).Handler()
	const open = `{"payload":{"fromLang":"en","toLang":"fr"}}`
	w := call(t, c, h, "POST", "/live", open)
	require.Equal(t, 201, w.Code, w.Body)
	url := w.Header().Get("Location")
	assert.Equal(t, 200, call(t, c, h, "GET", url, "").Code)
	for _, test := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"PATCH", url, `{"n":1,"edits":[{"text":"one "},{"from":0,"text":"1 "},{"from":0,"to":2}]}`, 200, `{"taken":1}`},
		{"PATCH", url, `{"n":1,"edits":[{"text":"again"}]}`, 200, `{"taken":1}`},
		{"PATCH", url, `{"n":3}`, 409, "the next edits are number 2"},
		{"PATCH", url, `{"n":0}`, 400, "invalid_value"},
		{"PATCH", url, `{}`, 400, "missing_field"},
		{"PATCH", url, `{"n":2,"edits":[{"from":5,"text":"x"}]}`, 400, "edits[0]: from 5 to 5 is not in the text, which has 4 characters then"},
		{"PATCH", url, `{"n":2,"edits":[{"from":-1,"text":"x"}]}`, 400, "invalid_edit"},
		{"PATCH", url, `{"n":2,"edits":[{"to":1}]}`, 400, "missing_field"},
		{"PATCH", url, `{"n":2,"edits":[{"from":"x"}]}`, 400, "edits[0].from is a string, expected a whole number"},
		{"PATCH", url, `{"n":2,"edits":[{"form":1}]}`, 400, "unknown_field"},
		{"PATCH", url, `{"n":2,"edits":[{"text":"` + strings.Repeat("x", liveChars+1) + `"}]}`, 400, "text_too_long"},
		{"PATCH", url, `{"n":2,"edits":[` + strings.Repeat("{},", 256) + `{}]}`, 413, "too_many_records"},
		{"PATCH", url, `{"n":2,"settle":"yes"}`, 400, "settle is a string, expected true or false"},
		{"PATCH", url, `{"n":2,"settle":true}`, 200, `{"taken":2}`},
		{"PATCH", url, `{"n":3,"complete":true}`, 200, `{"taken":3}`},
		{"PATCH", url, `{"n":4}`, 409, "session_complete"},
		{"PATCH", "/live/none", `{"n":1}`, 404, "unknown_session"},
		{"GET", "/live/none", "", 404, "unknown_session"},
		{"GET", "/live/none/events", "", 404, "unknown_session"},
		{"DELETE", "/live/none", "", 404, "unknown_session"},
		{"GET", "/live", "", 400, "is for WebSockets"},
		{"POST", "/live", `{}`, 400, "missing_field"},
		{"POST", "/live", `{"payload":{"fromLang":"en","toLang":"fr","records":[]}}`, 400, "unknown_field"},
		{"POST", "/live", `{"payload":{"fromLang":"en","toLangs":["fr","ja"]}}`, 400, "a session for each"},
		{"POST", "/live", `{"payload":{"fromLang":"en","toLang":"fr","format":"html"}}`, 400, "invalid_option"},
		{"POST", "/live", `{"payload":{"fromLang":"en","toLang":"fr","glossary":[]}}`, 400, "live text has no glossary"},
		{"POST", "/live", `{"payload":{"fromLang":"en","toLang":"fr","glossaryId":"g"}}`, 400, "live text has no glossaryId"},
		{"POST", "/live", `{"payload":{"fromLang":"en","toLang":"fr","alternatives":2}}`, 400, "live text has no alternatives"},
		{"POST", "/live", `{"payload":{"fromLang":"en","toLang":"xx"}}`, 400, "unknown_language"},
		{"POST", "/live", `{"payload":{"fromLang":"en","toLang":"fr","model":"nope"}}`, 404, "unknown_model"},
	} {
		w := call(t, c, h, test.method, test.path, test.body)
		assert.Equal(t, test.status, w.Code, "%s %s %.100s: %s", test.method, test.path, test.body, w.Body)
		assert.Contains(t, w.Body.String(), test.says)
	}
	require.False(t, t.Failed(), "the session would have no end")
	w = call(t, c, h, "GET", url+"/events", "") // until all is done
	assert.Equal(t, 200, w.Code)
	assert.Contains(t, w.Body.String(), `"text":"ONE "`)
	assert.Equal(t, 200, call(t, c, h, "GET", url+"/events", "", "Last-Event-ID", "1").Code)
	assert.Equal(t, 400, call(t, c, h, "GET", url+"/events", "", "Last-Event-ID", "x").Code)
	assert.Equal(t, 200, call(t, c, h, "HEAD", url+"/events", "").Code)
	assert.Equal(t, 204, call(t, c, h, "DELETE", url, "").Code)
	for range 8 {
		if w := call(t, c, h, "POST", "/live", open); w.Code == 429 {
			assert.Contains(t, w.Body.String(), "too_many_sessions")
			return
		}
	}
	assert.Fail(t, "there is no limit")
}
