package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"
)

const (
	// maxLiveBytes limits a message of the service.
	maxLiveBytes = 64 << 20
	// closeTimeout is the time limit to tell the service that a session has ended.
	closeTimeout = time.Second
)

// persistConnection connects with any number of tries; cause is the error that broke the previous connection. The caller must
// hold l.turn.
func (l *Live) persistConnection(ctx context.Context, cause error) error {
	if l.done {
		return errors.New("client: the live session is closed")
	}
	return l.client.persist(ctx, newCall("/live").id, func() (bool, error) {
		if cause != nil {
			l.client.cfg.Log.DebugContext(ctx, "reconnecting live text", "reason", cause)
		}
		return false, l.connect(ctx)
	})
}

// connect makes one try: it opens the session, or resumes it, and sends the edits that the service has not applied. A session
// that the service does not know any more is opened again with the current text.
func (l *Live) connect(ctx context.Context) error {
	if l.conn != nil {
		_ = l.conn.CloseNow()
	}
	call := newCall("/live")
	req, err := l.client.request(ctx, call)
	if err != nil {
		return err
	}
	conn, resp, err := websocket.Dial(ctx, l.client.base+"/live", &websocket.DialOptions{HTTPClient: l.client.socketClient(), HTTPHeader: req.Header})
	switch {
	case err != nil && ctx.Err() != nil:
		return contextError(ctx)
	case err != nil && resp != nil && resp.StatusCode != http.StatusSwitchingProtocols:
		defer resp.Body.Close()
		return errorOf(resp, call.id)
	case err != nil:
		return &connectionError{err}
	}
	conn.SetReadLimit(maxLiveBytes)
	l.conn = conn
	l.made++
	l.limited = false
	l.stopResending()
	err = l.begin(ctx)
	if l.id != "" && IsCode(err, CodeUnknownSession) {
		l.forget()
		err = l.begin(ctx)
	}
	if err != nil {
		return err
	}
	return l.sendWaiting(ctx)
}

// socketClient returns the HTTP client for WebSockets, which exist only in HTTP/1.1.
func (t *transport) socketClient() *http.Client {
	given, ok := t.http.Transport.(*http.Transport)
	if !ok {
		return t.http
	}
	hc, http1 := *t.http, given.Clone()
	http1.ForceAttemptHTTP2, http1.HTTP2 = false, nil
	http1.Protocols = new(http.Protocols)
	http1.Protocols.SetHTTP1(true)
	hc.Transport = http1
	return &hc
}

// begin opens the session or resumes it, and reads the answer.
func (l *Live) begin(ctx context.Context) error {
	var message any = struct {
		S      int64  `json:"s"`
		Resume string `json:"resume"`
		Seen   int64  `json:"seen"`
	}{1, l.id, l.seen}
	if l.id == "" {
		payload := livePayload{From: l.request.From, To: l.request.To, Model: l.request.Model, Priority: l.request.Priority, Options: l.request.Options}
		message = struct {
			S       int64       `json:"s"`
			Payload livePayload `json:"payload"`
		}{1, payload}
	}
	if err := l.write(ctx, message); err != nil {
		return &connectionError{err}
	}
	_, raw, err := l.conn.Read(ctx)
	if err != nil {
		return &connectionError{err}
	}
	_, err = l.take(ctx, raw)
	return err
}

// livePayload has the options of a text's translation.
type livePayload struct {
	From     string   `json:"fromLang"`
	To       string   `json:"toLang"`
	Model    string   `json:"model,omitempty"`
	Priority string   `json:"priority,omitempty"`
	Options  *Options `json:"options,omitzero"`
}

// forget prepares to open the session again, with the current text.
func (l *Live) forget() {
	l.id, l.seen, l.segments, l.tail, l.problem = "", 0, nil, "", nil
	l.sent = 1
	l.waiting = []liveSent{{S: 1, Number: 1, Edits: []liveEdit{{Text: string(l.text)}}, Complete: l.complete}}
}

// liveMessage is a message of the service.
type liveMessage struct {
	Number     int64 `json:"n"`          // of refused edits
	RetryAfter int   `json:"retryAfter"` // in seconds

	ID       string        `json:"id"`
	Taken    int64         `json:"taken"`
	Revision int64         `json:"revision"`
	All      bool          `json:"all"`
	Removed  []int64       `json:"removed"`
	Segments []liveSegment `json:"segments"`
	Tail     *string       `json:"tail"`
	Done     bool          `json:"done"`
	Ended    string        `json:"ended"`
	Error    *Error        `json:"error"`
}

type liveSegment struct {
	ID     int64    `json:"segment"`
	After  int64    `json:"after"`
	Skip   int      `json:"skip"`
	Length int      `json:"length"`
	Before string   `json:"before"`
	Text   *string  `json:"text"`
	Flags  []string `json:"flags"`
	Stable int      `json:"stable"`
	Final  bool     `json:"final"`
}

// take applies a message, and reports whether the translation has changed.
func (l *Live) take(ctx context.Context, raw []byte) (changed bool, err error) {
	var m liveMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return false, invalid("it is not JSON: %v", err)
	}
	switch {
	case m.Error != nil && m.Revision == 0: // error of a message
		return l.refused(m)
	case m.Ended != "" && !m.Done: // the session is opened again
		l.forget()
		return false, l.persistConnection(ctx, fmt.Errorf("the session has ended: %s", m.Ended))
	}
	if m.ID != "" {
		l.id = m.ID
	}
	l.seen = m.Revision
	problem := l.problem
	if l.problem = nil; m.Error != nil {
		l.problem = m.Error
	}
	l.waiting = slices.DeleteFunc(l.waiting, func(s liveSent) bool { return s.Number <= m.Taken })
	return l.change(m) || (problem == nil) != (l.problem == nil), nil
}

// refused handles an error of a message. Edits over the limit are sent again, together, when the limit allows; later edits that
// were sent meanwhile are refused because of the gap.
func (l *Live) refused(m liveMessage) (changed bool, err error) {
	failure := m.Error
	failure.RetryAfter = time.Duration(m.RetryAfter) * time.Second
	switch {
	case m.Number > 0 && m.RetryAfter > 0 && failure.Temporary():
		l.problem, l.limited = failure, true
		l.waiting = slices.DeleteFunc(l.waiting, func(s liveSent) bool { return s.Number < m.Number }) // earlier edits were applied
		if l.resend == nil {
			l.resend = time.AfterFunc(failure.RetryAfter, l.sendAgain)
		}
		return true, nil
	case failure.Code == CodeEditGap && l.limited:
		return false, nil
	}
	return false, failure
}

// sendAgain sends the waiting edits. The reading goroutine notices a broken connection.
func (l *Live) sendAgain() {
	defer l.lock()()
	if l.resend == nil || l.conn == nil {
		return
	}
	l.stopResending()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = l.sendWaiting(ctx)
}

// stopResending ends the wait, so that edits are sent at once again.
func (l *Live) stopResending() {
	if l.resend != nil {
		l.resend.Stop()
		l.resend = nil
	}
}

// change applies the changes to the segments.
func (l *Live) change(m liveMessage) (changed bool) {
	if m.All {
		l.segments = nil
	}
	if m.Tail != nil {
		l.tail = *m.Tail
	}
	index := func(id int64) int {
		return slices.IndexFunc(l.segments, func(s LiveSegment) bool { return s.ID == id })
	}
	for _, id := range m.Removed {
		l.segments = slices.DeleteFunc(l.segments, func(s LiveSegment) bool { return s.ID == id })
	}
	for _, s := range m.Segments {
		i := index(s.ID)
		if i < 0 {
			i = index(s.After) + 1
			l.segments = slices.Insert(l.segments, i, LiveSegment{ID: s.ID})
		}
		g := &l.segments[i]
		g.skip, g.length, g.Before, g.Final = s.Skip, s.Length, s.Before, s.Final
		if s.Text != nil {
			g.Text, g.Flags, g.Stable = *s.Text, s.Flags, s.Stable
		}
		if s.Final {
			g.Stable = len([]rune(g.Text))
		}
	}
	l.done = l.done || m.Done
	return m.All || m.Tail != nil || len(m.Removed)+len(m.Segments) > 0 || m.Done
}
