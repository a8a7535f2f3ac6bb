package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/budget"
	"dragoman/app/fault"
	"dragoman/app/guard/access"
	"dragoman/app/live"
	"dragoman/app/wait"
)

const (
	// keyTimeout is the time that a client has to send its key, if the key is in the first message.
	keyTimeout = 10 * time.Second
	// pingEvery is the interval between pings, and the time that a client has to answer one.
	pingEvery = 20 * time.Second
	// unusedTime is the maximum time of a connection without a session.
	unusedTime = time.Minute
)

// serveSocket serves GET /live: sessions over a WebSocket.
func (l *liveAPI) serveSocket(c *gin.Context) (any, error) {
	late, err := l.cfg.Gate.MustReadKey(c.Request, "")
	if err == nil && !late {
		err = l.cfg.Gate.Enter(c.Request, "")
	}
	if err == nil && c.GetHeader("Upgrade") == "" {
		err = fault.New(fault.InvalidHeader, "", "GET %s is for WebSockets: send Upgrade: websocket, or use POST %s", livePath, translationPath)
	}
	leave := func() {}
	if err == nil {
		leave, err = l.sockets.enter(access.Caller(c.Request))
	}
	if err != nil {
		return nil, err
	}
	defer leave()
	conn, err := websocket.Accept(c.Writer, c.Request, &websocket.AcceptOptions{InsecureSkipVerify: true}) // the gate has checked the page's origin
	if err != nil {                                                                                        // Accept has answered the request
		_ = c.Error(err)
		c.Abort()
		return nil, nil
	}
	s := &socket{liveAPI: l, c: c, conn: conn, sessions: make(map[int64]*attached), counted: true}
	s.used.Store(time.Now().UnixNano())
	s.serve(!late)
	return nil, nil
}

// socket is a WebSocket with its client's sessions. The request's goroutine reads; each session has a goroutine that writes the
// session's updates.
type socket struct {
	*liveAPI
	c    *gin.Context
	conn *websocket.Conn
	used atomic.Int64 // time of the last message or session, in nanoseconds since 1970
	// counted reports whether the rate limit has already counted the next message. The limit counts a connection together with
	// its first message.
	counted bool

	mu        sync.Mutex // guards sessions
	sessions  map[int64]*attached
	following sync.WaitGroup
}

// attached is a session on a connection.
type attached struct {
	*live.Session
	detach context.CancelFunc
	gone   chan struct{} // closed when its last update is written
}

// serve reads messages until the client leaves. entered reports whether the client is admitted.
func (s *socket) serve(entered bool) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.c.Request.Context()))
	stop := context.AfterFunc(s.ending, s.restart)
	s.following.Go(func() { s.ping(ctx) })
	defer func() {
		stop()
		cancel()
		_ = s.conn.CloseNow()
		s.following.Wait()
	}()
	// A text whose characters are all escaped, and its message.
	s.conn.SetReadLimit(int64(s.live.MaxChars)*6 + 64<<10)
	for {
		err := s.next(ctx, &entered)
		if broken, ok := errors.AsType[*brokenError](err); ok {
			_ = s.conn.Close(broken.status, broken.reason)
		}
		if err != nil { // otherwise the client has left, or was told to
			return
		}
	}
}

// brokenError ends a connection.
type brokenError struct {
	status websocket.StatusCode
	reason string
}

func (e *brokenError) Error() string { return e.reason }

// next reads a message and executes it.
func (s *socket) next(ctx context.Context, entered *bool) error {
	reading, cancel := ctx, context.CancelFunc(func() {})
	if !*entered {
		reading, cancel = context.WithTimeout(ctx, keyTimeout)
	}
	defer cancel()
	kind, r, err := s.conn.Reader(reading)
	if err != nil {
		return err
	}
	if kind != websocket.MessageText {
		return &brokenError{websocket.StatusUnsupportedData, "send text, not binary data"}
	}
	lease := s.cfg.Memory.Lease(access.Caller(s.c.Request))
	defer lease.Close()
	raw, err := io.ReadAll(&leasedReader{r, lease})
	switch {
	case errors.Is(err, budget.ErrFull):
		_ = s.fail(ctx, liveMessage{}, err)
		return &brokenError{websocket.StatusTryAgainLater, "the service has no memory for the message now"}
	case err != nil:
		return err
	case !utf8.Valid(raw):
		return &brokenError{websocket.StatusInvalidFramePayloadData, "the message is not UTF-8"}
	}
	s.used.Store(time.Now().UnixNano())
	m, err := decodeMessage(raw)
	if !*entered && err == nil {
		if err = s.cfg.Gate.Enter(s.c.Request, m.Key.value); err != nil {
			_ = s.fail(ctx, liveMessage{}, err)
			return &brokenError{websocket.StatusPolicyViolation, "no valid key"}
		}
		*entered = true
	}
	if err == nil {
		err = s.obey(ctx, m)
	}
	if err != nil {
		return s.fail(ctx, m, err)
	}
	return nil
}

// count counts a message against the caller's limit, like a request.
func (s *socket) count() error {
	if s.counted {
		s.counted = false
		return nil
	}
	return s.cfg.Gate.Account(s.c.Request).Request()
}

func (s *socket) obey(ctx context.Context, m liveMessage) error {
	number := m.Session.value
	s.mu.Lock()
	x := s.sessions[number]
	s.mu.Unlock()
	switch {
	case (m.Payload != nil || m.Resume.set) && x != nil:
		return fault.New(fault.InvalidValue, "s", "s is %d, which is a session already: use another number, or end that one", number)
	case m.Payload != nil:
		if err := s.count(); err != nil {
			return err
		}
		opened, err := s.openSession(s.c, m.Payload)
		if err != nil {
			return err
		}
		if err := s.attach(ctx, number, opened, 0); err != nil {
			opened.End(live.ReasonDeleted)
			return err
		}
	case m.Resume.set:
		if err := s.count(); err != nil {
			return err
		}
		resumed, err := s.ownSession(s.c, m.Resume.value)
		if err != nil {
			return err
		}
		return s.attach(ctx, number, resumed, m.Seen.value)
	case (m.Number.set || m.End.value) && x == nil:
		return live.ErrUnknown
	case m.End.value:
		s.forget(number, x)
		x.End(live.ReasonDeleted)
	case m.Number.set:
		edits, err := m.edits()
		if err == nil {
			_, err = x.Edit(edits, s.count)
		}
		return err
	}
	return nil
}

// attach starts to send a session's updates to the client, under the client's number for it.
func (s *socket) attach(ctx context.Context, number int64, x *live.Session, seen int64) error {
	leave, err := s.sockets.enter(access.Caller(s.c.Request))
	if err != nil {
		return err
	}
	a := &attached{Session: x, gone: make(chan struct{})}
	ctx, a.detach = context.WithCancel(ctx)
	s.mu.Lock()
	s.sessions[number] = a
	s.mu.Unlock()
	s.following.Go(func() {
		defer leave()
		defer close(a.gone)
		defer s.forget(number, a)
		s.follow(ctx, number, x, seen)
	})
	return nil
}

// forget frees a number.
func (s *socket) forget(number int64, a *attached) {
	a.detach()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[number] == a {
		delete(s.sessions, number)
	}
}

// follow writes the updates of a session until it has ended. Updates do not accumulate while the client does not read: the client
// gets the newest state when it reads again.
func (s *socket) follow(ctx context.Context, number int64, x *live.Session, seen int64) {
	shown := int64(-1)
	for id := x.ID(); ; id = "" {
		u, err := x.Wait(ctx, seen, shown)
		if err != nil {
			return
		}
		seen, shown = u.Revision, u.Shown
		out := s.updateOf(s.c, u)
		out.Session, out.ID = &number, id
		if s.write(ctx, out) != nil || u.Done || u.Ended != "" {
			return
		}
		s.used.Store(time.Now().UnixNano())
	}
}

// fail tells the client the error of a message for a session, or of the connection, and when to retry.
func (s *socket) fail(ctx context.Context, m liveMessage, err error) error {
	s.c.Errors = nil // cleared, because a connection may have many errors
	f := s.server.Explain(s.c, err)
	return s.write(ctx, struct {
		Session    *int64      `json:"s,omitzero"`
		Number     int64       `json:"n,omitzero"` // number of the refused edits
		Error      errorDetail `json:"error"`
		RetryAfter int         `json:"retryAfter,omitzero"` // seconds
	}{m.Session.pointer(), m.Number.value, detailOf(s.c, f), f.Wait})
}

// write sends a message. It fails if the client has left or does not read. The end of a session, which ends ctx, must not
// interrupt a write, because that would break the connection for all its sessions.
func (s *socket) write(ctx context.Context, message any) error {
	var raw bytes.Buffer
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(message); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dialect.WriteTimeout)
	defer cancel()
	return s.conn.Write(ctx, websocket.MessageText, bytes.TrimSpace(raw.Bytes()))
}

// ping closes the connection if the client has left, or does not use the connection.
func (s *socket) ping(ctx context.Context) {
	for wait.For(ctx, pingEvery) {
		s.mu.Lock()
		sessions := len(s.sessions)
		s.mu.Unlock()
		if sessions == 0 && time.Since(time.Unix(0, s.used.Load())) > unusedTime {
			_ = s.conn.Close(websocket.StatusNormalClosure, "no session is open")
			return
		}
		limited, cancel := context.WithTimeout(ctx, pingEvery)
		err := s.conn.Ping(limited)
		cancel()
		if err != nil {
			_ = s.conn.CloseNow()
			return
		}
	}
}
