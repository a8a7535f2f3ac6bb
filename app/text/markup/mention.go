package markup

import (
	"regexp"
	"unicode"

	"dragoman/app/text/char"
)

// mention returns the length of @name, with dots and hyphens between letters, of @babel/core and @string/app_name, of linked
// messages and of directives.
func (s *scanner) mention() int {
	if char.IsWord(s.before()) {
		return 0
	}
	end := s.nameEnd()
	if char.OneOf(s.at(1), ".:") || s.byte(end) == '(' {
		if n := len(linked.FindString(s.rest(longestName))); n > 0 {
			return n
		}
	}
	if end > s.pos && s.byte(end) == '/' && char.IsIdent(s.byte(end+1)) {
		end = s.pathEnd(end, false)
	}
	return end - s.pos
}

// linked matches a linked message of Vue, @:key or @.lower:key, or a directive of Blade, @lang('key').
var linked = regexp.MustCompile(`^@(?:(?:\.\w+)?:(?:\w[\w.]*\w|\([\w.]+\))|\w+\((?:'[^'\n]*'|"[^"\n]*")[^()\n]*\))`)

// nameEnd returns the end of the name behind the @ here.
func (s *scanner) nameEnd() int {
	end := s.pos
	for i := s.pos + 1; i < len(s.text); {
		r, n := char.Decode(s.text, i)
		switch {
		case char.IsWord(r), r == '_':
			end = i + n
		case (r == '.' || r == '-') && end == i:
		default:
			return end
		}
		i += n
	}
	return end
}

// hashtag returns the length of #topic or #話題#, which may be in any script.
func (s *scanner) hashtag() int {
	if s.touches() {
		return 0
	}
	end := char.Skip(s.text, s.pos+1, func(r rune) bool { return r == '_' || char.IsLetterOrDigit(r) || unicode.IsMark(r) })
	if !hasLetter(s.text[s.pos:end]) {
		return 0
	}
	if s.byte(end) == '#' && char.IsUnspaced(char.Last(s.text[:end])) {
		end++
	}
	return end - s.pos
}
