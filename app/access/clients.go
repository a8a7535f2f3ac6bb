package access

import (
	"fmt"
	"net/netip"

	"github.com/maypok86/otter/v2"
)

// minClients is the least that Config.MaxClients may be: with fewer, clients would
// be forgotten, and start with full limits, while they are busy.
const minClients = 1024

// clients are the callers that are known by their address. It is bounded: however
// many addresses there are, it keeps those that come often or came last (W-TinyLFU),
// so that a flood of strangers does not free one of them from its limit. It is safe
// for concurrent use and starts no goroutine.
type clients struct {
	quotas quotas
	known  *otter.Cache[netip.Prefix, *caller]
}

func newClients(most int, limits Limits) (*clients, error) {
	if most == 0 {
		most = DefaultMaxClients
	}
	if most < minClients {
		return nil, fmt.Errorf("%d client addresses to remember: use %d or more", most, minClients)
	}
	known, err := otter.New(&otter.Options[netip.Prefix, *caller]{
		MaximumSize: most,
		// Make room in the call that needs it: with goroutines, what waits for them
		// would not be bounded.
		Executor: func(task func()) { task() },
	})
	if err != nil {
		return nil, fmt.Errorf("%d client addresses to remember: %w", most, err)
	}
	return &clients{limits.quotas(), known}, nil
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
