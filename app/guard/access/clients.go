package access

import (
	"net/netip"

	"github.com/maypok86/otter/v2"
)

// mostClients is how many client addresses a [Gate] remembers at once. They take some 20 MiB. With a few only, clients
// would be forgotten, and start with full limits, while they are busy.
const mostClients = 1 << 16

// clients are the callers that are known by their address. It is bounded: however
// many addresses there are, it keeps those that come often or came last (W-TinyLFU),
// so that a flood of strangers does not free one of them from its limit. It is safe
// for concurrent use and starts no goroutine.
type clients struct {
	quotas quotas
	known  *otter.Cache[netip.Prefix, *caller]
}

func newClients(most int, limits Limits) *clients {
	return &clients{limits.quotas(), otter.Must(&otter.Options[netip.Prefix, *caller]{
		MaximumSize: most,
		// Make room in the call that needs it: with goroutines, what waits for them
		// would not be bounded.
		Executor: func(task func()) { task() },
	})}
}

// of is the caller at an address, as addressOf returns it.
func (c *clients) of(a netip.Prefix) *caller {
	if c.quotas == (quotas{}) {
		return newCaller("", c.quotas)
	}
	if who, ok := c.known.GetIfPresent(a); ok {
		return who
	}
	// Of requests that come at once, all get the first one's caller.
	who, _ := c.known.SetIfAbsent(a, newCaller("", c.quotas))
	return who
}

func (c *clients) len() int { return c.known.EstimatedSize() }
