package textfile

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"

	"dragoman/app/text/char"
)

// escapeRunes escapes characters outside ASCII as \uXXXX, as a surrogate pair above 16 bits.
func escapeRunes(text string) string {
	if char.IsASCII(text) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if r < 0x80 {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.String()
}

// cEscape matches an escape of C or Apple in a quoted text.
var cEscape = regexp.MustCompile(`\\(?:[uU][dD][89abAB][0-9a-fA-F]{2}\\[uU][dD][c-fC-F][0-9a-fA-F]{2}|[uU][0-9a-fA-F]{4}|x[0-9a-fA-F]{1,2}|[0-7]{1,3}|(?s:.))`)

// escapeC escapes the characters that a quoted text cannot contain.
var escapeC = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`)

// readC returns the character of a C escape.
func readC(escape string) string {
	body := escape[1:]
	switch c := body[0]; {
	case (c == 'u' || c == 'U') && len(body) > 1:
		return readUnits(escape)
	case c == 'x' && len(body) > 1:
		n, _ := strconv.ParseUint(body[1:], 16, 8) // two digits
		return string(rune(n))
	case c >= '0' && c <= '7':
		n, _ := strconv.ParseUint(body, 8, 16) // three digits
		return string(rune(n))
	}
	if i := strings.IndexByte("abfnrtv", body[0]); i >= 0 {
		return "\a\b\f\n\r\t\v"[i : i+1]
	}
	return body
}

// readUnits returns the character of one or two escapes, whose last four digits are UTF-16 units.
func readUnits(escapes string) string {
	var units []uint16
	for _, digits := range strings.Split(escapes, `\`)[1:] {
		n, _ := strconv.ParseUint(digits[len(digits)-4:], 16, 16) // four digits
		units = append(units, uint16(n))
	}
	return string(utf16.Decode(units))
}
