package textfile

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// quotedScalar matches quoted scalars: a backslash escapes a double quote, a second quote a single one.
var quotedScalar = regexp.MustCompile(`^(?:"(?:[^"\\]|\\(?s:.))*"|'(?:[^']|'')*')`)

// plainEnd returns the end of an unquoted scalar, which starts at byte start: the position at which all of its value has been matched.
// A line end in the text is a space in the value, or as many line ends as there are empty lines.
func plainEnd(text string, start int, value string) int {
	i := start
	for rest := value; rest != ""; {
		if i < len(text) && text[i] == rest[0] && rest[0] != '\n' {
			i, rest = i+1, rest[1:]
			continue
		}
		gap := text[i : len(text)-len(strings.TrimLeft(text[i:], yamlSpace))]
		breaks := strings.Count(gap, "\n")
		if breaks == 0 {
			breaks = strings.Count(gap, "\r")
		}
		folded := " "
		if breaks > 1 {
			folded = strings.Repeat("\n", breaks-1)
		}
		var ok bool
		if rest, ok = strings.CutPrefix(rest, folded); !ok || breaks == 0 {
			return start
		}
		i += len(gap)
	}
	return i
}

// plainOrQuoted writes a text in place of an unquoted one.
func plainOrQuoted(text, other string) string {
	if isPlainYAML(text, other) {
		return text
	}
	return quoteYAML(text)
}

// isPlainYAML reports whether all readers read an unquoted text as itself, at the place of other. Signs with a meaning in some
// places are allowed only if other has them.
func isPlainYAML(text, other string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	if !unicode.IsLetter(first) || !isPrintable(text) || ambiguous.MatchString(text) || strings.ContainsAny(text, "\r\n\t") ||
		strings.Contains(text, ": ") || strings.HasSuffix(text, ":") || strings.Contains(text, " #") {
		return false
	}
	for _, sign := range ":#,[]{}&*!|>'\"%@`\\?" {
		if strings.ContainsRune(text, sign) && !strings.ContainsRune(other, sign) {
			return false
		}
	}
	var n yaml.Node
	return yaml.Unmarshal([]byte(text), &n) == nil && len(n.Content) == 1 &&
		n.Content[0].Kind == yaml.ScalarNode && n.Content[0].ShortTag() == "!!str" && n.Content[0].Value == text
}

// ambiguous matches words that some readers do not read as strings.
var ambiguous = regexp.MustCompile(`(?i)^(?:y|yes|n|no|true|false|on|off|null|nan|inf)$`)

// isPrintable reports whether a text has no character that YAML requires to be escaped.
func isPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t' || r == '\uFEFF' || r == '\u2028' || r == '\u2029' || r == '\uFFFE' || r == '\uFFFF'
	})
}

// quoteYAML writes a text in double quotes as JSON does, which is valid YAML.
func quoteYAML(text string) string { return quoteJSON(text, !isPrintable(text)) }
