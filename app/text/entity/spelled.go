package entity

import (
	"cmp"
	_ "embed" // the tables
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// spelled is a number in words.
type spelled struct {
	value int64 // a month is -1 to -12
	// unsure reports whether the words often have another meaning, as "neuf" does, or do not count, as "one" and "a dozen".
	unsure bool
	// vague reports whether they rarely count, like articles: a number that counts nothing is not written so.
	vague bool
}

// lexicon holds a language's words, folded, for 0 to 900, for the 1st to the 31st, for months and for powers of ten, and its names of
// units.
type lexicon struct {
	units  *units // nil if they are unknown
	reads  bool   // whether numbers in words are read
	words  map[string]spelled
	powers map[string]int // exponents from 2 on
	roots  []string       // of powers, which all words that are joined to one large number contain
	most   int            // maximum number of words of a number; 0 if there are no words
	months []string       // columns of the table, as the language writes the names

	starts map[string]bool    // the first words of what spelledNumber reads
	begins [mostTrigrams]bool // the trigrams of starts
	inside [mostTrigrams]bool // those of roots, and of other parts of the words that it reads
}

// half is the end of German numbers: zweieinhalb.
const half = "einhalb"

// The columns of the table: 0 to 100, ordinals, months, hundreds, powers of ten.
const mostSpelled, mostDays, months, hundreds = 100, 31, 12, 8

//go:embed words.txt
var wordTable string

// lexicons holds the lexicon of each language, made of its lines in the tables that scripts/entitywords generated when it is first
// used.
var lexicons = sync.OnceValue(func() map[string]func() *lexicon {
	words, units, all := byLanguage(wordTable), byLanguage(unitTable), map[string]func() *lexicon{}
	for _, table := range []map[string]string{words, units} {
		for lang := range table {
			all[lang] = sync.OnceValue(func() *lexicon { return newLexicon(lang, words[lang], units[lang]) })
		}
	}
	return all
})

// byLanguage returns the lines of a table, without their first column, by the language there.
func byLanguage(table string) map[string]string {
	lines := map[string]string{}
	for line := range strings.Lines(table) {
		if lang, rest, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && line[0] != '#' {
			lines[lang] = rest
		}
	}
	return lines
}

// lexiconOf returns the lexicon of a language, which is empty if the language is unknown.
func lexiconOf(lang string) *lexicon {
	if load := lexicons()[lang]; load != nil {
		return load()
	}
	return noLexicon
}

var noLexicon = &lexicon{}

func newLexicon(lang, words, units string) *lexicon {
	l := &lexicon{reads: words != "" || lang == "ja" || lang == "zh"}
	if units != "" {
		l.units = newUnits(lang, units)
	}
	if words == "" {
		return l
	}
	const month = mostSpelled + 1 + mostDays
	columns := strings.Split(words, "\t")
	l.words, l.powers, l.months = map[string]spelled{}, map[string]int{}, columns[month:month+months]
	for i, forms := range columns {
		for form := range strings.SplitSeq(forms, "|") {
			word, unsure := strings.CutPrefix(form, "~")
			if word = foldWords(word); word != "" {
				l.add(i, word, unsure)
			}
		}
	}
	for word := range l.powers {
		if len(word) >= 3 && !strings.Contains(word, " ") {
			l.roots = append(l.roots, word)
		}
	}
	slices.SortFunc(l.roots, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	l.roots = slices.CompactFunc(l.roots, func(a, b string) bool { return strings.HasPrefix(b, a) })
	l.starts = map[string]bool{}
	for _, words := range []iter.Seq[string]{maps.Keys(l.words), maps.Keys(l.powers), slices.Values(beside().words["part"]), slices.Values(beside().words["quarter"])} {
		for word := range words {
			first, _, _ := strings.Cut(word, " ")
			l.starts[first] = true
			code, _ := trigramOf(first)
			l.begins[code] = true
		}
	}
	for _, part := range append(l.roots, half) {
		code, letters := trigramOf(part)
		for ; code < mostTrigrams; code += 1 << (letters * trigramBits) { // behind any letters
			l.inside[code] = true
		}
	}
	return l
}

// starter reports whether the word at i may start a number in words, so that most words need no more than this. If not, end is the
// end of a part of it.
func (l *lexicon) starter(text string, i int) (starts bool, end int) {
	code, count, begins := trigram(0), 0, false
	for end = i; end < len(text); {
		c, size := rune(text[end]), 1
		if char.IsASCIILetter(byte(c)) {
			c |= 0x20
		} else if c, size = char.Decode(text, end); c < utf8.RuneSelf || !isLetter(c) {
			break
		} else {
			c = foldRune(c)
		}
		if end += size; c < 0 {
			continue
		}
		code = code.with(c)
		if count++; count <= 3 {
			begins = l.begins[code]
		}
		if l.inside[code] || c == ' ' || end-i >= longestWord {
			return l.most > 0, end
		}
	}
	return begins && l.starts[foldWords(text[i:end])], end
}

// trigram is a code of the last three letters of a word, or of all of a shorter one; some have the same.
type trigram uint16

const trigramBits, mostTrigrams = 5, 1 << (3 * 5)

func (t trigram) with(letter rune) trigram {
	return (t<<trigramBits | trigram(letter)&(1<<trigramBits-1)) & (mostTrigrams - 1)
}

// trigramOf returns the code of the first letters of a word, and their number.
func trigramOf(word string) (code trigram, letters int) {
	for _, r := range word {
		if code, letters = code.with(r), letters+1; letters == 3 {
			break
		}
	}
	return code, letters
}

// add adds a word of column i.
func (l *lexicon) add(i int, word string, unsure bool) {
	s := spelled{value: int64(i), unsure: unsure || i == 1, vague: unsure || i == 1}
	switch i -= mostSpelled + 1; {
	case i < 0:
		if s.value == mostSpelled && !strings.Contains(word, " ") {
			l.powers[word] = 2
		}
	case i < mostDays:
		s = spelled{value: int64(i + 1), unsure: true}
	case i < mostDays+months:
		s = spelled{value: int64(mostDays - 1 - i), unsure: true}
	case i < mostDays+months+hundreds:
		s = spelled{value: int64(100 * (i - mostDays - months + 2))}
	default:
		if exponent := 3 * (i - mostDays - months - hundreds + 1); l.powers[word] == 0 {
			l.powers[word] = exponent
		}
		return
	}
	if _, known := l.words[word]; !known {
		l.words[word] = s
		l.most = max(l.most, 1+strings.Count(word, " "))
	}
}

func (s spelled) isMonth() bool { return s.value < 0 }

// readings returns the values of a word.
func (s spelled) readings() []string {
	if s.isMonth() {
		return monthReading(strconv.FormatInt(-s.value, 10))
	}
	return []string{strconv.FormatInt(s.value, 10)}
}

// foldWords maps variants of words to one form: "Vingt-et-un" to "vingt et un".
func foldWords(words string) string { return strings.Map(foldRune, words) }

func foldRune(r rune) rune {
	if r >= 'а' && r <= 'я' {
		return r
	}
	switch r = unicode.ToLower(r); r {
	case '-', '\u00a0', '\u202f', 'ʼ', '\'', '’':
		return ' '
	case '\u00ad':
		return -1
	case 'ş':
		return 'ș'
	case 'ţ':
		return 'ț'
	case 'إ', 'أ', 'آ':
		return 'ا'
	case 'ё':
		return 'е'
	case 'ς':
		return 'σ'
	}
	return r
}

// spelled reads the longest number in words that starts at i: "vingt et un" is not 20. end is i if there is no number.
func (l *lexicon) spelled(text string, i int) (word spelled, end int) {
	const longest = 128 // bytes
	end = i
	for next, n := i, 0; n < l.most && next-i < longest; n++ {
		next = letters(text, next, longest)
		if found, ok := l.words[foldWords(text[i:next])]; ok {
			word, end = found, next
		}
		c, size := char.Decode(text, next)
		if !char.IsSpace(c) && !char.OneOfRunes(c, "-'’ʼ") {
			break
		}
		next += size
	}
	return word, end
}

// letters returns the end of the letters that start at i, at most about most bytes behind i.
func letters(text string, i, most int) int {
	end := i
	for end < len(text) && end-i < most {
		c, n := char.Decode(text, end)
		if !isLetter(c) {
			break
		}
		end += n
	}
	return end
}

// isLetter reports whether c is part of a word.
func isLetter(c rune) bool {
	return char.IsPlainLetter(c) || unicode.IsLetter(c) || unicode.IsMark(c) || c == '\u00ad'
}

// longestWord is the maximum number of bytes read for a word.
const longestWord = 64

// spelledNumber reads the number in words here, or a word that forms an unread number with its neighbours, such as "half". ok is
// false if there is neither.
func (r *reader) spelledNumber() (n numeral, ok bool) {
	if starts, _ := r.lexicon.starter(r.text, r.pos); !starts {
		return n, false
	}
	n = numeral{optional: true, spelled: true, start: r.pos, negative: r.negative()}
	if sum, end := r.lexicon.compose(r.text, r.pos); end > r.pos {
		r.pos, r.inWord = end, true
		n.readings, n.month = sum.readings(), sum.isMonth()
		n.word, n.vague = !sum.unsure, sum.vague
		n.readings = append(n.readings, r.hours(n.readings[0])...)
		n.unit = r.unitBehind(end)
		n.unit.sign = false
		n.end = end
		if fraction := r.fraction(sum.value); fraction != "" {
			n.readings, n.word, n.end = []string{fraction, fractions[fraction]}, true, r.pos
		}
		return n, true
	}
	end := letters(r.text, r.pos, longestWord)
	folded := foldWords(r.text[r.pos:end])
	if whole, ok := strings.CutSuffix(folded, half); ok && r.lang == "de" && r.lexicon.words[whole].value > 0 { // zweieinhalb
		n.readings, n.word, n.unit = []string{strconv.FormatInt(r.lexicon.words[whole].value, 10) + ".5"}, true, r.unitBehind(end)
		r.pos, r.inWord, n.end = end, true, end
		return n, true
	}
	if !makesNumber(folded) {
		return n, false
	}
	n.part, n.end = true, end
	r.pos, r.inWord = end, true
	return n, true
}

// fraction reads the word for parts behind a number in words, as in "trois quarts", and returns the fraction, or "".
func (r *reader) fraction(count int64) string {
	start := char.Skip(r.text, r.pos, func(c rune) bool { return c == ' ' || c == '-' })
	end := letters(r.text, start, longestWord)
	word := foldWords(r.text[start:end])
	for parts, name := range [...]string{3: "third", 4: "quarter", 5: "fifth", 10: "tenth"} {
		if start > r.pos && 0 < count && count < int64(parts) && slices.Contains(beside().words[name], word) {
			r.pos = end
			return strconv.FormatInt(count, 10) + "/" + strconv.Itoa(parts)
		}
	}
	return ""
}

// sum is a number that is composed of words: two hundred and five thousand.
type sum struct {
	spelled
	total, group int64 // group is -1 if it has no word
	power        int   // the last one of total
	words        int
	year         bool
}

// add adds a word for a value or a power of ten, and reports whether it continues the number.
func (s *sum) add(word spelled, power int) bool {
	first := s.words == 0
	switch {
	case s.year, first && word.isMonth():
		if !first {
			return false
		}
	case word.isMonth():
		return false
	case power == 2 && s.group != 0 && s.group < 100:
		s.group = 100 * max(s.group, 1)
	case power > 2 && (s.power == 0 || power < s.power) && s.group != 0:
		s.total, s.group, s.power = s.total+max(s.group, 1)*tenTo(power), -1, power
	case power > 2:
		return false
	case s.group < 0:
		if s.power > 0 && word.value >= tenTo(s.power) {
			return false
		}
		s.group = word.value
	case s.group >= 100 && s.group%100 == 0 && word.value > 0 && word.value < 100:
		s.group += word.value
	case s.words == 1 && s.total == 0 && s.group >= 10 && s.group < 100 && word.value >= 10 && word.value < 100: // nineteen eighty-four
		s.group, s.year = 100*s.group+word.value, true
	default:
		return false
	}
	s.words++
	switch {
	case first:
		s.spelled = word
		s.unsure, s.vague = word.unsure || power > 0, word.vague || power > 0
	default:
		s.unsure, s.vague = s.year || s.words == 2 && power > 0 && word.unsure && s.vague, false
	}
	if s.value = s.total + max(s.group, 0); first && word.isMonth() {
		s.value = word.value
	}
	return true
}

// mostTokens is the maximum number of words of a composed number.
const mostTokens = 12

// compose reads the longest number in words that starts at i. end is i if there is none.
func (l *lexicon) compose(text string, i int) (spelled, int) {
	s := sum{group: -1}
	end := i
	for next := i; s.words < mostTokens; {
		word, power, stop := l.token(text, next)
		if stop == next || !s.add(word, power) {
			if pieces, stop := l.pieces(text, next); stop > next && s.words == 0 {
				for _, p := range pieces {
					if !s.add(p.word, p.power) {
						return spelled{}, i
					}
				}
				end, next = stop, stop
				continue
			}
			break
		}
		end = stop
		next = char.Skip(text, end, isBetweenWords)
		if next == end {
			break
		}
		// A joiner continues only a number with a power of ten: two hundred and five.
		if behind := letters(text, next, longestJoin); behind > next && (s.total > 0 || s.group >= 100) && !s.year && slices.Contains(beside().words["join"], foldWords(text[next:behind])) {
			if after := char.Skip(text, behind, isBetweenWords); after > behind {
				if word, power, stop := l.token(text, after); stop > after && power == 0 && !word.unsure && word.value < 100 {
					next = after
				}
			}
		}
	}
	return s.spelled, end
}

func isBetweenWords(c rune) bool { return char.IsSpace(c) || c == '-' || c == '\u00ad' }

// token reads the longest word for a value or power of ten at i.
func (l *lexicon) token(text string, i int) (word spelled, power, end int) {
	if word, end = l.spelled(text, i); end > i && (word.value != mostSpelled || strings.ContainsAny(text[i:end], " ")) {
		return word, 0, end
	}
	if end == i {
		end = letters(text, i, longestWord)
	}
	if power = l.powers[foldWords(text[i:end])]; power > 0 {
		return spelled{value: 100, unsure: word.unsure, vague: word.vague}, power, end
	}
	if word.value > 0 {
		return word, 0, end
	}
	return spelled{}, 0, i
}

// piece is a part of a word that joins several: zwei-hundert-fünfzig.
type piece struct {
	word  spelled
	power int
}

func (p piece) isLarge() bool { return p.power > 0 || p.word.value >= mostSpelled }

// mostPieces is the maximum number of pieces of a word.
const mostPieces = 8

// pieces divides the word at i into words of the lexicon with a power of ten among them. end is i if that is not possible.
func (l *lexicon) pieces(text string, i int) (list []piece, end int) {
	const shortest = 6
	if end = letters(text, i, longestWord); end-i < shortest {
		return nil, i
	}
	word := foldWords(text[i:end])
	if !slices.ContainsFunc(l.roots, func(root string) bool { return strings.Contains(word, root) }) {
		return nil, i
	}
	if list, ok := l.divide(word, nil, new([longestWord + 1]bool)); ok && len(list) > 1 && slices.ContainsFunc(list, piece.isLarge) {
		return list, end
	}
	return nil, i
}

// divide divides a word, the longest pieces first. failed records the lengths of rests that cannot be divided.
func (l *lexicon) divide(word string, list []piece, failed *[longestWord + 1]bool) ([]piece, bool) {
	if word == "" {
		return list, true
	}
	if len(list) == mostPieces || len(word) > longestWord || failed[len(word)] {
		return nil, false
	}
	for end := len(word); end > 1; end-- {
		p := piece{power: l.powers[word[:end]]}
		found := p.power > 0
		if p.power == 0 {
			p.word, found = l.words[word[:end]]
		}
		if found {
			if all, ok := l.divide(word[end:], append(list[:len(list):len(list)], p), failed); ok {
				return all, true
			}
		}
	}
	for _, joiner := range beside().words["join"] { // hundert-und-eins
		if rest, ok := strings.CutPrefix(word, joiner); ok && len(list) > 0 && list[len(list)-1].isLarge() && rest != "" {
			if all, ok := l.divide(rest, list, failed); ok {
				return all, true
			}
		}
	}
	failed[len(word)] = true
	return nil, false
}

// besideNumbers are words that stand beside or inside numbers.
type besideNumbers struct {
	powers map[string][]int    // exponents of ten by word
	words  map[string][]string // by the names of their lines
}

//go:embed beside.txt
var besideTable string

// beside returns the words of beside.txt, which documents them.
var beside = sync.OnceValue(func() besideNumbers {
	table := besideNumbers{powers: map[string][]int{}, words: map[string][]string{}}
	for line := range strings.Lines(besideTable) {
		name, words, _ := strings.Cut(line, "\t")
		exponent, err := strconv.Atoi(name)
		if err != nil {
			table.words[name] = strings.Fields(words)
			continue
		}
		for word := range strings.FieldsSeq(words) {
			table.powers[word] = append(table.powers[word], exponent)
		}
	}
	return table
})

// makesNumber reports whether a folded word is part of numbers in words that are not read: numbers above 100, fractions, and
// times of day.
func makesNumber(word string) bool {
	return slices.Contains(beside().words["part"], word) || slices.Contains(beside().words["quarter"], word)
}

// joinWords marks adjacent numbers in words as unread: "nineteen eighty-four" is neither of its parts. The same applies to
// neighbours of a word of makesNumber.
func (r *reader) joinWords(list []numeral) []numeral {
	for i := range list {
		if n := &list[i]; n.month {
			before := strings.TrimRight(r.text[:n.start], " .")
			behind := strings.TrimLeft(r.text[n.end:], " .")
			n.held = before != "" && char.IsASCIIDigit(before[len(before)-1]) || behind != "" && char.IsASCIIDigit(behind[0])
		}
	}
	for i := 1; i < len(list); i++ {
		a, b := &list[i-1], &list[i]
		if !a.spelled || !b.spelled || a.is("1") || b.is("1") || a.month || b.month {
			continue
		}
		between := r.text[a.end:b.start]
		if len(between) > longestJoin {
			continue
		}
		if word := strings.TrimSpace(foldWords(between)); word == "" || slices.Contains(beside().words["join"], word) {
			a.part, b.part = true, true
		}
	}
	return list
}

// longestJoin is the maximum length in bytes of a word inside a number, with the spaces around it.
const longestJoin = 12

// is reports whether the only reading of a number is value.
func (n numeral) is(value string) bool { return len(n.readings) == 1 && n.readings[0] == value }

func (n numeral) isPart() bool { return n.part }
func (n numeral) isTime() bool { return n.form == clock }

// isCount reports whether a number may replace one in words: it is a number in words, or digits.
func (n numeral) isCount() bool {
	if n.optional || len(n.readings) == 0 {
		return n.word
	}
	return true
}

// isCounter reports whether a counter follows the Chinese digits that end at i, which makes them a number: 三 in 三個, but not in
// 三田.
func isCounter(text string, i int) bool {
	c, _ := char.Decode(text, i)
	return c > 0x3000 && char.OneOfRunes(c, "个個箇つ件名人匹本枚冊册回次年秒歳岁歲円元块塊只隻条條张張位台杯倍階层層頁页行句種种点點時时度天周週錠粒滴斤吨升匹頭头双對組组")
}

// isRange reports whether Chinese digits are two numbers: 两三年 means two or three years.
func isRange(digits string) bool {
	a, n := char.Decode(digits, 0)
	b, m := char.Decode(digits, n)
	return n+m == len(digits) && cjkDigits[a] > 0 && cjkDigits[b] > 0
}
