// Package wording has the words that errors of all APIs have for what clients sent.
package wording

import "github.com/go-json-experiment/json/jsontext"

// Kind names a kind of JSON value, such as "an object".
func Kind(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return "something else"
}

// Short bounds what an answer or a log line repeats of a request: 100 characters, and
// a sign that there were more.
func Short(s string) string {
	const most = 100
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}
