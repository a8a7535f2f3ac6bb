package xmlpart

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
)

// NameOf returns the name in a start tag, with its prefix.
func NameOf(tag string) string {
	name := strings.TrimPrefix(tag, "<")
	if n := strings.IndexAny(name, " \t\r\n/>"); n >= 0 {
		name = name[:n]
	}
	return name
}

// PrefixOf returns the prefix of the name in a start tag, with the colon, or "".
func PrefixOf(tag string) string {
	name := NameOf(tag)
	return name[:strings.IndexByte(name, ':')+1]
}

var attribute = regexp.MustCompile(`\s([^\s"'<>/=]+)\s*=\s*("[^"]*"|'[^']*')`)

// SetAttribute returns a start tag with a value for the attribute of that name, with its prefix. One that is new becomes the last.
func SetAttribute(tag, name, value string) string {
	value = `"` + EscapeAttribute(value) + `"`
	for _, m := range attribute.FindAllStringSubmatchIndex(tag, -1) {
		if tag[m[2]:m[3]] == name {
			return tag[:m[4]] + value + tag[m[5]:]
		}
	}
	end := strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(tag, ">"), "/"), " \t\r\n")
	return end + " " + name + "=" + value + tag[len(end):]
}

// EscapeAttribute escapes the value of an attribute in double quotes.
func EscapeAttribute(value string) string { return escaper.Replace(value) }

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&quot;")

// maxFragment is the maximum depth of elements in a fragment.
const maxFragment = 500

// IsWellFormed reports whether a text may be the content of an element: its elements are closed in order, and its references are to
// characters or entities.
func IsWellFormed(text string, entities map[string]string) bool {
	d := xml.NewDecoder(strings.NewReader("<x>" + text + "</x>"))
	d.Entity = entities
	for depth := 0; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return true
		}
		switch token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		case xml.Directive, xml.ProcInst:
			return false
		}
		if err != nil || depth > maxFragment || depth == 0 && int(d.InputOffset()) < len(text)+len("<x></x>") {
			return false
		}
	}
}
