// Package body bounds what the bodies of requests take: the bytes and the time of
// each, and the memory of all requests in flight together. It also sees to it that a
// client learns why its body was not read, see [Refuse].
//
// # Memory
//
// Bytes count as they arrive, whatever a client has announced, and [PerByte] times:
// for what they are read into, and for the copies that parsing makes. They count until
// the request is answered, because its texts are kept for as long.
//
// A caller may hold as much as is left free then: the first one half of the memory, a
// second one half of the rest, and so on. So a few callers leave some for another one,
// whatever they send, and however slowly. What does not fit is refused at once with
// [ErrFull]; nothing waits.
package body

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// PerByte is how many bytes of memory count for each byte of a body.
const PerByte = 4

// ErrFull is the error of reading a body that there is no memory for. Another try may
// succeed; 503 is right for it.
var ErrFull = errors.New("the bodies of requests in flight take all the memory that there is for them: try again in a moment")

// Config is what [Bounds] keeps.
type Config struct {
	Most    int64         // bytes of a body
	Memory  int64         // bytes of all bodies; at least 2 × PerByte × Most, or a body of Most does not fit
	Timeout time.Duration // until the whole body has arrived
}

// Bounds are the bounds of a server. They are safe for concurrent use.
type Bounds struct {
	cfg    Config
	memory memory
	linger chan struct{} // has a place for each connection that lingers
}

// New makes the bounds of a server.
func New(cfg Config) *Bounds {
	return &Bounds{
		cfg:    cfg,
		memory: memory{free: cfg.Memory, held: map[string]int64{}},
		linger: make(chan struct{}, maxLingering),
	}
}

// Serve makes a handler that serves requests whose bodies are bounded. Reading one
// fails with *http.MaxBytesError, os.ErrDeadlineExceeded or [ErrFull].
func (b *Bounds) Serve(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 {
			next.ServeHTTP(w, r)
			return
		}
		// Not every server under test has deadlines; the real one has.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(b.cfg.Timeout))
		body := &boundedBody{ReadCloser: r.Body, memory: &b.memory, most: b.cfg.Most}
		r = r.WithContext(context.WithValue(r.Context(), bodyKey{}, body))
		r.Body = body
		defer body.release()
		next.ServeHTTP(w, r)
		body.release() // lingering takes no memory
		if body.refused {
			b.lingerOn(w, r, body)
		}
	})
}

// Account has a request's body counted as its caller's, who is asked for when the first
// bytes come.
func Account(r *http.Request, caller func() string) {
	if b := of(r); b != nil {
		b.caller = caller
	}
}

// bodyKey is where the body of a request is in its context.
type bodyKey struct{}

// of is the body of a request, nil where it has none or Serve has not seen it.
func of(r *http.Request) *boundedBody {
	b, _ := r.Context().Value(bodyKey{}).(*boundedBody)
	return b
}

// boundedBody is the body of a request. One goroutine uses it.
type boundedBody struct {
	io.ReadCloser // of the server
	memory        *memory
	caller        func() string // nil: one for all that have none

	most, read int64
	name       string // of the caller, once there are bytes
	held       int64  // of memory
	err        error  // of reading, and of all reading after it
	refused    bool   // it was answered by Refuse, and is not whole
}

// Read reads what is left of the body, within its bounds.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if left := b.most - b.read; int64(len(p)) > left {
		p = p[:left+1] // one more tells a body that is too large
	}
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	switch {
	case b.read > b.most:
		n, err = 0, &http.MaxBytesError{Limit: b.most}
	case !b.hold(int64(n) * PerByte):
		n, err = 0, ErrFull
	}
	b.err = err
	return n, err
}

// hold takes memory for the body, and says whether there was any.
func (b *boundedBody) hold(bytes int64) bool {
	if bytes == 0 {
		return true
	}
	if b.held == 0 && b.caller != nil {
		b.name = b.caller()
	}
	if !b.memory.take(b.name, bytes) {
		return false
	}
	b.held += bytes
	return true
}

// release gives back what the body holds.
func (b *boundedBody) release() {
	b.memory.give(b.name, b.held)
	b.held = 0
}

// whole says whether all of the body was read.
func (b *boundedBody) whole() bool { return b.err == io.EOF }

// alive says whether more of the body may come.
func (b *boundedBody) alive() bool {
	var tooLarge *http.MaxBytesError
	return b.err == nil || errors.As(b.err, &tooLarge) || errors.Is(b.err, ErrFull)
}

// memory is what the bodies of all callers may take.
type memory struct {
	mu   sync.Mutex // guards what follows
	free int64
	held map[string]int64 // by caller, each above 0
}

// take takes bytes for a caller, or none where it would hold more than is left free.
func (m *memory) take(caller string, bytes int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held[caller]+bytes > m.free-bytes {
		return false
	}
	m.free -= bytes
	m.held[caller] += bytes
	return true
}

// give gives back bytes that a caller has taken.
func (m *memory) give(caller string, bytes int64) {
	if bytes == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free += bytes
	if m.held[caller] -= bytes; m.held[caller] == 0 {
		delete(m.held, caller)
	}
}
