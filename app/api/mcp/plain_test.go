package mcp

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/fault/faulttest"
)

// Errors about unreadable standard input do not contain Go's types, and keep the words of the client.
func TestServeNamesNoGo(t *testing.T) {
	in, send := io.Pipe()
	received, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- Serve(t.Context(), New(Config{}), in, out) }()
	answers := bufio.NewReader(received)
	for _, test := range []struct{ message, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":5}`, `"message":"handling 'initialize': ` + unreadable + `"`},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `"result":{}`},
	} {
		_, err := io.WriteString(send, test.message+"\n")
		require.NoError(t, err)
		answer, err := answers.ReadString('\n')
		require.NoError(t, err)
		assert.Contains(t, answer, test.want)
		assert.Empty(t, faulttest.NamesGo(answer))
	}
	require.NoError(t, send.Close())
	require.NoError(t, <-done)
	var told strings.Builder
	const translated = `{"result":{"content":[{"text":"unmarshaling \"error\":{\"code\":1} json: x"}]}}`
	n, err := plainWriter{&told}.Write([]byte(translated))
	assert.NoError(t, err)
	assert.Equal(t, len(translated), n)
	assert.Equal(t, translated, told.String())
}

// A batch is bounded before its first message is answered. Unreadable messages are left to the SDK.
func TestBatchesAreBounded(t *testing.T) {
	h := Handler("1", http.NotFoundHandler(), 1<<20)
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	batch := func(n int, message string) string { return " [" + strings.Repeat(message+",", n-1) + message + "]" }
	for body, want := range map[string]int{
		ping: 200, batch(1, ping): 200, batch(mostMessages+1, ping): 400, batch(mostMessages+1, "{}"): 400, batch(9, "{}"): 400, "[": 400, "[]": 400, "": 400,
		batch(30_000, ping): 413,
	} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/mcp", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		w := httptest.NewRecorder()
		r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
		h.ServeHTTP(w, r)
		assert.Equal(t, want, w.Code, w.Body)
		assert.Equal(t, strings.Count(body, ping) > mostMessages && want == 400 || strings.Count(body, "{}") > mostMessages, strings.Contains(w.Body.String(), "more than 100 messages"))
	}
	unique := strings.Builder{}
	for i := range mostMessages {
		fmt.Fprintf(&unique, `,{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i)
	}
	assert.Empty(t, crowded([]byte("["+unique.String()[1:]+"]")))
	for list, most := range map[string]bool{
		strings.Repeat(`"",`, mostTokens-10): false, strings.Repeat(`"",`, mostTokens): true, strings.Repeat(`{"a":1},`, mostTokens/4+1): true,
	} {
		assert.Equal(t, most, strings.Contains(crowded([]byte(`{"params":{"texts":[`+list)), "more than 100000 values"))
	}
}

// No error repeats a long text of a client.
func TestErrorsAreBrief(t *testing.T) {
	big := strings.Repeat("x", 100_000)
	call := func(tool, arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`
	}
	for _, body := range []string{
		`{"jsonrpc":"` + big + `","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":"` + big + `"}`, call(big, "{}"), call("translate", `{"`+big+`":1}`),
		call("translate", `{"to":"fr","texts":"`+big+`"}`), call("translate", `{"to":"fr","texts":[{"`+big+`":1}]}`), call("translate", `{"to":"fr","texts":["a"],"terms":{"a":["`+big+`"]}}`),
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"` + big + `"}}`, `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"` + big + `"}}`,
	} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/mcp", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		w := httptest.NewRecorder()
		Handler("1", http.NotFoundHandler(), 1<<20).ServeHTTP(w, r)
		assert.Less(t, w.Body.Len(), 2*mostTold, body[:80])
		assert.NotEmpty(t, w.Body.String())
	}
}
