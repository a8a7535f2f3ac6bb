package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"dragoman/app/text/char"
)

// scanner goes over a text once, from left to right. At each place the recognizers
// for the character there are asked in turn, and the first that finds something
// makes the span.
//
// What keeps this linear: a recognizer looks at a bounded number of bytes, or stops
// at what would start it again, or finds the end it looks for with ahead, which
// remembers where that is, so that no part of the text is searched twice.
type scanner struct {
	text   string
	form   Format
	branch bool // of a message of ICU
	loose  bool // a translation: a dash may start an option wherever it stands
	looks  *char.Looks
	pos    int
	spans  []Span
	ahead  map[string]int

	// HTML and XML only: all tags, and the number of the next one.
	tags    []Token
	nextTag int

	// Plain text only: what the first line says, and where the quote is that ends a line, 0 without one.
	subtitles dialect
	tail      int

	positional int // whether $1 is an argument: 1, -1 where not, 0 until asked

	// Until where there is known to be no host name, no path, no name of a file, and no identifier.
	noHost, noPath, noFile, noName int
	runEnd                         int // of the characters that a path may have
	marksEnd                       int // of the run of *, _ or ~ that was read last

	runs   map[int]int // of backquotes: where the next of the same length starts; nil until needed
	braced map[int]int // where the brackets { are closed that are; nil until needed

	pairs  int     // numbers given to pairs
	opened waiting // tags
	marks  waiting // of Markdown
}

func (s *scanner) run() []Span {
	if s.form.hasTags() {
		s.tags, _ = tokenize(s.looks, s.text, s.form)
	}
	plain := !s.form.hasTags()
	for at := 0; s.pos < len(s.text); {
		s.looks.Past(1 + s.pos - at)
		at = s.pos
		if n := s.signedName(); n > 0 {
			s.add(Code, n, 0)
			continue
		}
		if plain && (s.line() || s.markdown()) {
			continue
		}
		if s.tag() {
			continue
		}
		if kind, n := s.match(); n > 0 && !s.hasTag(n) {
			s.add(kind, n, 0)
			continue
		}
		s.skip()
	}
	// Marks that still wait for their end are signs.
	for _, mark := range s.marks.list {
		s.drop(mark.span)
	}
	s.words()
	return s.spans
}

// add makes a span of the next n bytes and goes behind it.
func (s *scanner) add(kind Kind, n, pair int) {
	s.spans = append(s.spans, Span{Start: s.pos, End: s.pos + n, Kind: kind, Pair: pair})
	s.pos += n
}

// hasTag says whether a tag of HTML or XML starts in the next n bytes: tags are spans by
// themselves.
func (s *scanner) hasTag(n int) bool {
	next := s.nextTag
	for next < len(s.tags) && (s.tags[next].Kind == html.TextToken || s.tags[next].Start < s.pos) {
		next++
	}
	s.nextTag = next // htmlTag goes on from here
	return next < len(s.tags) && s.tags[next].Start < s.pos+n
}

// drop makes a sign of a mark of Markdown that turned out to be none.
func (s *scanner) drop(span int) {
	s.spans[span].Kind, s.spans[span].Pair = Sign, 0
}

// match returns the kind and the length in bytes of the span that starts here, or
// 0 where none does.
func (s *scanner) match() (kind Kind, n int) {
	c := s.text[s.pos]
	if c >= utf8.RuneSelf {
		return s.matchWide()
	}
	if char.IsASCIILetter(c) || char.IsASCIIDigit(c) {
		return s.matchWord()
	}
	return s.first(bySign[c])
}

// first asks recognizers in turn.
func (s *scanner) first(list []recognizer) (Kind, int) {
	for _, r := range list {
		if n := r.read(s); n > 0 {
			return r.kind, n
		}
	}
	return 0, 0
}

// matchWide is match for a character outside of ASCII.
func (s *scanner) matchWide() (Kind, int) {
	r, _ := char.Decode(s.text, s.pos)
	switch {
	case unicode.IsDigit(r):
		return Number, s.numberEnd(s.pos) - s.pos
	case unicode.Is(unicode.Sc, r) || char.IsMinus(r):
		return Number, s.signedNumber()
	case char.IsWord(r):
		return s.matchWord()
	case unicode.Is(unicode.Bidi_Control, r):
		return Emoji, char.Skip(s.text, s.pos, func(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }) - s.pos
	}
	if isSymbol(r) && s.emoji() == 0 {
		return Sign, utf8.RuneLen(r)
	}
	return Emoji, s.emoji()
}

// matchWord is match for a letter or digit, which starts a word.
func (s *scanner) matchWord() (Kind, int) {
	if kind, n := s.first(ofWords[:]); n > 0 {
		return kind, n
	}
	if r, _ := char.Decode(s.text, s.pos); unicode.IsDigit(r) {
		return Number, s.numberEnd(s.pos) - s.pos
	}
	return 0, 0
}

// skip goes behind the letters that start here, or else one character. It stops
// at a digit, which may start a number.
func (s *scanner) skip() {
	r, n := char.Decode(s.text, s.pos)
	s.pos += n
	if char.IsWord(r) {
		s.pos = char.Skip(s.text, s.pos, func(r rune) bool { return char.IsWord(r) && !unicode.IsDigit(r) })
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

// lengthOf is that of what a regular expression has found at the start of a text.
func lengthOf(found []int) int {
	if found == nil {
		return 0
	}
	return found[1]
}

// before is the character before here, a space at the start of the text.
func (s *scanner) before() rune { return char.Last(s.text[:s.pos]) }

// at returns the byte n bytes from here, 0 behind the end.
func (s *scanner) at(n int) byte { return s.byte(s.pos + n) }

// byte returns the byte at i, 0 behind the end.
func (s *scanner) byte(i int) byte {
	if i < len(s.text) {
		return s.text[i]
	}
	return 0
}

// rest returns the next bytes, limit at most.
func (s *scanner) rest(limit int) string {
	return s.text[s.pos:min(len(s.text), s.pos+limit)]
}
