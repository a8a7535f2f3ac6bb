package server

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/client"
)

// relay forwards connections to a service, which may be replaced like a process that dies.
type relay struct {
	net.Listener

	mu    sync.Mutex // guards the rest
	to    string     // address
	conns []net.Conn
}

// startRelay starts a relay to a service. It ends with the test.
func startRelay(t *testing.T, url string) *relay {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &relay{Listener: listener, to: strings.TrimPrefix(url, "http://")}
	t.Cleanup(func() { _ = r.Close() })
	go func() {
		for {
			conn, err := r.Accept()
			if err != nil {
				return
			}
			go r.pass(conn)
		}
	}()
	return r
}

func (r *relay) pass(conn net.Conn) {
	r.mu.Lock()
	behind, err := net.Dial("tcp", r.to)
	if err != nil {
		r.mu.Unlock()
		_ = conn.Close()
		return
	}
	r.conns = append(r.conns, conn, behind)
	r.mu.Unlock()
	go func() { _, _ = io.Copy(behind, conn) }()
	_, _ = io.Copy(conn, behind)
	_ = conn.Close()
	_ = behind.Close()
}

// replace cuts all connections, and forwards later ones to another service.
func (r *relay) replace(url string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.to = strings.TrimPrefix(url, "http://")
	for _, conn := range r.conns {
		_ = conn.Close()
	}
}

// In a fleet, the gateway has the text. If it dies, the client opens its session at another gateway with its text, and
// continues.
func TestLiveClientOutlivesItsGateway(t *testing.T) {
	broker := "redis://" + miniredis.RunT(t).Addr()
	gateways := []*running{startGateway(t, broker), startGateway(t, broker)}
	_, worker := startWorker(t, broker)
	eventually(t, worker+"/readyz", 200)
	for _, g := range gateways {
		eventually(t, g.url+"/readyz", 200)
	}
	front := startRelay(t, gateways[0].url)
	c, err := client.New(client.Config{URL: "http://" + front.Addr().String()})
	require.NoError(t, err)
	defer c.Close()
	l, err := c.Live(t.Context(), client.Request{From: "en", To: "fr"})
	require.NoError(t, err)
	require.NoError(t, l.Append(t.Context(), "Where is the station? It is "))
	for !strings.Contains(l.Text(), "gare") {
		require.NoError(t, l.Next(t.Context()))
	}
	front.replace(gateways[1].url)
	require.NoError(t, l.Append(t.Context(), "late."))
	require.NoError(t, l.Finish(t.Context()))
	for err == nil {
		err = l.Next(t.Context())
	}
	require.ErrorIs(t, err, io.EOF)
	plain, err := gateways[1].translated("en", "fr", []record{{"1", "Where is the station? It is late."}})
	require.NoError(t, err)
	assert.Equal(t, plain[0].Text, l.Text())
	require.NoError(t, l.Close())
	for _, g := range gateways {
		g.stop()
		assert.NoError(t, <-g.result)
	}
}
