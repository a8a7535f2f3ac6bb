package textfile

import (
	"regexp"
	"strings"
)

var (
	stringsSpace = regexp.MustCompile(`^(?:[ \t\r\n\v\f\x{2028}\x{2029}]|//[^\r\n]*|/\*(?s:.*?)\*/)*`)
	stringsKey   = regexp.MustCompile(`^(?:` + stringsWord + `|$)`)
	stringsValue = regexp.MustCompile(`^(?:` + stringsWord + `)`)
	stringsSign  = regexp.MustCompile(`^[=;]`)
	stringsEnd   = regexp.MustCompile(`^;`)
)

const stringsWord = `"(?:[^"\\]|\\(?s:.))*"|[\w.$:/-]+`

// appleStrings translates the values of Apple's .strings, which may be a property list.
func appleStrings(p *pass) {
	if strings.HasPrefix(p.text, "<") {
		stringsdict(p)
		return
	}
	p.formatter = print
	at := 0
	read := func(pattern *regexp.Regexp, wanted string) (start, end int) { // behind white space and comments
		start = at + p.looks.Find(stringsSpace, p.text[at:])[1]
		found := p.looks.Find(pattern, p.text[start:])
		if strings.HasPrefix(p.text[start:], "/*") {
			p.refuse(nil, "the comment that starts in line %d is not closed", p.lineNumber(start))
		} else if found == nil {
			p.refuse(nil, `line %d has not %s: pairs are written "key" = "value";`, p.lineNumber(start), wanted)
		}
		at = start + found[1]
		return start, at
	}
	for {
		start, end := read(stringsKey, "a text in quotes")
		if start == end {
			return
		}
		from, open := end, ` = "` // the key is also the value
		if sign, _ := read(stringsSign, "an = after the key"); p.text[sign] == '=' {
			start, end = read(stringsValue, "a text in quotes")
			read(stringsEnd, "a ; after the value")
			from, open = start, `"`
		}
		if p.text[start] == '"' {
			text := cEscape.ReplaceAllStringFunc(p.text[start+1:end-1], readC)
			p.data(from, end, text, func(text string) string { return open + escapeC.Replace(text) + `"` })
		}
	}
}
