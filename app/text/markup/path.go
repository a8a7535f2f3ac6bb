package markup

import (
	"regexp"
	"strings"
	"unicode"

	"dragoman/app/text/char"
)

// rootedPath returns the length of the path that starts with / ~/ ./ or ../ here. A path of one name in the root directory, such
// as /x, is not recognized: "and /or" looks the same.
//
// It also recognizes globs (*.txt), hidden files and references to attributes of Android's themes.
func (s *scanner) rootedPath() int {
	if r := s.before(); char.IsWord(r) || r == '/' || r == '.' || r == ':' || r == '<' {
		return 0
	}
	start := 1
	switch rest := s.text[s.pos:]; {
	case (unicode.IsSpace(s.before()) || s.before() == '}') && rooted.MatchString(s.rest(longestName)):
		return s.pathEnd(s.pos+len(rooted.FindString(s.rest(longestName))), false) - s.pos
	case strings.HasPrefix(rest, "//"):
		return 0
	case strings.HasPrefix(rest, "../"):
		start = 3
	case strings.HasPrefix(rest, "./"), strings.HasPrefix(rest, "~/"):
		start = 2
	case rest[0] != '/':
		return 0
	}
	if c := s.at(start); !char.IsIdent(c) && c != '.' {
		return 0
	}
	end := s.pathEnd(s.pos+start, false)
	if start == 1 && !strings.Contains(s.text[s.pos+1:end], "/") {
		return 0
	}
	return end - s.pos
}

// rooted matches starts of paths that need no second slash, and names that start with a sign: folders of Unix, globs, hidden
// files, theme attributes.
var rooted = regexp.MustCompile(`^(?:/(?:bin|boot|dev|etc|home|lib|mnt|opt|proc|root|run|sbin|srv|sys|tmp|usr|var)\b|\*+\.[a-z0-9]{1,5}\b|\.[a-z][a-z0-9_]*(?:[-.][a-z0-9_]+)*\b|\?(?:android:)?attr/\w+)`)

// networkPath returns the length of the network path \\host\share that starts here.
func (s *scanner) networkPath() int {
	if s.at(1) != '\\' || !char.IsIdent(s.at(2)) {
		return 0
	}
	if end := s.pathEnd(s.pos+2, true); strings.Contains(s.text[s.pos+2:end], `\`) {
		return end - s.pos
	}
	return 0
}

// pathEnd returns the end of the path that continues at i, without the punctuation of the sentence. Parameters and wildcards may
// follow a slash: /users/{id}, /users/:id, src/**/*.go. A Windows path may contain spaces if a backslash follows soon.
func (s *scanner) pathEnd(i int, backslashes bool) int {
	end := i
	for end < len(s.text) {
		r, n := char.Decode(s.text, end)
		if char.IsWord(r) || r < 0x80 && char.OneOf(byte(r), "/._-+~@%=#$") || backslashes && r == '\\' {
			end += n
			continue
		}
		if backslashes {
			n = spacedName(s.text[end:])
		} else {
			n = pathParameter(s.text[:end], s.text[end:])
		}
		if n == 0 {
			break
		}
		end += n
	}
	return i + len(strings.TrimRight(s.text[i:end], ".-+@%=#$~_"))
}

// pathParameter returns the length of a parameter or wildcard that may follow a slash: {id}, :id, *, **.
func pathParameter(before, text string) int {
	switch {
	case text[0] == '*' && strings.HasSuffix(before, "/*"):
		return 1
	case strings.HasSuffix(before, "/") && char.OneOf(text[0], "*:{"):
		return len(parameter.FindString(text[:min(len(text), longestName)]))
	}
	return 0
}

var parameter = regexp.MustCompile(`^(?:\*|:[A-Za-z]|\{\w+\})`)

// spacedName returns the length of the name with spaces before the next backslash.
func spacedName(text string) int {
	const longest = 32
	if text[0] != ' ' {
		return 0
	}
	return max(0, len(spacedPart.FindString(text[:min(len(text), longest)]))-len(`\`))
}

var spacedPart = regexp.MustCompile(`^ [\pL\pM\p{Nd} ._()-]*[\pL\pM\p{Nd}._()-]\\`)
