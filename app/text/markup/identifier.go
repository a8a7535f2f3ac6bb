package markup

import (
	"regexp"
	"strings"
	"unicode"

	"dragoman/app/text/char"
	"dragoman/app/text/entity"
)

// longestIdentifier is the maximum length in bytes of an identifier.
const longestIdentifier = 128

// codeName returns the length of the identifier of digits that starts with the ASCII letter or digit here: an identifier names one
// thing and is not a number. Models group its digits and drop some. Identifiers of letters and digits are held by their shape.
func (s *scanner) codeName() int {
	if r := s.before(); !strings.ContainsAny(s.rest(len("ISBN 9")), digits+":") || char.IsWord(r) || char.OneOfRunes(r, "-._@") {
		return 0
	}
	m := names.FindString(s.rest(longestIdentifier))
	if trimmed := trimURL(m); strings.ContainsAny(m, "/:") {
		m = trimmed
	}
	if m != "" && s.endsName(s.pos+len(m)) && isVersion(m) {
		return len(m)
	}
	return 0
}

// endsName reports whether an identifier may end at i: neither a word nor a number continues there.
func (s *scanner) endsName(i int) bool {
	r, n := char.Decode(s.text, i)
	return !char.IsWord(r) && r != '_' && !(char.OneOfRunes(r, ".:-") && char.IsASCIIDigit(s.byte(i+n)))
}

// names matches identifiers that are numbers by their shape, or have spaces.
var names = regexp.MustCompile(`^(?:10\.\d{4,9}/[!#-;=?-~]+` + // DOI
	`|\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?` + // dates and times of ISO 8601
	`|[A-Za-z]:\\[^\s"<>|*?]*[^\s"<>|*?.,;:!)]` +
	`|\d{1,2}:\d\d(?::\d\d)?[.,]\d{2,3}|\d{1,2}:\d\d:\d\d` +
	`|\d+(?:\.\d+){2,}(?:/\d{1,2}|:\d{1,5}|[+-][a-z][\w.]*\w)?` + // a version, an address of a network
	`|(?:ISBN )?(?:97[89][- ](?:\d{1,7}[- ]){3}|\d{1,5}-\d{1,7}-\d{1,7}-)[\dX]` + // ISBN
	`|[A-Z]{2}\d\d(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,4})?` + // IBAN
	`|0\d{2,5}(?:[ -]| ?/ ?)\d{3,}(?:[ -]\d{2,})*|\d{3}[.-](?:\d{3}[.-])?\d{4}|\d{10,})`) // a telephone number, a time stamp

// isVersion reports whether numbers with dots are neither grouped thousands nor a date.
func isVersion(text string) bool {
	groups := strings.Split(text, ".")
	return len(groups) == 1 || strings.Trim(text, "0123456789.") != "" || !entity.IsGrouped(groups) && (len(groups) != 3 || !entity.IsDate(groups))
}

func countDigits(text string) int {
	return strings.Count(strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return '0'
		}
		return r
	}, text), "0")
}

// signedName returns the length of the identifier that starts with a sign here: a time of lyrics or subtitles in brackets, a
// telephone number, a colour.
func (s *scanner) signedName() int {
	if c := s.text[s.pos]; !char.OneOf(c, "[<(+#") {
		return 0
	}
	m := signedNames.FindString(s.rest(longestName))
	switch {
	case m == "" || char.IsWord(s.before()):
	case m[0] == '+' && countDigits(m) < leastPhone, m[0] == '#' && countDigits(m) == 0: // +500 km, #add
	case char.OneOf(m[len(m)-1], "]>"), s.endsName(s.pos + len(m)):
		return len(m)
	}
	return 0
}

// leastPhone is the minimum number of digits of a telephone number with its country code.
const leastPhone = 7

var signedNames = regexp.MustCompile(`^(?:\[\d{1,3}:\d\d(?:[:.]\d{2,3}){0,2}\]|<\d{1,3}:\d\d(?:[:.]\d{2,3}){1,2}>` +
	`|\(\d{2,5}\) ?\d{3,4}[- ]?\d{3,4}|\+\d{1,3}[ -]?(?:\(0\) ?)?\(?\d{1,5}\)?(?:[ -]?\d{2,8}){1,5}` +
	`|#(?:\d+\b|[0-9a-fA-F]{8}|[0-9a-fA-F]{6}|[0-9a-fA-F]{3}))`)
