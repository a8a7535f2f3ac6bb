package markup

import (
	"context"
	"regexp"
	"strings"

	"dragoman/app/text/entity"
	"dragoman/app/text/language"
)

// In returns the sentence with spans for the words that are no prose of lang, a language code or "": code, names, units, and words
// in scripts foreign to it, which models rarely know. It adds none of the latter if most of the text is foreign.
func (s Sentence) In(ctx context.Context, lang string) (Sentence, error) {
	return s.within(ctx, len(s.Text), func(s Sentence) Sentence { return s.in(lang) })
}

func (s Sentence) in(lang string) Sentence {
	foreign, err := language.Foreign(s.looks.Context(), s.Text, lang)
	s.looks.Check(err)
	s = s.withAmounts().withWords(lang, foreign)
	if s.format.hasTags() {
		return s.acrossTags(lang)
	}
	return s
}

// withAmounts extends numbers by the signs of currencies and the symbols of units beside them, and joins the numbers of a date in
// characters, 2023年5月4日 and 令和5年, and of a mixed number.
func (s Sentence) withAmounts() Sentence {
	var spans []Span
	for i, span := range s.Spans {
		s.looks.Past(1)
		low, high, n := 0, len(s.Text), len(spans)-1
		if n >= 0 {
			low = spans[n].End
		}
		if i+1 < len(s.Spans) {
			high = s.Spans[i+1].Start
		}
		if digits := amount.FindString(s.Text[span.Start:span.End]); span.Kind == Code && digits != "" { // 6.5 L/100 km
			if end := span.Start + len(digits) + entity.SymbolBehind(s.Text, span.Start+len(digits)); end > span.End && end <= high {
				span.End = end
			}
		}
		if span.Kind == Number {
			span.End += len(behindNumber.FindString(s.Text[span.End:high]))
			if n := entity.SymbolBehind(s.Text[:high], span.End); n > 0 {
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
