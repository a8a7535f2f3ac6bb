package textfile

import (
	"regexp"
	"strings"
)

// appleStrings translates the values of Apple's .strings.
func appleStrings(p *pass) {
	p.formatter = print
	s := &stringsFile{pass: p}
	for {
		if s.space(); s.next == len(p.text) {
			return
		}
		s.pair()
	}
}

// stringsFile goes through the pairs of a file.
type stringsFile struct {
	*pass
	next int // the position in the text
}

var (
	stringsSpace = regexp.MustCompile(`^(?:[ \t\r\n\v\f\x{2028}\x{2029}]|//[^\r\n]*|/\*(?s:.*?)\*/)*`)
	stringsWord  = regexp.MustCompile(`^(?:"(?:[^"\\]|\\(?s:.))*"|[\w.$:/-]+)`)
)

// skip reads the match of a pattern, and returns it.
func (s *stringsFile) skip(pattern *regexp.Regexp) string {
	found := s.looks.Find(pattern, s.text[s.next:])
	if found == nil {
		return ""
	}
	start := s.next
	s.next += found[1]
	return s.text[start:s.next]
}

// space reads white space and comments.
func (s *stringsFile) space() {
	if s.skip(stringsSpace); strings.HasPrefix(s.text[s.next:], "/*") {
		s.refuse(nil, "the comment that starts in line %d is not closed", s.lineNumber(s.next))
	}
}

// pair reads a key, a value and the signs around them.
func (s *stringsFile) pair() {
	if s.skip(stringsWord) == "" {
		s.lacks("a text in quotes")
	}
	if s.sign(";") { // the key is also the value
		return
	}
	if !s.sign("=") {
		s.lacks("an = after the key")
	}
	s.space()
	start := s.next
	value := s.skip(stringsWord)
	end := s.next
	switch {
	case value == "":
		s.lacks("a text in quotes")
	case !s.sign(";"):
		s.lacks("a ; after the value")
	case value[0] != '"':
		return
	}
	text := cEscape.ReplaceAllStringFunc(value[1:len(value)-1], readC)
	s.data(start, end, text, func(text string) string { return `"` + escapeC.Replace(text) + `"` })
}

// sign reads a sign behind white space, and reports whether it was there.
func (s *stringsFile) sign(sign string) bool {
	s.space()
	found := strings.HasPrefix(s.text[s.next:], sign)
	if found {
		s.next += len(sign)
	}
	return found
}

func (s *stringsFile) lacks(wanted string) {
	s.refuse(nil, `line %d has not %s: pairs are written "key" = "value";`, s.lineNumber(s.next), wanted)
}
