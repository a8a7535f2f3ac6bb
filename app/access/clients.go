package access

import (
	"fmt"
	"net/netip"

	"github.com/maypok86/otter/v2"
)

// minClients is the least that Config.MaxClients may be: with fewer, clients would
// be forgotten, and start afresh, while they are busy.
const minClients = 1024

// address is what a client is known by: an IPv4 address as IPv6, or the first half
// of an IPv6 address. A provider gives a customer at least a /64 (RFC 6177), and
// whoever has one can send from all of its 2^64 addresses.
type address [16]byte

// clients are the callers that are known by their address. It is bounded: however
// many addresses there are, it keeps those that come often or came last (W-TinyLFU),
// so that a flood of strangers does not free one of them from its limit. It is safe
// for concurrent use and starts no goroutine.
type clients struct {
	requests, characters *quota // nil for no limit
	known                *otter.Cache[address, *caller]
}

func newClients(most int, limits Limits) (*clients, error) {
	if most == 0 {
		most = DefaultMaxClients
	}
	if most < minClients {
		return nil, fmt.Errorf("%d client addresses to remember: use %d or more", most, minClients)
	}
	known, err := otter.New(&otter.Options[address, *caller]{
		MaximumSize: most,
		// Make room in the call that needs it: with goroutines, what waits for them
		// would not be bounded.
		Executor: func(task func()) { task() },
	})
	if err != nil {
		return nil, fmt.Errorf("%d client addresses to remember: %w", most, err)
	}
	return &clients{limits.requestQuota(), limits.characterQuota(), known}, nil
}

// of is the caller at an IP address. Addresses that cannot be read, as those of
// clients at a Unix socket, are one caller.
func (c *clients) of(ip string) *caller {
	if c.requests == nil && c.characters == nil {
		return newCaller("", nil, nil)
	}
	a := addressOf(ip)
	if who, ok := c.known.GetIfPresent(a); ok {
		return who
	}
	// Of requests that come at once, all get the first one's caller.
	who, _ := c.known.SetIfAbsent(a, newCaller("", c.requests, c.characters))
	return who
}

func (c *clients) len() int { return c.known.EstimatedSize() }

func addressOf(ip string) address {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return address{}
	}
	addr = addr.Unmap().WithZone("")
	if addr.Is6() {
		addr = netip.PrefixFrom(addr, 64).Masked().Addr()
	}
	return addr.As16()
}
