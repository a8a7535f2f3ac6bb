package markup

import (
	"regexp"
	"strings"
	"unicode"

	"dragoman/app/text/char"
)

// By the URL Standard, and for regular expressions that find URLs, a path may contain letters of any script, so that
// "https://example.com/をご覧ください" is one URL. The rules here are for text to be translated: letters of a script without spaces are
// part of a URL if the URL goes on behind them, as in "例え.jp", or if they are a title that ends it, as in
// "https://ja.wikipedia.org/wiki/東京", up to a particle that titles rarely contain. A name without a scheme is held by its shape.

// urlStart matches what only addresses start with: a scheme with two slashes, www., and schemes that are not followed by slashes.
var urlStart = regexp.MustCompile(`^(?:[A-Za-z][A-Za-z0-9+.-]{0,19}://|www\.|(?i:` +
	`about|acct|bitcoin|callto|cid|data|doi|ethereum|facetime|geo|im|intent|javascript|jabber|lightning|magnet|mailto|market|matrix|mid|` +
	`monero|news|nntp|openpgp4fpr|pkcs11|sips?|skype|slack|sms|smsto|spotify|ssh|steam|tel|telnet|urn|view-source|viber|web\+app|whatsapp|xmpp` +
	`):[\w+?/(%-])`)

// longestScheme is the maximum length in bytes of a scheme.
const longestScheme = 20

// url returns the length of the URL or URI that starts here: https://example.com, www.example.com, mailto:a@example.com,
// urn:isbn:0451450523.
func (s *scanner) url() int {
	colon := 0 // a check that is faster than the regular expression
	for colon < longestScheme && (char.IsIdent(s.at(colon)) || char.OneOf(s.at(colon), "+.-")) {
		colon++
	}
	if s.at(colon) != ':' && !strings.HasPrefix(s.text[s.pos:], "www.") || isIdentRune(s.before()) {
		return 0
	}
	start := s.pos + len(urlStart.FindString(s.rest(longestName)))
	if start == s.pos {
		return 0
	}
	end := s.urlEnd(start)
	if strings.IndexFunc(s.text[start:end], char.IsLetterOrDigit) < 0 && !char.IsIdent(s.text[start-1]) {
		return 0
	}
	return end - s.pos
}

// urlEnd returns the end of the part of a URL that starts at i, after its scheme. It stops at characters that a URL cannot
// contain, and leaves out punctuation of the sentence and brackets opened outside the URL.
func (s *scanner) urlEnd(i int) int {
	start, end := i, i
	for end < len(s.text) {
		r, n := char.Decode(s.text, end)
		if char.IsUnspaced(r) && unicode.IsLetter(r) {
			if n = s.foreignPart(start, end); n == 0 {
				break
			}
		} else if r <= ' ' || r == 0x7F || r < 0x80 && char.OneOf(byte(r), "<>\"`|\\^") || r >= 0x80 && !char.IsWord(r) {
			break
		}
		end += n
	}
	return start + len(trimURL(s.text[start:end]))
}

// longestForeign is the maximum length in bytes of a part of a URL in a script without spaces.
const longestForeign = 120

// foreignPart returns the length of the part of a URL, in a script without spaces, that starts at i, or 0 if it is more likely the
// text behind the URL, whose part without a scheme starts at start. A title stands behind a first path segment.
func (s *scanner) foreignPart(start, i int) int {
	end := char.Skip(s.text[:min(len(s.text), i+longestForeign)], i, func(r rune) bool {
		return char.IsUnspaced(r) && (unicode.IsLetter(r) || unicode.IsMark(r)) && !char.OneOfRunes(r, "をはがにでともへ은는을를")
	})
	next := s.byte(end)
	goesOn := char.IsASCIILetter(next) || char.OneOf(next, "./-_%") && s.byte(end+1) > ' '
	if !goesOn && strings.Count(s.text[start:i], "/") < 2 {
		return 0
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
