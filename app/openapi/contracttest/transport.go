package contracttest

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"testing"
)

// Transport checks every exchange that goes through it, when the answer's body was read
// to its end or closed. A body that was not read to its end, as that of a stream that
// somebody leaves, is not checked; status and headers are. base is what sends requests.
//
// The bodies that it hands out must be closed before the test ends.
func (c *Contract) Transport(t testing.TB, base http.RoundTripper) http.RoundTripper {
	return &transport{contract: c, t: t, base: base}
}

type transport struct {
	contract *Contract
	t        testing.TB
	base     http.RoundTripper
}

// RoundTrip sends a request.
func (tr *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent, received record
	if r.Body != nil {
		r = r.Clone(r.Context())
		r.Body = &body{Reader: io.TeeReader(r.Body, &sent), Closer: r.Body}
		r.GetBody = nil // would go around the record
	}
	resp, err := tr.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = &body{
		Reader: io.TeeReader(resp.Body, &received), Closer: resp.Body,
		end: func(whole bool) {
			tr.contract.Check(tr.t, Exchange{Request: r, Sent: sent.bytes(), Response: resp, Received: received.bytes(), Partial: !whole})
		},
	}
	return resp, nil
}

// record keeps what is written. A server may answer while the request is still being sent,
// so there is a lock.
type record struct {
	mu     sync.Mutex
	buffer bytes.Buffer // guarded by mu
}

// Write adds to the record.
func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buffer.Write(p)
}

// bytes is a copy of what was written.
func (r *record) bytes() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.buffer.Bytes())
}

// body is a body that somebody wants to know the end of.
type body struct {
	io.Reader
	io.Closer
	end func(whole bool) // called once; nil for nobody
}

// Read reads on.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		b.over(true)
	}
	return n, err
}

// Close closes the body.
func (b *body) Close() error {
	b.over(false)
	return b.Closer.Close()
}

func (b *body) over(whole bool) {
	if end := b.end; end != nil {
		b.end = nil
		end(whole)
	}
}
