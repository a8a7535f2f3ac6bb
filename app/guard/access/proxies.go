package access

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the networks of proxies whose X-Forwarded-For is trusted. These proxies must add the client's address to that
// header or overwrite it. No other header is examined. Without networks no proxy is trusted.
type Proxies []netip.Prefix

// TrustedProxies parses a list of addresses and networks (10.0.0.0/8, ::1).
//
// A network of all addresses is refused: every client could then choose the address by which it is limited.
func TrustedProxies(list []string) (Proxies, error) {
	var trusted Proxies
	for _, item := range list {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		network, err := netip.ParsePrefix(item)
		if addr, addrErr := netip.ParseAddr(item); addrErr == nil {
			network, err = addr.Prefix(addr.BitLen())
		}
		switch {
		case err != nil || network.Addr().Is4In6() || strings.Contains(item, "%"):
			return nil, fmt.Errorf("%.60q is not an address or network: use such as 10.0.0.7 or 10.0.0.0/8", item)
		case network.Bits() == 0:
			return nil, fmt.Errorf("%s is everybody: name the networks of the proxies", item)
		}
		trusted = append(trusted, network.Masked())
	}
	return trusted, nil
}

// network returns the network that identifies the client of an address: an IPv4 address, or the first half of an IPv6 address. A
// provider gives a customer at least a /64 (RFC 6177), and the customer can send from all of its 2^64 addresses. All addresses
// that cannot be parsed, such as those of clients at a Unix socket, have the zero Prefix.
func network(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap().WithZone("")
	// Prefix fails only for the zero Addr, with the zero Prefix.
	prefix, _ := addr.Prefix(min(addr.BitLen(), 64))
	return prefix
}

// client returns the address from which a request comes. Each proxy appends the address of its peer, so the list is read from its
// end, as long as a trusted proxy wrote the entry. Entries further to the front may be forged by the client. If a proxy has
// written something other than an address, the client is the proxy: earlier entries are not trusted, and the text may differ in
// each request.
func (p Proxies) client(r *http.Request) netip.Addr {
	client, _ := parseHost(r.RemoteAddr)
	list := strings.Join(r.Header.Values("X-Forwarded-For"), ",")
	for more := list != ""; more && p.trust(client); {
		var entry string
		comma := strings.LastIndexByte(list, ',')
		entry, list, more = strings.TrimSpace(list[comma+1:]), list[:max(comma, 0)], comma >= 0
		if entry == "" {
			continue
		}
		before, ok := parseHost(entry)
		if !ok {
			break
		}
		client = before
	}
	return client
}

func (p Proxies) trust(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	return slices.ContainsFunc(p, func(n netip.Prefix) bool { return n.Contains(addr) })
}

// parseHost parses an address with or without a port, as proxies write it: 192.0.2.1, 192.0.2.1:80, 2001:db8::1, [2001:db8::1] or
// [2001:db8::1]:80.
func parseHost(s string) (netip.Addr, bool) {
	if withPort, err := netip.ParseAddrPort(s); err == nil {
		return withPort.Addr(), true
	}
	if inner, ok := strings.CutPrefix(s, "["); ok {
		if s, ok = strings.CutSuffix(inner, "]"); !ok {
			return netip.Addr{}, false
		}
	}
	addr, err := netip.ParseAddr(s)
	return addr, err == nil
}
