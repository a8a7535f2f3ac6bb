package markup

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"dragoman/app/text/char"
)

// scanner makes a single pass over a text, from left to right. At each position it asks the recognizers for the character there
// in turn, and the first match becomes a span.
//
// To keep this linear, a recognizer examines a bounded number of bytes, or stops at a character that would start it again, or
// searches for its end with ahead, which caches positions so that no part of the text is searched twice.
type scanner struct {
	text   string
	form   Format
	branch bool // the text is a branch of an ICU message
	looks  *char.Looks
	pos    int
	spans  []Span
	ahead  map[string]int

	// HTML and XML only: all tags, and the index of the next one.
	tags    []Token
	nextTag int
	divided int // number of messages that are none because tags divide them

	// Plain text only: the subtitle format, and the position of the quote that ends a line, or 0.
	subtitles dialect
	tail      int

	positional int // whether $1 is an argument: 1 yes, -1 no, 0 not determined yet

	marksEnd int // end of the last run of *, _ or ~

	runs   map[int]int // from each run of backquotes to the next one of the same length; nil until needed
	braced map[int]int // from braces to their closing braces; nil until needed

	pairs  int     // numbers assigned to pairs
	opened waiting // tags
	marks  waiting // of Markdown
}

func (s *scanner) run() []Span {
	if s.form.hasTags() {
		s.tags, _ = tokenize(s.looks, s.text, s.form)
	}
	for s.pos < len(s.text) {
		at := s.pos
		s.step()
		s.looks.Past(s.pos - at)
	}
	// Marks without a partner are signs.
	for _, mark := range s.marks.list {
		s.drop(mark.span)
	}
	return s.spans
}

// step adds the span that starts here and moves behind it, or behind what starts none.
func (s *scanner) step() {
	if n := s.signedName(); n > 0 {
		s.add(Code, n, 0)
	} else if !s.form.hasTags() && (s.line() || s.markdown()) || s.tag() {
		return
	} else if kind, n := s.match(); n > 0 && (!s.hasTag(n) || s.isMessage(n)) {
		s.add(kind, n, 0)
	} else {
		s.skip()
	}
}

// add adds a span of the next n bytes and moves behind it.
func (s *scanner) add(kind Kind, n, pair int) {
	s.spans = append(s.spans, Span{Start: s.pos, End: s.pos + n, Kind: kind, Pair: pair})
	s.pos += n
}

// hasTag reports whether an HTML or XML tag starts in the next n bytes: tags are spans of their own.
func (s *scanner) hasTag(n int) bool {
	next := s.nextTag
	for next < len(s.tags) && (s.tags[next].Kind == html.TextToken || s.tags[next].Start < s.pos) {
		next++
	}
	s.nextTag = next // htmlTag goes on from here
	return next < len(s.tags) && s.tags[next].Start < s.pos+n
}

// mostDivided is the maximum number of messages in a text that tags divide, so that looking at nested ones stays linear.
const mostDivided = 16

// isMessage reports whether the next n bytes are an ICU message whose branches contain all of its tags, in whole pairs.
func (s *scanner) isMessage(n int) bool {
	text := s.text[s.pos : s.pos+n]
	if s.divided == mostDivided || !startsMessage(text) {
		return false
	}
	list, ends := branchesOf(text), map[int]bool{}
	for i := s.nextTag; i < len(s.tags) && s.tags[i].Start < s.pos+n; i++ {
		t := s.tags[i]
		if t.Kind == html.TextToken {
			continue
		}
		end := t.End
		if t.Partner > 0 {
			ends[t.Partner], end = true, s.tags[t.Partner].End
		}
		if t.Kind == html.EndTagToken && !ends[i] || !slices.ContainsFunc(list, func(b [2]int) bool {
			return s.pos+b[0] <= t.Start && end <= s.pos+b[1]
		}) {
			s.divided++
			return false
		}
	}
	return len(list) > 0
}

// drop turns a Markdown span without a partner into a sign.
func (s *scanner) drop(span int) {
	s.spans[span].Kind, s.spans[span].Pair = Sign, 0
}

// match returns the kind and length in bytes of the span that starts here, or length 0.
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

// first returns the first match of a list of recognizers.
func (s *scanner) first(list []recognizer) (Kind, int) {
	for _, r := range list {
		if n := r.read(s); n > 0 {
			return r.kind, n
		}
	}
	return 0, 0
}

// matchWide is match for characters outside ASCII.
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

// matchWord is match for letters and digits.
func (s *scanner) matchWord() (Kind, int) {
	if kind, n := s.first(ofWords[:]); n > 0 {
		return kind, n
	}
	if r, _ := char.Decode(s.text, s.pos); unicode.IsDigit(r) {
		return Number, s.numberEnd(s.pos) - s.pos
	}
	return 0, 0
}

func isASCIISpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// skip moves behind the letters that start here, or behind one other character. It stops at a digit, which may start a number. It
// goes on over the words and signs of a line that no recognizer needs to look at.
func (s *scanner) skip() {
	at := s.pos
	r, n := char.Decode(s.text, at)
	if s.pos += n; char.IsWord(r) {
		s.pos = wordPart(s.text, s.pos)
	}
	for r != '\n' && s.pos < len(s.text) && s.pos-at < char.BetweenLooks {
		c, end := s.text[s.pos], s.pos+1
		switch next := s.byte(end); {
		case char.IsASCIILetter(c):
			if end = wordPart(s.text, end); !s.endsProse(end) {
				return
			}
		case c >= utf8.RuneSelf:
			var r rune
			r, n = char.Decode(s.text, s.pos)
			if end = s.pos + n; char.IsPlainLetter(r) && char.IsWord(r) {
				end = wordPart(s.text, end)
			} else if !char.IsPlainLetter(r) && (!isWideSign(r) || strings.HasPrefix(s.text[end:], string(emojiStyle))) {
				return
			}
		case !inert[c][next&^utf8.RuneSelf] && (c != '-' || !char.IsASCIILetter(s.text[s.pos-1]) || !char.IsASCIILetter(next)), c == '"' && s.pos == s.tail:
			return
		}
		s.pos = end
	}
}

// wordPart returns the end of the letters and marks from byte i on.
func wordPart(text string, i int) int {
	for i < len(text) && char.IsASCIILetter(text[i]) {
		i++
	}
	if i == len(text) || text[i] < utf8.RuneSelf {
		return i
	}
	return char.Skip(text, i, func(r rune) bool { return char.IsWord(r) && !unicode.IsDigit(r) })
}

// endsProse reports whether the word that ends at byte i cannot be part of a URL or an identifier.
func (s *scanner) endsProse(i int) bool {
	if s.byte(i) == '.' {
		i++
	}
	switch c := s.byte(i); {
	case c == ' ':
		return !char.IsASCIIDigit(s.byte(i + 1)) // ISBN 9
	case c >= utf8.RuneSelf:
		return s.text[i-1] != '.'
	default:
		return !char.IsIdent(c) && !char.OneOf(c, "+.-:")
	}
}

// inert tells for a sign and seven bits of the byte behind it that no recognizer matches there.
var inert = func() (table [utf8.RuneSelf][utf8.RuneSelf]bool) {
	for _, signs := range [...]struct{ all, unless string }{
		{" ,.;?)/", ""}, {`"`, ""}, {"'", "{}'"}, {"!", "[="}, {":", upperCase + lowerCase + "="}, {"(", digits},
	} {
		for i := range len(signs.all) {
			for next := range table {
				table[signs.all[i]][next] = !char.OneOf(byte(next), signs.unless)
			}
		}
	}
	table['-'][' '] = true
	return table
}()

// isWideSign reports whether r is punctuation outside ASCII.
func isWideSign(r rune) bool {
	return r >= '‐' && r <= '‟' || r >= '、' && r <= '】' || char.OneOfRunes(r, "«»…！（），：；？")
}

// find returns the first position of what at or after from, or -1. For each what, from must not decrease from call to call.
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

// closed returns the length of the span that starts here with opening bytes and ends with the first end behind them, or 0 if it
// exceeds limit bytes.
func (s *scanner) closed(opening int, end string, limit int) int {
	at := s.find(end, s.pos+opening)
	if at < 0 || at-s.pos > limit {
		return 0
	}
	return at + len(end) - s.pos
}

// lengthOf returns the end of a regular expression's match, or 0.
func lengthOf(found []int) int {
	if found == nil {
		return 0
	}
	return found[1]
}

// before returns the character before the position, or a space at the start of the text.
func (s *scanner) before() rune { return char.Last(s.text[:s.pos]) }

// at returns the byte n bytes ahead, or 0 behind the end.
func (s *scanner) at(n int) byte { return s.byte(s.pos + n) }

// byte returns the byte at i, or 0 behind the end.
func (s *scanner) byte(i int) byte {
	if i < len(s.text) {
		return s.text[i]
	}
	return 0
}

// rest returns the next bytes, at most limit.
func (s *scanner) rest(limit int) string {
	return s.text[s.pos:min(len(s.text), s.pos+limit)]
}
