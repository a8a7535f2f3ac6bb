package textfile

import (
	"regexp"
	"strings"

	"dragoman/app/document"
)

// appleStrings is the kind of Apple's .strings: values are translated.
func appleStrings(p *pass) error {
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
	next int // what is read of the text
}

// space reads white space and comments.
func (s *stringsFile) space() error {
	for {
		rest := s.text[s.next:]
		trimmed := strings.TrimLeft(rest, " \t\r\n\v\f\u2028\u2029")
		s.next += len(rest) - len(trimmed)
		switch {
		case strings.HasPrefix(trimmed, "//"):
			if n := strings.IndexAny(trimmed, "\r\n"); n >= 0 {
				s.next += n
			} else {
				s.next = len(s.text)
			}
		case strings.HasPrefix(trimmed, "/*"):
			n := strings.Index(trimmed[2:], "*/")
			if n < 0 {
				return document.Refuse(nil, "the comment that starts in line %d is not closed", s.lineNumber(s.next))
			}
			s.next += n + len("/**/")
		default:
			return nil
		}
	}
}

var (
	quotedString = regexp.MustCompile(`^"(?:[^"\\]|\\(?s:.))*"`)
	bareString   = regexp.MustCompile(`^[\w.$:/-]+`)
)

// pair reads a key, a value and the signs around it.
func (s *stringsFile) pair() error {
	if _, err := s.word(); err != nil {
		return err
	}
	if s.sign(';') { // the key is the value
		return nil
	}
	if !s.sign('=') {
		return s.refuse("an = after the key")
	}
	if err := s.space(); err != nil {
		return err
	}
	start := s.next
	quoted, err := s.word()
	if err != nil {
		return err
	}
	end := s.next
	if !s.sign(';') {
		return s.refuse("a ; after the value")
	}
	if !quoted {
		return nil
	}
	text := cEscape.ReplaceAllStringFunc(s.text[start+1:end-1], readC)
	if isCode(text) {
		return nil
	}
	return s.value(start, end, text, func(text string) string { return `"` + escapeC.Replace(text) + `"` })
}

// word reads a key or value, and says whether it is in quotes.
func (s *stringsFile) word() (quoted bool, err error) {
	rest := s.text[s.next:]
	word := quotedString.FindString(rest)
	quoted = word != ""
	if !quoted {
		word = bareString.FindString(rest)
	}
	if word == "" {
		return false, s.refuse("a text in quotes")
	}
	s.next += len(word)
	return quoted, nil
}

// sign reads a sign, and says whether it was there.
func (s *stringsFile) sign(sign byte) bool {
	if s.space() != nil || s.next == len(s.text) || s.text[s.next] != sign {
		return false
	}
	s.next++
	return true
}

func (s *stringsFile) refuse(wanted string) error {
	return document.Refuse(nil, `line %d has not %s: pairs are written "key" = "value";`, s.lineNumber(s.next), wanted)
}
