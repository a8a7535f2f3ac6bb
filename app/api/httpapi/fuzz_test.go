package httpapi

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"dragoman/app/translate"
)

// mirror is a translator that returns its texts unchanged.
type mirror struct{ upper }

func (mirror) Translate(_ context.Context, req translate.Request) ([]translate.Result, error) {
	var results []translate.Result
	for _, to := range req.To {
		for _, r := range req.Records {
			results = append(results, translate.Result{Record: r, To: to})
		}
	}
	return results, nil
}

// FuzzTranslation sends arbitrary bodies and headers. Each gets an answer in JSON, with all records or with an error of the
// client.
func FuzzTranslation(f *testing.F) {
	for _, seed := range []string{
		payload(`[{"id":"1","text":"one"}]`), payload(`[]`), payload(`[{"id":"","text":"\ud83d\ude00"}]`), `{"payload":null}`, "[", "",
		`{"payload":{"fromLang":"auto","toLangs":["fr","ja"],"detail":true,"split":false,"format":"html","priority":"low",` +
			`"options":{"beams":2,"maxLength":9,"lengthPenalty":-1e3,"noRepeatNgramSize":0,"repetitionPenalty":1.5},"records":[{"id":"x","text":"y"}]}}`,
	} {
		f.Add(seed, "application/json", "2.5")
	}
	f.Add("q=1", "application/x-www-form-urlencoded", "soon")
	a := New(Config{MaxBodyBytes: maxBody, RequestTimeout: time.Minute, Log: slog.New(slog.DiscardHandler)})
	a.Ready(mirror{}, one)
	h := a.Handler()
	f.Fuzz(func(t *testing.T, body, contentType, timeout string) {
		w := do(h, "POST", translationPath, body, "Content-Type", contentType, "Request-Timeout", timeout)
		assert.True(t, json.Valid(w.Body.Bytes()), w.Body)
		assert.True(t, w.Code == 200 || w.Code >= 400 && w.Code < 500, "status %d: %s", w.Code, w.Body)
		if w.Code != 200 {
			return
		}
		var sent struct {
			Payload struct {
				ToLangs []string
				Records []struct{ ID, Text string }
			}
		}
		var got struct{ Result []struct{ ID, Text string } }
		assert.NoError(t, json.Unmarshal([]byte(body), &sent))
		assert.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
		assert.Len(t, got.Result, len(sent.Payload.Records)*max(1, len(sent.Payload.ToLangs)))
		for i, r := range sent.Payload.Records {
			assert.Equal(t, r.ID, got.Result[i].ID)
			assert.Equal(t, strings.ToValidUTF8(r.Text, ""), got.Result[i].Text)
		}
	})
}
