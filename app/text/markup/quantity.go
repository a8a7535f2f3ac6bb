package markup

import (
	"context"
	"regexp"
	"strings"

	"dragoman/app/text/entity"
	"dragoman/app/text/language"

	"dragoman/app/text/char"
)

// quantities joins held numbers with their units and labels: 30 m², n° 5, US$ 20.
func (w *words) quantities() {
	list := w.out[:0]
	for i, span := range w.out {
		w.looks.Past(span.End - span.Start)
		if n := len(list) - 1; n >= 0 && char.IsSpace(char.First(w.text[list[n].End:])) && strings.TrimSpace(w.text[list[n].End:span.Start]) == "" {
			before, here := w.text[list[n].Start:list[n].End], w.text[span.Start:span.End]
			if list[n].Kind == Number && span.Kind == Code && unitForm.MatchString(here) ||
				list[n].Kind == Code && span.Kind == Number && labelForm.MatchString(before) {
				list[n].End, list[n].Kind = span.End, Code
				continue
			}
		}
		low, high := 0, len(w.text)
		if n := len(list) - 1; n >= 0 {
			low = list[n].End
		}
		if i+1 < len(w.out) {
			high = w.out[i+1].Start
		}
		if span.Kind == Number { // 5 €
			span.End += len(currencyBehind.FindString(w.text[span.End:high]))
			span.Start -= len(currencyBefore.FindString(w.text[max(low, span.Start-longestCapitals):span.Start]))
		}
		if start := w.abbreviation(low, span.Start); start < span.Start && (span.Kind == Number || span.Kind == Code) {
			span.Start, span.Kind = start, Code
		}
		if span.Kind == Code && amountForm.MatchString(w.text[span.Start:span.End]) {
			span.End += len(unitBehind.FindString(w.text[span.End:high]))
		}
		list = append(list, span)
	}
	w.out = list
}

// abbreviation returns the start of the capitals between low and the number at start, as in RFC 2616, if the text is not all in
// capitals. Otherwise it returns start.
func (w *words) abbreviation(low, start int) int {
	from := max(low, start-longestCapitals)
	text := w.text[from:start]
	if m := capitals.FindStringSubmatchIndex(text); m != nil && (m[2] > 0 || from == 0) && w.hasSmall() {
		return from + m[2]
	}
	return start
}

// hasSmall reports whether the text has words in small letters.
func (w *words) hasSmall() bool {
	if w.small == 0 {
		if w.small = 1; w.looks.Match(smallWord, w.text) {
			w.small = 2
		}
	}
	return w.small == 2
}

// longestCapitals is the maximum length in bytes of an abbreviation with its neighbours.
const longestCapitals = 10

var (
	capitals       = regexp.MustCompile(`(?:^|[^\pL\pN_&/-])([A-Z]{2,5}) $`)
	currencyBehind = regexp.MustCompile(`^[ \x{a0}\x{202f}]\p{Sc}`)
	currencyBefore = regexp.MustCompile(`\p{Sc}[ \x{a0}\x{202f}]$`)
	smallWord      = regexp.MustCompile(`\b\p{Ll}{2}`)
	// amountForm matches a held amount, unitBehind a unit behind it.
	amountForm = regexp.MustCompile(`^[^\pL]*[\pN]$`)
	unitBehind = regexp.MustCompile(`^ (?:[b-df-hj-np-tv-xzµ]{1,3}|[A-Z])\b`)
	unitForm   = regexp.MustCompile(`^(?:[^\pL\d]?\pL{0,4}[\p{No}⁻]+|[°%℃℉′″]\pL?|\pL{1,4}[/·]\pL{1,3}[\p{No}⁻]*|[µμkMGTmc]?[A-Z][A-Za-z]{0,2}|\pL{0,2}[ΩΩµμ]\pL{0,2}|[½¼¾⅓-⅞㎀-㏟])$`)
	labelForm  = regexp.MustCompile(`^(?:\pL{0,3}[\p{Sc}°№]|\pL[º])$`)
)

// telephones joins groups of digits that are too many for one number.
func (w *words) telephones() {
	list := w.out[:0]
	for i := 0; i < len(w.out); i++ {
		w.looks.Past(w.out[i].End - w.out[i].Start)
		digits, end := 0, i
		for end < len(w.out) && w.out[end].Kind == Number && (end == i || w.isGroup(w.out[end-1].End, w.out[end].Start)) &&
			strings.Trim(w.text[w.out[end].Start:w.out[end].End], "0123456789-. ") == "" {
			digits += countDigits(w.text[w.out[end].Start:w.out[end].End])
			end++
		}
		if digits >= leastPhone && (end-i >= 3 || end-i == 2 && w.text[w.out[i].Start] == '0') {
			list = append(list, Span{Start: w.out[i].Start, End: w.out[end-1].End, Kind: Code})
			i = end - 1
			continue
		}
		list = append(list, w.out[i])
	}
	w.out = list
}

// isGroup reports whether a single space or sign separates two groups of digits.
func (w *words) isGroup(end, start int) bool {
	r, n := char.Decode(w.text, end)
	return end+n == start && (char.IsSpace(r) || r == '-' || r == '.') || start-end == 3 && w.text[end:start] == " / "
}

// In returns the sentence with spans for words in scripts foreign to lang, a language code: models rarely know such words. It
// adds none if most of the text is foreign.
//
// It also joins the numbers of a date in characters into one, and a number with the symbol of its unit.
func (s Sentence) In(ctx context.Context, lang string) (Sentence, error) {
	return s.within(ctx, len(s.Text), func(s Sentence) Sentence { return s.in(lang) })
}

func (s Sentence) in(lang string) Sentence {
	s = s.withDates()
	foreign, err := language.Foreign(s.looks.Context(), s.Text, lang)
	s.looks.Check(err)
	if len(foreign) == 0 {
		return s.withExpressions(lang)
	}
	w := words{text: s.Text, looks: s.looks}
	rest := s.Spans
	var word, tail [2]int // the word read last, and its continuation; a word may have many runs
	for _, run := range foreign {
		start, end := run[0], run[1]
		s.looks.Past(end - start)
		if r, _ := char.Decode(s.Text, start); char.IsWord(r) { // kΩ, Δt
			if start >= word[1] {
				word = [2]int{len(strings.TrimRightFunc(s.Text[:start], char.IsWord)), char.Skip(s.Text, start, char.IsWord)}
			}
			if end < tail[0] || end > tail[1] {
				tail = [2]int{end, char.Skip(s.Text, end, isWordOr("-"))} // α-helix
			}
			start, end = word[0], tail[1]
		}
		for len(rest) > 0 && rest[0].End <= start {
			w.out, rest = append(w.out, rest[0]), rest[1:]
		}
		n := len(w.out) - 1
		if len(rest) > 0 && rest[0].Start < end || n >= 0 && w.out[n].End > start {
			continue
		}
		if n > 0 && w.out[n].Kind == Sign && w.out[n-1].Kind == Code && w.out[n-1].End == w.out[n].Start && w.out[n].End == start {
			n, w.out = n-1, w.out[:n] // 用户@例子
			w.out[n].End = end
			continue
		}
		if n >= 0 && w.out[n].Kind == Code && w.text[w.out[n].End:start] == "." {
			w.out[n].End = end
			continue
		}
		w.out = append(w.out, Span{Start: start, End: end, Kind: Code})
	}
	w.out = append(w.out, rest...)
	w.quantities()
	s.Spans = w.out
	return s.withExpressions(lang)
}

// withDates joins the numbers of dates and times in characters, 2023年5月4日 and 令和5年, and a number with the symbol of its unit.
func (s Sentence) withDates() Sentence {
	var spans []Span
	for i, span := range s.Spans {
		s.looks.Past(1)
		if n := len(spans) - 1; span.Kind == Code && n >= 0 && spans[n].Kind == Number && s.isMixed(spans[n], span) { // 3 1/2"
			spans[n].End, spans[n].Kind = span.End, Code
			continue
		}
		if digits := amount.FindString(s.Text[span.Start:span.End]); span.Kind == Code && digits != "" { // 6.5 L/100 km
			if end := span.Start + len(digits) + entity.SymbolBehind(s.Text, span.Start+len(digits)); end > span.End && (i+1 == len(s.Spans) || end <= s.Spans[i+1].Start) {
				span.End = end
			}
		}
		if span.Kind == Number {
			high := len(s.Text)
			if i+1 < len(s.Spans) {
				high = s.Spans[i+1].Start
			}
			span.End += len(datePart.FindString(s.Text[span.End:high]))
			span.End += entity.SymbolBehind(s.Text[:high], span.End)
			low := 0
			if n := len(spans) - 1; n >= 0 {
				low = spans[n].End
			}
			span.Start -= len(era.FindString(s.Text[max(low, span.Start-longestEra):span.Start]))
			if n := len(spans) - 1; n >= 0 && spans[n].Kind == Number && s.isMixed(spans[n], span) {
				spans[n].End = span.End
				continue
			}
			if n := len(spans) - 1; n >= 0 && spans[n].Kind == Number && spans[n].End == span.Start && dateEnd.MatchString(s.Text[spans[n].Start:spans[n].End]) {
				spans[n].End = span.End
				continue
			}
		}
		spans = append(spans, span)
	}
	s.Spans = spans
	return s
}

// isMixed reports whether a fraction stands behind a whole number: 3 1/2.
func (s Sentence) isMixed(whole, fraction Span) bool {
	return whole.End+1 == fraction.Start && s.Text[whole.End] == ' ' && mixedNumber.MatchString(s.Text[whole.Start:fraction.End])
}

// longestEra is the length in bytes of the name of an era.
const longestEra = len("令和")

var (
	mixedNumber = regexp.MustCompile(`^\d{1,3} \d{1,2}/\d{1,2}`)
	amount      = regexp.MustCompile(`^\d[\d.,]*`)
	datePart    = regexp.MustCompile(`^(?:年|月|日|号|[時时点點]|分|秒|년|월|일|시|분)`)
	dateEnd     = regexp.MustCompile(`(?:年|月|[時时点點]|分|년|월|시)$`)
	era         = regexp.MustCompile(`(?:令和|平成|昭和|大正|明治)$`)
)
