package access

import (
	"context"
	"net/http"
	"net/netip"
	"sync/atomic"
)

// visit is what is known of a request. It is in the request's context.
type visit struct {
	answer    http.Header            // of the answer
	address   netip.Prefix           // of the client
	otherSite error                  // why it is not let in where it costs something; nil: it may be
	who       atomic.Pointer[caller] // nil until it is let in
}

type visitKey struct{}

// Resolve finds out the address of a request's client, and returns the request with all that this package knows of
// it. It must stand before all that asks for that: without it nobody is known to be let in, and the proxies are the clients.
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
