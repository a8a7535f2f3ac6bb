package markup

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"dragoman/app/text/char"
)

// By the URL Standard, and to finders of URLs by regular expression, any letter of any
// script may be in a path, so "https://example.com/をご覧ください" is one URL to them, and they
// are slow. These rules are for text that is to be translated: letters of a script
// without spaces are part of a host name that goes on in ASCII or ends in a public
// suffix, and of a path, where such a letter stands right before the URL behind a first part of it, as in
// "https://ja.wikipedia.org/wiki/東京", up to a particle that titles seldom have. A name
// without a scheme needs a public suffix.

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

// schemes are those of URIs that have no "//".
var schemes = set(`about acct bitcoin callto cid data doi ethereum facetime geo im intent javascript jabber
	lightning magnet mailto market matrix mid monero news nntp openpgp4fpr pkcs11 sip sips skype slack sms smsto
	spotify ssh steam tel telnet urn view-source viber web+app whatsapp xmpp`)

// uri returns the length of mailto:a@example.com, tel:+49301234, urn:isbn:0451450523
// and other URIs whose scheme is known.
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

// foreignHost returns where the host name at i ends, or its last label starts, if it has
// letters of a script without spaces: 例え.jp, 例え.テスト/. Otherwise it returns i.
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

// isForeignSuffix says whether label is a public suffix in a script without spaces.
func isForeignSuffix(label string) bool {
	ascii, err := idna.ToASCII(label)
	if err != nil {
		return false
	}
	_, icann := publicsuffix.PublicSuffix("a." + ascii)
	return icann
}

// urlEnd returns where the part of a URL that starts at i, after its scheme, ends: at
// what cannot be in one, without the punctuation of the sentence around it, and without
// brackets that were opened outside of it.
func (s *scanner) urlEnd(i int) int {
	start, end := i, i
	slashes, deep := 0, false // whether a first part of the path is over
	for end < len(s.text) {
		r, n := char.Decode(s.text, end)
		if char.IsUnspaced(r) && unicode.IsLetter(r) {
			// In text without spaces, what follows the first slash is rather that text.
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

// longestForeign is the most bytes that a title in a script without spaces has in a URL.
const longestForeign = 120

// foreignPath returns the length of the title, in a script without spaces, that starts
// at i: 0 where it is rather the text behind the URL.
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

// hostEnd returns where the host name that starts at i ends: labels of letters,
// digits and hyphens with dots between them.
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

// domain returns the length of the URL without a scheme that starts here:
// example.com, www.example.org:80/path?x=1. Its last label is in lower case and a
// public suffix, so "end.Start" and "Node.js" do not count.
func (s *scanner) domain() int {
	if s.pos < s.noHost {
		return 0
	}
	end := s.hostEnd(s.pos)
	host := s.text[s.pos:end]
	if !isDomain(host) && (host != "localhost" || s.byte(end) != ':' || !char.IsASCIIDigit(s.byte(end+1))) {
		// What ends the same does not count either. A shorter label at the start changes
		// nothing about the suffix.
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
