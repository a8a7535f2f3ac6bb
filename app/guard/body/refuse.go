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
	// smallBody is our own margin, below the 256 KiB up to which net/http (Go 1.26.8, maxPostHandlerReadBytes) reads an unread
	// body and keeps the connection.
	smallBody = 64 << 10

	// Limits for reading refused bodies: of each connection, and of all.
	lingerTime   = 10 * time.Second
	lingerBytes  = 64 << 20
	maxLingering = 128

	// refusing is the time that it takes to accept a connection, and the data that the client has sent into the system's buffers
	// before the client reads the refusal.
	refusing = 5 * time.Millisecond
)

// Refuse answers with JSON to a request whose body may not have been read.
//
// Many clients send the whole request before they read an answer. If a server answers and closes the connection, they see a reset
// instead of the answer. So the whole answer is sent before the body has arrived, and [Bounds.Serve] continues to read for a
// while and discards the data. A caller that is refused repeatedly waits for its turn to be refused.
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
	// With its length the answer is complete before the handler ends.
	h.Set("Content-Length", strconv.Itoa(encoded.Len()))
	w.WriteHeader(status)
	_, err := w.Write(encoded.Bytes())
	return err
}

// lingerOn reads the data that a client still sends after the answer.
func (b *Bounds) lingerOn(w http.ResponseWriter, r *http.Request, body *boundedBody) {
	// A client that waits for 100 Continue was told to stop.
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
