package markup

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"dragoman/app/text/char"
)

// By the URL Standard, and for regular expressions that find URLs, a path may contain letters of any script, so that
// "https://example.com/をご覧ください" is one URL; such expressions are also slow. The rules here are for text to be translated. Letters
// of a script without spaces are part of a host name that goes on in ASCII or ends in a public suffix. They are part of a path if
// such a letter stands right before the URL and behind a first path segment, as in "https://ja.wikipedia.org/wiki/東京", up to a
// particle that titles rarely contain. A name without a scheme needs a public suffix.

// The maximum lengths in bytes of parts of a URL or address.
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
	if !scheme.MatchString(s.text[s.pos:colon]) {
		return 0
	}
	start := colon + len("://")
	end := s.urlEnd(s.foreignHost(start))
	if strings.IndexFunc(s.text[start:end], char.IsLetterOrDigit) < 0 {
		return 0
	}
	return end - s.pos
}

var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*$`)

// schemes are the URI schemes that are not followed by "//".
var schemes = set(`about acct bitcoin callto cid data doi ethereum facetime geo im intent javascript jabber
	lightning magnet mailto market matrix mid monero news nntp openpgp4fpr pkcs11 sip sips skype slack sms smsto
	spotify ssh steam tel telnet urn view-source viber web+app whatsapp xmpp`)

// uri returns the length of the URI with a known scheme that starts here: mailto:a@example.com, tel:+49301234,
// urn:isbn:0451450523.
func (s *scanner) uri() int {
	n := 0
	for n <= longestScheme && (char.IsIdent(s.at(n)) || char.OneOf(s.at(n), "-+")) {
		n++
	}
	if s.at(n) != ':' || !schemes[strings.ToLower(s.text[s.pos:s.pos+n])] || isIdentRune(s.before()) {
		return 0
	}
	start := s.pos + n + 1
	if first := s.byte(start); !char.IsIdent(first) && !char.OneOf(first, "+?/(%-") {
		return 0
	}
	if end := s.urlEnd(start); end > start {
		return end - s.pos
	}
	return 0
}

// foreignHost returns the end of the host name at i, or the start of its last label, if the name has letters of a script without
// spaces: 例え.jp, 例え.テスト/. Otherwise it returns i.
func (s *scanner) foreignHost(i int) int {
	end, label, foreign := i, i, false
	for end < len(s.text) && end-i < longestHost {
		r, n := char.Decode(s.text, end)
		if r == '.' && end > label {
			label = end + 1
		} else if r != '-' && !char.IsWord(r) && !(unicode.IsLetter(r) && char.IsUnspaced(r)) {
			break
		}
		foreign = foreign || r >= 0x80 && char.IsUnspaced(r)
		end += n
	}
	switch {
	case !foreign || label == i:
		return i
	case label < end && strings.IndexFunc(s.text[label:end], func(r rune) bool { return !char.IsUnspaced(r) }) < 0 &&
		(char.OneOf(s.byte(end), "/:?#") || isForeignSuffix(s.text[label:end])):
		return end
	}
	return label
}

// isForeignSuffix reports whether label is a public suffix in a script without spaces.
func isForeignSuffix(label string) bool {
	ascii, err := idna.ToASCII(label)
	if err != nil {
		return false
	}
	_, icann := publicsuffix.PublicSuffix("a." + ascii)
	return icann
}

// urlEnd returns the end of the part of a URL that starts at i, after its scheme. It stops at characters that a URL cannot
// contain, and leaves out punctuation of the sentence and brackets opened outside the URL.
func (s *scanner) urlEnd(i int) int {
	start, end := i, i
	slashes, deep := 0, false // deep: the first path segment is complete
	for end < len(s.text) {
		r, n := char.Decode(s.text, end)
		if char.IsUnspaced(r) && unicode.IsLetter(r) {
			// In text without spaces, letters behind the first slash are more likely that text than a path.
			if n = s.foreignPath(end); n == 0 || !deep && (slashes == 0 || char.IsUnspaced(s.before())) {
				break
			}
		} else if r <= ' ' || r == 0x7F || r < 0x80 && char.OneOf(byte(r), "<>\"`|\\^") || r >= 0x80 && !char.IsWord(r) {
			break
		}
		if r == '/' {
			slashes++
		}
		deep = deep || r == '?' || r == '#' || r == '/' && slashes > 1 && s.text[end-1] != '/'
		end += n
	}
	return start + len(trimURL(s.text[start:end]))
}

// longestForeign is the maximum length in bytes of a title in a URL in a script without spaces.
const longestForeign = 120

// foreignPath returns the length of the title, in a script without spaces, that starts at i, or 0 if it is more likely the text
// behind the URL.
func (s *scanner) foreignPath(i int) int {
	end := i
	for end < len(s.text) {
		r, n := char.Decode(s.text, end)
		if !char.IsUnspaced(r) || !unicode.IsLetter(r) && !unicode.IsMark(r) {
			break
		}
		if r == 'を' || end > i && (r == 'は' || r == 'が') || end == i && char.OneOfRunes(r, "はがにでとのもへや을를은는이가에") {
			break
		}
		if end += n; end-i > longestForeign {
			return 0
		}
	}
	return end - i
}

// brackets are the bracket pairs that a URL may contain.
const brackets = "()[]{}"

// trimURL removes punctuation and unpaired brackets of the sentence from the end of url.
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
		case char.OneOf(last, ".,;:!?'*_~&"):
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
	if char.Skip(s.text[:at], s.pos, isWordOr("._%+-'")) < at {
		return 0
	}
	end := s.hostEnd(at + 1)
	dot := strings.LastIndexByte(s.text[at+1:end], '.')
	if dot <= 0 || end-(at+1)-dot < len(".de") || char.IsASCIIDigit(s.text[end-1]) {
		return 0
	}
	if s.byte(end) == ':' && char.IsIdent(s.byte(end+1)) { // git@example.com:a/b.git
		if path := s.pathEnd(end+1, false); strings.Contains(s.text[end:path], "/") {
			end = path
		}
	}
	return end - s.pos
}

// hostEnd returns the end of the host name that starts at i: labels of letters, digits and hyphens, separated by dots.
func (s *scanner) hostEnd(i int) int {
	end := i
	for j := i; j < len(s.text) && j-i < longestHost; {
		r, n := char.Decode(s.text, j)
		switch {
		case char.IsWord(r):
			end = j + n
		case r == '-', r == '.' && j == end && j > i:
		default:
			return end
		}
		j += n
	}
	return end
}

// domain returns the length of the URL without a scheme that starts here: example.com, www.example.org:80/path?x=1. Its last
// label must be in lower case and a public suffix, so "end.Start" and "Node.js" are not URLs.
func (s *scanner) domain() int {
	if s.pos < s.noHost {
		return 0
	}
	end := s.hostEnd(s.pos)
	host := s.text[s.pos:end]
	if !isDomain(host) && (host != "localhost" || s.byte(end) != ':' || !char.IsASCIIDigit(s.byte(end+1))) {
		// A shorter first label would not change the suffix, so no host name starts before end either.
		s.noHost = end
		return 0
	}
	if s.byte(end) == ':' && char.IsASCIIDigit(s.byte(end+1)) {
		for end++; char.IsASCIIDigit(s.byte(end)); end++ {
		}
	}
	if char.OneOf(s.byte(end), "/?#") {
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
	if strings.Trim(host[dot+1:], lowerCase) != "" {
		return false
	}
	if strings.HasPrefix(host, "www.") {
		return strings.Count(host, ".") >= 2
	}
	suffix, icann := publicsuffix.PublicSuffix(host)
	return icann || strings.Contains(suffix, ".")
}
