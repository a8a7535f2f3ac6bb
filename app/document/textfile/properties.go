package textfile

import (
	"regexp"
	"strings"

	"dragoman/app/text/char"
)

// properties translates the values of Java's .properties.
func properties(p *pass) {
	if p.formatter = formatterOf(p.text); p.formatter == print { // java.text has no plurals
		p.formatter = java
	}
	escape := p.encoding.form == latin1.form || char.IsASCII(p.text)
	list := p.linesOf("\r\n")
	for i := 0; i < len(list); i++ {
		l := list[i]
		raw := strings.TrimLeft(p.in(l), propertySpace)
		if raw == "" || raw[0] == '#' || raw[0] == '!' {
			continue
		}
		for i+1 < len(list) && continues(p.in(list[i])) {
			i++
		}
		end := list[i].End
		start := l.End - len(raw) // start of the key
		start += len(propertyKey.FindString(p.text[start:end]))
		property(p, start, end, escape)
	}
}

const propertySpace = " \t\f"

// continues reports whether a line ends in an unescaped backslash.
func continues(raw string) bool {
	return (len(raw)-len(strings.TrimRight(raw, `\`)))%2 == 1
}

// propertyKey matches a key, and what separates it from its value. A line continuation counts as white space.
var propertyKey = regexp.MustCompile(`^(?:[^\\=: \t\f]|\\(?s:.|$))*(?:[ \t\f]|\\(?:\r\n|\r|\n))*(?:[=:](?:[ \t\f]|\\(?:\r\n|\r|\n))*)?`)

// property translates a value.
func property(p *pass, start, end int, escape bool) {
	value := propertyEscape.ReplaceAllStringFunc(p.text[start:end], readProperty)
	p.data(start, end, value, func(text string) string {
		text = writeProperty.Replace(text)
		if strings.HasPrefix(text, " ") {
			text = `\` + text
		}
		if escape {
			text = escapeRunes(text)
		}
		return text
	})
}

var (
	propertyEscape = regexp.MustCompile(`\\(?:u+[dD][89abAB][0-9a-fA-F]{2}\\u+[dD][c-fC-F][0-9a-fA-F]{2}|u+[0-9a-fA-F]{4}|\r\n[ \t\f]*|[\r\n][ \t\f]*|(?s:.)|$)`)
	writeProperty  = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\f", `\f`)
)

// readProperty returns the text of an escape: a character by its code or surrogate pair, a sign, or nothing for a line
// continuation.
func readProperty(escape string) string {
	switch {
	case len(escape) < 2 || strings.ContainsAny(escape[1:2], "\r\n"):
		return ""
	case len(escape) > 5 && escape[1] == 'u':
		return readUnits(escape)
	}
	if i := strings.IndexByte("ntrf", escape[1]); i >= 0 {
		return "\n\t\r\f"[i : i+1]
	}
	return escape[1:]
}
