package markup

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// longestLink is the most bytes of the address and the title of a link.
const longestLink = 2048

// markdown makes a span of the sign of Markdown that starts here, and says whether
// it did. Signs that need another one to mean something are spans until the end
// of the text shows that the other is missing.
func (s *scanner) markdown() bool {
	switch c := s.text[s.pos]; c {
	case '`':
		return s.codeSpan()
	case '*', '_', '~':
		return s.emphasis(c)
	case '!':
		return s.at(1) == '[' && s.image()
	case '[':
		return s.linkStart()
	case ']':
		return s.linkEnd()
	}
	return false
}

// mark makes a span of name here that waits for its other end.
func (s *scanner) mark(name string) {
	s.pairs++
	s.marks.add(name, len(s.spans))
	s.add(Markdown, len(name), s.pairs)
}

// codeSpan makes a span of `code`, with as many backquotes behind it as before.
func (s *scanner) codeSpan() bool {
	if s.runs == nil {
		s.findRuns()
	}
	n := 1
	for s.at(n) == '`' {
		n++
	}
	next, ok := s.runs[s.pos]
	if !ok || !unicode.IsSpace(char.First(s.text[s.pos+n:])) && unicode.IsSpace(char.Last(s.text[:next])) {
		s.add(Sign, n, 0) // without another, and the first in "`a' and `b'"
		return true
	}
	s.add(Code, next+n-s.pos, 0)
	return true
}

// findRuns finds for each run of backquotes the next one of the same length.
func (s *scanner) findRuns() {
	s.runs = map[int]int{}
	last := map[int]int{} // where the last run of each length starts
	for i := s.pos; i < len(s.text); {
		start := i
		for i < len(s.text) && s.text[i] == '`' {
			i++
		}
		if n := i - start; n > 0 {
			if before, ok := last[n]; ok {
				s.runs[before] = start
			}
			last[n] = start
			continue
		}
		next := strings.IndexByte(s.text[i:], '`')
		if next < 0 {
			return
		}
		i += next
	}
}

// emphasis makes a span of a run of *, _ or ~ that starts or ends emphasis.
func (s *scanner) emphasis(c byte) bool {
	if s.keycap(s.pos) > 0 || doubled(s) > 0 || c == '*' && s.rootedPath() > 0 {
		return false
	}
	if s.pos >= s.marksEnd { // not in a run whose first signs have closed something
		s.marksEnd = s.pos + 1
		for s.byte(s.marksEnd) == c {
			s.marksEnd++
		}
	}
	n := s.marksEnd - s.pos
	if k := len(s.marks.list) - 1; k >= 0 && s.marks.list[k].name[0] == c && len(s.marks.list[k].name) < n {
		n = len(s.marks.list[k].name) // **a*b***
	}
	before, next := s.before(), char.First(s.text[s.pos+n:])
	inWord := char.IsWord(before) && char.IsWord(next)
	if c == '~' && n == 1 {
		return false // may be the start of a path
	}
	if name := s.text[s.pos : s.pos+n]; inWord && c == '*' && n <= 3 && unicode.IsLetter(before) && unicode.IsLetter(next) {
		if span, ok := s.marks.close(name, s.drop); ok { // **T**he
			s.add(Markdown, n, -s.spans[span].Pair)
			return true
		}
		// un**real**; a*b*c and 2**n are no words
		if end := s.find(name, s.pos+n); end > 0 && s.isLongWord(end, n) {
			s.mark(name)
			return true
		}
	}
	if n > 3 || c == '~' && n == 3 || inWord && (c == '_' || n == 1 || before < 0x80 && next < 0x80) {
		if c == '_' && n == 1 && isIdentRune(before) {
			return false
		}
		s.add(Sign, n, 0) // ____, ~, 5*3, f***ing
		return true
	}
	opens, closes := !unicode.IsSpace(next), !unicode.IsSpace(before)
	name := s.text[s.pos : s.pos+n]
	if closes {
		if span, ok := s.marks.close(name, s.drop); ok {
			inner := s.text[s.spans[span].End:s.pos]
			if s.add(Markdown, n, -s.spans[span].Pair); len(inner) < longestName && !strings.ContainsFunc(inner, isShown) {
				s.drop(span) // */*
				s.drop(len(s.spans) - 1)
			}
			return true
		}
	}
	if opens && !char.IsWord(before) {
		s.mark(name)
		return true
	}
	s.add(Sign, n, 0)
	return true
}

// isShown says whether r is what one emphasizes: a letter, a digit, or what is not of ASCII.
func isShown(r rune) bool { return r >= 0x80 || char.IsLetterOrDigit(r) }

// isLongWord says whether the word is more than a few letters whose part from here to before byte end is between marks
// of n bytes, or what is before here.
func (s *scanner) isLongWord(end, n int) bool {
	const few = 3
	whole := Sentence{Text: s.text}
	start, next := whole.wordStart(s.pos), min(end+n, len(s.text))
	letters := utf8.RuneCountInString(s.text[start:s.pos])
	if letters > 1 {
		return true
	}
	inside := s.text[s.pos+n : min(end, s.pos+n+longestName)]
	return !strings.ContainsFunc(inside, func(r rune) bool { return !unicode.IsLetter(r) }) &&
		letters+utf8.RuneCountInString(inside+s.text[next:whole.wordEnd(next)]) > few
}

// image makes one span of ![text](address). The text of an image is not translated.
func (s *scanner) image() bool {
	middle := s.find("](", s.pos+2)
	if middle < 0 || middle-s.pos > longestTemplate || strings.ContainsAny(s.text[s.pos+2:middle], "[\n") {
		return false
	}
	end := s.addressEnd(middle + 2)
	if end == 0 {
		return false
	}
	s.add(Markdown, end-s.pos, 0)
	return true
}

// linkStart makes a span of the [ here that waits for its other end, or of a tag of
// BBCode. What is in brackets and no text, such as [[x]], is left alone.
func (s *scanner) linkStart() bool {
	if c := s.at(1); c != '/' && !char.IsASCIILetter(c) {
		// none of those below
	} else if m := bbcode.FindStringSubmatch(s.rest(longestTemplate)); m != nil {
		s.add(Tag, len(m[0]), s.pairTag(tag{kind: Tag, name: "[" + strings.ToLower(m[2]), end: m[1] != ""}))
		return true
	}
	if doubled(s) > 0 || bracketed(s) > 0 || s.bracketedWord() > 0 {
		return false
	}
	s.mark("[")
	return true
}

// bbcode are the tags of forums.
var bbcode = regexp.MustCompile(`^\[(/?)([bius]|url|img|quote|code|size|color|list|center|spoiler)(?:=[^\]\n]*)?\]`)

// references are the ends of links whose address stands elsewhere, and of the parts
// of a text that Apple's systems inflect.
var references = regexp.MustCompile(`^\](?:\[[^\[\]\n]{1,64}\]|\(inflect: true\))`)

// linkEnd makes a span of ](address) or ][reference], where a [ waits for it.
func (s *scanner) linkEnd() bool {
	end := 0
	if s.marks.count["["] > 0 {
		if n := len(references.FindString(s.rest(longestName))); n > 0 {
			end = s.pos + n
		} else if s.at(1) == '(' {
			end = s.addressEnd(s.pos + 2)
		}
	}
	if end > 0 {
		span, _ := s.marks.close("[", s.drop)
		s.add(Markdown, end-s.pos, -s.spans[span].Pair)
		return true
	}
	if n := len(s.marks.list); n > 0 && s.marks.list[n-1].name == "[" {
		span, _ := s.marks.close("[", s.drop) // [1]
		s.drop(span)
	}
	return false
}

// addressEnd returns where the address at i, with the title that it may have and the ),
// ends: 0 where it is not an address.
func (s *scanner) addressEnd(i int) int {
	text := s.text[i:min(len(s.text), i+longestLink)]
	depth, quote := 1, byte(0)
	for j := range len(text) {
		c := text[j]
		switch {
		case c == '\n', c == ']' && j+1 < len(text) && text[j+1] == '(':
			return 0
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == ' ' && (j == 0 || text[j-1] != ' '):
			// Behind a space there is a title, or nothing.
			rest := strings.TrimLeft(text[j:], " ")
			if rest == "" || !char.OneOf(rest[0], `"')`) {
				return 0
			}
		case char.OneOf(c, `"'`) && j > 0 && text[j-1] == ' ':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i + j + 1
			}
		}
	}
	return 0
}
