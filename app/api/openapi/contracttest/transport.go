package contracttest

import (
	"bytes"
	"io"
	"net/http"
	"testing"
)

// Transport checks every exchange sent through base. It reads bodies completely before it passes them on.
func (c *Contract) Transport(t testing.TB, base http.RoundTripper) http.RoundTripper {
	return &transport{c, t, base}
}

type transport struct {
	contract *Contract
	t        testing.TB
	base     http.RoundTripper
}

// RoundTrip sends a request.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	x := Exchange{Request: r}
	var err error
	if r.Body != nil {
		if x.Sent, err = readAll(r.Body); err != nil {
			return nil, err
		}
		x.Request = r.Clone(r.Context())
		x.Request.Body = io.NopCloser(bytes.NewReader(x.Sent))
	}
	if x.Response, err = t.base.RoundTrip(x.Request); err != nil {
		return nil, err
	}
	if x.Received, err = readAll(x.Response.Body); err != nil {
		return nil, err
	}
	x.Response.Body = io.NopCloser(bytes.NewReader(x.Received))
	t.contract.Check(t.t, x)
	return x.Response, nil
}

func readAll(body io.ReadCloser) ([]byte, error) {
	defer body.Close()
	return io.ReadAll(body)
}
