package fleet

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// wire is a connection to a server that can be cut.
type wire struct {
	listener net.Listener
	server   string

	mu    sync.Mutex // guards the rest
	cut   bool
	conns map[net.Conn]bool
}

func newWire(t *testing.T, server string) *wire {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w := &wire{listener: l, server: server, conns: make(map[net.Conn]bool)}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { w.carry(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		w.setCut(true)
		running.Wait()
	})
	return w
}

func (w *wire) address() string { return w.listener.Addr().String() }

// carry copies between two connections until one ends, or the wire is cut.
func (w *wire) carry(near net.Conn) {
	defer near.Close()
	far, err := net.Dial("tcp", w.server)
	if err != nil {
		return
	}
	defer far.Close()
	w.mu.Lock()
	if w.cut {
		w.mu.Unlock()
		return
	}
	w.conns[near], w.conns[far] = true, true
	w.mu.Unlock()
	var both sync.WaitGroup
	for _, ends := range [][2]net.Conn{{near, far}, {far, near}} {
		both.Go(func() {
			_, _ = io.Copy(ends[0], ends[1])
			_ = near.Close()
			_ = far.Close()
		})
	}
	both.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.conns, near)
	delete(w.conns, far)
}

// setCut cuts or repairs the wire.
func (w *wire) setCut(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
	for conn := range w.conns {
		if cut {
			_ = conn.Close()
		}
	}
}
