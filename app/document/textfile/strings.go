package textfile

import (
	"regexp"
	"strings"

	"dragoman/app/document"
)

// appleStrings translates the values of Apple's .strings.
func appleStrings(p *pass) error {
	p.formatter = print
	s := &stringsFile{pass: p}
	for {
		if err := s.space(); err != nil || s.next == len(p.text) {
			return err
		}
		if err := s.pair(); err != nil {
			return err
		}
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
func (s *stringsFile) space() error {
	if s.skip(stringsSpace); strings.HasPrefix(s.text[s.next:], "/*") {
		return document.Refuse(nil, "the comment that starts in line %d is not closed", s.lineNumber(s.next))
	}
	return nil
}

// pair reads a key, a value and the signs around them.
func (s *stringsFile) pair() error {
	if s.skip(stringsWord) == "" {
		return s.refuse("a text in quotes")
	}
	if s.sign(";") { // the key is also the value
		return nil
	}
	if !s.sign("=") {
		return s.refuse("an = after the key")
	}
	if err := s.space(); err != nil {
		return err
	}
	start := s.next
	value := s.skip(stringsWord)
	end := s.next
	switch {
	case value == "":
		return s.refuse("a text in quotes")
	case !s.sign(";"):
		return s.refuse("a ; after the value")
	case value[0] != '"':
		return nil
	}
	text := cEscape.ReplaceAllStringFunc(value[1:len(value)-1], readC)
	if s.isCode(text) {
		return nil
	}
	return s.value(start, end, text, func(text string) string { return `"` + escapeC.Replace(text) + `"` })
}

// sign reads a sign behind white space, and reports whether it was there.
func (s *stringsFile) sign(sign string) bool {
	_ = s.space() // an error means that there is no sign
	found := strings.HasPrefix(s.text[s.next:], sign)
	if found {
		s.next += len(sign)
	}
	return found
}

func (s *stringsFile) refuse(wanted string) error {
	return document.Refuse(nil, `line %d has not %s: pairs are written "key" = "value";`, s.lineNumber(s.next), wanted)
}
