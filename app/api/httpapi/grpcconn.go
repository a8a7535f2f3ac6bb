package httpapi

import (
	"context"
	"net"
	"sync"

	"google.golang.org/grpc/stats"

	"dragoman/app/guard/admission"
)

// calls counts the bytes of gRPC messages as they arrive, because gRPC itself keeps the parts of a message until the message is
// complete. The bytes of a connection are taken from the memory of all requests, on the account of the client's address, and
// given back when the message is complete. If there is no memory, the connection is closed.
type calls struct {
	memory *admission.Memory

	mu    sync.Mutex // guards conns
	conns map[string]*countedConn
}

// listen returns a listener whose connections are counted.
func (c *calls) listen(l net.Listener) net.Listener { return countedListener{l, c} }

type countedListener struct {
	net.Listener
	calls *calls
}

// Accept implements [net.Listener].
func (l countedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		host = "" // the socket has no addresses
	}
	counted := &countedConn{Conn: conn, calls: l.calls, lease: l.calls.memory.Lease(host)}
	l.calls.mu.Lock()
	defer l.calls.mu.Unlock()
	l.calls.conns[conn.RemoteAddr().String()] = counted
	return counted, nil
}

// countedConn is a connection of gRPC.
type countedConn struct {
	net.Conn
	calls *calls

	mu     sync.Mutex // guards the fields below
	lease  *admission.Lease
	held   int64 // bytes taken
	active int   // calls in progress
}

// Read implements [net.Conn]. It fails if there is no memory for the bytes.
func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if full := c.lease.Take(int64(n)); full != nil {
		return 0, full
	}
	c.held += int64(n)
	return n, err
}

// Close implements [net.Conn].
func (c *countedConn) Close() error {
	c.calls.mu.Lock()
	if at := c.RemoteAddr().String(); c.calls.conns[at] == c {
		delete(c.calls.conns, at)
	}
	c.calls.mu.Unlock()
	c.mu.Lock()
	c.lease.Close()
	c.held = 0
	c.mu.Unlock()
	return c.Conn.Close()
}

// give gives back bytes of a complete message, or bytes that belong to no message. The caller must hold mu.
func (c *countedConn) give(n int64) {
	n = min(n, c.held)
	c.held -= n
	c.lease.Give(n)
}

type countedKey struct{}

// TagConn implements [stats.Handler].
func (c *calls) TagConn(ctx context.Context, info *stats.ConnTagInfo) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	return context.WithValue(ctx, countedKey{}, c.conns[info.RemoteAddr.String()])
}

// TagRPC implements [stats.Handler].
func (*calls) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleConn implements [stats.Handler].
func (*calls) HandleConn(context.Context, stats.ConnStats) {}

// frame is the header of an HTTP/2 frame in bytes, frameBytes the maximum payload of a frame.
const frame, frameBytes = 9, 16 << 10

// HandleRPC implements [stats.Handler].
func (*calls) HandleRPC(ctx context.Context, s stats.RPCStats) {
	conn, _ := ctx.Value(countedKey{}).(*countedConn)
	if conn == nil {
		return
	}
	conn.mu.Lock()
	defer conn.mu.Unlock()
	switch s := s.(type) {
	case *stats.Begin:
		conn.active++
	case *stats.InHeader:
		conn.give(int64(s.WireLength) + frame)
	case *stats.InPayload:
		conn.give(int64(s.WireLength) + frame*int64(1+s.WireLength/frameBytes))
	case *stats.End:
		if conn.active--; conn.active == 0 { // what is still held is of calls that ended early, and of HTTP/2 itself
			conn.give(conn.held)
		}
	}
}
