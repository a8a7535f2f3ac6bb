package textfile

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

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

// cEscape matches an escape of C or Apple in a quoted text, or the bytes of letters.
var cEscape = regexp.MustCompile(bytesC + `|\\(?:[uU][dD][89abAB][0-9a-fA-F]{2}\\[uU][dD][c-fC-F][0-9a-fA-F]{2}|[uU][0-9a-fA-F]{4}|(?s:.))`)

const bytesC = `(?:\\(?:x[0-9a-fA-F]{1,2}|[0-7]{1,3}))+`

// escapeC escapes the characters that a quoted text cannot contain.
var escapeC = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`)

// readC returns the character of a C escape.
func readC(escape string) string {
	body := escape[1:]
	switch c := body[0]; {
	case (c == 'u' || c == 'U') && len(body) > 1:
		return readUnits(escape)
	case c == 'x' && len(body) > 1, c >= '0' && c <= '7':
		return readBytes(escape)
	}
	if i := strings.IndexByte("abfnrtv", body[0]); i >= 0 {
		return "\a\b\f\n\r\t\v"[i : i+1]
	}
	return body
}

// readBytes returns the text of escapes of bytes, which are UTF-8 or else ISO 8859-1.
func readBytes(escapes string) string {
	var raw []byte
	for _, digits := range strings.Split(escapes, `\`)[1:] {
		n, err := strconv.ParseUint(digits, 8, 16) // three digits
		if err != nil {
			n, _ = strconv.ParseUint(digits[1:], 16, 8) // two digits behind x
		}
		raw = append(raw, byte(n))
	}
	if utf8.Valid(raw) {
		return string(raw)
	}
	text, _ := latin1.form.NewDecoder().Bytes(raw) // has no error
	return string(text)
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
