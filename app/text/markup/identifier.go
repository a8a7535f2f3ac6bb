package markup

import (
	"net/netip"
	"regexp"
	"strings"

	"dragoman/app/text/char"
	"dragoman/app/text/numbers"
)

// longestIdentifier is the most bytes that are looked at for one.
const longestIdentifier = 128

// codeName returns the length of the identifier that starts with the ASCII letter or digit
// here: what names one thing and is no number, however many digits it has. Models group
// the digits, leave some out, and translate the letters.
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
	// Plain digits name something only in a telephone number or an ISBN with spaces in it.
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

// endsName says whether an identifier may end at i: no word goes on there, and no number.
func (s *scanner) endsName(i int) bool {
	r, n := char.Decode(s.text, i)
	if char.IsWord(r) || r == '_' {
		return false
	}
	return !char.OneOfRunes(r, ".:-") || !char.IsASCIIDigit(s.byte(i+n))
}

// nameRun returns the length of what may belong to an identifier at the start of text,
// and how many digits it has.
func nameRun(text string) (n, digits int) {
	for n < len(text) && (isASCIIWord(text[n]) || char.OneOf(text[n], ".:/+-")) {
		if char.IsASCIIDigit(text[n]) {
			digits++
		}
		n++
	}
	return n, digits
}

// names are the identifiers, the longest forms of each beginning first. check looks at
// what is found.
var names = []struct {
	form    *regexp.Regexp
	address bool // with a part that may have any sign, without the punctuation behind it
	check   func(string) bool
}{
	// DOI, arXiv, URN and others that say what they are.
	{form: regexp.MustCompile(`^(?:(?i:doi):)?10\.\d{4,9}/[!#-;=?-~]+`), address: true},
	{form: regexp.MustCompile(`^(?i:arxiv|pmid|pmcid|oid|hdl|isbn|issn|swh|urn:[a-z0-9-]{2,31}):[!#-;=?-~]*\d[!#-;=?-~]*`), address: true},
	{form: regexp.MustCompile(`^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}`)}, // UUID
	// Dates and times of ISO 8601, the times of subtitles.
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
	// ISBN and telephone numbers, which are groups of digits.
	{form: regexp.MustCompile(`^97[89][- ]\d{1,5}[- ]\d{1,7}[- ]\d{1,7}[- ][\dX]`)},
	{form: regexp.MustCompile(`^\d+(?:-\d+)+-[\dX]+`)},
	{form: regexp.MustCompile(`^\d{3}[-.]\d{3,4}[-.]\d{4}|^\d{3}-\d{4}|^0\d{1,4}(?:[ /-]\d{2,8}){1,4}`)},
	// Numbers of products and norms: AB-1234-X, CVE-2024-1234, ISO-8859-1, 4TB2K9.
	{form: regexp.MustCompile(`^[A-Z0-9]+(?:-[A-Z0-9]+)+`), check: mixed(1)},
	{form: regexp.MustCompile(`^[A-Z0-9]{5,64}`), check: mixed(2)},
	{form: regexp.MustCompile(`^(?:[0-9a-f]{7,64}|0x[0-9a-fA-F]+)`), check: mixed(2)}, // a hash, an address
}

// isVersion says whether numbers with dots are neither grouped as thousands are nor a date.
func isVersion(text string) bool {
	if groups := strings.Split(text, "."); strings.Trim(text, "0123456789.") == "" {
		return !numbers.IsGrouped(groups) && (len(groups) != 3 || !numbers.IsDate(groups))
	}
	return true
}

func isIPv6(text string) bool {
	_, err := netip.ParseAddr(text)
	return err == nil
}

func isLongNumber(text string) bool { return countDigits(text) >= 8 }

// mixed returns a check for letters and so many digits.
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

// signedName returns the length of the identifier that starts with a sign here: a time of
// lyrics or subtitles in its brackets, a telephone number, a colour.
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

// leastPhone are the digits that a telephone number has at least, with its country's.
const leastPhone = 7

var signedNames = regexp.MustCompile(`^(?:\[\d{1,3}:\d\d(?:[:.]\d{2,3}){0,2}\]|<\d{1,3}:\d\d(?:[:.]\d{2,3}){1,2}>` +
	`|\(\d{2,5}\) ?\d{3,4}[- ]?\d{3,4}|\+\d{1,3}[ -]?(?:\(0\) ?)?\(?\d{1,5}\)?(?:[ -]?\d{2,8}){1,5}` +
	`|#(?:\d+\b|[0-9a-fA-F]{8}|[0-9a-fA-F]{6}|[0-9a-fA-F]{3}))`)
