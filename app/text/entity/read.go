package entity

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// numeral is a number in a text with its possible meanings.
type numeral struct {
	// readings are the possible values: decimal digits with a point, as 1234 or 1.234 for 1,234, and the numbers of a chain with
	// their joint, as 20-25.
	readings []string
	// parts are the numbers that it consists of if it may not be a single one: a date with dots, a time, a chain. nil otherwise.
	parts []numeral
	form  form
	// small reports whether a translation may spell it out: 0 to 12.
	small bool
	// hour reports whether the text behind it makes it an hour.
	hour bool
	// optional reports whether it is not digits but a word that may be a number: 三十, XX.
	optional bool
	// spelled reports whether it is words of the lexicon.
	spelled bool
	// han reports whether it is Chinese digits.
	han bool
	// word reports whether it is certainly a number in words: a translation that lacks it and has another number is wrong.
	word bool
	// part reports whether it is part of a number in words that is not read, such as "half past".
	part bool
	// vague reports whether it is a word that rarely counts: an article, "neuf".
	vague bool
	// month reports whether it is the name of a month.
	month bool
	// roman reports whether it is a Roman numeral of two or more letters.
	roman bool
	// held reports whether it is small and counts no noun, so that no article can stand for it; of a month, whether it stands
	// beside a number.
	held       bool
	negative   bool // a minus sign precedes it
	unit       unit // of the words and signs beside it
	start, end int  // byte range in the text
}

// form is the way in which the parts of a numeral are joined.
type form uint8

const (
	single   form = iota
	dotted        // 24.12: a day or a decimal
	grouped       // 1 234: a number or several
	listed        // 1,2,3 and 6.5.2024
	clock         // 10:30
	chain         // 20–25, 3:1, 3/4, 1920x1080: the order matters
	dateOnly      // 2024-05-06, 5/6/2024: a chain in any order
)

// largestSmall is the largest number that a translation may spell out.
const largestSmall = 12

// read returns the numbers of a text, converted by plainNumbers, in order. If lang is "" or has no lexicon, numbers in words are left
// out.
func read(looks *char.Looks, text, lang string) (list []numeral) {
	r := reader{text: text, looks: looks, lexicon: lexiconOf(lang), lang: lang}
	for r.skip(); r.pos < len(r.text); r.skip() {
		looks.Past(1)
		c, size := char.Decode(r.text, r.pos)
		word := r.inWord
		r.inWord = char.IsWord(c)
		switch {
		case char.IsASCIIDigit(r.text[r.pos]) || (c == '.' || c == ',') && r.startsFraction():
			if n, ok := r.hanziFraction(); ok { // 3分の2
				list, r.inWord = append(list, n), true
				continue
			}
			n := r.digits()
			if k := len(list) - 1; k >= 0 && n.isMixed(list[k], r.text) { // 3 1/2
				n.readings = []string{canonical(list[k].readings[0], "") + " " + n.readings[0]}
				n.readings = append(n.readings, list[k].readings[0]+strings.TrimPrefix(fractions[n.parts[0].readings[0]+"/"+n.parts[1].readings[0]], "0"))
				n.start, n.parts, list = list[k].start, nil, list[:k]
			}
			list, r.inWord = append(list, n), true
			continue
		case (c >= '¼' && c <= '¾' || c >= '⅐' && c <= 'Ⅿ') && vulgar[c] != "":
			n := numeral{readings: []string{vulgar[c]}, start: r.pos, end: r.pos + size}
			if decimal := fractions[vulgar[c]]; decimal != "" {
				n.readings = append(n.readings, decimal)
			}
			r.pos += size
			n.unit = r.unitBehind(r.pos)
			list = append(list, n)
			continue
		case isRemoved(c):
			// All spans of a run have the unit behind it, which is read once.
			end := char.Skip(r.text, r.pos, isRemoved)
			u := r.unitBehind(end)
			for ; r.pos < end; r.pos += size {
				if u.isWord() {
					list = append(list, numeral{readings: []string{string(removed)}, optional: true, unit: u, start: r.pos, end: r.pos + size})
				}
			}
			continue
		}
		if n, ok := r.word(c, word); ok {
			list = append(list, n)
			continue
		}
		r.pos += size
	}
	return r.joinWords(r.clocks(list))
}

// removed stands for a span, such as a placeholder for a number: only the word of a unit behind it is compared.
const removed = '\uFFFC'

func isRemoved(c rune) bool { return c == removed }

// isMixed reports whether a fraction stands right behind a whole number: 3 1/2.
func (n numeral) isMixed(whole numeral, text string) bool {
	return (n.form == chain || n.form == dateOnly) && len(n.parts) == 2 && fractions[n.readings[0]] != "" && whole.parts == nil && !whole.optional &&
		whole.end+1 == n.start && text[whole.end] == ' ' && len(whole.readings) == 1
}

// fractions are the decimals of common fractions, vulgar the characters for fractions.
var (
	fractions = map[string]string{"1/2": "0.5", "1/4": "0.25", "3/4": "0.75", "1/8": "0.125", "3/8": "0.375", "5/8": "0.625", "7/8": "0.875",
		"1/10": "0.1", "3/10": "0.3", "7/10": "0.7", "9/10": "0.9", "1/5": "0.2", "2/5": "0.4", "3/5": "0.6", "4/5": "0.8", "1/3": "0.33", "2/3": "0.67"}
	vulgar = map[rune]string{'½': "1/2", '¼': "1/4", '¾': "3/4", '⅓': "1/3", '⅔': "2/3", '⅛': "1/8", '⅜': "3/8", '⅝': "5/8", '⅞': "7/8",
		'Ⅱ': "2", 'Ⅲ': "3", 'Ⅳ': "4", 'Ⅴ': "5", 'Ⅵ': "6", 'Ⅶ': "7", 'Ⅷ': "8", 'Ⅸ': "9", 'Ⅹ': "10", 'Ⅺ': "11", 'Ⅻ': "12"}
)

// word reads a possible number at character c that is not digits: 三十, XX, twenty.
func (r *reader) word(c rune, inWord bool) (n numeral, ok bool) {
	n = numeral{optional: true, start: r.pos}
	value, end := "", r.pos
	if isHanzi(c) {
		if n, ok := r.hanziFraction(); ok {
			return n, true
		}
		if value, end = r.hanzi("", r.pos); r.lang != "" && (isCounter(r.text, end) || isSure(r.text[r.pos:end])) {
			n.word, n.part = value != "1", isRange(r.text[r.pos:end])
		}
		if len(value) == len("2024") && end-r.pos == len(value)*len("二") && strings.HasPrefix(r.text[end:], "年") { // 二〇二四年
			n.optional, n.word = false, false
		}
	} else if !inWord {
		value, end = r.roman()
		n.roman = end > r.pos+1 && strings.Trim(r.text[r.pos:end], "IVX") == ""
		r.inWord = r.inWord || end > r.pos
	}
	if end > r.pos {
		n.readings, n.negative, r.pos, n.end = []string{value}, r.negative(), end, end
		if at, ok := r.time([]string{value}); ok { // 六点半
			at.optional, at.word, at.start, at.end = true, r.lang != "", n.start, r.pos
			return at, true
		}
		if c, _ := char.Decode(r.text, end); c == '月' {
			n.readings = append(n.readings, monthReading(value)...)
		}
		n.unit, n.han = r.unitBehind(end), isHanzi(c)
		r.addHalf(&n)
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
	if char.IsASCII(text) {
		return text
	}
	wide := false // whether the character before is a full-width digit
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf || char.IsPlainLetter(r) {
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
		case '，', '、':
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

	lang    string
	lexicon *lexicon // of the text's language
}

// skip moves behind the characters here that start no number: most of a text.
func (r *reader) skip() {
	for at := r.pos; r.pos < len(r.text); at = r.pos {
		c, size := rune(r.text[r.pos]), 1
		if c >= utf8.RuneSelf {
			c, size = char.Decode(r.text, r.pos)
		}
		switch {
		case c < utf8.RuneSelf && !char.IsASCIILetter(byte(c)):
			if char.IsASCIIDigit(byte(c)) || (c == '.' || c == ',') && digitsAt(r.text, r.pos+1) != "" {
				return
			}
			r.inWord = false
		case !char.IsPlainLetter(c):
			return
		case c >= 0x3000: // of a script without spaces between words
			if r.lexicon.most > 0 || isHanzi(c) {
				return
			}
			r.inWord = false
		case !r.inWord:
			if c < 'a' {
				if _, end := r.roman(); end > r.pos {
					return
				}
			}
			starts, end := r.lexicon.starter(r.text, r.pos)
			if starts {
				return
			}
			r.inWord, size = true, end-r.pos
		}
		r.pos += size
		r.looks.Past(r.pos - at)
	}
}

// startsFraction reports whether a decimal sign here has digits behind it and none before it, as in "about .5".
func (r *reader) startsFraction() bool {
	before := char.Last(r.text[:r.pos])
	return digitsAt(r.text, r.pos+1) != "" && (char.IsSpace(before) || before == '-' || before == '+' || unicode.In(before, unicode.Sc, unicode.Ps))
}

// negative reports whether a minus sign, as opposed to a dash, or a word for it precedes the number here.
func (r *reader) negative() bool {
	before := r.text[:r.pos]
	if c := char.Last(before); unicode.Is(unicode.Sc, c) {
		before = before[:len(before)-utf8.RuneLen(c)]
	}
	bare, signed := strings.CutSuffix(before, "-")
	if other := char.Last(bare); signed {
		return unicode.IsSpace(other) || unicode.Is(unicode.Ps, other) || other == '\uFFFC' || unicode.IsLetter(other) && char.IsUnspaced(other) && !char.OneOfRunes(other, "年月日号時时分년월일")
	}
	before = strings.ToLower(strings.TrimRight(before[max(0, len(before)-longestMinus):], " "))
	for _, word := range beside().words["minus"] {
		if bare, ok := strings.CutSuffix(before, word); ok {
			bare = strings.TrimRight(bare, " ")
			return !unicode.IsDigit(char.Last(bare)) && !strings.HasSuffix(bare, "heures") && // 9 minus 2
				!slices.ContainsFunc(leasts, func(word string) bool { return strings.HasSuffix(bare, word) })
		}
	}
	return false
}

// leasts stand before the word for the minus sign where it means "at least".
var leasts = []string{"al", "au", "lo", "pelo", "ao", "il"}

// longestMinus is the maximum length in bytes of a word for the minus sign, with a space behind it.
const longestMinus = 24

// digits reads the number here, which starts with a digit or with a decimal sign before a digit, or the chain of numbers.
func (r *reader) digits() numeral {
	start, negative := r.pos, r.negative()
	n := r.number()
	if n.parts == nil {
		if joint := r.joint(); joint != 0 {
			n = r.chain(n, joint)
		}
	}
	n.start, n.end, n.negative = start, r.pos, negative
	n.held = n.small && r.isHeld(start)
	if n.form != clock {
		n.unit = r.unitBefore(start)
		if behind := r.unitBehind(r.pos); behind.ids != nil {
			n.unit = behind
		}
		if n.parts != nil {
			n.parts[len(n.parts)-1].unit = n.unit
		}
	}
	if n.parts != nil {
		n.parts[0].negative = negative
	}
	r.addHalf(&n)
	return n
}

// addHalf adds the reading of a number whose unit has a half behind it, 2時間半, 两个半小时, and reads tenths: 2割, 九折.
func (r *reader) addHalf(n *numeral) {
	rest := r.text[r.pos:]
	if len(n.readings) > 0 && r.lang == "ja" && strings.HasPrefix(rest, "割") { // 2割
		n.readings, n.word = []string{shift(n.readings[0], 1)}, n.optional
	} else if len(n.readings) > 0 && r.lang == "zh" && strings.HasPrefix(rest, "折") && isBelow(n.readings[0], 10) { // 九折
		off, _ := strconv.Atoi(n.readings[0])
		n.readings, n.unit = []string{shift(n.readings[0], 1), strconv.Itoa(100 - 10*off)}, unit{ids: []string{percent}}
	}
	if behind := strings.HasPrefix(rest, "个半") || strings.HasPrefix(rest, "個半"); (behind || n.unit.half) && len(n.readings) > 0 {
		n.readings = append(n.readings, n.readings[0]+".5")
	}
}

// number reads one number.
func (r *reader) number() numeral {
	start := r.pos
	groups, seps := r.groups()
	if n, ok := r.time(groups); ok {
		return n
	}
	n := numeral{start: start}
	n.readings, n.parts, n.form = meanings(groups, string(seps))
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
		if c, size := char.Decode(r.text, r.pos); plain && vulgar[c] != "" { // 3½
			n.readings = []string{n.readings[0] + " " + vulgar[c], n.readings[0] + strings.TrimPrefix(fractions[vulgar[c]], "0")}
			r.pos += size
		} else if exponent, end := r.power(); exponent > 0 { // 5 thousand
			for i := range n.readings {
				n.readings[i] = shift(n.readings[i], exponent)
			}
			n.parts, n.form, r.pos = nil, single, end
		} else {
			more := r.alternatives(n.readings[0], plain)
			n.hour = plain && r.hours(n.readings[0]) != nil
			n.readings = append(n.readings, more...)
		}
		n.small = isSmall(n.readings[0])
		if year := r.yearOfEra(start, groups[0]); year != "" && plain {
			n.readings, n.small = []string{year}, false
		}
	}
	n.end = r.pos
	return n
}

// power reads the word for a power of ten here, behind at most one space: 5 thousand.
func (r *reader) power() (exponent, end int) {
	start := r.pos
	if c, n := char.Decode(r.text, start); char.IsSpace(c) {
		start += n
	}
	if end = letters(r.text, start, longestWord); end == start || start == r.pos && r.lang != "ko" {
		return 0, r.pos
	}
	if exponent = r.lexicon.powers[foldWords(r.text[start:end])]; exponent < 3 {
		return 0, r.pos
	}
	return exponent, end
}

// joint returns the sign that joins the number before the position with one behind it, in one form for all variants, or 0.
func (r *reader) joint() byte {
	c, n := char.Decode(r.text, r.pos)
	spaced := c == ' '
	if spaced {
		var m int
		c, m = char.Decode(r.text, r.pos+n)
		n += m
	}
	next := r.pos + n
	if spaced && next < len(r.text) && r.text[next] == ' ' {
		next++
	} else if spaced {
		return 0
	}
	if next >= len(r.text) || !char.IsASCIIDigit(r.text[next]) {
		return 0
	}
	switch {
	case char.OneOfRunes(c, "-–—‑‐~〜～∼"):
		return '-'
	case spaced && c != '×':
		return 0
	case c == '/' || c == '／':
		return '/'
	case c == ':' || c == '：' || c == '∶':
		return ':'
	case c == '×' || c == 'x':
		return 'x'
	}
	return 0
}

// longestChain is the maximum number of numbers that a chain joins.
const longestChain = 8

// chain reads the numbers that a sign joins with the number before the position: 20–25, 3:1, 1920x1080.
func (r *reader) chain(first numeral, joint byte) numeral {
	list, names := []numeral{first}, []string{first.readings[0]}
	for r.joint() == joint && len(list) < longestChain {
		r.pos = char.Skip(r.text, r.pos, func(c rune) bool { return !unicode.IsDigit(c) })
		start := r.pos
		n := r.number()
		if len(n.readings) == 0 { // 1-3,7,11
			digits := digitsAt(r.text, start)
			n = numeral{readings: []string{integer(digits)}, small: isSmall(digits), start: start, end: start + len(digits)}
			r.pos = n.end
		}
		if n.form == clock {
			r.pos = start
			break
		}
		list, names = append(list, n), append(names, n.readings[0])
	}
	if len(list) == 1 {
		return first
	}
	last := list[len(list)-1]
	n := numeral{readings: []string{strings.Join(names, string(joint))}, parts: list, form: chain}
	if joint == '/' {
		n.readings = append(n.readings, fractions[n.readings[0]])
	}
	isDay := isDateChain(names, joint)
	for i := range list {
		if last.hour {
			list[i].readings, list[i].hour = append(list[i].readings, r.hours(list[i].readings[0])...), true
		}
		if isDay {
			n.form = dateOnly
			list[i].readings = append(list[i].readings, monthReading(list[i].readings[0])...)
		}
	}
	return n
}

// isDateChain reports whether the numbers of a chain may be a date: 2024-05-06, 5/6/2024, 24/12.
func isDateChain(names []string, joint byte) bool {
	years, others := 0, 0
	for _, name := range names {
		value, err := strconv.Atoi(name)
		switch {
		case err != nil:
			return false
		case value >= 1000 && value < 3000:
			years++
		case value >= 1 && value <= 31:
			others++
		}
	}
	return others == 2 && (years == 1 || joint == '/' && years == 0 && len(names) == 2) && years+others == len(names)
}

// time reads a possible time of day whose hour has been read: 10:30. Its readings count the hour in both ways, with 12 and 24
// hours.
func (r *reader) time(groups []string) (n numeral, ok bool) {
	m := minute.FindStringSubmatch(r.text[r.pos:min(len(r.text), r.pos+len(" 시 00 분 "))])
	if m == nil || len(groups) > 1 || len(groups[0]) > 2 {
		return n, false
	}
	m[2] = cmp.Or(m[2], m[3], m[4])
	if half := map[string]string{"半": "30", "一刻": "15", "三刻": "45"}[m[2]]; half != "" {
		m[2] = half
	}
	hour := numeral{readings: []string{integer(groups[0])}, hour: true}
	if before := len(m[1]); strings.HasSuffix(m[1], "分") && strings.HasPrefix(r.text[r.pos+before:], "前") { // 11時10分前
		h, _ := strconv.Atoi(groups[0])
		minutes, _ := strconv.Atoi(m[2])
		hour.readings[0], m[2] = strconv.Itoa(h-1), twoDigits(strconv.Itoa(60-minutes))
	}
	hour.readings = append(hour.readings, bothHours(hour.readings[0])...)
	for _, reading := range hour.readings {
		n.readings = append(n.readings, reading+":"+m[2])
	}
	n.parts, n.form, n.hour = append([]numeral{hour}, each(m[2:3])...), clock, true
	r.pos += len(m[1])
	return n, true
}

// minute matches the minutes behind an hour: :30, 時30分, " h 30".
var minute = regexp.MustCompile(`^((?:[:：]| ?h ?)(\d\d)|(?:[時时點点]| ?시 ?)(?:(\d\d?) ?[分분]|(半|一刻|三刻)))(?:[^\d:]|$)`)

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

// meanings returns the possible meanings of groups of digits.
func meanings(groups []string, seps string) (readings []string, parts []numeral, of form) {
	if seps == "" {
		return []string{integer(groups[0])}, nil, single
	}
	last := len(seps) - 1
	whole, all := groups[:len(groups)-1], strings.Join(groups, "")
	switch mixed := seps[0] != seps[last]; {
	case mixed && IsGrouped(whole) && strings.Trim(seps[:last], seps[:1]) == "":
		return []string{canonical(strings.Join(whole, ""), groups[len(whole)])}, nil, single
	case mixed:
		return nil, each(groups), listed
	case seps[0] == ' ':
		return []string{canonical(all, "")}, each(groups), grouped
	case seps[0] == '\'':
		return []string{canonical(all, "")}, nil, single
	case last == 0:
		return pair(groups[0], groups[1], seps)
	case IsGrouped(groups):
		return []string{canonical(all, "")}, nil, single
	case seps[0] == ',', IsDate(groups): // a list
		return nil, each(groups), listed
	}
	return []string{strings.Join(groups, ".")}, nil, single // a version
}

// pair reads two groups separated by a dot or comma.
func pair(whole, fraction, sep string) (readings []string, parts []numeral, of form) {
	readings = []string{canonical(whole, "") + "." + fraction}
	if len(fraction) == 3 && len(whole) <= 3 && whole[0] != '0' {
		readings = append(readings, canonical(whole+fraction, ""))
	}
	// 12.30 may be a time and 24.12 a day.
	if hour, minute := canonical(whole, ""), fraction; sep == "." && len(whole) <= 2 && len(fraction) == 2 {
		if isBelow(hour, 25) && isBelow(minute, 60) {
			readings = append(readings, hour+":"+minute)
		}
		return readings, each([]string{whole, fraction}), dotted
	}
	return readings, nil, single
}

func isBelow(digits string, limit int) bool {
	value, err := strconv.Atoi(digits)
	return err == nil && value < limit
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
	if strings.ContainsAny(value, ":/ -") {
		return value
	}
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
	return word.isMonth() || char.OneOfRunes(c, "月号円元") || c == '日' && char.Last(r.text[:start]) == '月'
}

func isSmall(value string) bool {
	n, err := strconv.Atoi(value)
	return err == nil && n <= largestSmall && len(value) <= 2
}
