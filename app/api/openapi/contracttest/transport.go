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
	return transport(func(r *http.Request) (*http.Response, error) {
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
		resp, err := base.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		resp.Body = &body{ReadCloser: resp.Body, end: func(received []byte, whole bool) {
			c.Check(t, Exchange{Request: r, Sent: sent, Response: resp, Received: received, Partial: !whole})
		}}
		return resp, nil
	})
}

type transport func(*http.Request) (*http.Response, error)

// RoundTrip sends a request.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// body keeps what is read of an answer.
type body struct {
	io.ReadCloser
	received bytes.Buffer
	end      func(received []byte, whole bool) // nil after its call
}

// Read reads on.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.received.Write(p[:n])
	if err == io.EOF {
		b.over(true)
	}
	return n, err
}

// Close closes the body.
func (b *body) Close() error {
	b.over(false)
	return b.ReadCloser.Close()
}

func (b *body) over(whole bool) {
	if b.end != nil {
		b.end(b.received.Bytes(), whole)
		b.end = nil
	}
}
