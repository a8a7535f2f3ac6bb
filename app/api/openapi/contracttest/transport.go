package contracttest

import (
	"bytes"
	"io"
	"net/http"
	"testing"
)

// Transport checks every exchange that goes through it, when the answer's body was read
// to its end or closed. A body that was not read to its end, as that of a stream that
// somebody leaves, is not checked; status and headers are. base is what sends requests,
// whose bodies are read before.
//
// The bodies that it hands out must be closed before the test ends.
func (c *Contract) Transport(t testing.TB, base http.RoundTripper) http.RoundTripper {
	return &transport{base, func(x Exchange) { c.Check(t, x) }}
}

type transport struct {
	base  http.RoundTripper
	check func(Exchange)
}

// RoundTrip sends a request.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent []byte
	if r.Body != nil {
		var err error
		if sent, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close()
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(sent))
	}
	resp, err := t.base.RoundTrip(r)
	if err == nil {
		resp.Body = &body{ReadCloser: resp.Body, check: t.check, x: Exchange{Request: r, Sent: sent, Response: resp}}
	}
	return resp, err
}

// body keeps what is read of an answer.
type body struct {
	io.ReadCloser
	x     Exchange
	check func(Exchange) // nil after its call
}

// Read reads on.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.x.Received = append(b.x.Received, p[:n]...)
	if err == io.EOF {
		b.over(false)
	}
	return n, err
}

// Close closes the body.
func (b *body) Close() error {
	b.over(true)
	return b.ReadCloser.Close()
}

func (b *body) over(partial bool) {
	if b.check != nil {
		b.x.Partial = partial
		b.check(b.x)
		b.check = nil
	}
}
