package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A request after the start of the shutdown, on a connection accepted before, gets an answer. By itself, net/http of Go 1.26.8
// closes such a connection without an answer.
func TestRequestsOnTheirWayAreAnswered(t *testing.T) {
	stopped := make(chan struct{})
	r := startServer(t, func(ctx context.Context) {}, func(http.Handler) { close(stopped) })
	var conns []net.Conn
	for range 20 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		require.NoError(t, err)
		defer conn.Close()
		conns = append(conns, conn)
	}
	// Connections are accepted in order: an answer on this one means that the others are accepted.
	resp, err := http.Get(r.url + "/healthz")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())

	r.stop()
	<-stopped
	for _, conn := range conns {
		const body = `{"payload":{"fromLang":"en","toLang":"fr","records":[{"id":"1","text":"Where is the station?"}]}}`
		_, err := fmt.Fprintf(conn, "POST /translation HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		require.NoError(t, err)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		raw, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, resp.StatusCode, string(raw))
		assert.Contains(t, string(raw), "gare")
		assert.True(t, resp.Close, "the connection ends with the answer")
	}
	require.NoError(t, <-r.result)
	_, err = net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	assert.Error(t, err)
}
