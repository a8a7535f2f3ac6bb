package mcp

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/fault/faulttest"
)

// What cannot be read of standard input is told without Go's types; what people wrote stays.
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
