package access

import (
	"context"
	"net/http"
	"net/netip"
	"sync/atomic"
)

// visit is the state of a request in this package. It is in the request's context.
type visit struct {
	answer    http.Header            // header of the answer
	address   netip.Prefix           // address of the client
	otherSite error                  // why the request is refused if its route costs anything; nil: it is not refused
	who       atomic.Pointer[caller] // nil until the request is admitted
}

type visitKey struct{}

// Resolve determines the address of a request's client, and returns the request with the state of this package. Resolve must run
// before all functions that use this state: without Resolve no request counts as admitted, and the proxies are the clients.
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
