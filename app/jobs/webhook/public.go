package webhook

import (
	"errors"
	"net/netip"
	"regexp"
	"strings"

	"code.dny.dev/ssrf"
	"golang.org/x/net/idna"
)

// public accepts public addresses alone: it refuses those that IANA's registries reserve for special purposes, and IPv6 addresses
// that stand for an IPv4 address.
var public = ssrf.New(ssrf.WithAnyPort(), ssrf.WithAnyNetwork())

// isPublic reports whether an address can be reached from everywhere.
func isPublic(ip netip.Addr) bool {
	return public.Safe("", netip.AddrPortFrom(ip.Unmap(), 443).String(), nil) == nil
}

// number matches the last label of a host that resolvers parse as an IPv4 address, as in 127.1, 0x7f000001 and 0177.0.0.1. No
// name in the DNS ends so.
var number = regexp.MustCompile(`^([0-9]+|0x[0-9a-f]*)$`)

// label matches a part of a name between dots.
var label = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$`)

// privateNames are the last labels of names that have a meaning only in private networks, or on this machine.
var privateNames = []string{"localhost", "local", "internal", "home.arpa", "lan"}

// checkHost checks the host of a URL: an address in the usual form, or a name in the form of its lookup. The addresses of a name
// are checked when the URL is called.
func (s *Sender) checkHost(host string) error {
	if ip, err := netip.ParseAddr(host); err == nil {
		if !s.allows(ip) {
			return errNotPublic
		}
		return nil
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if strings.ContainsFunc(name, func(r rune) bool { return r > '~' }) {
		name, _ = idna.Lookup.ToASCII(name) // "" for an invalid name, which is then refused
		name = strings.TrimSuffix(name, ".")
	}
	labels := strings.Split(name, ".")
	for _, l := range labels {
		if !label.MatchString(l) || len(name) > 253 {
			return errors.New("the URL's host is not the name of one")
		}
	}
	if number.MatchString(labels[len(labels)-1]) {
		return errors.New("the URL's host is a number: use a name, or an address with four numbers from 0 to 255, such as 192.0.2.1")
	}
	for _, private := range privateNames {
		if !s.cfg.Private && (len(labels) == 1 || name == private || strings.HasSuffix(name, "."+private)) {
			return errNotPublic
		}
	}
	return nil
}
