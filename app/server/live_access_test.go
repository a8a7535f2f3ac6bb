package server

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/guard/access"
)

// A session belongs to the key that opened it, from a header or from the first message. For other keys it does not exist.
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
	for _, message := range []string{`{"s":1,"payload":{"fromLang":"en","toLang":"fr"}}`, `{"key":"wrong","s":1,"end":true}`} {
		stranger := dial(t, r.url, nil)
		say(t, stranger, "%s", message)
		assert.Equal(t, "unauthorized", hear(t, stranger).Error.Code)
		_, _, err := stranger.Read(t.Context())
		assert.Equal(t, websocket.StatusPolicyViolation, websocket.CloseStatus(err))
	}
}

// A caller that watches a session on many connections, or under many numbers, has a share of both; other callers have the rest.
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

// Each message with a request counts for the caller's rate limit; the connection and the first message count once. A refusal has
// the number of its message, and the time after which to send it again.
func TestMessagesCountAsRequests(t *testing.T) {
	r := service(t, "RATE_LIMIT=6/d", "RATE_BURST=6")
	conn := dial(t, r.url, nil)
	const open = `{"s":%d,"payload":{"fromLang":"en","toLang":"fr"}}`
	say(t, conn, open, 1) // the connection counts 1
	id := hear(t, conn).ID
	say(t, conn, open, 2) // 2
	assert.NotEmpty(t, hear(t, conn).ID)
	say(t, conn, `{"s":3,"resume":%q}`, id) // 3
	assert.Equal(t, id, hear(t, conn).ID)
	say(t, conn, `{"s":3,"end":true}`) // free
	for hear(t, conn).Ended == "" {
	}
	say(t, conn, `{"s":2,"n":2,"edits":[]}`)
	assert.Equal(t, "edit_gap", hearError(t, conn).Error.Code, "which costs nothing")
	for n := 1; n <= 3; n++ { // 4, 5, 6
		say(t, conn, `{"s":2,"n":%d,"edits":[{"from":0,"to":0,"text":"No. "}],"settle":true}`, n)
		for a := (liveAnswer{}); a.Taken < int64(n); a = hear(t, conn) {
			require.Nil(t, a.Error)
		}
	}
	say(t, conn, `{"s":2,"n":3}`) // it was taken
	for _, message := range []string{`{"s":2,"n":4,"edits":[{"from":0,"to":1}]}`, `{"s":2,"n":4,"settle":true}`, fmt.Sprintf(open, 4), fmt.Sprintf(`{"s":5,"resume":%q}`, id)} {
		say(t, conn, "%s", message)
		a := hearError(t, conn)
		assert.Equal(t, "rate_limited", a.Error.Code, message)
		assert.Equal(t, strings.Contains(message, `"n":4`), a.N == 4, message)
		assert.Greater(t, a.RetryAfter, 3600, message)
	}
	resp, err := http.Post(r.url+"/translation", "application/json", strings.NewReader("{}"))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, http.StatusTooManyRequests, resp.StatusCode)
	_, resp, err = websocket.Dial(t.Context(), r.url+"/live", nil)
	require.Error(t, err)
	assert.Equal(t, http.StatusTooManyRequests, resp.StatusCode)
}

// Edits that only delete are charged for the sentences that are translated again.
func TestEditsThatOnlyDeleteAreCharged(t *testing.T) {
	r := service(t, "CHAR_LIMIT=60/d")
	conn := dial(t, r.url, nil)
	say(t, conn, `{"s":1,"payload":{"fromLang":"en","toLang":"fr"}}`)
	hear(t, conn)
	say(t, conn, `{"s":1,"n":1,"edits":[{"text":"Where is the station"}],"settle":true}`) // 20 characters
	translated, refused := 0, false
	for n := 1; !refused; {
		a := hear(t, conn)
		refused = a.Error != nil
		if a.Taken != int64(n) || len(a.Segments) == 0 || !a.Segments[0].Final || refused {
			continue
		}
		translated++
		n++
		say(t, conn, `{"s":1,"n":%d,"edits":[{"from":0,"to":1}],"settle":true}`, n)
	}
	assert.Equal(t, 3, translated, "20, 19 and 18 characters")
}
