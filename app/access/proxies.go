package access

import (
	"fmt"
	"net/netip"
	"strings"
)

// TrustedProxies checks a list of addresses and networks (10.0.0.0/8, ::1) whose
// X-Forwarded-For is believed, for gin's SetTrustedProxies. The proxies there must
// add the client's address to that header or overwrite it. An empty list gives nil,
// with which gin believes nobody; without a call it would believe everybody.
//
// A network of all addresses is refused: every client could then choose the address
// that it is limited by.
func TrustedProxies(list []string) ([]string, error) {
	var trusted []string
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
		trusted = append(trusted, network.Masked().String())
	}
	return trusted, nil
}
