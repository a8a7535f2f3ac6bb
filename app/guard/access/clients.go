package access

import (
	"net/netip"

	"github.com/maypok86/otter/v2"
)

// mostClients is the maximum number of client addresses that a [Gate] remembers. So many take about 20 MiB. With a small number,
// busy clients would be forgotten, and start again with full limits.
const mostClients = 1 << 16

// clients are the callers identified by their address. The number is bounded: however many addresses there are, frequent and
// recent ones are kept (W-TinyLFU), so that a flood of strangers does not free a kept address from its limit. The type is safe
// for concurrent use and starts no goroutine.
type clients struct {
	quotas quotas
	known  *otter.Cache[netip.Prefix, *caller]
}

func newClients(most int, limits Limits) *clients {
	return &clients{limits.quotas(), otter.Must(&otter.Options[netip.Prefix, *caller]{
		MaximumSize: most,
		// Make room in the call that needs the room: with goroutines, the number of waiting tasks would not be bounded.
		Executor: func(task func()) { task() },
	})}
}

// of returns the caller at an address, as returned by network.
func (c *clients) of(a netip.Prefix) *caller {
	if c.quotas == (quotas{}) {
		return newCaller("", c.quotas)
	}
	if who, ok := c.known.GetIfPresent(a); ok {
		return who
	}
	// Concurrent requests all get the caller of the first one.
	who, _ := c.known.SetIfAbsent(a, newCaller("", c.quotas))
	return who
}

func (c *clients) len() int { return c.known.EstimatedSize() }
