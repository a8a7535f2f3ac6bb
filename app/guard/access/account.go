package access

import (
	"net/http"
	"net/netip"
	"time"
)

// Account charges the limits of a caller for work after its request was admitted, such as the messages of a connection. An
// Account is safe for concurrent use.
type Account struct {
	gate    *Gate // nil: no limits
	name    string
	address netip.Prefix
}

// Account returns the account of an admitted request.
func (g *Gate) Account(r *http.Request) Account { return Account{g, Name(r), visitOf(r).address} }

// Request counts a request. The error is a [*LimitError], or [ErrBadKey] if the key was withdrawn.
func (a Account) Request() error {
	return a.take(func(who *caller) error { return who.left[requests].take(time.Now(), 1) })
}

// Charge is [Gate.Charge] without headers. The error may also be [ErrBadKey], if the key was withdrawn.
func (a Account) Charge(n int) error {
	return a.take(func(who *caller) error {
		err := who.left[characters].take(time.Now(), n)
		if err == nil {
			who.charged.Add(int64(n))
		}
		return err
	})
}

// take applies from to the current caller, whose limits may have changed.
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

// known returns the current caller, nil if its key was withdrawn.
func (g *Gate) known(name string, address netip.Prefix) *caller {
	if g.keys != nil {
		return g.keys.table.Load().callers[name]
	}
	return g.clients.of(address)
}

// Decode counts the decoded tokens of a caller, named as by [Caller]: the tokens of sources and of translations, once for each
// beam. However a request is made, by its length, its beams or its search options, the same number of tokens costs about the
// same. Decode takes the expected tokens; end, which must be called once, corrects the charge to the actual number. Because that
// number is not known in advance, the last admitted request may leave the caller with a debt. The error is a [*LimitError] if no
// tokens are left; then end does nothing.
func (g *Gate) Decode(of string, expected int) (end func(tokens int), err error) {
	if g == nil {
		return func(int) {}, nil
	}
	address, _ := netip.ParsePrefix(of) // fails for a name
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

// Usage is a caller's usage of its limit of characters.
type Usage struct {
	Total int64 // charged since the caller is known: for a key, since the gate was created
	Used  int64 // the part of Rate.N that is not yet refilled; 0 without a limit
	Rate  Rate  // the limit, the zero Rate without one
}

// Usage returns the usage of the caller of an admitted request. Without keys and limits callers are not remembered, so the usage
// is zero.
func (g *Gate) Usage(r *http.Request) Usage {
	who := visitOf(r).who.Load()
	if who == nil {
		return Usage{}
	}
	u := Usage{Total: who.charged.Load()}
	if b := who.left[characters]; b.quota != nil {
		u.Rate = b.quota.rate
		u.Used = u.Rate.N - max(0, int64(b.left(time.Now())))
	}
	return u
}
