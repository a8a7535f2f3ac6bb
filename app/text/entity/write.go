package entity

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Write returns a number, date or time of a text in language from as it is written in language to: 85000 for 8万5千, 10 km for
// 10公里, 1991年8月30日 for 30 August 1991. It returns numbers that need no change, and those that it cannot read, unchanged.
func Write(number, from, to string) string {
	day, ok := dateOf(number, from)
	switch {
	case from == to, isEastern(to) && (!ok || eastDate.MatchString(number)):
		return number
	case ok:
		return cmp.Or(day.write(to), number)
	}
	if m := eastTime.FindStringSubmatch(number); m != nil {
		return m[1] + ":" + twoDigits(cmp.Or(m[2], "00"))
	}
	if a, b, ok := strings.Cut(rangeForm.ReplaceAllString(number, "–"), "–"); ok && eastTime.MatchString(a) && eastTime.MatchString(b) {
		return Write(a, from, to) + "–" + Write(b, from, to)
	}
	if m := eastYear.FindStringSubmatch(number); m != nil {
		return cmp.Or(m[2], yearOf(m[1]))
	}
	r := reader{text: plainNumbers(number), lexicon: lexiconOf(from), lang: from}
	value := amountForm.FindString(r.text)
	r.pos = len(value)
	if written, end := r.hanzi(value, r.pos); end > r.pos && digitsAt(value, 0) == value {
		value, r.pos = written, end
	} else if exponent, end := r.exponents(); exponent > 0 {
		value, r.pos = shift(strings.ReplaceAll(value, ",", ""), exponent), end
	}
	if r.pos == len(r.text) && r.pos > 0 && isEastern(from) {
		return value
	}
	name := r.text[r.pos:]
	u, end := r.longestUnit(r.pos, longestUnit, false)
	if end < len(r.text) || !isEastern(from) || slices.Contains(unclear, name) && !rangeForm.MatchString(value) {
		return number
	}
	if name = u.nameIn(to, value == "1"); name == "" {
		return number
	}
	return rangeForm.ReplaceAllString(value, "–") + " " + name
}

// unclear are names of units with other meanings: 分 is a point, 日 a day of the month.
var unclear = []string{"分", "日", "天", "时", "時"}

var (
	eastDate   = regexp.MustCompile(`^(?:(\d{4}|(?:令和|平成|昭和|大正|明治)\d{1,2})[年년] ?)?(\d{1,2})[月월] ?(?:(\d{1,2})[日号號일])?$`)
	eastTime   = regexp.MustCompile(`^(\d{1,2})[时時點点시] ?(?:(\d{1,2})[分분])?$`)
	eastYear   = regexp.MustCompile(`^(?:((?:令和|平成|昭和|大正|明治)\d{1,2})|([12]\d{3}))[年년]$`)
	amountForm = regexp.MustCompile(`^\d+(?:[.,]\d+)*(?:[〜～~–-]\d+(?:[.,]\d+)*)?`)
	rangeForm  = regexp.MustCompile(`[〜～~–-]`)
)

func isEastern(lang string) bool { return lang == "zh" || lang == "ja" || lang == "ko" }

// nameIn returns the symbol of a unit, or its name in a language, or "".
func (u unit) nameIn(lang string, single bool) (name string) {
	for _, id := range u.ids {
		if kind, _, _ := strings.Cut(id, "-"); kind != "duration" && kind != "currency" && kind != "angle" {
			if names := symbols().names[id]; len(names) > 0 {
				return names[0]
			}
		}
		table := lexiconOf(lang).units
		if table == nil {
			continue
		}
		shortest, least := single, len("year")
		if strings.HasPrefix(id, "currency") {
			shortest, least = true, len("yen")
		}
		for _, n := range table.names[id] {
			if name == "" || len(n) >= least && (len(n) > len(name) != shortest || len(name) < least) {
				name = n
			}
		}
		if name != "" {
			return name
		}
	}
	return ""
}

// day is a date: the year is "" if unknown, the day of a month without one.
type day struct {
	year, day string
	month     int
}

// dateOf reads a date with the name of its month, or in characters.
func dateOf(text, lang string) (d day, ok bool) {
	if m := eastDate.FindStringSubmatch(text); m != nil {
		month, _ := strconv.Atoi(m[2])
		return day{yearOf(m[1]), m[3], month}, 0 < month && month <= months
	}
	for _, form := range []struct {
		*regexp.Regexp
		year, month, day int
	}{{dayFirst, 3, 2, 1}, {monthFirst, 3, 1, 2}} {
		if m := form.FindStringSubmatch(text); m != nil && m[0] == text {
			if word := lexiconOf(lang).words[foldWords(m[form.month])]; word.isMonth() {
				return day{m[form.year], m[form.day], int(-word.value)}, true
			}
		}
	}
	return d, false
}

// dayFirst and monthFirst match dates with the names of months at the start of a text.
var (
	dayFirst   = regexp.MustCompile(`^(\d{1,2})(?:st|nd|rd|th|er|\.)? (?:of |de )?(\pL{3,12})\b\.?(?:,? (?:de )?([12]\d{3})\b)?`)
	monthFirst = regexp.MustCompile(`^(\pL{3,12})\.? (\d{1,2})(?:st|nd|rd|th)?\b(?:,? ([12]\d{3})\b)?`)
)

// longestDate is the maximum length in bytes of a date with the name of its month, longestMonth that of the name.
const longestDate, longestMonth = 64, 24

// DateAt returns the byte range of the date, with the name of its month, whose day is the number at byte i of a text of a language.
// end is 0 if there is none.
func DateAt(text string, i int, lang string) (start, end int) {
	if lexiconOf(lang).most == 0 {
		return 0, 0
	}
	for _, form := range []*regexp.Regexp{dayFirst, monthFirst} {
		start := i
		if form == monthFirst {
			before := strings.TrimRight(text[max(0, i-longestMonth-len(". ")):i], " .")
			start = i - len(text[max(0, i-longestMonth-len(". ")):i]) + len(strings.TrimRightFunc(before, unicode.IsLetter))
		}
		window := text[start:min(len(text), start+longestDate)]
		if n := len(form.FindString(window)); n > i-start {
			if _, ok := dateOf(window[:n], lang); ok {
				return start, start + n
			}
		}
	}
	return 0, 0
}

// yearOf returns the year of an era, or a year.
func yearOf(text string) string {
	for era, before := range eras {
		if n, ok := strings.CutPrefix(text, era); ok {
			year, _ := strconv.Atoi(n)
			return strconv.Itoa(before + year)
		}
	}
	return text
}

// write returns the date in a language, or "".
func (d day) write(lang string) string {
	month := strconv.Itoa(d.month)
	join := func(year, monthSign, daySign, space string) (text string) {
		if d.year != "" {
			text = d.year + year + space
		}
		if text += month + monthSign; d.day != "" {
			text += space + d.day + daySign
		}
		return text
	}
	switch name := monthName(d.month, lang); {
	case lang == "ko":
		return join("년", "월", "일", " ")
	case isEastern(lang):
		return join("年", "月", "日", "")
	case name == "" && d.year != "" && d.day != "":
		return d.year + "-" + twoDigits(month) + "-" + twoDigits(d.day)
	case name == "":
		return ""
	case lang == "es" || lang == "pt":
		return strings.Trim(d.day+" de "+name+" de "+d.year, "de ")
	case lang == "de" && d.day != "":
		return strings.TrimSpace(d.day + ". " + name + " " + d.year)
	default:
		return strings.TrimSpace(d.day + " " + name + " " + d.year)
	}
}

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
