package sender

import (
	"fmt"
	"net/http"
)

// heard has data from the headers of a request's answer. The client does not expose them, so a transport reads them.
type heard struct{ status, hits, misses int }

// heardKey is the key of a request's heard in its context.
type heardKey struct{}

// tap is a transport that reads the headers.
type tap struct {
	http.RoundTripper
	hideTimeout bool
}

// RoundTrip implements [http.RoundTripper].
func (t tap) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.hideTimeout {
		r = r.Clone(r.Context())
		r.Header.Del("Request-Timeout")
	}
	resp, err := t.RoundTripper.RoundTrip(r)
	if h, listening := r.Context().Value(heardKey{}).(*heard); listening && err == nil {
		h.status = resp.StatusCode
		// Services without the header leave both at 0.
		_, _ = fmt.Sscanf(resp.Header.Get("Dragoman-Cache"), "hits=%d, misses=%d", &h.hits, &h.misses)
	}
	return resp, err
}
