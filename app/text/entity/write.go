package entity

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// Write returns a number of a Chinese, Japanese or Korean text as it is written in another language: 85000 for 8万5千, and a time
// or date in its form. It returns other numbers, and numbers for these languages, unchanged.
func Write(number, lang string) string {
	if lang == "zh" || lang == "ja" || lang == "ko" {
		return number
	}
	if m := eastDate.FindStringSubmatch(number); m != nil {
		if m[3] == "" {
			return number
		}
		month, _ := strconv.Atoi(m[2])
		if name := monthName(month, lang); name != "" {
			return strings.TrimSpace(m[3] + " " + name + " " + m[1])
		}
		if m[1] != "" {
			return m[1] + "-" + twoDigits(m[2]) + "-" + twoDigits(m[3])
		}
		return number
	}
	if m := eastTime.FindStringSubmatch(number); m != nil {
		return m[1] + ":" + twoDigits(cmp.Or(m[2], "00"))
	}
	if !eastNumber.MatchString(number) {
		return number
	}
	r := reader{text: plainNumbers(number), lexicon: &lexicon{}}
	digits := digitsAt(r.text, 0)
	r.pos = len(digits)
	if value, end := r.hanzi(digits, r.pos); end == len(r.text) {
		return value
	}
	return number
}

var (
	eastDate   = regexp.MustCompile(`^(?:(\d{4})[年년] ?)?(\d{1,2})[月월] ?(?:(\d{1,2})[日号號일])?$`)
	eastTime   = regexp.MustCompile(`^(\d{1,2})[時时點点시] ?(?:(\d{1,2})[分분])?$`)
	eastNumber = regexp.MustCompile(`^\d{1,9}[十百千万萬億亿兆만억조](?:\d{0,4}[十百千万萬])*$`)
)

func twoDigits(digits string) string {
	if len(digits) == 1 {
		return "0" + digits
	}
	return digits
}

// capitalMonths are the languages that write the names of months with a capital letter.
const capitalMonths = " af cy de el en fy ga id jv lb ms su sw tl tr "

// monthName returns the name of a month in a language with a lexicon, or "".
func monthName(month int, lang string) string {
	names := lexiconOf(lang).months
	if month < 1 || month > len(names) {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(names[month-1], "~"), "|")
	if strings.Contains(capitalMonths, " "+lang+" ") && name != "" {
		runes := []rune(name)
		return string(unicode.ToUpper(runes[0])) + string(runes[1:])
	}
	return name
}
