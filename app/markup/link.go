package markup

import (
	"strings"
	"unicode"

	"golang.org/x/net/publicsuffix"
)

// The finders of libraries that look for URLs by regular expression take any
// letter of any script into a path, so "https://example.com/をご覧ください" is one
// URL to them, and they are slow. These rules are for text that is to be
// translated: scripts without spaces end a URL, and a name without a scheme needs a
// public suffix.

// The longest parts of a URL and an address that are looked for, in bytes.
const (
	longestScheme = 20
	longestLocal  = 64
	longestHost   = 253
)

// url returns the length of the URL with a scheme that starts here.
func (s *scanner) url() int {
	colon := s.find("://", s.pos)
	if colon < 0 || colon-s.pos > longestScheme {
		return 0
	}
	for i := s.pos; i < colon; i++ {
		if c := s.text[i]; !isASCIILetter(c) && (i == s.pos || !isASCIIDigit(c) && !oneOf(c, "+-.")) {
			return 0
		}
	}
	start := colon + len("://")
	end := s.urlEnd(s.foreignLabel(start))
	if strings.IndexFunc(s.text[start:end], isWord) < 0 {
		return 0
	}
	return end - s.pos
}

// foreignLabel returns what follows the first label of a host name at i, and its dot,
// where the label is in a script without spaces: 例え.jp. Otherwise it returns i.
func (s *scanner) foreignLabel(i int) int {
	for end := i; end < len(s.text) && end-i < longestHost; {
		r, n := decode(s.text, end)
		switch {
		case r == '.' && end > i:
			return end + 1
		case !unicode.IsLetter(r) || !isUnspaced(r):
			return i
		}
		end += n
	}
	return i
}

// urlEnd returns where the part of a URL that starts at i ends: at what cannot be
// in one, without the punctuation of the sentence around it, and without brackets
// that were opened outside of it.
func (s *scanner) urlEnd(i int) int {
	start, end := i, i
	for end < len(s.text) {
		r, n := decode(s.text, end)
		if r <= ' ' || r == 0x7F || r < 0x80 && oneOf(byte(r), "<>\"`|\\^") || r >= 0x80 && !isWord(r) {
			break
		}
		end += n
	}
	return start + len(trimURL(s.text[start:end]))
}

// brackets are the ones that a URL may have in pairs.
const brackets = "()[]{}"

// trimURL cuts off punctuation and brackets at the end that belong to the sentence.
func trimURL(url string) string {
	var count [len(brackets)]int
	for i := range len(url) {
		if b := strings.IndexByte(brackets, url[i]); b >= 0 {
			count[b]++
		}
	}
	for url != "" {
		last := url[len(url)-1]
		b := strings.IndexByte(brackets, last)
		switch {
		case b >= 0 && (b%2 == 0 || count[b] > count[b-1]): // opened last, or never opened
			count[b]--
		case oneOf(last, ".,;:!?'*_~&"):
		default:
			return url
		}
		url = url[:len(url)-1]
	}
	return url
}

// email returns the length of the e-mail address that starts here.
func (s *scanner) email() int {
	at := s.find("@", s.pos)
	if at < 0 || at-s.pos > longestLocal {
		return 0
	}
	for i := s.pos; i < at; {
		r, n := decode(s.text, i)
		if !isWord(r) && (r >= 0x80 || !oneOf(byte(r), "._%+-'")) {
			return 0
		}
		i += n
	}
	end := s.hostEnd(at + 1)
	dot := strings.LastIndexByte(s.text[at+1:end], '.')
	if dot <= 0 || end-(at+1)-dot < len(".de") || isASCIIDigit(s.text[end-1]) {
		return 0
	}
	return end - s.pos
}

// hostEnd returns where the host name that starts at i ends: labels of letters,
// digits and hyphens with dots between them.
func (s *scanner) hostEnd(i int) int {
	end := i
	for j := i; j < len(s.text) && j-i < longestHost; {
		r, n := decode(s.text, j)
		switch {
		case isWord(r):
			end = j + n
		case r == '-', r == '.' && j == end && j > i:
		default:
			return end
		}
		j += n
	}
	return end
}

// domain returns the length of the URL without a scheme that starts here:
// example.com, www.example.org:80/path?x=1. Its last label is in lower case and a
// public suffix, so "end.Start" and "Node.js" are none.
func (s *scanner) domain() int {
	if s.pos < s.noHost {
		return 0
	}
	end := s.hostEnd(s.pos)
	host := s.text[s.pos:end]
	if !isDomain(host) {
		// What ends the same is none either. A shorter label at the start changes
		// nothing about the suffix.
		s.noHost = end
		return 0
	}
	if s.byte(end) == ':' && isASCIIDigit(s.byte(end+1)) {
		for end++; isASCIIDigit(s.byte(end)); end++ {
		}
	}
	if oneOf(s.byte(end), "/?#") {
		if path := s.urlEnd(end); path > end+1 || s.byte(end) == '/' {
			end = max(end, path)
		}
	}
	return end - s.pos
}

func isDomain(host string) bool {
	dot := strings.LastIndexByte(host, '.')
	if dot <= 0 || len(host)-dot < len(".de") {
		return false
	}
	for _, c := range []byte(host[dot+1:]) {
		if !isASCIILower(c) {
			return false
		}
	}
	if strings.HasPrefix(host, "www.") {
		return strings.Count(host, ".") >= 2
	}
	suffix, icann := publicsuffix.PublicSuffix(host)
	return icann || strings.Contains(suffix, ".")
}

// byte returns the byte at i, 0 behind the end.
func (s *scanner) byte(i int) byte {
	if i < len(s.text) {
		return s.text[i]
	}
	return 0
}

// mention returns the length of @name, in which dots and hyphens may stand between
// letters.
func (s *scanner) mention() int {
	if isWord(s.before()) {
		return 0
	}
	end := s.pos
	for i := s.pos + 1; i < len(s.text); {
		r, n := decode(s.text, i)
		switch {
		case isWord(r), r == '_':
			end = i + n
		case (r == '.' || r == '-') && end == i:
		default:
			return end - s.pos
		}
		i += n
	}
	return end - s.pos
}

// hashtag returns the length of #topic or #話題#, which may be in any script.
func (s *scanner) hashtag() int {
	end, letters, last := s.pos+1, false, ' '
	for end < len(s.text) {
		r, n := decode(s.text, end)
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) {
			break
		}
		letters = letters || unicode.IsLetter(r)
		last = r
		end += n
	}
	if !letters {
		return 0
	}
	if isUnspaced(last) && s.byte(end) == '#' {
		end++
	}
	return end - s.pos
}

// shortcode returns the length of :smile:.
func (s *scanner) shortcode() int {
	if isWord(s.before()) {
		return 0
	}
	n, letters := 1, false
	for ; isIdent(s.at(n)) || oneOf(s.at(n), "+-"); n++ {
		letters = letters || isASCIILetter(s.at(n))
		if n > longestName {
			return 0
		}
	}
	if s.at(n) != ':' || !letters || n < 3 || isIdent(s.at(n+1)) {
		return 0
	}
	return n + 1
}
