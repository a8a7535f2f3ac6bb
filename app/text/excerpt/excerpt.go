// Package excerpt limits the parts of requests and settings that messages and logs repeat.
package excerpt

import (
	"fmt"
	"net/url"
)

// Of returns the first 100 characters of a text, followed by … if there are more.
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

// Quote is [Of] in quotes, as written by %q.
func Quote(s string) string { return fmt.Sprintf("%q", Of(s)) }

// Address returns an address without the parts of a URL that may hold credentials: user, password and query.
func Address(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
