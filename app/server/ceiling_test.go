package server

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A caller without tokens left is refused on all routes, in the form of each API, and its jobs wait.
func TestTokenLimit(t *testing.T) {
	r := service(t, "TOKEN_LIMIT=1/d", "JOB_FILE="+filepath.Join(t.TempDir(), "jobs.db"))
	post := func(path, body string) (int, string) {
		kind := "application/json"
		if strings.HasPrefix(path, "/v2/translate") {
			kind = "application/x-www-form-urlencoded"
		}
		resp, err := http.Post(r.url+path, kind, strings.NewReader(body))
		require.NoError(t, err)
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(answer)
	}
	const request = `{"payload":{"fromLang":"en","toLang":"fr","records":[{"id":"1","text":"Where is the station?"}]}}`
	status, body := post("/translation", request)
	require.Equal(t, 200, status, body)
	for path, body := range map[string]string{
		"/translation":        strings.ReplaceAll(request, "station", "book"),
		"/translation/stream": strings.ReplaceAll(request, "station", "book"),
		"/translate":          `{"q":"It is late.","source":"en","target":"fr"}`,
		"/v2/translate":       "text=It+is+late.&source_lang=EN&target_lang=FR",
	} {
		status, answer := post(path, body)
		assert.Contains(t, []int{429, 456}, status, "%s: %s", path, answer)
		assert.Contains(t, answer, "limit of 1 tokens per day", path)
	}
	status, body = post("/translation", request)
	assert.Equal(t, 200, status, "what the cache has costs nothing: %s", body)

	status, body = post("/jobs", strings.ReplaceAll(request, "station", "book"))
	require.Equal(t, 202, status, body)
	conn := dial(t, r.url, nil)
	say(t, conn, `{"s":1,"payload":{"fromLang":"en","toLang":"fr"}}`)
	require.NotEmpty(t, hear(t, conn).ID)
	say(t, conn, `{"s":1,"n":1,"edits":[{"text":"It is late."}],"settle":true}`)
	assert.Equal(t, "rate_limited", hearError(t, conn).Error.Code)
}
