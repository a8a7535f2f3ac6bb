package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// scanner goes over a text once, from left to right. At each place the matchers
// for the character there are asked in turn, and the first that finds something
// makes the span.
//
// What keeps this linear: a matcher looks at a bounded number of bytes, or stops
// at what would start it again, or finds the end it looks for with ahead, which
// remembers where that is, so that no part of the text is searched twice.
type scanner struct {
	text  string
	html  bool
	pos   int
	spans []Span
	ahead map[string]int

	// HTML only: all tags, and the number of the next one.
	tags    []htmlToken
	nextTag int

	// Until where there is known to be no host name, no path, no name of a file, and no identifier.
	noHost, noPath, noFile, noName int
	runEnd                         int // of the characters that a path may have

	runs map[int]int // of backquotes: where the next of the same length starts; nil until needed

	pairs  int            // numbers given to pairs
	opened []open         // tags that wait for their end
	names  map[string]int // how often each name is in opened
	marks  []open         // the same for marks of Markdown
	marked map[string]int
}

// open is a span that waits for the end of its pair.
type open struct {
	name string
	span int
}

func (s *scanner) run() []Span {
	if s.html {
		s.tags, _ = tokenizeHTML(s.text)
	}
	s.names, s.marked = map[string]int{}, map[string]int{}
	for s.pos < len(s.text) {
		if n := s.signedName(); n > 0 {
			s.add(Code, n, 0)
			continue
		}
		if !s.html && s.markdown() {
			continue
		}
		if s.tag() {
			continue
		}
		if kind, n := s.match(); n > 0 {
			s.add(kind, n, 0)
			continue
		}
		s.skip()
	}
	return s.settle()
}

// add makes a span of the next n bytes and goes behind it.
func (s *scanner) add(kind Kind, n, pair int) {
	s.spans = append(s.spans, Span{Start: s.pos, End: s.pos + n, Kind: kind, Pair: pair})
	s.pos += n
}

// dropped is the kind of a mark of Markdown that turned out to be none.
const dropped = Kind(len(kindNames))

// settle takes the dropped spans out, and the marks that still wait for their end.
func (s *scanner) settle() []Span {
	for _, mark := range s.marks {
		s.spans[mark.span].Kind = dropped
	}
	kept := s.spans[:0]
	for _, span := range s.spans {
		if span.Kind != dropped {
			kept = append(kept, span)
		}
	}
	return kept
}

// match returns the kind and the length in bytes of the span that starts here, or
// 0 where none does.
func (s *scanner) match() (kind Kind, n int) {
	c := s.text[s.pos]
	if c >= utf8.RuneSelf {
		return s.matchWide()
	}
	if isASCIILetter(c) || isASCIIDigit(c) {
		return s.matchWord()
	}
	switch c {
	case '{':
		return Placeholder, s.braces()
	case '<':
		return Placeholder, s.erb()
	case '\\':
		return s.backslash()
	case '%':
		return Placeholder, s.percent()
	case '&':
		return Entity, s.entity()
	case '@':
		return Mention, s.mention()
	case ':':
		return Shortcode, s.shortcode()
	case '/', '.', '~':
		return Path, s.rootedPath()
	case '$':
		if n := s.signedNumber(); n > 0 {
			return Number, n
		}
		return Placeholder, s.dollar()
	case '#':
		return s.hash()
	case '*':
		return Emoji, s.emojiEnd(s.pos) - s.pos
	case '+', '-':
		return Number, s.signedNumber()
	}
	return 0, 0
}

// matchWide is match for a character outside of ASCII.
func (s *scanner) matchWide() (Kind, int) {
	r, _ := utf8.DecodeRuneInString(s.text[s.pos:])
	switch {
	case unicode.IsDigit(r):
		return Number, s.numberEnd(s.pos) - s.pos
	case unicode.Is(unicode.Sc, r) || isMinus(r):
		return Number, s.signedNumber()
	case isWord(r):
		return s.matchWord()
	}
	return Emoji, s.emojiEnd(s.pos) - s.pos
}

// matchWord is match for a letter or digit, which starts a word.
func (s *scanner) matchWord() (Kind, int) {
	if n := s.keycap(s.pos); n > 0 {
		return Emoji, s.emojiEnd(s.pos) - s.pos
	}
	if n := s.codeName(); n > 0 {
		return Code, n
	}
	if n := s.url(); n > 0 {
		return URL, n
	}
	if n := s.email(); n > 0 {
		return Email, n
	}
	if n := s.path(); n > 0 {
		return Path, n
	}
	if n := s.domain(); n > 0 {
		return URL, n
	}
	if n := s.fileName(); n > 0 {
		return Path, n
	}
	if kind, n := s.identifier(); n > 0 {
		return kind, n
	}
	if r, _ := utf8.DecodeRuneInString(s.text[s.pos:]); unicode.IsDigit(r) {
		return Number, s.numberEnd(s.pos) - s.pos
	}
	return 0, 0
}

// skip goes behind the letters that start here, or else one character. It stops
// at a digit, which may start a number.
func (s *scanner) skip() {
	r, n := utf8.DecodeRuneInString(s.text[s.pos:])
	s.pos += n
	if !isWord(r) {
		return
	}
	for s.pos < len(s.text) {
		r, n := utf8.DecodeRuneInString(s.text[s.pos:])
		if !isWord(r) || unicode.IsDigit(r) {
			return
		}
		s.pos += n
	}
}

// find returns where what stands first at or after from, or -1 where it does not.
// For each text to look for, from must not get smaller from call to call.
func (s *scanner) find(what string, from int) int {
	if at, known := s.ahead[what]; known && (at < 0 || at >= from) {
		return at
	}
	at := -1
	if from <= len(s.text) {
		if at = strings.Index(s.text[from:], what); at >= 0 {
			at += from
		}
	}
	s.ahead[what] = at
	return at
}

// closed returns the length of the span that starts here and ends with the first
// end behind its opening bytes; 0 where that is more than limit bytes.
func (s *scanner) closed(opening int, end string, limit int) int {
	at := s.find(end, s.pos+opening)
	if at < 0 || at-s.pos > limit {
		return 0
	}
	return at + len(end) - s.pos
}

// before is the character before here, a space at the start of the text.
func (s *scanner) before() rune { return last(s.text[:s.pos]) }

// at returns the byte n bytes from here, 0 behind the end.
func (s *scanner) at(n int) byte {
	if s.pos+n < len(s.text) {
		return s.text[s.pos+n]
	}
	return 0
}
