package access

import (
	"net/netip"
	"time"

	"github.com/gin-gonic/gin"
)

// Account is whose limits count for what goes on after a request was let in, such as the messages of a connection. It
// is safe for concurrent use.
type Account struct {
	gate    *Gate // nil: nothing is counted
	name    string
	address netip.Prefix
}

// Account is that of a request that was let in.
func (g *Gate) Account(c *gin.Context) Account { return Account{g, Name(c), addressOf(c)} }

// Request counts a request. The error is a [*LimitError], or [ErrBadKey] where the key was withdrawn.
func (a Account) Request() error {
	return a.take(func(who *caller) error { return who.requests.take(time.Now(), 1) })
}

// Charge is [Gate.Charge] without headers. The error may also be [ErrBadKey], where the key was withdrawn.
func (a Account) Charge(characters int) error {
	return a.take(func(who *caller) error {
		err := who.characters.take(time.Now(), characters)
		if err == nil {
			who.charged.Add(int64(characters))
		}
		return err
	})
}

// take takes something from the caller as it is now: its limits may be others than before.
func (a Account) take(from func(who *caller) error) error {
	if a.gate == nil {
		return nil
	}
	who := a.gate.clients.of(a.address)
	if a.gate.keys != nil {
		if who = a.gate.keys.table.Load().callers[a.name]; who == nil {
			a.gate.countRefusal(ErrBadKey)
			return ErrBadKey
		}
	}
	err := from(who)
	a.gate.countRefusal(err)
	return err
}
