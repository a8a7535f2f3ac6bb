package httpapi

import (
	"context"
	"sync"
	"sync/atomic"

	"dragoman/app/failure"
)

// sockets are the connections of clients that watch sessions.
type sockets struct {
	count atomic.Int64
	open  sync.WaitGroup
}

// enter lets a client in, which leaves later.
func (s *sockets) enter() error {
	if s.count.Add(1) > mostLiveStreams {
		s.count.Add(-1)
		return failure.New(failure.Busy, "", "too many clients have live sessions: try again in a moment")
	}
	s.open.Add(1)
	return nil
}

func (s *sockets) leave() {
	s.count.Add(-1)
	s.open.Done()
}

// WaitLive waits until all WebSockets are closed, which the server does not wait for when it shuts down, or
// until ctx is done.
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
