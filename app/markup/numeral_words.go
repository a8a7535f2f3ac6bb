package markup

import (
	"strconv"
	"strings"
	"unicode"
)

// alternatives returns what else a number may be for what is written behind it: an
// hour in the other way to count, a decade, or so many thousands or millions.
func (r *reader) alternatives(value string, plain bool) []string {
	rest := r.text[r.pos:]
	var list []string
	if plain {
		list = r.hours(value)
	}
	if plain && len(value) == 4 && value[3] == '0' && (strings.HasPrefix(rest, "s") || strings.HasPrefix(rest, "'s")) {
		list = append(list, integer(value[2:]))
	}
	for _, exponent := range scales[nextWord(rest)] {
		list = append(list, shift(value, exponent))
	}
	return list
}

// hours returns both ways to count the hour that a number is for what is written behind it,
// nil where it is none.
func (r *reader) hours(value string) []string {
	hour, err := strconv.Atoi(value)
	if err != nil || hour > 24 || !isHour(r.text[r.pos:]) {
		return nil
	}
	return []string{strconv.Itoa(hour % 12), strconv.Itoa(hour%12 + 12)}
}

// isHour says whether text that follows a number makes an hour of it.
func isHour(rest string) bool {
	c, n := decode(rest, 0)
	if oneOfRunes(c, ":：時时點点시") {
		return true
	}
	if c == 'h' || c == 'H' {
		next, _ := decode(rest, n)
		return !unicode.IsLetter(next)
	}
	switch strings.ReplaceAll(nextWord(rest), ".", "") {
	case "am", "pm", "uhr", "heure", "heures", "uur", "hora", "horas":
		return true
	}
	return false
}

// nextWord returns the word at the start of text, after one space at most, in lower
// case, with the dots of p.m.; "" where there is none or a long one.
func nextWord(text string) string {
	const longest = 24 // bytes
	start := 0
	if c, n := decode(text, 0); isSpace(c) {
		start = n
	}
	for i := start; ; {
		c, n := decode(text, i)
		if n == 0 || !unicode.IsLetter(c) && !unicode.IsMark(c) && (c != '.' || i-start > len("p.m")) {
			return strings.ToLower(text[start:i])
		}
		if i += n; i-start > longest {
			return ""
		}
	}
}

// scales are words for powers of ten in languages that are translated often; where
// a word is missing, the number before it is compared alone. A table of constants:
// it is never changed.
var scales = func() map[string][]int {
	table := map[string][]int{"billion": {9, 12}, "billions": {9, 12}, "trillion": {12, 18}, "trillions": {12, 18}}
	for exponent, words := range map[int]string{
		3: "k thousand mille milliers tausend mil mila duizend tusen tusind tisíc tys tys. tysięcy tysiące tyś tuhat tuhatta " +
			"тыс тыс. тысяч тысячи тысяча тис тисяч хиляди bin ribu nghìn ngàn ألف آلاف हज़ार हजार พัน",
		5: "lakh lakhs लाख",
		6: "million millions mio mio. millionen millón millones milhão milhões milione milioni miljoen miljon miljoner " +
			"millioner milion miliony milionów milionů mln mln. milióny miljoona miljoonaa млн млн. миллион миллиона " +
			"миллионов мільйон мільйонів милиона milyon juta triệu مليون ملايين ล้าน",
		7: "crore crores करोड़ करोड",
		9: "bn milliard milliards milliarde milliarden mrd mrd. miliardo miliardi miljard miljarder milliarder bilhão " +
			"bilhões mld mld. miliard miliardy miliardów miliardů miljardi miljardia млрд млрд. миллиард миллиарда " +
			"миллиардов мільярд мільярдів милиарда milyar miliar tỷ مليار",
		12: "billón billones billionen trilhão trilhões bilion bilionów biljoen biljoner трлн трлн. триллион триллионов " +
			"trilyon triliun",
	} {
		for _, word := range strings.Fields(words) {
			table[word] = append(table[word], exponent)
		}
	}
	return table
}()

// hanziDigit returns the value of a Chinese digit, -1 for any other character.
func hanziDigit(r rune) int64 {
	if r < '〇' {
		return -1
	}
	switch r {
	case '〇', '零':
		return 0
	case '兩', '两':
		return 2
	}
	for i, digit := range "一二三四五六七八九" {
		if r == digit {
			return int64(i/len("一")) + 1
		}
	}
	return -1
}

// numeralExponent returns the power of ten that a Chinese, Japanese or Korean
// character multiplies the number before it by, 0 for any other character.
func numeralExponent(r rune) int {
	switch r {
	case '十', '십':
		return 1
	case '百', '백':
		return 2
	case '千', '천':
		return 3
	case '万', '萬', '만':
		return 4
	case '億', '亿', '억':
		return 8
	case '兆', '조':
		return 12
	}
	return 0
}

// cjk reads on behind first, plain digits or none, a number that is written with
// characters for powers of ten, such as 3万5千 or 二千二十四, or with Chinese digits,
// such as 二〇二四. end is i where there is none, or one too large to be meant.
//
// From 万 on a character multiplies all that stands before it and after the next
// larger one, the others only the digit before them.
func (r *reader) cjk(first string, i int) (value string, end int) {
	var total, section, number int64
	if first != "" {
		var err error
		if number, err = strconv.ParseInt(first, 10, 64); err != nil || len(first) > 12 {
			return "", i
		}
	}
	start, pending := i, first != ""
	for i < len(r.text) {
		c, n := decode(r.text, i)
		digit, exponent := hanziDigit(c), r.exponentAt(i)
		switch {
		case digit >= 0 && (first == "" || i > start):
			number, pending = number*10+digit, true
		case exponent >= 4:
			if pending {
				section += number
			}
			if section > power(16-exponent) {
				return "", start
			}
			total += max(section, 1) * power(exponent)
			section, number, pending = 0, 0, false
		case exponent > 0:
			if !pending {
				number = 1
			}
			section += number * power(exponent)
			number, pending = 0, false
		case i > start && !pending && unicode.IsDigit(c):
			digits, next := digitRun(r.text, i)
			if len(digits) > 4 {
				return "", start
			}
			number, _ = strconv.ParseInt(digits, 10, 64)
			pending, n = true, next-i
		default:
			return strconv.FormatInt(total+section+number, 10), i
		}
		if i += n; number > power(12) || total > power(16) {
			return "", start
		}
	}
	return strconv.FormatInt(total+section+number, 10), i
}

// exponentAt is numeralExponent of the character at i, 0 where that is the start of
// a unit: 千克 is the kilogram.
func (r *reader) exponentAt(i int) int {
	c, n := decode(r.text, i)
	if c == '千' {
		if next, _ := decode(r.text, i+n); oneOfRunes(next, "米克瓦卡赫伏") {
			return 0
		}
	}
	return numeralExponent(c)
}

// exponents returns the sum of those that stand here, as in 1.5百万.
func (r *reader) exponents() (sum, end int) {
	end = r.pos
	for end < len(r.text) && sum <= 24 {
		exponent := r.exponentAt(end)
		if exponent == 0 {
			break
		}
		sum += exponent
		_, n := decode(r.text, end)
		end += n
	}
	return sum, end
}

func power(exponent int) int64 {
	value := int64(1)
	for range exponent {
		value *= 10
	}
	return value
}

const romanDigits = "IVXLCDM"

// roman reads the Roman numeral here, as in "XXe siècle". end is the position of
// the reader where there is none.
func (r *reader) roman() (value string, end int) {
	const longest = len("MMMDCCCLXXXVIII")
	end = r.pos
	for end < len(r.text) && end-r.pos <= longest && oneOf(r.text[end], romanDigits) {
		end++
	}
	letters := r.text[r.pos:end]
	n := romanValue(letters)
	if n == 0 || len(letters) == 1 && oneOf(letters[0], "LCDM") {
		return "", r.pos
	}
	if next, _ := decode(r.text, end); unicode.IsLetter(next) {
		switch nextWord(r.text[end:]) {
		case "e", "er", "re", "es", "ème", "eme", "è", "ste", "th", "º", "ª":
		default:
			return "", r.pos // a word, such as Mix
		}
	}
	return strconv.Itoa(n), end
}

// romanValue returns 0 for letters that are no Roman numeral.
func romanValue(letters string) int {
	total := 0
	for _, step := range []struct {
		sign        string
		value, most int
	}{
		{"M", 1000, 3}, {"CM", 900, 1}, {"D", 500, 1}, {"CD", 400, 1}, {"C", 100, 3}, {"XC", 90, 1},
		{"L", 50, 1}, {"XL", 40, 1}, {"X", 10, 3}, {"IX", 9, 1}, {"V", 5, 1}, {"IV", 4, 1}, {"I", 1, 3},
	} {
		for times := 0; times < step.most && strings.HasPrefix(letters, step.sign); times++ {
			total, letters = total+step.value, letters[len(step.sign):]
		}
	}
	if letters != "" {
		return 0
	}
	return total
}
