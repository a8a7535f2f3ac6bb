// Package excerpt bounds what messages and the log repeat of what somebody sent or set.
package excerpt

import (
	"fmt"
	"net/url"
)

// Of returns the first 100 characters of a text, and a sign that there are more.
func Of(s string) string {
	const most = 100
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// Quote is [Of] in quotes, as %q writes them.
func Quote(s string) string { return fmt.Sprintf("%q", Of(s)) }

// Address is an address without what a URL may have of credentials: user, password
// and query.
func Address(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
