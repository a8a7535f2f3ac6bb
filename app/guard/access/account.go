package access

import (
	"net/http"
	"net/netip"
	"time"
)

// Account is whose limits count for what goes on after a request was let in, such as the messages of a connection. It
// is safe for concurrent use.
type Account struct {
	gate    *Gate // nil: nothing is counted
	name    string
	address netip.Prefix
}

// Account is that of a request that was let in.
func (g *Gate) Account(r *http.Request) Account { return Account{g, Name(r), visitOf(r).address} }

// Request counts a request. The error is a [*LimitError], or [ErrBadKey] where the key was withdrawn.
func (a Account) Request() error {
	return a.take(func(who *caller) error { return who.left[requests].take(time.Now(), 1) })
}

// Charge is [Gate.Charge] without headers. The error may also be [ErrBadKey], where the key was withdrawn.
func (a Account) Charge(n int) error {
	return a.take(func(who *caller) error {
		err := who.left[characters].take(time.Now(), n)
		if err == nil {
			who.charged.Add(int64(n))
		}
		return err
	})
}

// take takes something from the caller as it is now: its limits may be others than before.
func (a Account) take(from func(who *caller) error) error {
	if a.gate == nil {
		return nil
	}
	who := a.gate.known(a.name, a.address)
	if who == nil {
		a.gate.countRefusal(ErrBadKey)
		return ErrBadKey
	}
	err := from(who)
	a.gate.countRefusal(err)
	return err
}

// known is a caller as it is now, nil where its key was withdrawn.
func (g *Gate) known(name string, address netip.Prefix) *caller {
	if g.keys != nil {
		return g.keys.table.Load().callers[name]
	}
	return g.clients.of(address)
}

// Decode counts the tokens that are decoded for a caller, as [Caller] names it: those of sources and of
// translations, once for each beam. However a request is made, by its length, its beams or what it wants
// of the search, so many cost about the same. It takes as many as are expected; end, which is to be called once, takes
// what it came to. As that is not known before, the last request that is let in may leave the caller with a debt. The
// error is a [*LimitError] where nothing is left, and end does nothing then.
func (g *Gate) Decode(of string, expected int) (end func(tokens int), err error) {
	if g == nil {
		return func(int) {}, nil
	}
	address, _ := netip.ParsePrefix(of) // of who has no name
	who := g.known(of, address)
	if who == nil { // a job of a key that was withdrawn
		return func(int) {}, nil
	}
	if err := who.left[tokens].borrow(time.Now(), expected); err != nil {
		g.countRefusal(err)
		return func(int) {}, err
	}
	return func(came int) { who.left[tokens].adjust(time.Now(), came-expected) }, nil
}

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
