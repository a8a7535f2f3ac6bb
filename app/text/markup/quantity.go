package markup

import (
	"context"
	"regexp"
	"strings"
	"unicode"

	"dragoman/app/text/entity"
	"dragoman/app/text/language"

	"dragoman/app/text/char"
)

// amounts joins numbers with the signs of currencies and short code beside them: 5 €, 2 m/s, n° 6.
func (w *words) amounts() {
	list := w.out[:0]
	for i, span := range w.out {
		low, high := 0, len(w.text)
		if i+1 < len(w.out) {
			high = w.out[i+1].Start
		}
		if n := len(list) - 1; n >= 0 {
			if low = list[n].End; char.IsSpace(char.First(w.text[low:])) && (list[n].Kind == Number && w.isShort(span) || span.Kind == Number && w.isShort(list[n])) &&
				strings.TrimSpace(w.text[low:span.Start]) == "" {
				list[n].End, list[n].Kind = span.End, Code
				continue
			}
		}
		if span.Kind == Number {
			span.End += len(currencyBehind.FindString(w.text[span.End:high]))
			span.Start -= len(currencyBefore.FindString(w.text[max(low, span.Start-longestCurrency):span.Start]))
		}
		list = append(list, span)
	}
	w.out = list
}

// isShort reports whether a span is code of the length of a unit.
func (w *words) isShort(span Span) bool {
	const longest = 8 // bytes
	return span.Kind == Code && span.End-span.Start <= longest && !strings.ContainsFunc(w.text[span.Start:span.End], unicode.IsDigit)
}

// longestCurrency is the maximum length in bytes of the sign of a currency with a space.
const longestCurrency = 8

var (
	currencyBehind = regexp.MustCompile(`^[ \x{a0}\x{202f}]\p{Sc}`)
	currencyBefore = regexp.MustCompile(`\p{Sc}[ \x{a0}\x{202f}]$`)
)

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
