package webhook

import "net/netip"

// notPublic are the networks that are not public beside those that netip knows: of IANA's
// registries of special addresses, and those that lead to IPv4 addresses, which may be private.
var notPublic = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
	"5f00::/16", "fec0::/10",
)

// isPublic says whether an address is one that anybody can reach.
func isPublic(ip netip.Addr) bool {
	ip = ip.Unmap()
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.Zone() != "" {
		return false
	}
	for _, network := range notPublic {
		if network.Contains(ip) {
			return false
		}
	}
	return true
}

func prefixes(list ...string) (networks []netip.Prefix) {
	for _, network := range list {
		networks = append(networks, netip.MustParsePrefix(network))
	}
	return networks
}
