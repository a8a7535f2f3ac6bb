package numbers

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// numeral is a number in a text with its possible meanings.
type numeral struct {
	// readings are the possible values, as decimal digits with a point and without redundant zeros: 1,234 is 1234 or 1.234.
	readings []string
	// parts are the numbers that it consists of if it may not be a single one: a date with dots, a time, a list. nil otherwise.
	parts []numeral
	// small reports whether a translation may spell it out: 0 to 12.
	small bool
	// time reports whether it is a time of day or a ratio: its parts belong together.
	time bool
	// optional reports whether it is not digits but a word that may be a number: 三十, XX.
	optional bool
	// word reports whether it is a number in words: a translation that lacks it and has another number is wrong.
	word bool
	// part reports whether it is part of a number in words that is not read: the numbers in words of the whole text are then
	// unknown.
	part bool
	// vague reports whether it is a word that rarely counts: an article, "neuf".
	vague bool
	// month reports whether it is the name of a month.
	month bool
	// held reports whether it is small and counts no noun, so that no article can stand for it; of a month, whether it stands
	// beside a number.
	held       bool
	start, end int // byte range of words in the text; 0 for all others
}

// largestSmall is the largest number that a translation may spell out.
const largestSmall = 12

// readNumbers returns the numbers of a text, and how many of them have a minus sign. If lang is "" or has no lexicon, numbers in
// words are left out.
func readNumbers(looks *char.Looks, text, lang string) (list []numeral, negative int) {
	r := reader{text: plainNumbers(text), looks: looks, lexicon: lexicons()[lang]}
	for at := 0; r.pos < len(r.text); {
		looks.Past(1 + r.pos - at)
		at = r.pos
		c, size := char.Decode(r.text, r.pos)
		word := r.inWord
		r.inWord = char.IsWord(c)
		if char.IsASCIIDigit(r.text[r.pos]) || (c == '.' || c == ',') && r.startsFraction() {
			if r.negative() {
				negative++
			}
			start := r.pos
			n := r.digits()
			n.held = n.small && r.isHeld(start)
			list = append(list, n)
			r.inWord = true
			continue
		}
		if n, ok := r.word(c, word, lang); ok {
			list = append(list, n)
			continue
		}
		r.pos += size
	}
	return r.joinWords(list), negative
}

// word reads a possible number at character c that is not digits: 三十, XX, twenty.
func (r *reader) word(c rune, inWord bool, lang string) (n numeral, ok bool) {
	n = numeral{optional: true}
	value, end := "", r.pos
	if isHanzi(c) {
		if value, end = r.hanzi("", r.pos); lang != "" && isCounter(r.text, end) {
			n.word, n.part = value != "1", isRange(r.text[r.pos:end])
		}
	} else if !inWord && c < 0x80 && char.OneOf(byte(c), romanDigits) {
		value, end = r.roman()
		r.inWord = r.inWord || end > r.pos
	}
	if end > r.pos {
		n.readings, r.pos = []string{value}, end
		if c, _ := char.Decode(r.text, end); c == '月' {
			n.readings = append(n.readings, monthReading(value)...)
		}
		return n, true
	}
	if inWord || r.lexicon.most == 0 || !unicode.IsLetter(c) {
		return n, false
	}
	return r.spelledNumber()
}

// plainNumbers converts the digits of all scripts and the signs inside numbers to ASCII. A full-width comma is punctuation unless
// it stands between full-width digits.
func plainNumbers(text string) string {
	wide := false // whether the character before is a full-width digit
	return strings.Map(func(r rune) rune {
		if r < 0x80 {
			wide = false
			return r
		}
		afterWide := wide
		wide = r >= '０' && r <= '９'
		switch r {
		case '．', '٫':
			return '.'
		case '٬':
			return ','
		case '，':
			if afterWide {
				return ','
			}
		case '\u00A0', '\u2009', '\u202F':
			return ' '
		case '’':
			return '\''
		case '−', '－':
			return '-'
		}
		return char.PlainDigit(r)
	}, text)
}

// reader makes a single pass over a text.
type reader struct {
	looks  *char.Looks
	text   string // converted by plainNumbers
	pos    int
	inWord bool // the character before pos is part of a word

	lexicon lexicon // of the text's language
}

// startsFraction reports whether a decimal sign here has digits behind it and none before it, as in "about .5".
func (r *reader) startsFraction() bool {
	before := char.Last(r.text[:r.pos])
	return digitsAt(r.text, r.pos+1) != "" && (char.IsSpace(before) || before == '-' || before == '+' || unicode.In(before, unicode.Sc, unicode.Ps))
}

// negative reports whether a minus sign, as opposed to a dash, precedes the number here.
func (r *reader) negative() bool {
	before := r.text[:r.pos]
	if c := char.Last(before); unicode.Is(unicode.Sc, c) {
		before = before[:len(before)-utf8.RuneLen(c)]
	}
	before, signed := strings.CutSuffix(before, "-")
	other := char.Last(before)
	return signed && (char.IsSpace(other) || unicode.Is(unicode.Ps, other))
}

// digits reads the number here, which starts with a digit or with a decimal sign before a digit.
func (r *reader) digits() numeral {
	groups, seps := r.groups()
	if n, ok := r.time(groups); ok {
		return n
	}
	var n numeral
	n.readings, n.parts = read(groups, string(seps))
	plain := len(seps) == 0
	if plain {
		if value, end := r.hanzi(groups[0], r.pos); end > r.pos {
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

// time reads a possible time of day whose hour has been read: 10:30. Its readings count the hour in both ways, with 12 and 24
// hours.
func (r *reader) time(groups []string) (n numeral, ok bool) {
	m := minute.FindStringSubmatch(r.text[r.pos:min(len(r.text), r.pos+len("：00:"))])
	if m == nil || len(groups) > 1 || len(groups[0]) > 2 {
		return n, false
	}
	hour := numeral{readings: []string{integer(groups[0])}}
	hour.readings = append(hour.readings, r.hours(hour.readings[0])...)
	for _, reading := range hour.readings {
		n.readings = append(n.readings, reading+":"+m[2])
	}
	n.parts, n.time = append([]numeral{hour}, each(m[2:])...), true
	r.pos += len(m[1] + m[2])
	return n, true
}

var minute = regexp.MustCompile(`^([:：])(\d\d)(?:[^\d:]|$)`)

// groups reads the digits here and their separators: dots, commas, spaces or apostrophes. Spaces and apostrophes separate only
// groups of three, and only before other separators.
func (r *reader) groups() (groups []string, seps []byte) {
	if !char.IsASCIIDigit(r.text[r.pos]) {
		groups, seps = []string{"0"}, []byte{'.'} // .5
		r.pos++
	}
	for {
		group := digitsAt(r.text, r.pos)
		groups, r.pos = append(groups, group), r.pos+len(group)
		r.looks.Past(1 + len(group))
		if r.pos == len(r.text) {
			return groups, seps
		}
		sep, next := r.text[r.pos], digitsAt(r.text, r.pos+1)
		switch {
		case !char.OneOf(sep, ".,' "), next == "":
			return groups, seps
		case char.OneOf(sep, "' "):
			if len(next) != 3 || len(group) > 3 || len(seps) > 0 && (seps[0] != sep || seps[len(seps)-1] != sep || len(group) != 3) {
				return groups, seps
			}
		}
		seps = append(seps, sep)
		r.pos++
	}
}

// digitsAt returns the ASCII digits at i.
func digitsAt(text string, i int) string {
	end := i
	for end < len(text) && char.IsASCIIDigit(text[end]) {
		end++
	}
	return text[min(i, end):end]
}

// read returns the possible meanings of groups of digits.
func read(groups []string, seps string) (readings []string, parts []numeral) {
	if seps == "" {
		return []string{integer(groups[0])}, nil
	}
	last := len(seps) - 1
	whole, all := groups[:len(groups)-1], strings.Join(groups, "")
	switch mixed := seps[0] != seps[last]; {
	case mixed && IsGrouped(whole) && strings.Trim(seps[:last], seps[:1]) == "":
		return []string{canonical(strings.Join(whole, ""), groups[len(whole)])}, nil
	case mixed:
		return nil, each(groups)
	case seps[0] == ' ':
		return []string{canonical(all, "")}, each(groups)
	case seps[0] == '\'':
		return []string{canonical(all, "")}, nil
	case last == 0:
		return readPair(groups[0], groups[1], seps)
	case IsGrouped(groups):
		return []string{canonical(all, "")}, nil
	case seps[0] == ',', IsDate(groups): // a list
		return nil, each(groups)
	}
	return []string{strings.Join(groups, ".")}, nil // a version
}

// readPair reads two groups separated by a dot or comma.
func readPair(whole, fraction, sep string) (readings []string, parts []numeral) {
	readings = []string{canonical(whole, fraction)}
	if len(fraction) >= 3 { // 1,200 may be thousands: then 1,2000 is another number
		readings[0] = canonical(whole, "") + "." + fraction
	}
	if len(fraction) == 3 && len(whole) <= 3 && whole[0] != '0' {
		readings = append(readings, canonical(whole+fraction, ""))
	}
	// 12.30 may be a time and 24.12 a day.
	if sep == "." && len(whole) <= 2 && len(fraction) == 2 {
		parts = each([]string{whole, fraction})
	}
	return readings, parts
}

// IsGrouped reports whether digits are grouped in thousands, or as in India.
func IsGrouped(groups []string) bool {
	return len(groups) == 1 || thousands.MatchString(strings.Join(groups, ","))
}

// IsDate reports whether groups may be a day, a month and a year.
func IsDate(groups []string) bool { return date.MatchString(strings.Join(groups, ".")) }

var (
	thousands = regexp.MustCompile(`^(?:[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d?(?:,\d\d)+,\d{3})$`)
	date      = regexp.MustCompile(`^(?:\d{4}\.\d\d?\.\d\d?|\d\d?\.\d\d?\.\d{4}|\d\d\.\d\d\.\d\d)$`)
)

// each reads each group as a number of its own.
func each(groups []string) []numeral {
	list := make([]numeral, len(groups))
	for i, group := range groups {
		value := integer(group)
		list[i] = numeral{readings: append([]string{value}, monthReading(value)...), small: isSmall(value)}
	}
	return list
}

// integer returns the value of digits. Three or more digits with a leading zero are a name, such as 007, and stay as they are; 05
// is the fifth day or month.
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

// monthReading returns the reading that a number shares with the name of a month.
func monthReading(value string) []string {
	if isSmall(value) && value != "0" {
		return []string{"month " + value}
	}
	return nil
}

// isHeld reports whether the number between byte start and the position counts no noun: it is a price, a day, a room number, a
// data field.
func (r *reader) isHeld(start int) bool {
	if unicode.Is(unicode.Sc, char.Last(strings.TrimRight(r.text[:start], " "))) {
		return true
	}
	rest := strings.TrimLeft(r.text[r.pos:], " ")
	c, _ := char.Decode(rest, 0)
	if !unicode.IsLetter(c) {
		return true
	}
	word, _ := r.lexicon.spelled(rest, 0)
	return isMonth(word.value) || char.OneOfRunes(c, "月号円元") || c == '日' && char.Last(r.text[:start]) == '月'
}

func isMonth(reading string) bool { return strings.HasPrefix(reading, "month") }

func isSmall(value string) bool {
	n, err := strconv.Atoi(value)
	return err == nil && n <= largestSmall && len(value) <= 2
}
