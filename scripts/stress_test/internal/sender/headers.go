package sender

import (
	"context"
	"net/http"
	"strconv"
	"strings"
)

// headers are what the headers of a request's answers say. The client does not hand
// them out, so a transport listens.
type headers struct {
	tries, status int
	hits, misses  int
	flags         map[string]int
}

// headersKey finds the headers of a request in its context.
type headersKey struct{}

// listen returns a context whose requests leave their headers in h. They are made one
// after another.
func (h *headers) listen(ctx context.Context) context.Context {
	return context.WithValue(ctx, headersKey{}, h)
}

// tap is a transport that hands headers to whom listens.
type tap struct {
	http.RoundTripper
	hideTimeout bool
}

// RoundTrip is that of http.RoundTripper.
func (t tap) RoundTrip(r *http.Request) (*http.Response, error) {
	h, listening := r.Context().Value(headersKey{}).(*headers)
	if listening {
		*h = headers{tries: h.tries + 1}
	}
	if t.hideTimeout {
		r = r.Clone(r.Context())
		r.Header.Del("Request-Timeout")
	}
	resp, err := t.RoundTripper.RoundTrip(r)
	if listening && err == nil {
		h.read(resp)
	}
	return resp, err
}

func (h *headers) read(resp *http.Response) {
	h.status = resp.StatusCode
	cache := dictionary(resp.Header.Get("Dragoman-Cache"))
	h.hits, h.misses = cache["hits"], cache["misses"]
	h.flags = dictionary(resp.Header.Get("Dragoman-Flags"))
}

// dictionary reads numbers such as "hits=3, misses=1". What is no such number is left
// out. It is nil where there are none.
func dictionary(header string) map[string]int {
	var found map[string]int
	for entry := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(entry), "=")
		n, err := strconv.Atoi(value)
		if err != nil || name == "" {
			continue
		}
		if found == nil {
			found = map[string]int{}
		}
		found[name] = n
	}
	return found
}
