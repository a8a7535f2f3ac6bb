package httpapi

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"dragoman/app/fault"
	"dragoman/app/guard/admission"
	"dragoman/app/live"
)

// sockets counts the connections of clients that watch sessions, and the sessions watched on them.
type sockets struct {
	places *admission.Places
	open   sync.WaitGroup
}

// streamsOf returns the maximum number of connections for a number of sessions: several clients may watch a session, over
// connections of their own.
func streamsOf(sessions int) int { return 64 + 4*sessions }

// Streams returns the maximum number of long-lived connections: of live text, and of job events.
func (a *API) Streams() (n int) {
	if a.cfg.Live != nil {
		n += streamsOf(a.cfg.Live.MaxSessions)
	}
	if a.cfg.Jobs != nil {
		n += mostJobStreams
	}
	return n
}

// enter takes a place for a caller's connection, or for a session on it; leave gives the place back.
func (s *sockets) enter(caller string) (leave func(), err error) {
	if err := s.places.Take(caller); err != nil {
		return nil, fault.New(fault.Busy, "", "connections for live text: %s: close some, or try again in a moment", err)
	}
	s.open.Add(1)
	return func() {
		s.places.Leave(caller)
		s.open.Done()
	}, nil
}

// WaitLive waits until all WebSockets are closed, for which the server's shutdown does not wait, or until ctx is done.
func (a *API) WaitLive(ctx context.Context) {
	closed := make(chan struct{})
	go func() {
		a.sockets.open.Wait()
		close(closed)
	}()
	select {
	case <-closed:
	case <-ctx.Done():
	}
}

// flushTime is the time that a connection stays open at the end of the service, to send the last updates.
const flushTime = time.Second

// restart closes the connection when the service ends, after telling its client.
func (s *socket) restart() {
	s.mu.Lock()
	open := slices.Collect(maps.Values(s.sessions))
	s.mu.Unlock()
	flushing, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	for _, a := range open {
		a.End(live.ReasonShutdown)
		select {
		case <-a.gone:
		case <-flushing.Done():
		}
	}
	_ = s.conn.Close(websocket.StatusServiceRestart, "the service ends: connect again, and open your sessions with their texts")
}
