package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/access"
)

// A session belongs to the key that opened it, whether that came in a header or in the first message: to
// other keys it does not exist, by either transport.
func TestLiveSessionsBelongToTheirKeys(t *testing.T) {
	alice, bob := access.NewKey(), access.NewKey()
	var lines []string
	for name, key := range map[string]string{"alice": alice, "bob": bob} {
		line, err := access.Line(name, key)
		require.NoError(t, err)
		lines = append(lines, line)
	}
	file := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600))
	r := service(t, "API_KEYS_FILE="+file)

	conn := dial(t, r.url, http.Header{"Authorization": {"Bearer " + alice}})
	say(t, conn, `{"s":1,"payload":{"fromLang":"en","toLang":"fr"}}`)
	opened := hear(t, conn)
	require.NotEmpty(t, opened.ID)
	late := dial(t, r.url, nil)
	say(t, late, `{"key":%q,"s":1,"resume":%q}`, alice, opened.ID)
	assert.Equal(t, opened.ID, hear(t, late).ID)

	others := dial(t, r.url, nil)
	say(t, others, `{"key":%q,"s":1,"resume":%q}`, bob, opened.ID)
	assert.Equal(t, "unknown_session", hear(t, others).Error.Code)
	for _, call := range []struct{ method, path string }{{"GET", ""}, {"GET", "/events"}, {"PATCH", ""}, {"DELETE", ""}} {
		req, err := http.NewRequestWithContext(t.Context(), call.method, r.url+"/live/"+opened.ID+call.path, strings.NewReader(`{"n":1}`))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		for key, want := range map[string]int{"": 401, access.NewKey(): 401, bob: 404} {
			req.Header.Set("X-API-Key", key)
			req.Body = io.NopCloser(strings.NewReader(`{"n":1}`))
			resp, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			assert.Equal(t, want, resp.StatusCode, "%s %s", call.method, call.path)
			require.NoError(t, resp.Body.Close())
		}
	}
	for _, message := range []string{`{"s":1,"payload":{"fromLang":"en","toLang":"fr"}}`, `{"key":"wrong","s":1,"end":true}`} {
		stranger := dial(t, r.url, nil)
		say(t, stranger, "%s", message)
		assert.Equal(t, "unauthorized", hear(t, stranger).Error.Code)
		_, _, err := stranger.Read(t.Context())
		assert.Equal(t, websocket.StatusPolicyViolation, websocket.CloseStatus(err))
	}
}

// Who watches a session again and again under other numbers, or on other connections, has a share of
// both, and others have the rest.
func TestSharesOfLiveConnections(t *testing.T) {
	r := service(t, "LIVE_SESSIONS=1", "TRUSTED_PROXIES=127.0.0.1")
	conn := dial(t, r.url, nil)
	say(t, conn, `{"s":0,"payload":{"fromLang":"en","toLang":"fr"}}`)
	id := hear(t, conn).ID
	watched := 1
	for {
		say(t, conn, `{"s":%d,"resume":%q}`, watched, id)
		if a := hear(t, conn); a.Error != nil {
			assert.Equal(t, "busy", a.Error.Code)
			break
		}
		if watched++; watched > 1000 {
			require.Fail(t, "there is no limit")
		}
	}
	_, resp, err := websocket.Dial(t.Context(), r.url+"/live", nil)
	require.Error(t, err)
	assert.Equal(t, 503, resp.StatusCode)
	dial(t, r.url, http.Header{"X-Forwarded-For": {"203.0.113.1"}})
	say(t, conn, `{"s":1,"n":1,"edits":[{"text":"It is late."}]}`)
	assert.Nil(t, hear(t, conn).Error)
}
