package markup

import (
	"net/netip"
	"regexp"
	"strings"

	"dragoman/app/text/char"
	"dragoman/app/text/entity"
)

// longestIdentifier is the maximum length in bytes of an identifier.
const longestIdentifier = 128

// codeName returns the length of the identifier that starts with the ASCII letter or digit here. An identifier names one thing
// and is not a number, even if it is all digits. Models group its digits, drop some, and translate its letters.
func (s *scanner) codeName() int {
	if s.pos < s.noName {
		return 0
	}
	rest := s.text[s.pos:min(len(s.text), s.pos+longestIdentifier)]
	run, digits := nameRun(rest)
	if digits == 0 {
		s.noName = s.pos + run
		return 0
	}
	// Plain digits are an identifier only in a telephone number or an ISBN with spaces.
	if r := s.before(); char.IsWord(r) || char.OneOfRunes(r, "-._@") || digits == run && rest[0] != '0' && rest[0] != '9' {
		return 0
	}
	for _, name := range names {
		m := name.form.FindString(rest)
		if name.address {
			m = trimURL(m)
		}
		if m != "" && s.endsName(s.pos+len(m)) && (name.check == nil || name.check(m)) {
			return len(m)
		}
	}
	return 0
}

// endsName reports whether an identifier may end at i: neither a word nor a number continues there.
func (s *scanner) endsName(i int) bool {
	r, n := char.Decode(s.text, i)
	if char.IsWord(r) || r == '_' {
		return false
	}
	return !char.OneOfRunes(r, ".:-") || !char.IsASCIIDigit(s.byte(i+n))
}

// nameRun returns the length of the run at the start of text that may belong to an identifier, and its number of digits.
func nameRun(text string) (n, digits int) {
	for n < len(text) && (isASCIIWord(text[n]) || char.OneOf(text[n], ".:/+-")) {
		if char.IsASCIIDigit(text[n]) {
			digits++
		}
		n++
	}
	return n, digits
}

// names are the forms of identifiers. Forms with a common beginning are ordered longest first. check, if set, must accept the
// match.
var names = []struct {
	form    *regexp.Regexp
	address bool // has a part that may contain any sign; punctuation at its end is cut off
	check   func(string) bool
}{
	// Identifiers with a scheme: DOI, arXiv, URN and others.
	{form: regexp.MustCompile(`^(?:(?i:doi):)?10\.\d{4,9}/[!#-;=?-~]+`), address: true},
	{form: regexp.MustCompile(`^(?i:arxiv|pmid|pmcid|oid|hdl|isbn|issn|swh|urn:[a-z0-9-]{2,31}):[!#-;=?-~]*\d[!#-;=?-~]*`), address: true},
	{form: regexp.MustCompile(`^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}`)}, // UUID
	// Dates and times of ISO 8601; times of subtitles.
	{form: regexp.MustCompile(`^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?`)},
	{form: regexp.MustCompile(`^\d{1,2}:\d\d(?::\d\d)?[.,]\d{2,3}`)},
	{form: regexp.MustCompile(`^\d{1,2}:\d\d:\d\d`)},
	{form: regexp.MustCompile(`^(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}`)}, // MAC
	{form: regexp.MustCompile(`^(?:\d{1,3}\.){3}\d{1,3}(?:/\d{1,2}|:\d{1,5})?`)},
	{form: regexp.MustCompile(`^[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:]{2,40}`), check: isIPv6},
	// Versions: 10.0.19045, v2, 1.2.3-rc.1+5.
	{form: regexp.MustCompile(`^(?:[vV]\d+(?:\.\d+)*|\d+(?:\.\d+){2,})(?:[-+][0-9A-Za-z]+(?:[.+-][0-9A-Za-z]+)*)?`), check: isVersion},
	// IBAN, with or without spaces.
	{form: regexp.MustCompile(`^[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3}|[A-Z0-9]{1,3})?`), check: isLongNumber},
	// ISBN and telephone numbers: groups of digits.
	{form: regexp.MustCompile(`^97[89][- ]\d{1,5}[- ]\d{1,7}[- ]\d{1,7}[- ][\dX]`)},
	{form: regexp.MustCompile(`^\d+(?:-\d+)+-[\dX]+`)},
	{form: regexp.MustCompile(`^\d{3}[-.]\d{3,4}[-.]\d{4}|^\d{3}-\d{4}|^0\d{1,4}(?:[ /-]\d{2,8}){1,4}`)},
	// Numbers of products and standards: AB-1234-X, CVE-2024-1234, ISO-8859-1, 4TB2K9.
	{form: regexp.MustCompile(`^[A-Z0-9]+(?:-[A-Z0-9]+)+`), check: mixed(1)},
	{form: regexp.MustCompile(`^[A-Z0-9]{5,64}`), check: mixed(2)},
	{form: regexp.MustCompile(`^(?:[0-9a-f]{7,64}|0x[0-9a-fA-F]+)`), check: mixed(2)}, // a hash, an address
}

// isVersion reports whether numbers with dots are neither grouped thousands nor a date.
func isVersion(text string) bool {
	if groups := strings.Split(text, "."); strings.Trim(text, "0123456789.") == "" {
		return !entity.IsGrouped(groups) && (len(groups) != 3 || !entity.IsDate(groups))
	}
	return true
}

func isIPv6(text string) bool {
	_, err := netip.ParseAddr(text)
	return err == nil
}

func isLongNumber(text string) bool { return countDigits(text) >= 8 }

// mixed returns a check for at least one letter and the given number of digits.
func mixed(digits int) func(string) bool {
	return func(text string) bool {
		n := countDigits(text)
		return n >= digits && strings.ContainsFunc(text, func(r rune) bool { return r < 0x80 && char.IsASCIILetter(byte(r)) })
	}
}

func countDigits(text string) int {
	n := 0
	for i := range len(text) {
		if char.IsASCIIDigit(text[i]) {
			n++
		}
	}
	return n
}

// signedName returns the length of the identifier that starts with a sign here: a time of lyrics or subtitles in brackets, a
// telephone number, a colour.
func (s *scanner) signedName() int {
	if c := s.text[s.pos]; !char.OneOf(c, "[<(+#") {
		return 0
	}
	m := signedNames.FindString(s.text[s.pos:min(len(s.text), s.pos+longestName)])
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
