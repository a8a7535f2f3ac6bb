package body

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
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
)

// Refuse answers with JSON to a request whose body may not have been read, and aborts
// it.
//
// Many clients send all of a request before they look for an answer. When a server
// answers and closes the connection, they see that it was reset instead of the answer.
// So the answer goes out at once and whole, and [Bounds.Serve] goes on reading for a
// while, and throws away what comes.
func Refuse(c *gin.Context, status int, answer any) {
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(answer); err != nil {
		_ = c.AbortWithError(http.StatusInternalServerError, err)
		return
	}
	if b := of(c.Request); b != nil && !b.whole() && (c.Request.ContentLength < 0 || c.Request.ContentLength > smallBody || !b.alive()) {
		b.refused = true
		c.Header("Connection", "close")
	}
	c.Abort()
	// Data sends the length too: the answer is whole before the handler ends.
	c.Data(status, "application/json; charset=utf-8", encoded.Bytes())
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
	_, _ = io.CopyN(io.Discard, body.ReadCloser, lingerBytes)
}
