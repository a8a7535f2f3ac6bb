package server

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// drain ends an HTTP server without losing a request. [http.Server.Shutdown] alone may lose one: it closes a connection without
// an answer if the header of a request has been read after Shutdown began (Go 1.26.8, net/http/server.go, conn.serve: "if
// c.server.shuttingDown() { return }"), and no client sends a POST again. So a drain first stops accepting, and waits until the
// handler has begun with each request that is on its way. After that, Shutdown waits for the handlers, as documented.
type drain struct {
	net.Listener
	stopped, closed chan struct{}
	stop, close     func() error // stop and close call their function once

	mu      sync.Mutex // guards coming
	coming  map[net.Conn]arrival
	handler http.Handler
}

// arrival is a connection whose next request has not reached the handler.
type arrival struct {
	accepted time.Time
	read     bool // the header of a request has been read
}

// longestArrival is the time from the acceptance of a connection for which its first request is awaited: browsers open
// connections that they may never use.
const longestArrival = 2 * time.Second

// newDrain returns the drain of a server that serves at a listener.
func newDrain(l net.Listener, srv *http.Server) *drain {
	d := &drain{Listener: l, stopped: make(chan struct{}), closed: make(chan struct{}), coming: make(map[net.Conn]arrival), handler: srv.Handler}
	d.stop = sync.OnceValue(func() error {
		close(d.stopped)
		return l.Close()
	})
	d.close = sync.OnceValue(func() error {
		close(d.closed)
		return d.stop()
	})
	srv.Handler, srv.ConnState = d, d.note
	srv.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, conn)
	}
	return d
}

// connKey is the context key of a request's connection.
type connKey struct{}

// Accept implements [net.Listener]. After stop, Accept waits for Close, so that the server keeps its existing connections.
func (d *drain) Accept() (net.Conn, error) {
	conn, err := d.Listener.Accept()
	select {
	case <-d.stopped:
		if err != nil {
			<-d.closed
		}
	default:
	}
	return conn, err
}

// Close implements [net.Listener].
func (d *drain) Close() error { return d.close() }

// note tracks the state of a connection.
func (d *drain) note(conn net.Conn, state http.ConnState) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch state {
	case http.StateNew:
		d.coming[conn] = arrival{accepted: time.Now()}
	case http.StateActive:
		d.coming[conn] = arrival{read: true}
	default:
		delete(d.coming, conn)
	}
}

// ServeHTTP implements [http.Handler].
func (d *drain) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn, _ := r.Context().Value(connKey{}).(net.Conn)
	d.mu.Lock()
	delete(d.coming, conn)
	d.mu.Unlock()
	select {
	case <-d.stopped:
		w.Header().Set("Connection", "close")
	default:
	}
	d.handler.ServeHTTP(w, r)
}

// end stops accepting and waits until a handler has begun with each request that is on its way, or ctx is done.
func (d *drain) end(ctx context.Context) error {
	err := d.stop()
	const pause = 5 * time.Millisecond // as in Shutdown
	for d.awaited() {
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
	return err
}

// awaited reports whether a request is on its way.
func (d *drain) awaited() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.coming {
		if a.read || time.Since(a.accepted) < longestArrival {
			return true
		}
	}
	return false
}
