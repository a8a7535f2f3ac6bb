package markup

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// longestLink is the maximum length in bytes of a link's address and title.
const longestLink = 2048

// markdown adds a span for the Markdown sign that starts here, and reports whether it did. A sign that needs a partner becomes a
// span of kind Sign at the end of the text if the partner is missing.
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

// mark adds a span for the sign name here, which waits for its partner.
func (s *scanner) mark(name string) {
	s.pairs++
	s.marks.add(name, len(s.spans))
	s.add(Markdown, len(name), s.pairs)
}

// codeSpan adds a span for `code`, delimited by two runs of backquotes of equal length.
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
		s.add(Sign, n, 0) // a run without a partner, or the first one in "`a' and `b'"
		return true
	}
	s.add(Code, next+n-s.pos, 0)
	return true
}

// findRuns finds the next run of the same length for each run of backquotes.
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

// emphasis adds a span for a run of *, _ or ~ that starts or ends emphasis.
func (s *scanner) emphasis(c byte) bool {
	if s.keycap(s.pos) > 0 || doubled(s) > 0 || c == '*' && s.at(1) == '.' && isASCIILower(s.at(2)) && !char.IsWord(s.before()) {
		return false
	}
	if s.pos >= s.marksEnd { // not in a run whose first signs closed an emphasis
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
		return false // may start a path
	}
	if name := s.text[s.pos : s.pos+n]; inWord && c == '*' && n <= 3 && unicode.IsLetter(before) && unicode.IsLetter(next) {
		if span, ok := s.marks.close(name, s.drop); ok { // **T**he
			s.add(Markdown, n, -s.spans[span].Pair)
			return true
		}
		// un**real**; but a*b*c and 2**n are not words
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
	if opens && !char.IsWord(before) && !unicode.Is(unicode.Cf, before) {
		s.mark(name)
		return true
	}
	s.add(Sign, n, 0)
	return true
}

// isShown reports whether r is worth emphasis: a letter, a digit or any character outside ASCII.
func isShown(r rune) bool { return r >= 0x80 || char.IsLetterOrDigit(r) }

// isLongWord reports whether the word here, part of which is enclosed in marks of n bytes from here to byte end, has more than a
// few letters, or more than one letter before here.
func (s *scanner) isLongWord(end, n int) bool {
	const few = 3
	start, next := wordStart(s.text, s.pos), min(end+n, len(s.text))
	letters := utf8.RuneCountInString(s.text[start:s.pos])
	if letters > 1 {
		return true
	}
	inside := s.text[s.pos+n : min(end, s.pos+n+longestName)]
	return !strings.ContainsFunc(inside, func(r rune) bool { return !unicode.IsLetter(r) }) &&
		letters+utf8.RuneCountInString(inside+s.text[next:wordEnd(s.text, next)]) > few
}

// image adds one span for ![text](address). The text of an image is not translated.
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

// linkStart adds a span for the [ here, which waits for its partner, or for a BBCode tag. Brackets without text, such as [[x]],
// are left to the recognizers.
func (s *scanner) linkStart() bool {
	if c := s.at(1); c != '/' && !char.IsASCIILetter(c) {
		// neither a BBCode tag nor one of its ends
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

// bbcode matches the tags of forums.
var bbcode = regexp.MustCompile(`^\[(/?)([bius]|url|img|quote|code|size|color|list|center|spoiler)(?:=[^\]\n]*)?\]`)

// references matches the end of a link whose address is defined elsewhere, and of a text marked for Apple's automatic inflection.
var references = regexp.MustCompile(`^\](?:\[[^\[\]\n]{1,64}\]|\(inflect: true\))`)

// linkEnd adds a span for ](address) or ][reference] if a [ waits for it.
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

// addressEnd returns the position behind the ) that ends the address at i and its optional title, or 0 if it is not an address.
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
			// A space may be followed only by a title or the end.
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
