package access

import (
	"net/http"
	"time"
)

// Usage is what a caller has used of the characters that it may send.
type Usage struct {
	Total int64 // charged since the caller is known: a key for as long as the gate is there
	Used  int64 // of Rate.N, what does not yet come back; 0 without a limit
	Rate  Rate  // the limit, the zero Rate where there is none
}

// Usage returns what the caller of a request that was let in has used. Without keys and
// limits nobody is remembered, so that it is nothing.
func (g *Gate) Usage(r *http.Request) Usage {
	who := visitOf(r).who.Load()
	if who == nil {
		return Usage{}
	}
	u := Usage{Total: who.charged.Load()}
	if b := who.left[characters]; b.quota != nil {
		u.Rate = b.quota.rate
		u.Used = u.Rate.N - max(0, int64(b.tokens.TokensAt(time.Now())))
	}
	return u
}
