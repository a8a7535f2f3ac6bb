package numbers

import (
	_ "embed" // the table
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"dragoman/app/text/char"
)

// spelled is a number in words.
type spelled struct {
	value string
	// unsure reports whether the words often have another meaning, as "neuf" does, or do not count, as "one" and "a dozen".
	unsure bool
	// vague reports whether they rarely count, like articles: a number that counts nothing is not written so.
	vague bool
}

// lexicon holds a language's words, folded, for 0 to 100, for the 1st to the 31st, and for months.
type lexicon struct {
	words map[string]spelled
	most  int // maximum number of words of a number
}

// mostSpelled is the largest number whose words the table has, mostDays the largest ordinal.
const mostSpelled, mostDays = 100, 31

//go:embed numberwords.txt
var numberWords string

// lexicons maps languages to their lexicons. Numbers in words are compared only in these languages. scripts/numberwords generated
// the table.
var lexicons = sync.OnceValue(func() map[string]lexicon {
	table := map[string]lexicon{}
	for line := range strings.Lines(numberWords) {
		if line[0] == '#' {
			continue
		}
		fields := strings.Split(strings.TrimSpace(line), "\t")
		l := lexicon{words: map[string]spelled{}}
		for i, forms := range fields[1:] {
			value := strconv.Itoa(i)
			switch {
			case i > mostSpelled+mostDays:
				value = monthReading(strconv.Itoa(i - mostSpelled - mostDays))[0]
			case i > mostSpelled:
				value = strconv.Itoa(i - mostSpelled)
			}
			for form := range strings.SplitSeq(forms, "|") {
				word, unsure := strings.CutPrefix(form, "~")
				word = foldWords(word)
				if _, known := l.words[word]; !known && word != "" {
					vague := unsure || i == 1
					l.words[word] = spelled{value: value, unsure: vague || i > mostSpelled, vague: vague}
					l.most = max(l.most, 1+strings.Count(word, " "))
				}
			}
		}
		table[fields[0]] = l
	}
	return table
})

// IsMonth reports whether a word is the name of a month in a language with a lexicon.
func IsMonth(word, lang string) bool { return isMonth(lexicons()[lang].words[foldWords(word)].value) }

// readsWords reports whether numbers in words are read in a language.
func readsWords(lang string) bool { return lang == "ja" || lang == "zh" || lexicons()[lang].most > 0 }

// foldWords maps variants of words to one form: "Vingt-et-un" to "vingt et un".
func foldWords(words string) string { return wordFolder.Replace(strings.ToLower(words)) }

var wordFolder = strings.NewReplacer("-", " ", "\u00a0", " ", "\u202f", " ", "ʼ", " ", "'", " ", "’", " ", "\u00ad", "",
	"ş", "ș", "ţ", "ț", "إ", "ا", "أ", "ا", "آ", "ا", "ё", "е", "ς", "σ")

// spelled reads the longest number in words that starts at i: "vingt et un" is not 20. end is i if there is no number.
func (l lexicon) spelled(text string, i int) (word spelled, end int) {
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
		if !unicode.IsLetter(c) && !unicode.IsMark(c) && c != '\u00ad' {
			break
		}
		end += n
	}
	return end
}

// longestWord is the maximum number of bytes read for a word.
const longestWord = 64

// spelledNumber reads the number in words here, or a word that forms an unread number with its neighbours: "thousand", "half". ok
// is false if there is neither.
func (r *reader) spelledNumber() (n numeral, ok bool) {
	word, end := r.lexicon.spelled(r.text, r.pos)
	if end > r.pos {
		n = numeral{readings: []string{word.value}, optional: true, word: !word.unsure, vague: word.vague, month: isMonth(word.value)}
	} else if end = letters(r.text, r.pos, longestWord); makesNumber(foldWords(r.text[r.pos:end])) {
		n = numeral{optional: true, part: true}
	} else {
		return n, false
	}
	n.start, n.end = r.pos, end
	r.pos, r.inWord = end, true
	if !n.part {
		n.readings = append(n.readings, r.hours(word.value)...)
	}
	return n, true
}

// besideNumbers are words that stand beside or inside numbers.
type besideNumbers struct {
	powers      map[string][]int // exponents of ten by word
	parts, join []string
	minus       []string
}

//go:embed besidenumbers.txt
var besideNumbersTable string

// beside returns the words of besidenumbers.txt, which documents them.
var beside = sync.OnceValue(func() besideNumbers {
	table := besideNumbers{powers: map[string][]int{}}
	for line := range strings.Lines(besideNumbersTable) {
		switch name, words, _ := strings.Cut(line, "\t"); name {
		case "part":
			table.parts = strings.Fields(words)
		case "join":
			table.join = strings.Fields(words)
		case "minus":
			table.minus = strings.Fields(words)
		default:
			exponent, err := strconv.Atoi(name)
			if err != nil {
				continue // a comment
			}
			for word := range strings.FieldsSeq(words) {
				table.powers[word] = append(table.powers[word], exponent)
			}
		}
	}
	return table
})

// makesNumber reports whether a folded word is part of numbers in words that are not read: numbers above 100, fractions, and
// times of day.
func makesNumber(word string) bool {
	return len(beside().powers[word]) > 0 || slices.Contains(beside().parts, word)
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
		if a.end == 0 || b.end == 0 || a.is("1") || b.is("1") || a.month || b.month {
			continue
		}
		between := r.text[a.end:b.start]
		if len(between) > longestJoin {
			continue
		}
		if word := strings.TrimSpace(foldWords(between)); word == "" || slices.Contains(beside().join, word) {
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
func (n numeral) isTime() bool { return n.time }

// isCount reports whether a number may replace one in words: it is a number in words, or digits for a number up to 100.
func (n numeral) isCount() bool {
	if n.optional || len(n.readings) == 0 {
		return n.word
	}
	value, err := strconv.Atoi(n.readings[0])
	return err == nil && value <= 100
}

// isCounter reports whether a counter follows the Chinese digits that end at i, which makes them a number: 三 in 三個, but not in
// 三田.
func isCounter(text string, i int) bool {
	c, _ := char.Decode(text, i)
	return c > 0x3000 && char.OneOfRunes(c, "个個箇つ件名人匹本枚冊册回次年秒歳岁歲円元块塊只隻条條张張位台杯倍階层層頁页行句種种点點時时")
}

// isRange reports whether Chinese digits are two numbers: 两三年 means two or three years.
func isRange(digits string) bool {
	a, n := char.Decode(digits, 0)
	b, m := char.Decode(digits, n)
	return n+m == len(digits) && cjkDigits[a] > 0 && cjkDigits[b] > 0
}
