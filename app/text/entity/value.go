package entity

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// alternatives returns further readings of a number by the text behind it: an hour in the other way of counting, a decade,
// thousands or millions.
func (r *reader) alternatives(value string, plain bool) []string {
	rest := r.text[r.pos:]
	var list []string
	if plain {
		list = r.hours(value)
	}
	if plain && len(value) == 4 && value[3] == '0' && (strings.HasPrefix(rest, "s") || strings.HasPrefix(rest, "'s")) {
		list = append(list, integer(value[2:]))
	}
	if century, ok := strings.CutSuffix(value, "00"); ok && plain && isBelow(century, 100) && strings.HasPrefix(rest, "s") {
		n, _ := strconv.Atoi(century) // the 1700s
		list = append(list, strconv.Itoa(n+1))
	}
	before, _ := char.Decode(rest, 0)
	if char.OneOfRunes(before, "月월/") || plain && strings.HasSuffix(r.text[:r.pos-len(digitsBefore(r.text[:r.pos]))], "/") {
		list = append(list, monthReading(value)...)
	}
	for _, exponent := range beside().powers[nextWord(rest)] {
		list = append(list, shift(value, exponent))
	}
	return list
}

// eras are the years before the first year of Japanese eras.
var eras = map[string]int{"令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "明治": 1867,
	"Reiwa ": 2018, "Heisei ": 1988, "Showa ": 1925, "Shōwa ": 1925, "Taisho ": 1911, "Taishō ": 1911, "Meiji ": 1867}

// yearOfEra returns the year of the digits at start, or "" if no era stands before them.
func (r *reader) yearOfEra(start int, digits string) string {
	n, err := strconv.Atoi(digits)
	if err != nil || n >= 100 {
		return ""
	}
	for era, year := range eras {
		if strings.HasSuffix(r.text[:start], era) {
			return strconv.Itoa(year + n)
		}
	}
	return ""
}

// digitsBefore returns the digits at the end of text.
func digitsBefore(text string) string { return text[len(strings.TrimRight(text, "0123456789")):] }

// hours returns both readings of a number as an hour, in 12 and 24 hours, if the text behind it makes it an hour; otherwise nil.
func (r *reader) hours(value string) []string {
	if !isHour(r.text[r.pos:]) {
		return nil
	}
	return bothHours(value)
}

// bothHours returns the readings of a number as an hour, or nil.
func bothHours(value string) []string {
	hour, err := strconv.Atoi(value)
	if err != nil || hour > 24 {
		return nil
	}
	return []string{strconv.Itoa(hour % 12), strconv.Itoa(hour%12 + 12)}
}

// isHour reports whether the text behind a number makes it an hour.
func isHour(rest string) bool {
	c, n := char.Decode(rest, 0)
	if char.OneOfRunes(c, "时時點点시") {
		return true
	}
	if c == 'h' || c == 'H' {
		next, _ := char.Decode(rest, n)
		return !unicode.IsLetter(next)
	}
	switch strings.ReplaceAll(nextWord(rest), ".", "") {
	case "am", "pm", "uhr", "heure", "heures", "uur", "hora", "horas":
		return true
	}
	return false
}

// nextWord returns the word at the start of text, behind at most one space, in lower case and with dots as in p.m. It returns ""
// if there is no word, or a long one.
func nextWord(text string) string {
	const longest = 24 // bytes
	start := 0
	if c, n := char.Decode(text, 0); char.IsSpace(c) {
		start = n
	}
	for i := start; ; {
		c, n := char.Decode(text, i)
		if n == 0 || !unicode.IsLetter(c) && !unicode.IsMark(c) && (c != '.' || i-start > len("p.m")) {
			return strings.ToLower(text[start:i])
		}
		if i += n; i-start > longest {
			return ""
		}
	}
}

// cjkDigits and cjkPowers are the digits and powers of ten of Chinese, Japanese and Korean numbers.
var (
	cjkDigits = map[rune]int64{'〇': 0, '零': 0, '一': 1, '二': 2, '两': 2, '兩': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9}
	cjkPowers = map[rune]int{'十': 1, '십': 1, '百': 2, '백': 2, '千': 3, '천': 3, '万': 4, '萬': 4, '만': 4, '億': 8, '亿': 8, '억': 8, '兆': 12, '조': 12}
)

// IsPower reports whether r is a power of ten, as in 3万.
func IsPower(r rune) bool { return cjkPowers[r] > 0 }

func isHanzi(r rune) bool { return r >= 0x3000 && r < 1<<16 && hanzi[r>>6]>>(r&63)&1 != 0 }

// hanzi are the characters of cjkDigits and cjkPowers, as a set of bits.
var hanzi = func() (set [1 << 10]uint64) {
	for r := range cjkDigits {
		set[r>>6] |= 1 << (r & 63)
	}
	for r := range cjkPowers {
		set[r>>6] |= 1 << (r & 63)
	}
	return set
}()

// hanzi reads a number written with characters for powers of ten, such as 3万5千 or 二千二十四, or with Chinese digits, such as 二〇二四.
// first are plain digits before i, or "". end is i if there is no number or an implausibly large one.
//
// From 万 on, a character multiplies all before it up to the next larger one; smaller characters multiply only the digit before
// them.
func (r *reader) hanzi(first string, i int) (value string, end int) {
	var total, section int64
	number, _ := strconv.ParseInt("0"+first, 10, 64)
	if len(first) > 12 {
		return "", i
	}
	start, pending := i, first != ""
	for i < len(r.text) {
		c, n := char.Decode(r.text, i)
		digit, isDigit := cjkDigits[c]
		exponent := r.exponentAt(i)
		switch {
		case isDigit && (first == "" || i > start):
			number, pending = number*10+digit, true
		case exponent >= 4:
			if pending {
				section += number
			}
			if section > tenTo(16-exponent) {
				return "", start
			}
			total += max(section, 1) * tenTo(exponent)
			section, number, pending = 0, 0, false
		case exponent > 0:
			if !pending {
				number = 1
			}
			section += number * tenTo(exponent)
			number, pending = 0, false
		case i > start && !pending && char.IsASCIIDigit(r.text[i]):
			digits := digitsAt(r.text, i)
			if len(digits) > 4 {
				return "", start
			}
			number, _ = strconv.ParseInt(digits, 10, 64)
			pending, n = true, len(digits)
		default:
			return strconv.FormatInt(total+section+number, 10), i
		}
		if i += n; number > tenTo(12) || total > tenTo(16) {
			return "", start
		}
	}
	return strconv.FormatInt(total+section+number, 10), i
}

// hanziFraction reads a percentage or fraction in characters: 百分之二十, 四分之三, 三分の一.
func (r *reader) hanziFraction() (n numeral, ok bool) {
	digits := digitsAt(r.text, r.pos)
	below, end := digits, r.pos+len(digits)
	if digits == "" {
		below, end = r.hanzi("", r.pos)
	}
	if end == r.pos && strings.HasPrefix(r.text[r.pos:], "百分之") {
		below, end = "100", r.pos+len("百")
	}
	rest := r.text[end:]
	if !strings.HasPrefix(rest, "分之") && !strings.HasPrefix(rest, "分の") {
		return n, false
	}
	at := end + len("分之")
	above, end := r.hanzi("", at)
	if end == at {
		if above = digitsAt(r.text, at); above == "" {
			return n, false
		}
		end = at + len(above)
	}
	n = numeral{start: r.pos, end: end, word: true, optional: true}
	if r.pos = end; below == "100" {
		n.readings, n.unit = []string{above}, unit{ids: []string{percent}, sign: true}
	} else {
		n.readings = []string{above + "/" + below}
		if decimal := fractions[n.readings[0]]; decimal != "" {
			n.readings = append(n.readings, decimal)
		}
	}
	return n, true
}

// isSure reports whether Chinese digits are certainly a number: a digit before a power of ten, as in 二十五万 and 百二十, but not 万一.
func isSure(digits string) bool {
	first, n := char.Decode(digits, 0)
	second, _ := char.Decode(digits, n)
	return cjkDigits[first] > 0 && cjkPowers[second] > 0 && len(digits) > n ||
		utf8.RuneCountInString(digits) > 2 && strings.ContainsFunc(digits, IsPower)
}

// exponentAt returns the power of ten of the character at i, or 0 if it starts a unit: 千克 is the kilogram.
func (r *reader) exponentAt(i int) int {
	c, n := char.Decode(r.text, i)
	if c == '千' {
		if next, _ := char.Decode(r.text, i+n); char.OneOfRunes(next, "米克瓦卡赫伏") {
			return 0
		}
	}
	return cjkPowers[c]
}

// exponents returns the sum of the exponents here, as in 1.5百万, and their end.
func (r *reader) exponents() (sum, end int) {
	end = r.pos
	for end < len(r.text) && sum <= 24 {
		exponent := r.exponentAt(end)
		if exponent == 0 {
			break
		}
		sum += exponent
		_, n := char.Decode(r.text, end)
		end += n
	}
	return sum, end
}

func tenTo(exponent int) int64 {
	value := int64(1)
	for range exponent {
		value *= 10
	}
	return value
}

const romanDigits = "IVXLCDM"

// romanEndings are the endings of Roman ordinals, as in "XXe siècle".
var romanEndings = strings.Fields("e er re es ème eme è ste th º ª")

// roman reads the Roman numeral here, as in "XXe siècle". end is the current position if there is none.
func (r *reader) roman() (value string, end int) {
	const longest = len("MMMDCCCLXXXVIII")
	end = r.pos
	for end < len(r.text) && end-r.pos <= longest && char.OneOf(r.text[end], romanDigits) {
		end++
	}
	letters := r.text[r.pos:end]
	if letters == "" || len(letters) == 1 && (char.OneOf(letters[0], "LCDM") || !r.isNumbered(end)) {
		return "", r.pos
	}
	n := romanValue(letters)
	if n == 0 {
		return "", r.pos
	}
	if next, _ := char.Decode(r.text, end); unicode.IsLetter(next) {
		if word := nextWord(r.text[end:]); unicode.IsUpper(next) && word != "e" || !slices.Contains(romanEndings, word) {
			return "", r.pos // a word, such as Mix
		}
	}
	return strconv.Itoa(n), end
}

// isNumbered reports whether a single letter that ends at byte end is a numeral: it stands behind a name or has an ending.
func (r *reader) isNumbered(end int) bool {
	next, _ := char.Decode(r.text, end)
	before := strings.TrimRight(r.text[max(0, r.pos-longestWord):r.pos], " ")
	name := before[len(strings.TrimRightFunc(before, unicode.IsLetter)):]
	return next == '.' || unicode.IsLetter(next) || unicode.IsUpper(char.First(name)) && len(name) > 2 || strings.HasPrefix(name, "sig") || strings.HasPrefix(name, "siè")
}

// romanValue returns the value of a Roman numeral, or 0 for other letters.
func romanValue(letters string) int {
	if !romanForm.MatchString(letters) {
		return 0
	}
	total, before := 0, 0
	for _, letter := range letters {
		value := [...]int{1, 5, 10, 50, 100, 500, 1000}[strings.IndexRune(romanDigits, letter)]
		if total += value; before < value {
			total -= 2 * before // IV
		}
		before = value
	}
	return total
}

var romanForm = regexp.MustCompile(`^M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})$`)
