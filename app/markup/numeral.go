package markup

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// numeral is a number in a text and what it may mean.
type numeral struct {
	// readings are the values it may have, as decimal digits with a point and
	// without zeros that say nothing: 1,234 is 1234 or 1.234.
	readings []string
	// parts are the numbers it is made of where it may be no single one: a date with
	// dots, a time, a list. nil otherwise.
	parts []numeral
	// small says that a translation may spell it out, or leave it out: 0 to 12.
	small bool
	// time says that it is one of the day, or a ratio: its parts belong together.
	time bool
	// optional says that it is no digits but a word that may be a number: 三十, XX.
	optional bool
	// word says that it is one, in words: a translation that loses it and has another
	// number is wrong.
	word bool
	// part says that it is a part of a number in words that is not read: what the
	// numbers in words are of the whole text is not known then.
	part       bool
	start, end int // of words in the text; 0 of all others
}

// largestSmall is the largest number that a translation may spell out.
const largestSmall = 12

// readNumbers returns the numbers of a text in a language, and how many have a minus
// sign. Where the language is "", or one without a lexicon, those in words are left out.
func readNumbers(text, lang string) (list []numeral, negative int) {
	r := reader{text: text, lexicon: lexicons()[lang]}
	for r.pos < len(text) {
		c, n := decode(text, r.pos)
		word := r.inWord
		r.inWord = isWord(c)
		switch {
		case unicode.IsDigit(c), (c == '.' || c == ',') && r.startsFraction():
			if r.negative() {
				negative++
			}
			list = append(list, r.digits())
			r.inWord = true
			continue
		case hanziDigit(c) >= 0 || numeralExponent(c) > 0:
			if value, end := r.cjk("", r.pos); end > r.pos {
				n := numeral{readings: []string{value}, optional: true}
				if lang != "" && counted(text, end) {
					n.word, n.part = value != "1", isRange(text[r.pos:end])
				}
				list = append(list, n)
				r.pos = end
				continue
			}
		case !word && c < 0x80 && oneOf(byte(c), romanDigits):
			if value, end := r.roman(); end > r.pos {
				list = append(list, numeral{readings: []string{value}, optional: true})
				r.pos, r.inWord = end, true
				continue
			}
		}
		if !word && r.lexicon.most > 0 && unicode.IsLetter(c) {
			if n, ok := r.spelledNumber(); ok {
				list = append(list, n)
				continue
			}
		}
		r.pos += n
	}
	return r.joinWords(list), negative
}

// reader goes over a text once.
type reader struct {
	text   string
	pos    int
	inWord bool // the character before pos is part of a word

	lexicon lexicon // of the text's language
}

func (r *reader) isDigit(i int) bool {
	c, _ := decode(r.text, i)
	return unicode.IsDigit(c)
}

// startsFraction says whether a decimal sign here has digits behind it and none
// before it, as in "about .5".
func (r *reader) startsFraction() bool {
	before := r.before()[0]
	return r.isDigit(r.pos+1) && (isSpace(before) || isMinus(before) || before == '+' || unicode.In(before, unicode.Sc, unicode.Ps))
}

// before returns the three characters before here, the last one first, and spaces
// for those before the start.
func (r *reader) before() [3]rune {
	before := [3]rune{' ', ' ', ' '}
	for i, end := 0, r.pos; i < len(before) && end > 0; i++ {
		var n int
		before[i], n = utf8.DecodeLastRuneInString(r.text[:end])
		end -= n
	}
	return before
}

// negative says whether there is a minus sign, and no dash, before the number here.
func (r *reader) negative() bool {
	before := r.before()
	sign, other := before[0], before[1]
	if unicode.Is(unicode.Sc, sign) {
		sign, other = other, before[2]
	}
	return isMinus(sign) && (isSpace(other) || unicode.Is(unicode.Ps, other))
}

// digits reads the number here, which starts with a digit, or with a decimal sign
// and a digit behind it.
func (r *reader) digits() numeral {
	groups, seps := r.groups()
	if n, ok := r.time(groups); ok {
		return n
	}
	var n numeral
	n.readings, n.parts = read(groups, seps)
	plain := len(groups) == 1
	if plain {
		if value, end := r.cjk(groups[0], r.pos); end > r.pos {
			n.readings, r.pos = []string{value}, end
		}
	} else if exponent, end := r.exponents(); exponent > 0 {
		for i := range n.readings {
			n.readings[i] = shift(n.readings[i], exponent)
		}
		r.pos = end
	}
	if len(n.readings) > 0 {
		n.small = isSmall(n.readings[0])
		n.readings = append(n.readings, r.alternatives(n.readings[0], plain)...)
	}
	return n
}

// time reads what may be a time of the day, whose hour is read: 10:30. Both ways to count
// the hour are readings of it.
func (r *reader) time(groups []string) (n numeral, ok bool) {
	c, size := decode(r.text, r.pos)
	if len(groups) > 1 || len(groups[0]) > 2 || c != ':' && c != '：' {
		return n, false
	}
	minute, end := digitRun(r.text, r.pos+size)
	if next, _ := decode(r.text, end); len(minute) != 2 || next == ':' {
		return n, false
	}
	hour := numeral{readings: []string{integer(groups[0])}}
	hour.readings = append(hour.readings, r.hours(hour.readings[0])...)
	for _, reading := range hour.readings {
		n.readings = append(n.readings, reading+":"+minute)
	}
	n.parts, n.time = append([]numeral{hour}, each([]string{minute})...), true
	r.pos = end
	return n, true
}

// groups reads the digits here and what separates them: a dot, a comma, a space or
// an apostrophe, each in any of its forms. Spaces and apostrophes count between
// groups of three only, and before any other.
func (r *reader) groups() (groups []string, seps []byte) {
	if !r.isDigit(r.pos) {
		groups, seps = []string{"0"}, []byte{'.'} // .5
		r.pos++
	}
	for {
		group, end := digitRun(r.text, r.pos)
		groups, r.pos = append(groups, group), end
		c, n := decode(r.text, end)
		sep := separator(c)
		if sep == 0 {
			return groups, seps
		}
		next, _ := digitRun(r.text, end+n)
		switch {
		case next == "",
			c == '，' && !strings.HasSuffix(r.text[:end], string(fullWidth(group))):
			return groups, seps
		case sep == ' ' || sep == '\'':
			if len(next) != 3 || len(group) > 3 || len(seps) > 0 && (seps[0] != sep || seps[len(seps)-1] != sep || len(group) != 3) {
				return groups, seps
			}
		}
		seps = append(seps, sep)
		r.pos = end + n
	}
}

// fullWidth is the full-width form of the last digit of a group. Between others, a
// full-width comma is that of a sentence.
func fullWidth(group string) rune { return rune(group[len(group)-1]) - '0' + '０' }

func separator(r rune) byte {
	switch r {
	case '.', '．', '٫':
		return '.'
	case ',', '，', '٬':
		return ','
	case ' ', '\u00A0', '\u2009', '\u202F':
		return ' '
	case '\'', '’':
		return '\''
	}
	return 0
}

// digitRun returns the decimal digits at i in ASCII, and where they end.
func digitRun(text string, i int) (digits string, end int) {
	end = i
	for end < len(text) && isASCIIDigit(text[end]) {
		end++
	}
	if c, _ := decode(text, end); !unicode.IsDigit(c) {
		return text[i:end], end
	}
	var out strings.Builder
	for end = i; end < len(text); {
		c, n := decode(text, end)
		value, ok := digitValue(c)
		if !ok {
			break
		}
		out.WriteByte('0' + value)
		end += n
	}
	return out.String(), end
}

// read returns what groups of digits may mean together.
func read(groups []string, seps []byte) (readings []string, parts []numeral) {
	if len(seps) == 0 {
		return []string{integer(groups[0])}, nil
	}
	last := len(seps) - 1
	switch mixed := seps[0] != seps[last]; {
	case mixed && isGrouped(groups[:last+1]) && same(seps[:last]):
		return []string{canonical(strings.Join(groups[:last+1], ""), groups[last+1])}, nil
	case mixed:
		return nil, each(groups)
	case seps[0] == ' ':
		return []string{canonical(strings.Join(groups, ""), "")}, each(groups)
	case seps[0] == '\'':
		return []string{canonical(strings.Join(groups, ""), "")}, nil
	case last == 0:
		return readPair(groups, seps[0])
	case isGrouped(groups):
		return []string{canonical(strings.Join(groups, ""), "")}, nil
	case seps[0] == ',': // a list
		return nil, each(groups)
	case len(groups) == 3 && isDate(groups):
		return nil, each(groups)
	}
	return []string{strings.Join(groups, ".")}, nil // a version
}

// readPair reads two groups with a dot or a comma between them.
func readPair(groups []string, sep byte) (readings []string, parts []numeral) {
	whole, fraction := groups[0], groups[1]
	readings = []string{canonical(whole, fraction)}
	if len(fraction) == 3 && len(whole) <= 3 && whole[0] != '0' {
		readings = append(readings, canonical(whole+fraction, ""))
	}
	// 12.30 may be a time and 24.12 a day.
	if sep == '.' && len(whole) <= 2 && len(fraction) == 2 {
		parts = each(groups)
	}
	return readings, parts
}

// isGrouped says whether digits are grouped as thousands are, or as in India.
func isGrouped(groups []string) bool {
	last := len(groups) - 1
	if last == 0 || len(groups[last]) != 3 || groups[0][0] == '0' {
		return last == 0
	}
	size := len(groups[max(1, last-1)])
	if last > 1 && size != 2 && size != 3 || len(groups[0]) > max(size, 2) {
		return false
	}
	for _, group := range groups[1:last] {
		if len(group) != size {
			return false
		}
	}
	return true
}

// isDate says whether three groups may be a day, a month and a year.
func isDate(groups []string) bool {
	a, b, c := len(groups[0]), len(groups[1]), len(groups[2])
	return b <= 2 && (a == 4 && c <= 2 || a <= 2 && c == 4 || a == 2 && b == 2 && c == 2)
}

func same(seps []byte) bool {
	return strings.Count(string(seps), string(seps[:1])) == len(seps)
}

// each reads every group as a number of its own.
func each(groups []string) []numeral {
	list := make([]numeral, len(groups))
	for i, group := range groups {
		value := integer(group)
		list[i] = numeral{readings: []string{value}, small: isSmall(value)}
	}
	return list
}

// integer is the value of digits. Three or more with a zero at the start are a
// name, such as 007, and stay as they are; 05 is the fifth day or month.
func integer(digits string) string {
	if len(digits) >= 3 && digits[0] == '0' {
		return digits
	}
	return canonical(digits, "")
}

func canonical(whole, fraction string) string {
	whole, fraction = strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
	if whole == "" {
		whole = "0"
	}
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

// shift multiplies a value by a power of ten.
func shift(value string, exponent int) string {
	whole, fraction, _ := strings.Cut(value, ".")
	fraction += strings.Repeat("0", max(0, exponent-len(fraction)))
	return canonical(whole+fraction[:exponent], fraction[exponent:])
}

func isSmall(value string) bool {
	n, err := strconv.Atoi(value)
	return err == nil && n <= largestSmall && len(value) <= 2
}
