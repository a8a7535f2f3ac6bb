package sender

import (
	"fmt"
	"net/http"
)

// heard is what the headers of a request's answer say. The client does not hand them out,
// so a transport listens.
type heard struct{ status, hits, misses int }

// heardKey finds what is heard of a request in its context.
type heardKey struct{}

// tap is a transport that listens.
type tap struct {
	http.RoundTripper
	hideTimeout bool
}

// RoundTrip is that of http.RoundTripper.
func (t tap) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.hideTimeout {
		r = r.Clone(r.Context())
		r.Header.Del("Request-Timeout")
	}
	resp, err := t.RoundTripper.RoundTrip(r)
	if h, listening := r.Context().Value(heardKey{}).(*heard); listening && err == nil {
		h.status = resp.StatusCode
		// Services that do not say leave both at 0.
		_, _ = fmt.Sscanf(resp.Header.Get("Dragoman-Cache"), "hits=%d, misses=%d", &h.hits, &h.misses)
	}
	return resp, err
}
