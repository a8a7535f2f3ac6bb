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

// lexicon holds a language's words, folded, for 0 to 900, for the 1st to the 31st, for months and for powers of ten.
type lexicon struct {
	words  map[string]spelled
	powers map[string]int // exponents from 2 on
	roots  []string       // of powers, which all words that are joined to one large number contain
	most   int            // maximum number of words of a number
	months []string       // columns of the table, as the language writes the names

	starts map[string]bool // the first words of what spelledNumber reads
	begins trigrams        // of starts
	inside trigrams        // of roots, and of other parts of the words that it reads
}

// half is the end of German numbers: zweieinhalb.
const half = "einhalb"

// The columns of the table: 0 to 100, ordinals, months, hundreds, powers of ten.
const mostSpelled, mostDays, months, hundreds = 100, 31, 12, 8

//go:embed words.txt
var wordTable string

// lexiconLines finds the line of each language in the table, which scripts/entitywords generated.
var lexiconLines = sync.OnceValue(func() map[string]func() *lexicon { return byLanguage(wordTable, newLexicon) })

// lexiconOf returns the lexicon of a language, which is empty if numbers in words are not compared in it.
func lexiconOf(lang string) *lexicon {
	if load := lexiconLines()[lang]; load != nil {
		return load()
	}
	return noLexicon
}

var noLexicon = &lexicon{}

func newLexicon(_ string, columns []string) *lexicon {
	const month = mostSpelled + 1 + mostDays
	l := &lexicon{words: map[string]spelled{}, powers: map[string]int{}, months: columns[month : month+months]}
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
			l.begins.add(first)
		}
	}
	for _, part := range append(l.roots, half) {
		l.inside.add(part)
	}
	return l
}

// starter reports whether the word at i may start a number in words, so that most words need no more than this.
func (l *lexicon) starter(text string, i int) bool {
	var lower [longestWord]byte
	inside := false
	for n := range lower {
		if i+n == len(text) || text[i+n] < utf8.RuneSelf && !char.IsASCIILetter(text[i+n]) {
			return inside || l.begins.has([3]byte(lower[:])) && l.starts[string(lower[:n])]
		}
		if text[i+n] >= utf8.RuneSelf {
			end := letters(text, i, longestWord)
			word := foldWords(text[i:end])
			first, _, _ := strings.Cut(word, " ")
			return end-i >= longestWord || first == "" || l.starts[first] || l.inside.touch(word)
		}
		lower[n] = text[i+n] | 0x20
		inside = inside || n > 1 && l.inside.has([3]byte(lower[n-2:]))
	}
	return true // a long word
}

// trigrams are the first three bytes of words, as a set of their hashes.
type trigrams [1 << 7]uint32

func (t *trigrams) add(word string) {
	h := hash([3]byte([]byte(word + "\x00\x00\x00")))
	t[h>>5] |= 1 << (h & 31)
}

func (t *trigrams) has(part [3]byte) bool {
	h := hash(part)
	return t[h>>5]>>(h&31)&1 != 0
}

// touch reports whether a text may have one of the words in it.
func (t *trigrams) touch(text string) bool {
	for i := range len(text) - 2 {
		if t.has([3]byte{text[i], text[i+1], text[i+2]}) {
			return true
		}
	}
	return false
}

func hash(part [3]byte) uint32 {
	return (uint32(part[0])*0x9E5 + uint32(part[1])*0x3B + uint32(part[2])) & (1<<12 - 1)
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

// readsWords reports whether numbers in words are read in a language.
func readsWords(lang string) bool { return lang == "ja" || lang == "zh" || lexiconLines()[lang] != nil }

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
	if r = unicode.ToLower(r); r >= 'a' && r <= 'z' || r >= 'а' && r <= 'я' {
		return r
	}
	if to, known := folded[r]; known {
		return to
	}
	return r
}

var folded = map[rune]rune{'-': ' ', '\u00a0': ' ', '\u202f': ' ', 'ʼ': ' ', '\'': ' ', '’': ' ', '\u00ad': -1,
	'ş': 'ș', 'ţ': 'ț', 'إ': 'ا', 'أ': 'ا', 'آ': 'ا', 'ё': 'е', 'ς': 'σ'}

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
		if !char.IsPlainLetter(c) && !unicode.IsLetter(c) && !unicode.IsMark(c) && c != '\u00ad' {
			break
		}
		end += n
	}
	return end
}

// longestWord is the maximum number of bytes read for a word.
const longestWord = 64

// spelledNumber reads the number in words here, or a word that forms an unread number with its neighbours, such as "half". ok is
// false if there is neither.
func (r *reader) spelledNumber() (n numeral, ok bool) {
	if !r.lexicon.starter(r.text, r.pos) {
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
	for name, parts := range map[string]int64{"third": 3, "quarter": 4, "fifth": 5, "tenth": 10} {
		if start > r.pos && 0 < count && count < parts && slices.Contains(beside().words[name], word) {
			r.pos = end
			return strconv.FormatInt(count, 10) + "/" + strconv.FormatInt(parts, 10)
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
