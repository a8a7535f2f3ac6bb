package main

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// damage is a kind of error that a model makes, in a translation that had none.
type damage struct {
	kind string
	// apply returns the damaged translation, or "" if the pair does not have the entity in a form that the damage makes wrong.
	apply func(d draw) string
}

// draw is a pair with the source of what is random in its damage.
type draw struct {
	*rand.Rand
	source, translation, to string
}

// damages are all kinds. One kind has one entity, so that a figure says which check is weak.
var damages = []damage{
	{"digit changed", func(d draw) string {
		return d.edit(number, func(n string) string { return d.atDigit(n, func(c byte) string { return d.otherDigit(c) }) })
	}},
	{"digit added", func(d draw) string {
		return d.edit(number, func(n string) string { return d.atDigit(n, func(c byte) string { return string(c) + d.otherDigit(c) }) })
	}},
	{"digit taken", func(d draw) string {
		return d.edit(longNumber, func(n string) string { return d.atDigit(n, func(byte) string { return "" }) })
	}},
	{"number dropped", func(d draw) string { return d.edit(number, dropped) }},
	{"number in thousands", func(d draw) string { return d.edit(shortNumber, func(n string) string { return n + " 000" }) }},
	{"decimal sign dropped", func(d draw) string {
		return d.edit(decimal, func(n string) string { return strings.NewReplacer(".", "", ",", "").Replace(n) })
	}},
	{"zero of a version", func(d draw) string {
		return d.edit(versionZero, func(n string) string { return n[:len(n)-1] })
	}},
	{"range to decimal", func(d draw) string {
		return d.edit(span, func(n string) string { return rangeSign.ReplaceAllString(n, ".") })
	}},
	{"order of a score or range", func(d draw) string { return d.edit(span, d.turned) }},
	{"minus dropped", func(d draw) string {
		return d.edit(negative, func(n string) string { return n[strings.IndexAny(n, "0123456789"):] })
	}},
	{"minus added", func(d draw) string {
		if negative.MatchString(d.source) {
			return ""
		}
		return d.edit(separate, func(n string) string { return n[:1] + "-" + n[1:] })
	}},
	{"unit dropped", func(d draw) string {
		return d.edit(quantity, func(n string) string { return leadingNumber.FindString(n) })
	}},
	{"unit swapped", func(d draw) string { return d.edit(quantity, d.otherUnit) }},
	{"percent dropped", func(d draw) string {
		return d.edit(percent, func(n string) string { return leadingNumber.FindString(n) })
	}},
	{"currency swapped", func(d draw) string {
		return d.edit(money, func(n string) string {
			return strings.NewReplacer("$", "€", "€", "$", "£", "$", "¥", "$").Replace(n)
		})
	}},
	{"currency dropped", func(d draw) string { return d.edit(money, func(n string) string { return number.FindString(n) }) }},
	{"unit in words swapped", func(d draw) string { return d.fromList(unitWords, unitInSource, `\d[ \x{a0}\x{202f}]?`) }},
	{"magnitude swapped", func(d draw) string { return d.fromList(magnitudes, magnitudeInSource, `\d[ \x{a0}\x{202f}]?`) }},
	{"month swapped", func(d draw) string { return d.fromList(months, monthInSource, "") }},
	{"bracket dropped", damageBracket},
	{"roman numeral changed", func(d draw) string {
		return d.edit(roman, func(n string) string { return d.pick(without(romans, n)) })
	}},
	{"acronym changed", func(d draw) string {
		if !strings.ContainsAny(d.source, "abcdefghijklmnopqrstuvwxyz") {
			return ""
		}
		return d.edit(acronym, func(n string) string {
			if slices.Contains(romans, n) {
				return n
			}
			last := n[len(n)-1]
			return n[:len(n)-1] + string('A'+(last-'A'+1)%26)
		})
	}},
	{"placeholder dropped", func(d draw) string { return d.edit(placeholder, dropped) }},
	{"tag dropped", func(d draw) string { return d.edit(tag, dropped) }},
	{"tag moved", damageOrder},
	{"cut after half", func(d draw) string { return d.cut(d.half()) }},
	{"cut after a clause", func(d draw) string { return d.cut(d.clause()) }},
	{"the rest left out", func(d draw) string { return d.ended(d.clause()) }},
}

// least are the shares of damage that must be noticed in kinds of which some cannot be: a sentence that ends as one may be whole.
var least = map[string]float64{"cut after half": 0.75, "cut after a clause": 0.75, "the rest left out": 0.2}

// The entities. Each matches in the source and in the translation.
var (
	number        = regexp.MustCompile(`\d+(?:[.,]\d+)*`)
	separate      = regexp.MustCompile(`[ (][1-9]\d*(?:[.,]\d+)*`)
	longNumber    = regexp.MustCompile(`[1-9]\d+(?:[.,]\d+)*`)
	shortNumber   = regexp.MustCompile(`[1-9]\d{0,2}`)
	decimal       = regexp.MustCompile(`\d+[.,]\d\d?`)
	versionZero   = regexp.MustCompile(`[A-Za-z]{3,} \d+\.[1-9]0`)
	span          = regexp.MustCompile(`\d+ ?[-–—~～] ?\d+`)
	rangeSign     = regexp.MustCompile(` ?[-–—~～] ?`)
	negative      = regexp.MustCompile(`[-−]\d+(?:[.,]\d+)*`)
	leadingNumber = regexp.MustCompile(`^\d+(?:[.,]\d+)*`)
	quantity      = regexp.MustCompile(`\d+(?:[.,]\d+)*[ \x{a0}\x{202f}]?(?:` + strings.ReplaceAll(strings.Join(units, "|"), " ", "|") + `)`)
	percent       = regexp.MustCompile(`\d+(?:[.,]\d+)*[ \x{a0}\x{202f}]?%`)
	money         = regexp.MustCompile(`[$€£¥] ?\d+[\d.,]*\d|\d+(?:[.,]\d+)*[ \x{a0}\x{202f}]?[$€£¥]`)
	roman         = regexp.MustCompile(`[IVX]{2,}`)
	acronym       = regexp.MustCompile(`[A-Z]{2,5}`)
	placeholder   = regexp.MustCompile(`%(?:\d+\$)?[sdiu]|%\d|%\(\w+\)[sd]|\{\w*\}`)
	tag           = regexp.MustCompile(`</?[A-Za-z][^<>]*>`)
	sentenceEnd   = regexp.MustCompile(`[.!?。！？]$`)
	space         = regexp.MustCompile(` +`)
	pause         = regexp.MustCompile(`[,;:—–] |[，、；：]`)
	tagPair       = regexp.MustCompile(`<([A-Za-z]+)(?: [^<>]*)?>([^<>]*\pL[^<>]*)</[A-Za-z]+>`)

	unitInSource      = regexp.MustCompile(`\d (?:minutes|hours|days|years|meters|kilometers|dollars)\b`)
	magnitudeInSource = regexp.MustCompile(`\d (?:thousand|million|billion|trillion)\b|\d,\d{3}|\d{4}`)
	monthInSource     = regexp.MustCompile(`\b(?:` + month + `) \d|\d(?:st|nd|rd|th)? (?:of )?(?:` + month + `)\b`)
)

const month = "January|February|March|April|June|July|August|September|October|November|December"

// units are the units of one dimension in each string.
var units = []string{"km cm mm", "kg mg", "TB GB MB kB KB", "GiB MiB KiB", "ms min", "GHz MHz kHz Hz", "kW W", "mV V", "px pt dpi", "°C °F"}

// Words of the languages, of which one takes the place of another.
var (
	unitWords = map[string][]string{
		"fr": strings.Fields("minutes heures jours ans mètres kilomètres dollars euros"),
		"de": strings.Fields("Minuten Stunden Tage Jahre Meter Kilometer Dollar Euro"),
		"es": strings.Fields("minutos horas días años metros kilómetros dólares euros"),
		"ru": strings.Fields("минут часов дней лет метров километров долларов евро"),
		"ja": strings.Fields("分 時間 日間 年 メートル キロ ドル ユーロ"),
		"zh": strings.Fields("分钟 小时 天 年 米 公里 美元 欧元"),
	}
	magnitudes = map[string][]string{
		"fr": {"mille", "millions", "milliards"}, "de": {"Tausend", "Millionen", "Milliarden"}, "es": {"mil", "millones", "billones"},
		"ru": {"тысяч", "миллионов", "миллиардов"}, "ja": {"千", "万", "億"}, "zh": {"千", "万", "亿"},
	}
	months = map[string][]string{
		"fr": strings.Fields("janvier février avril juin juillet août septembre octobre novembre décembre"),
		"de": strings.Fields("Januar Februar März April Juni Juli August September Oktober November Dezember"),
		"es": strings.Fields("enero febrero marzo abril junio julio agosto septiembre octubre noviembre diciembre"),
		"ru": strings.Fields("января февраля марта апреля июня июля августа сентября октября ноября декабря"),
	}
	romans = strings.Fields("II III IV VI VII VIII IX XI XII XIII XIV XV XVI XVII XVIII XIX XX XXI")
)

func dropped(string) string { return "" }

// edit changes one of the entities that source and translation have equally often. It returns "" if there is none, or no change.
func (d draw) edit(entity *regexp.Regexp, change func(string) string) string {
	inSource, places := count(d.source, entity), apart(d.translation, entity)
	in := count(d.translation, entity)
	places = slices.DeleteFunc(places, func(at []int) bool {
		key := plain(d.translation[at[0]:at[1]])
		return in[key] != inSource[key]
	})
	if len(places) == 0 {
		return ""
	}
	at := places[d.IntN(len(places))]
	old := d.translation[at[0]:at[1]]
	if changed := change(old); changed != old && !sameValue(old, changed) {
		return d.translation[:at[0]] + changed + d.translation[at[1]:]
	}
	return ""
}

// cut returns the first bytes of the translation of a sentence: both must be at least eight words long, and have an end.
func (d draw) cut(end int) string {
	const letters = 32
	if end == 0 || !sentenceEnd.MatchString(d.source) || !sentenceEnd.MatchString(d.translation) || utf8.RuneCountInString(d.source) < letters {
		return ""
	}
	return strings.TrimRight(d.translation[:end], " ")
}

// ended returns the first bytes of the translation of a sentence with its end.
func (d draw) ended(end int) string {
	cut := strings.TrimRight(d.cut(end), ",;:，、；：—–")
	if cut == "" {
		return ""
	}
	return cut + sentenceEnd.FindString(d.translation)
}

// half returns the length of the first half of a translation, in words, or in characters where there are no spaces.
func (d draw) half() int {
	const words = 4
	spaces := space.FindAllStringIndex(d.translation, -1)
	if len(spaces) >= words {
		return spaces[len(spaces)/2][0]
	}
	half := utf8.RuneCountInString(d.translation) / 2
	return len(string([]rune(d.translation)[:half]))
}

// clause returns the length of a translation up to its first comma that is neither near the beginning nor near the end, or 0.
func (d draw) clause() int {
	const margin = 6
	for _, at := range pause.FindAllStringIndex(d.translation, -1) {
		if at[0]*margin > len(d.translation) && at[0]*margin < (margin-1)*len(d.translation) {
			return at[0]
		}
	}
	return 0
}

// sameValue reports whether two numbers are equal: 1.0 and 1.
func sameValue(a, b string) bool {
	x, err := strconv.ParseFloat(strings.ReplaceAll(a, ",", "."), 64)
	y, err2 := strconv.ParseFloat(strings.ReplaceAll(b, ",", "."), 64)
	return err == nil && err2 == nil && x == y
}

// plain returns an entity in the form in which languages agree.
func plain(entity string) string {
	return strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", "–", "-", "—", "-", "~", "-", "～", "-", "−", "-", ",", ".").Replace(entity)
}

func count(text string, entity *regexp.Regexp) map[string]int {
	counts := map[string]int{}
	for _, at := range apart(text, entity) {
		counts[plain(text[at[0]:at[1]])]++
	}
	return counts
}

// apart returns the matches that are no part of a word or code: no letter or digit of ASCII, and no sign that continues a number,
// stands at an end where they have one.
func apart(text string, entity *regexp.Regexp) (places [][]int) {
	joins := func(r, end rune) bool {
		word := func(r rune) bool {
			return r < 0x80 && (r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z')
		}
		return word(end) && (word(r) || strings.ContainsRune(`/\#%{}@&=`, r))
	}
	for _, at := range entity.FindAllStringIndex(text, -1) {
		before, _ := utf8.DecodeLastRuneInString(text[:at[0]])
		after, _ := utf8.DecodeRuneInString(text[at[1]:])
		first, _ := utf8.DecodeRuneInString(text[at[0]:])
		last, _ := utf8.DecodeLastRuneInString(text[:at[1]])
		rest := text[at[1]:]
		goesOn := len(rest) > 1 && strings.ContainsRune(".,:-", after) && rest[1] >= '0' && rest[1] <= '9' && last >= '0' && last <= '9'
		follows := at[0] > 1 && strings.ContainsRune(".,-:'", before) && first >= '0' && first <= '9'
		if entity == placeholder || entity == tag || !joins(before, first) && !joins(after, last) && !goesOn && !follows && !(first == '-' && !startsNumber(before)) {
			places = append(places, at)
		}
	}
	return places
}

// startsNumber reports whether a minus behind r is a sign of a number.
func startsNumber(r rune) bool { return r == utf8.RuneError || strings.ContainsRune(" (（、，", r) }

func (d draw) pick(list []string) string { return list[d.IntN(len(list))] }

func without(list []string, item string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == item })
}

func (d draw) otherDigit(digit byte) string { return string("123456789"[(int(digit-'0')+d.IntN(8))%9]) }

// atDigit changes one digit of a number: not the first one, if there are others.
func (d draw) atDigit(n string, change func(digit byte) string) string {
	at := len(n) - 1
	if i := d.IntN(len(n)); i > 0 && n[i] >= '0' && n[i] <= '9' {
		at = i
	}
	return n[:at] + change(n[at]) + n[at+1:]
}

// turned returns a score with its numbers in the other order.
func (d draw) turned(score string) string {
	at := rangeSign.FindStringIndex(score)
	return score[at[1]:] + score[at[0]:at[1]] + score[:at[0]]
}

func (d draw) otherUnit(quantity string) string {
	number := leadingNumber.FindString(quantity)
	unit := strings.Trim(quantity[len(number):], " \u00a0\u202f")
	for _, dimension := range units {
		if list := strings.Fields(dimension); slices.Contains(list, unit) {
			return strings.TrimSuffix(quantity, unit) + d.pick(without(list, unit))
		}
	}
	return quantity
}

// fromList replaces the only word of a list in the translation, which must stand behind a pattern, with another one, if the source
// has such a word.
func (d draw) fromList(lists map[string][]string, inSource *regexp.Regexp, behind string) string {
	list := lists[d.to]
	if len(list) == 0 || !inSource.MatchString(d.source) {
		return ""
	}
	words := regexp.MustCompile(behind+"("+strings.Join(list, "|")+")").FindAllStringSubmatchIndex(d.translation, -1)
	words = slices.DeleteFunc(words, func(at []int) bool { // Tagen is no form that the list has
		next, _ := utf8.DecodeRuneInString(d.translation[at[1]:])
		return d.to != "ja" && d.to != "zh" && unicode.IsLetter(next)
	})
	if len(words) != 1 {
		return ""
	}
	start, end := words[0][2], words[0][3]
	return d.translation[:start] + d.pick(without(list, d.translation[start:end])) + d.translation[end:]
}

// damageBracket drops one bracket of the only pair.
func damageBracket(d draw) string {
	width := strings.NewReplacer("（", "(", "）", ")", "［", "[", "］", "]")
	for _, brackets := range []string{"()", "[]", "{}"} {
		source, translation := width.Replace(d.source), width.Replace(d.translation)
		if strings.Count(source, brackets[:1]) != 1 || strings.Count(source, brackets[1:]) != 1 ||
			strings.Count(translation, brackets[:1]) != 1 || strings.Count(translation, brackets[1:]) != 1 {
			continue
		}
		drop := brackets[d.IntN(2)]
		return strings.Map(func(r rune) rune {
			if width.Replace(string(r)) == string(drop) {
				return -1
			}
			return r
		}, d.translation)
	}
	return ""
}

// damageOrder moves the opening tag of a pair behind its content, or behind the closing tag.
func damageOrder(d draw) string {
	at := tagPair.FindStringSubmatchIndex(d.translation)
	if at == nil || !tagPair.MatchString(d.source) {
		return ""
	}
	t := d.translation
	open, content, closing := t[at[0]:at[4]], t[at[4]:at[5]], t[at[5]:at[1]]
	if d.IntN(2) == 0 {
		return t[:at[0]] + content + open + closing + t[at[1]:]
	}
	return t[:at[0]] + closing + content + open + t[at[1]:]
}
