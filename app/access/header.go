package access

import (
	"fmt"
	"net/http"
	"strings"
)

// headerKeys are the keys in a request's headers: those of X-API-Key, and of
// Authorization under the schemes Bearer and DeepL-Auth-Key. Other schemes are for
// somebody else, such as a proxy that asks for a password.
func headerKeys(h http.Header) []string {
	var keys []string
	for _, value := range h.Values("Authorization") {
		scheme, rest, _ := strings.Cut(strings.TrimSpace(value), " ")
		if strings.EqualFold(scheme, "Bearer") || strings.EqualFold(scheme, "DeepL-Auth-Key") {
			keys = append(keys, rest)
		}
	}
	return append(keys, h.Values("X-API-Key")...)
}

// oneKey is the key that a request has, which may be in several places. Empty ones
// count as none: clients send the field whether they have a key or not.
func oneKey(keys []string) (string, error) {
	found := ""
	for _, key := range keys {
		key = strings.TrimSpace(key)
		switch {
		case key == "" || key == found:
		case found != "":
			return "", fmt.Errorf("%w: there are two different ones, send one", ErrBadKey)
		default:
			found = key
		}
	}
	if found == "" {
		return "", ErrNoKey
	}
	return found, nil
}
