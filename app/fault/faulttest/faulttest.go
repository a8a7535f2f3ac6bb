// Package faulttest checks that messages for users do not assume knowledge of Go.
package faulttest

import "regexp"

// inGo matches prefixes of errors with names of Go packages, names of types, and the library's terms.
var inGo = regexp.MustCompile(`(?:^|[^\w./:-])(?:bufio|bytes|csv|flate|gin|gzip|hex|html|http|io|json|json/\w+|jsonrpc2?|jsonschema|jsontext|mime|multipart|net/url|net/http|os|proto|quotedprintable|strconv|strings|textproto|tls|time|toml|unicode|url|utf16|utf8|validator|websocket|xml|yaml|zip|zlib): ` +
	`|(?:^|[\s"(*\]])(?:base64|csv|json|jsontext|http|jsonrpc2?|jsonschema|mcp|mime|multipart|reflect|strconv|textproto|time|url|xml|yaml|zip)\.[A-Z]\w+` +
	`|\b(?:Go|Golang) (?:struct|type|value)|interface \{\}|map\[string\]|goroutine|NextPart|CharsetReader|unmarshal|\bnil\b|%!`)

// NamesGo returns the first Go term in a message, "" if there is none.
func NamesGo(message string) string { return inGo.FindString(message) }
