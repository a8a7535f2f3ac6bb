package body

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"
)

const (
	// smallBody is the size up to which an unread body is left to net/http, which
	// reads it before it answers and keeps the connection.
	smallBody = 64 << 10

	// What bounds the reading of bodies that nobody wants: of each connection, and
	// of all.
	lingerTime   = 10 * time.Second
	lingerBytes  = 64 << 20
	maxLingering = 128

	// refusing is how long it takes to accept a connection, and what its client has sent into the system's buffers before it
	// learns that it need not.
	refusing = 5 * time.Millisecond
)

// Refuse answers with JSON to a request whose body may not have been read.
//
// Many clients send all of a request before they look for an answer. When a server
// answers and closes the connection, they see that it was reset instead of the answer.
// So the answer goes out whole before the body has come, and [Bounds.Serve] goes on reading for a
// while, and throws away what comes. Who is refused again and again waits for its turn to be.
func Refuse(w http.ResponseWriter, r *http.Request, status int, answer any) error {
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(answer); err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return err
	}
	h := w.Header()
	if b := of(r); b != nil && !b.whole() && (r.ContentLength < 0 || r.ContentLength > smallBody || !b.alive()) {
		b.refused = true
		h.Set("Connection", "close")
		_ = b.spend(refusing) // a client that leaves meanwhile gets no answer anyway
	}
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json; charset=utf-8")
	}
	// With its length the answer is whole before the handler ends.
	h.Set("Content-Length", strconv.Itoa(encoded.Len()))
	w.WriteHeader(status)
	_, err := w.Write(encoded.Bytes())
	return err
}

// lingerOn reads what a client goes on to send after it was answered.
func (b *Bounds) lingerOn(w http.ResponseWriter, r *http.Request, body *boundedBody) {
	// A client that waits to be told to go on was told to stop.
	waits := r.Header.Get("Expect") != "" && body.read == 0
	if waits || !body.alive() || r.ContentLength > lingerBytes {
		return
	}
	select {
	case b.linger <- struct{}{}:
		defer func() { <-b.linger }()
	default:
		return
	}
	control := http.NewResponseController(w)
	if control.Flush() != nil || control.SetReadDeadline(time.Now().Add(lingerTime)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, received{body}, lingerBytes)
}
