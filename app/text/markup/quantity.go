package markup

import (
	"context"
	"regexp"
	"strings"

	"dragoman/app/text/char"
	"dragoman/app/text/entity"
	"dragoman/app/text/language"
)

// In returns the sentence with spans for the words that are no prose of lang, a language code or "": code, names, units, and words
// in scripts foreign to it, which models rarely know. It adds none of the latter if most of the text is foreign.
func (s Sentence) In(ctx context.Context, lang string) (Sentence, error) {
	return s.within(ctx, len(s.Text), func(s Sentence) Sentence { return s.in(lang) })
}

func (s Sentence) in(lang string) Sentence {
	s.from = lang
	if s.isList() && shortList.MatchString(s.Text) {
		return s
	}
	foreign, err := language.Foreign(s.looks.Context(), s.Text, lang)
	s.looks.Check(err)
	s = s.withAmounts(lang).withWords(lang, foreign).withNumbers()
	if s.format.hasTags() {
		return s.acrossTags(lang)
	}
	return s
}

// withAmounts extends numbers by the signs of currencies and the symbols of units beside them, and joins the numbers of a date in
// characters, 2023年5月4日 and 令和5年, and of a mixed number.
func (s Sentence) withAmounts(lang string) Sentence {
	var spans []Span
	s.Spans = s.withMonths(lang)
	for i, span := range s.Spans {
		s.looks.Past(1)
		low, high, n := 0, len(s.Text), len(spans)-1
		if n >= 0 {
			low = spans[n].End
		}
		if i+1 < len(s.Spans) {
			high = s.Spans[i+1].Start
		}
		if span.Kind == Code && char.IsASCIIDigit(s.Text[span.Start]) { // 6.5 L/100 km
			digits := span.Start + len(amount.FindString(s.Text[span.Start:span.End]))
			if end := digits + entity.SymbolBehind(s.Text, digits, lang); end > span.End && end <= high {
				span.End = end
			}
		}
		if span.Kind == Number {
			span.End += len(behindNumber.FindString(s.Text[span.End:high]))
			if n := entity.SymbolBehind(s.Text[:high], span.End, lang); n > 0 {
				if symbol := strings.TrimLeft(s.Text[span.End:span.End+n], " "); strings.ContainsAny(symbol, "/°²³·") || codePart.MatchString(symbol) { // km/h, kWh
					span.Kind = Code
				}
				span.End += n
			}
			span.Start -= len(beforeNumber.FindString(s.Text[max(low, span.Start-longestBefore):span.Start]))
			if n >= 0 && spans[n].Kind == Number && (s.isMixed(spans[n], span) || low == span.Start && dateEnd.MatchString(s.Text[spans[n].Start:low])) {
				spans[n].End = span.End
				continue
			}
		}
		spans = append(spans, span)
	}
	s.Spans = spans
	return s
}

// withMonths returns the spans with one for each date that has the name of its month: 30 August 1991.
func (s Sentence) withMonths(lang string) []Span {
	spans := make([]Span, 0, len(s.Spans))
	for i := 0; i < len(s.Spans); i++ {
		s.looks.Past(1)
		span, low := s.Spans[i], 0
		if n := len(spans); n > 0 {
			low = spans[n-1].End
		}
		if span.Kind == Number && char.IsASCIIDigit(s.Text[span.Start]) {
			if start, end := entity.DateAt(s.Text, span.Start, lang); end > 0 && start >= low {
				last := i // the last span of the date
				for last+1 < len(s.Spans) && s.Spans[last+1].Start < end && s.Spans[last+1].Kind == Number {
					last++
				}
				if s.Spans[last].End <= end && (last+1 == len(s.Spans) || s.Spans[last+1].Start >= end) {
					span, i = Span{Start: start, End: end, Kind: Number}, last
				}
			}
		}
		spans = append(spans, span)
	}
	return spans
}

// withNumbers returns the sentence with numbers in place of code that is digits and characters: 8時15分, 8万5千円.
func (s Sentence) withNumbers() Sentence {
	spans := make([]Span, 0, len(s.Spans))
	for _, span := range s.Spans {
		s.looks.Past(1)
		if text := s.Text[span.Start:span.End]; span.Kind == Code && text == "〇" { // a digit of 二〇二四
			continue
		} else if span.Kind == Code && strings.ContainsFunc(text, char.IsUnspaced) && eastRun.MatchString(text) {
			span.Kind = Number
		}
		spans = append(spans, span)
	}
	s.Spans = spans
	return s
}

// eastRun matches digits and characters, which are a number, date or time.
var eastRun = regexp.MustCompile(`^(?:令和|平成|昭和|大正|明治)?\d[\d.,〜～~–:：-]*[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}ー][\d.,〜～~–:：\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}ー-]*$`)

// isMixed reports whether a fraction stands behind a whole number: 3 1/2.
func (s Sentence) isMixed(whole, fraction Span) bool {
	return whole.End+1 == fraction.Start && s.Text[whole.End] == ' ' && mixedNumber.MatchString(s.Text[whole.Start:fraction.End])
}

// longestBefore is the maximum length in bytes of what belongs to a number behind it: a currency, an era.
const longestBefore = 8

var (
	mixedNumber  = regexp.MustCompile(`^\d{1,3} \d{1,2}/\d{1,2}`)
	amount       = regexp.MustCompile(`^\d[\d.,]*`)
	behindNumber = regexp.MustCompile(`^(?:年|月|日|号|[時时点點]|分|秒|년|월|일|시|분|[ \x{a0}\x{202f}]\p{Sc})`)
	beforeNumber = regexp.MustCompile(`(?:令和|平成|昭和|大正|明治|\p{Lu}{0,2}\p{Sc}[ \x{a0}\x{202f}]?)$`)
	dateEnd      = regexp.MustCompile(`(?:年|月|[時时点點]|分|년|월|시)$`)
)
