package openapi_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"dragoman/app/live"
	"dragoman/app/translate"
)

// liveChars is the maximum length of a live text in the tests' service.
const liveChars = 200

// Cut returns a text as one sentence.
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

// newLive returns a service of live sessions that runs until the test ends.
func newLive(t *testing.T) *live.Service {
	s := live.New(live.Config{MaxSessions: 8, MaxChars: liveChars, Idle: time.Hour})
	s.Ready(capitals{})
	t.Cleanup(s.Close)
	return s
}

// Answers to requests that are not WebSocket handshakes match the description.
func TestAnswersOfLiveText(t *testing.T) {
	w := call(t, newContract(t), newAPI(t, true).Handler(), "GET", "/live", "")
	assert.Equal(t, 400, w.Code)
	assert.Contains(t, w.Body.String(), "is for WebSockets")
}
