package access

import (
	"net/http"
	"strings"
)

// KeyFields returns the fields of queries, forms and JSON objects in which clients of other APIs send a key instead of in a
// header: LibreTranslate's, DeepL's former one, Google's, and those of DeepLX and of browser extensions, whose only setting is an
// address.
func KeyFields() []string { return []string{"api_key", "auth_key", "key", "token"} }

// keyHeaders are headers that contain only a key: the service's own, and the headers of the clients of Azure and of Google.
var keyHeaders = [...]string{"X-Api-Key", "Ocp-Apim-Subscription-Key", "X-Goog-Api-Key"}

// headerKeys returns the keys in a request's headers: the values of [keyHeaders], and of Authorization under the schemes Bearer
// and DeepL-Auth-Key, or without a scheme, as Zotero sends them to MTranServer. Other schemes are for other recipients, such as a
// proxy that asks for a password.
func headerKeys(h http.Header) []string {
	var keys []string
	for _, value := range h.Values("Authorization") {
		scheme, rest, _ := strings.Cut(strings.TrimSpace(value), " ")
		switch {
		case strings.EqualFold(scheme, "Bearer"), strings.EqualFold(scheme, "DeepL-Auth-Key"):
			keys = append(keys, rest)
		case strings.HasPrefix(value, keyPrefix):
			keys = append(keys, value)
		}
	}
	for _, name := range keyHeaders {
		keys = append(keys, h.Values(name)...)
	}
	return keys
}

// oneKey returns the key of a request, which may be in several places. Empty values count as none: clients send the field whether
// they have a key or not.
func oneKey(keys []string) (string, error) {
	found := ""
	for _, key := range keys {
		key = strings.TrimSpace(key)
		switch {
		case key == "" || key == found:
		case found != "":
			return "", badKey("there are two different ones, send one")
		default:
			found = key
		}
	}
	if found == "" {
		return "", ErrNoKey
	}
	return found, nil
}
