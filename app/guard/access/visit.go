package access

import (
	"context"
	"net/http"
	"net/netip"
	"sync/atomic"
)

// visit is the state of a request in this package. It is in the request's context.
type visit struct {
	answer    http.Header            // of the answer
	address   netip.Prefix           // of the client
	otherSite error                  // why it is refused if it costs anything; nil: it is not
	who       atomic.Pointer[caller] // nil until the request is admitted
}

type visitKey struct{}

// Resolve determines the address of a request's client, and returns the request with the state of this package. It must run
// before all functions that use that: without it no request counts as admitted, and the proxies are the clients.
func (p Proxies) Resolve(w http.ResponseWriter, r *http.Request) *http.Request {
	v := &visit{answer: w.Header(), address: network(p.client(r))}
	return r.WithContext(context.WithValue(r.Context(), visitKey{}, v))
}

func visitOf(r *http.Request) *visit {
	if v, ok := r.Context().Value(visitKey{}).(*visit); ok {
		return v
	}
	return &visit{answer: make(http.Header), address: network(Proxies{}.client(r))}
}
